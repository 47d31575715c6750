"""What Discord's API v10 tells, as values: discord.com/developers/docs/resources. Pure.

A field that is missing or null counts as empty where the documentation lets it be so. Anything else that isn't in the
documented form raises KeyError, TypeError, ValueError or AttributeError, which ``connectors.discord.api`` turns into
the source's error.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from connectors.discord.permissions import Overwrite

TEXT, CATEGORY, ANNOUNCEMENT, FORUM, MEDIA = 0, 4, 5, 15, 16
PRIVATE_THREAD = 12
THREADS = frozenset({10, 11, PRIVATE_THREAD})
SPOKEN_IN = frozenset({TEXT, ANNOUNCEMENT})
"""Channels in which messages stand outside of threads, too."""
PARENTS = frozenset({TEXT, ANNOUNCEMENT, FORUM, MEDIA})
WRITTEN = frozenset({0, 19, 20, 23})
"""Types of messages that somebody wrote: plain ones, replies, and the answers of bots to commands."""
THREAD_STARTER = 21
_CONTENT_FLAGS = 1 << 18 | 1 << 19  # GATEWAY_MESSAGE_CONTENT, and _LIMITED for bots on fewer servers
_TEXT_DISPLAY = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """The bot's application: who the bot is, and whether it is let read what people write."""

    bot: int
    reads_content: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A role of a server: its name, and the permissions that it gives."""

    id: int
    name: str
    permissions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Guild:
    """A server."""

    id: int
    name: str
    roles: tuple[Role, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A channel, a category, or a thread: then ``parent`` is its channel and ``archived_at`` the time as it came."""

    id: int
    type: int
    guild: int
    parent: int
    name: str
    overwrites: tuple[Overwrite, ...] = ()
    is_restricted: bool = False
    last_message: int = 0
    message_count: int = 0
    is_archived: bool = False
    archived_at: str = ""
    tags: tuple[int, ...] = ()
    tag_names: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """An attachment: its name, and what somebody said that it shows."""

    name: str
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message. ``author`` is a name; ``extra`` are lines that say what the content doesn't: embeds, a poll.

    ``answers`` is the id of the message that it replies to, ``answered`` that message where it is still there;
    ``is_orphan`` tells that it was deleted. ``forwarded`` are messages that it passes on, whose authors aren't told.
    """

    id: int
    channel: int
    type: int
    author: str
    is_bot: bool
    content: str
    names: Mapping[int, str] = field(default_factory=dict)
    files: tuple[File, ...] = ()
    extra: tuple[str, ...] = ()
    answers: int = 0
    answered: "Said | None" = None
    is_orphan: bool = False
    forwarded: "tuple[Said, ...]" = ()
    edited_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Threads:
    """A page of threads; ``has_more`` tells that another one follows."""

    threads: tuple[Channel, ...]
    has_more: bool = False


def read_application(value: Any) -> Application:
    """Read the application of the token."""
    flags = int(value.get("flags") or 0) | int(value.get("flags_new") or 0)
    return Application(bot=int((value.get("bot") or value)["id"]), reads_content=bool(flags & _CONTENT_FLAGS))


def read_guild(value: Any) -> Guild:
    """Read a server with its roles."""
    roles = tuple(
        Role(id=int(role["id"]), name=_text(role["name"]), permissions=int(role["permissions"]))
        for role in value["roles"]
    )
    return Guild(id=int(value["id"]), name=_text(value["name"]), roles=roles)


def read_moment(value: Any) -> datetime | None:
    """Read a time; None when there is none."""
    if not value:
        return None
    found = datetime.fromisoformat(value)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def read_roles_of(value: Any) -> frozenset[int]:
    """Read the roles of a member."""
    return frozenset(map(int, value["roles"]))


def read_channels(value: Any) -> tuple[Channel, ...]:
    """Read a list of channels."""
    return tuple(map(read_channel, _listed(value)))


def read_threads(value: Any) -> Threads:
    """Read a page of threads."""
    return Threads(threads=read_channels(value["threads"]), has_more=bool(value.get("has_more")))


def read_channel(value: Any) -> Channel:
    """Read a channel or thread."""
    thread = value.get("thread_metadata") or {}
    return Channel(
        id=int(value["id"]),
        type=int(value["type"]),
        guild=int(value.get("guild_id") or 0),
        parent=int(value.get("parent_id") or 0),
        name=_text(value.get("name")),
        overwrites=tuple(map(_overwrite, value.get("permission_overwrites") or ())),
        is_restricted=bool(value.get("nsfw")),
        last_message=int(value.get("last_message_id") or 0),
        message_count=int(value.get("message_count") or 0),
        is_archived=bool(thread.get("archived")),
        archived_at=str(thread.get("archive_timestamp") or "") if read_moment(thread.get("archive_timestamp")) else "",
        tags=tuple(map(int, value.get("applied_tags") or ())),
        tag_names={int(tag["id"]): _text(tag["name"]) for tag in value.get("available_tags") or ()},
    )


def read_messages(value: Any) -> tuple[Said, ...]:
    """Read a page of messages, which comes newest first, and return it oldest first."""
    return tuple(sorted(map(read_message, _listed(value)), key=lambda said: said.id))


def read_message(value: Any) -> Said:
    """Read a message, with the one that it replies to."""
    author, reference = value["author"], value.get("message_reference") or {}
    answered = value.get("referenced_message")
    is_forward = bool(reference.get("type"))
    return Said(
        id=int(value["id"]),
        channel=int(value["channel_id"]),
        type=int(value["type"]),
        author=_name(author),
        is_bot=bool(author.get("bot") or value.get("webhook_id")),
        names={int(user["id"]): _name(user) for user in value.get("mentions") or ()},
        answers=0 if is_forward else int(reference.get("message_id") or 0),
        answered=None if answered is None else read_message(answered),
        is_orphan="referenced_message" in value and answered is None,
        forwarded=tuple(_snapshot(one, value) for one in value.get("message_snapshots") or ()),
        edited_at=read_moment(value.get("edited_timestamp")),
        **_told(value),
    )


def _snapshot(value: Any, whole: Any) -> Said:
    """Read a message that is passed on: few of its fields are there."""
    message = value["message"]
    names = {int(user["id"]): _name(user) for user in message.get("mentions") or ()}
    return Said(
        id=int(whole["id"]),
        channel=int(whole["channel_id"]),
        type=0,
        author="",
        is_bot=False,
        names=names,
        **_told(message),
    )


def _told(value: Any) -> dict[str, Any]:
    """Return what a message says, in its words and beside them."""
    files = tuple(
        File(name=_text(one["filename"]), about=_text(one.get("description"))) for one in value.get("attachments") or ()
    )
    extra = [line for embed in value.get("embeds") or () for line in _embed(embed)]
    extra += _poll(value.get("poll") or {})
    extra += [f"[sticker: {_text(one['name'])}]" for one in value.get("sticker_items") or ()]
    extra += _displayed(value.get("components") or ())
    return {"content": str(value.get("content") or ""), "files": files, "extra": tuple(extra)}


def _embed(value: Any) -> Iterator[str]:
    """Yield what a preview, or a bot's card, says; the address of a preview stands in the message."""
    of_whom = (value.get("provider") or {}).get("name"), (value.get("author") or {}).get("name")
    heading = " · ".join(_text(part) for part in (*of_whom, value.get("title")) if part)
    if heading:
        yield f"[preview: {heading}]"
    if value.get("description"):
        yield str(value["description"])
    for one in value.get("fields") or ():
        yield f"{_text(one['name'])}: {one['value']}"
    footer = (value.get("footer") or {}).get("text")
    if footer:
        yield str(footer)


def _poll(value: Any) -> Iterator[str]:
    if value:
        yield f"[poll: {_text(value['question'].get('text'))}]"
        for answer in value.get("answers") or ():
            yield f"- {_text(answer['poll_media'].get('text'))}"


def _displayed(components: Any) -> Iterator[str]:
    """Yield the texts among components, however deep they stand."""
    for one in components:
        if one.get("type") == _TEXT_DISPLAY:
            yield str(one["content"])
        yield from _displayed(one.get("components") or ())


def _overwrite(value: Any) -> Overwrite:
    return Overwrite(
        id=int(value["id"]), is_member=int(value["type"]) == 1, allow=int(value["allow"]), deny=int(value["deny"])
    )


def _name(user: Any) -> str:
    """Return how somebody is shown: names are one line, without what might begin a web page."""
    return _text(user.get("global_name") or user["username"]).replace("<", "‹") or str(user["id"])


def _text(value: Any) -> str:
    return " ".join(str(value or "").split())


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("a list was due")
    return value
