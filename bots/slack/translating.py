"""What Slack tells becomes ``Incoming``. Pure.

A conversation is a thread: the one that a message stands in, or the one that its answer opens under it, in direct
messages too. A slash command has no thread; each person's in one channel are a conversation of their own.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bots.platform import Asker, Attachment, CommandName, Incoming, Reach
from bots.words.commands import NAMED
from ragcore.types import ConversationKey

PLATFORM = "slack"
REPLACES = "replaces"
"""In ``Incoming.extra``: its address came with a press, and replaces the message that was pressed."""
WRITTEN = frozenset({"", "file_share", "thread_broadcast", "me_message"})
"""The subtypes of a message that somebody wrote."""
SLACKBOT = "USLACKBOT"
_ANGLES = re.compile(r"<([^<>]+)>")
_TO_OTHERS = re.compile(r"\s*<[@!]")
_ENTITIES = re.compile(r"&(amp|lt|gt);")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">"}

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Self:
    """The bot as Slack knows it: its workspace, its user and its bot id.

    ``organised``: its workspace is one of several in an organisation (Enterprise Grid), which may share channels.
    ``url`` is the workspace's address.
    """

    team: str
    user: str
    bot: str
    organised: bool = False
    url: str = ""


def reader_of(workspace: str, user: str) -> str:
    """Return the reader that a person is."""
    return f"{PLATFORM}:{workspace}/@{user}"


def seen_in(workspace: str, channel: str, *, shared: bool) -> frozenset[str]:
    """Return who sees what is said in a channel; ``shared`` with outsiders, its workspace isn't meant."""
    here = {"*", f"{PLATFORM}:{workspace}/{channel}"}
    return frozenset(here if shared else here | {f"{PLATFORM}:{workspace}"})


def incoming_of(event: Json, bot: Self, *, event_id: str = "", shared: bool = False) -> Incoming | None:
    """Return a message, or its edit, as a turn takes it; None for what no person wrote.

    Args:
        event: ``message`` or ``app_mention``, or a message as ``conversations.history`` tells it, with its channel.
        bot: Whose events these are.
        event_id: That of the delivery, the same when it comes again.
        shared: The channel is shared with another organisation.
    """
    said = _said(event)
    if said is None or not is_written(said, bot):
        return None
    text = str(said.get("text") or "")
    files = _attachments(said)
    if not text.strip() and not files:
        return None
    channel, ts = str(event["channel"]), str(said["ts"])
    private = _is_direct(event)
    home = _home(said, bot)
    edited = str((said.get("edited") or {}).get("ts") or "")
    message = f"message:{channel}/{ts}"
    user = str(said["user"])
    return Incoming(
        keys=(message, f"event:{event_id}") if event_id else (message,),
        conversation=conversation_of(channel, said, bot),
        message=ts,
        asker=Asker(id=user, workspace=home),
        text=plain_text(without_name(text, bot)),
        reach=_reach(event, said, bot),
        sent_at=moment(ts),
        edited_at=moment(edited) if edited else None,
        private=private,
        seen_by=(
            frozenset({"*", reader_of(home or bot.team, user)})
            if private
            else seen_in(bot.team, channel, shared=shared)
        ),
        attachments=files,
        to_others=bool(_TO_OTHERS.match(without_name(text, bot))),
    )


def deleted_of(event: Json, bot: Self) -> tuple[ConversationKey, str] | None:
    """Return whose deletion an event tells: the conversation and the message; None for anything else.

    A message that others have answered leaves a tombstone in its place.
    """
    gone = event.get("previous_message") or {}
    subtype = event.get("subtype")
    tombstone = subtype == "message_changed" and (event.get("message") or {}).get("subtype") == "tombstone"
    if not (subtype == "message_deleted" or tombstone) or not is_written(gone, bot):
        return None
    ts = str(event.get("deleted_ts") or gone.get("ts") or "")
    return conversation_of(str(event["channel"]), {**gone, "ts": ts}, bot), ts


def command_of(payload: Json, bot: Self, *, asks: str) -> Incoming:
    """Return a slash command; ``asks`` is the one whose whole text is a question."""
    text = plain_text(str(payload.get("text") or "")).strip()
    command: CommandName = "ask"
    if payload["command"] != asks:
        first, _, rest = text.partition(" ")
        if first.casefold() in NAMED:
            command, text = NAMED[first.casefold()], rest.strip()
    if not text and command in ("ask", "research", "search"):
        command = "help"
    user, channel = str(payload["user_id"]), str(payload["channel_id"])
    team = str(payload.get("team_id") or "")
    home = team if team and team != bot.team else ""
    return Incoming(
        keys=(f"command:{payload['trigger_id']}",),
        conversation=alone_with(user, channel, bot),
        message=str(payload["trigger_id"]),
        asker=Asker(id=user, name=str(payload.get("user_name") or ""), workspace=home),
        text=text,
        reach=Reach.COMMAND,
        command=command,
        sent_at=datetime.now(UTC),
        private=True,
        seen_by=frozenset({"*", reader_of(home or bot.team, user)}),
        token=str(payload["response_url"]),
    )


