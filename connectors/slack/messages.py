"""Messages become documents: a thread, or what was said on a day outside of threads. Pure.

    **Ann Smith** (2026-11-22 10:05 UTC)

    The valve is closed on Fridays.

Each message begins with who said it and when, and its permalink is that of the lines from there on. The times are in
UTC, for readers are in several zones.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from connectors.base import Origin, Permalink, SourceDocument
from connectors.markdown import harmless
from connectors.slack.ids import day_id, day_of, moment, thread_id
from connectors.slack.mrkdwn import emoji_in, markdown, mentions, plain, unescaped
from connectors.slack.places import Place

Json = Mapping[str, Any]

_FORM = "1"
"""Of the documents: another one has every document written anew."""
_WRITTEN = frozenset({"", "file_share", "thread_broadcast", "me_message"})
"""The subtypes of what somebody says; joins, leaves and the like have their own."""
_SLACKBOT = "USLACKBOT"
_TITLE = 80
_BREAK = re.compile(r"\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def is_from_app(message: Json) -> bool:
    """Tell whether an app wrote a message."""
    return bool(message.get("bot_id")) or message.get("subtype") == "bot_message" or message.get("user") == _SLACKBOT


def is_said(message: Json, *, bots: bool) -> bool:
    """Tell whether somebody said a message; with ``bots`` also an app."""
    subtype = str(message.get("subtype") or "")
    if is_from_app(message):
        return bots and subtype in _WRITTEN | {"bot_message"}
    return subtype in _WRITTEN


def is_thread(message: Json) -> bool:
    """Tell whether a message is the first one of a thread that has replies."""
    return bool(message.get("reply_count")) and not is_reply(message)


def is_reply(message: Json) -> bool:
    """Tell whether a message is a reply, perhaps one that is shown in the channel, too."""
    return str(message.get("thread_ts") or message["ts"]) != str(message["ts"])


def ids_in(message: Json, *, bots: bool) -> Iterator[str]:
    """Yield the ids whose names a message is shown with, and those of its first repliers; other apps' with ``bots``."""
    yield from (str(user) for user in message.get("reply_users") or () if str(user)[:1] in "UW")
    if is_said(message, bots=bots):
        if message.get("user"):
            yield str(message["user"])
        yield from mentions(_wire(message))


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Writes the documents of one channel.

    ``url`` is the workspace's address (``https://team.slack.com/``), ``user`` and ``bot`` are the ids of the bot whose
    token reads, ``names`` those by id, ``bots`` whether other apps' messages count.
    """

    origin: Origin
    place: Place
    url: str
    user: str
    bot: str
    bots: bool
    names: Mapping[str, str] = field(default_factory=dict)

    def keeps(self, message: Json) -> bool:
        """Tell whether a message stands in a document: not what the bot says, nor what is said to it."""
        if not is_said(message, bots=self.bots) or message.get("user") == self.user:
            return False
        if self.bot and message.get("bot_id") == self.bot:
            return False
        text = _wire(message)
        return not re.search(rf"<@{re.escape(self.user)}[|>]", text) and bool(text.strip() or _files(message))

    def thread_version(self, first: Json) -> str:
        """Return what tells that a thread is unchanged, from its first message as the channel's history shows it.

        So its replies need not be read; what it can't tell is an edited reply.
        """
        people = [self.names.get(str(user), "") for user in first.get("reply_users") or ()]
        shown = [first.get("reply_count"), first.get("latest_reply"), people, self._said(first), self._author(first)]
        return self._digest(thread_id(self.place.id, first["ts"]), shown, self.keeps(first))

    def thread(self, first: Json, replies: Sequence[Json], *, version: str) -> SourceDocument | None:
        """Return the document of a thread, None where nothing in it is kept."""
        kept = [message for message in (first, *replies) if self.keeps(message)]
        if not kept:
            return None
        about = plain(_wire(kept[0]) or " ".join(_files(kept[0])), self.names).split("\n")
        line = " ".join(next(filter(str.strip, about), "").split())
        about_it = line if len(line) <= _TITLE else f"{line[: _TITLE - 1].rstrip()}…"
        native = thread_id(self.place.id, first["ts"])
        return self._document(
            native, kept, title=f"#{self.place.name}: {about_it}", url=self.permalink(first), version=version
        )

    def day(self, messages: Sequence[Json]) -> SourceDocument | None:
        """Return the document of a day, from what its messages are; None where nothing is kept outside of threads."""
        kept = [one for one in messages if not is_thread(one) and not is_reply(one) and self.keeps(one)]
        if not kept:
            return None
        kept.sort(key=lambda message: float(message["ts"]))
        native, title = day_id(self.place.id, kept[0]["ts"]), f"#{self.place.name}, {day_of(kept[0]['ts'])}"
        shown = [[one["ts"], self._author(one), self._said(one)] for one in kept]
        version = self._digest(native, shown, "day")
        return self._document(native, kept, title=title, url=self.permalink(kept[0]), version=version)

    def permalink(self, message: Json) -> str:
        """Return a message's address, as Slack's "Copy link" gives it."""
        ts = str(message["ts"])
        link = f"{self.url}archives/{self.place.id}/p{ts.replace('.', '')}"
        return f"{link}?thread_ts={message['thread_ts']}&cid={self.place.id}" if is_reply(message) else link

    def _document(self, native: str, kept: Sequence[Json], *, title: str, url: str, version: str) -> SourceDocument:
        lines: list[str] = []
        links: list[Permalink] = []
        for message in kept:
            links.append(Permalink(line=len(lines) + 1, url=self.permalink(message)))
            said = f"{moment(message['ts']):%Y-%m-%d %H:%M} UTC"
            lines += [f"**{harmless(self._author(message))}** ({said})", ""]
            lines += [*self._said(message).split("\n"), ""]
        changed = [str(ts) for one in kept for ts in (one["ts"], (one.get("edited") or {}).get("ts")) if ts]
        return SourceDocument(
            id=self.origin.document_id(native),
            source=self.origin.source,
            content="\n".join(lines).encode("utf-8", "replace"),
            name=f"{native.rpartition('/')[2]}.md",
            media_type="text/markdown",
            title=title,
            url=url,
            author=self._author(kept[0]),
            version=version,
            updated_at=moment(max(changed, key=float)),
            readers=self.place.readers,
            permalinks=tuple(links),
        )

    def _said(self, message: Json) -> str:
        """Return what a message says, with its files, as Markdown."""
        text = markdown(_BREAK.sub("\n", _wire(message)), self.names, emoji_in(message.get("blocks")))
        return "\n\n".join([text] * bool(text.strip()) + [harmless(f"File: {title}") for title in _files(message)])

    def _author(self, message: Json) -> str:
        profile, app = message.get("user_profile") or {}, message.get("bot_profile") or {}
        names = (
            self.names.get(str(message.get("user") or "")),
            profile.get("display_name") or profile.get("real_name"),
            message.get("username") or app.get("name"),
            message.get("user"),
        )
        return " ".join(unescaped(next((str(name) for name in names if name), "somebody")).split())

    def _digest(self, *told: object) -> str:
        place = self.place
        basis = [_FORM, place.name, sorted(place.readers), self.url, self.bots, self.user, *told]
        return hashlib.sha256(json.dumps(basis, ensure_ascii=True).encode()).hexdigest()[:32]


def _wire(message: Json) -> str:
    """Return a message's text; an app's may stand in its blocks and attachments alone.

    What a person's message has of attachments are previews of links, which nobody there said.
    """
    text = str(message.get("text") or "")
    if not is_from_app(message):
        return text
    parts = [text] if text.strip() else list(_texts(message.get("blocks")))
    for attachment in message.get("attachments") or ():
        found = [str(attachment.get(name) or "") for name in ("pretext", "title", "text")]
        found += [f"{one.get('title', '')}: {one.get('value', '')}" for one in attachment.get("fields") or ()]
        found += list(_texts(attachment.get("blocks")))
        parts += [part for part in found if part.strip()] or [str(attachment.get("fallback") or "")]
    return "\n".join(part for part in parts if part.strip())


def _texts(blocks: Any) -> Iterator[str]:
    """Yield the texts that stand anywhere in blocks."""
    if isinstance(blocks, list):
        for block in blocks:
            yield from _texts(block)
    elif isinstance(blocks, dict):
        if isinstance(blocks.get("text"), str):
            yield blocks["text"]
        yield from (text for value in blocks.values() if isinstance(value, list | dict) for text in _texts(value))


def _files(message: Json) -> list[str]:
    """Return the titles of a message's files, with their names where these say more."""
    found = []
    for file in message.get("files") or ():
        title, name = str(file.get("title") or ""), str(file.get("name") or "")
        if file.get("mode") in {"tombstone", "hidden_by_limit"} or not (title or name):
            continue
        told = title if not name or title == name else f"{title} ({name})" if title else name
        found.append(" ".join(unescaped(told).split()))
    return found