def alone_with(user: str, channel: str, bot: Self) -> ConversationKey:
    """Return the conversation of what one person alone sees in a channel."""
    return ConversationKey(platform=PLATFORM, workspace=bot.team, channel=channel, thread=f"alone {user}")


def conversation_of(channel: str, message: Json, bot: Self) -> ConversationKey:
    """Return the conversation of a message: its thread, or the one that it opens."""
    thread = str(message.get("thread_ts") or message["ts"])
    return ConversationKey(platform=PLATFORM, workspace=bot.team, channel=channel, thread=thread)


def replaces(incoming: Incoming) -> bool:
    """Return whether the address that it is answered by stands for a message, which the answer replaces."""
    return REPLACES in incoming.extra


def is_written(message: Json, bot: Self) -> bool:
    """Tell whether a person wrote the message."""
    if str(message.get("subtype") or "") not in WRITTEN or message.get("bot_id"):
        return False
    return message.get("user") not in (None, "", bot.user, SLACKBOT)


def is_ours(message: Json, bot: Self) -> bool:
    """Tell whether the bot wrote the message."""
    return message.get("user") == bot.user or (bool(bot.bot) and message.get("bot_id") == bot.bot)


def moment(ts: str) -> datetime:
    """Return the time of a message's ``ts``."""
    return datetime.fromtimestamp(float(ts), UTC)


def without_name(text: str, bot: Self) -> str:
    """Return Slack's wire text without the mentions of the bot."""
    return re.sub(
        rf"(?:(?<![ \t])[ \t]++)?<@{re.escape(bot.user)}(?:\|[^<>]*+)?>[ \t]*+[,:]?[ \t]*+", " ", text
    ).strip()


def plain_text(text: str) -> str:
    """Return Slack's wire text as it was written: links by their words, mentions by name, entities as characters."""
    return _ENTITIES.sub(lambda found: _CHARACTERS[found[1]], _ANGLES.sub(_shown, text))


def _shown(found: re.Match[str]) -> str:
    target, bar, label = found[1].partition("|")
    if target.startswith("@"):
        return f"@{label or target[1:]}"
    if target.startswith("#"):
        return f"#{label or target[1:]}"
    if target.startswith("!"):
        return label or f"@{target[1:].partition('^')[0]}"
    address = target.removeprefix("mailto:")
    if not bar or label in address:
        return label or address
    return f"{label} ({address})"


def _said(event: Json) -> Json | None:
    """Return the message of an event; of an edit what it says now, None when its words are the same."""
    if event.get("subtype") != "message_changed":
        return event
    said: Json = event.get("message") or {}
    before: Json = event.get("previous_message") or {}
    # Previews and replies change a message too.
    if not said.get("edited") or said.get("text") == before.get("text"):
        return None
    return said


def _is_direct(event: Json) -> bool:
    kind = event.get("channel_type")
    return kind == "im" if kind else str(event["channel"]).startswith("D")


def _reach(event: Json, said: Json, bot: Self) -> Reach:
    if _is_direct(event):
        return Reach.DIRECT
    if event.get("type") == "app_mention" or re.search(rf"<@{re.escape(bot.user)}[|>]", str(said.get("text") or "")):
        return Reach.MENTION
    if said.get("thread_ts") and said["thread_ts"] != said["ts"]:
        return Reach.THREAD
    return Reach.CHANNEL


def _home(said: Json, bot: Self) -> str:
    """Return the asker's own workspace where it isn't the bot's; an organisation's id (E...) names none."""
    for name in ("user_team", "source_team", "team"):
        team = str(said.get(name) or "")
        if team.startswith("T"):
            return "" if team == bot.team else team
    return ""


def _attachments(said: Json) -> tuple[Attachment, ...]:
    return tuple(
        Attachment(
            id=str(file["id"]),
            name=str(file.get("name") or file.get("title") or "file"),
            media_type=str(file.get("mimetype") or ""),
            size=int(file.get("size") or 0),
        )
        for file in said.get("files") or ()
        if file.get("id") and file.get("mode") not in ("tombstone", "hidden_by_limit")
    )
