"""Which documents an event of Discord's gateway concerns. Pure.

An event of a message tells its channel and not always whether that is a thread, nor that a thread began from it: then
each document that it may concern is named, and fetching those that there aren't finds nothing. What else changes many
documents at once (a channel's name, its permissions) is left to the next run, as no event names them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from connectors.discord.documents import day_native
from connectors.discord.moments import day_of
from connectors.discord.options import DiscordOptions
from connectors.discord.payloads import SPOKEN_IN, THREADS

_HAS_THREAD = 1 << 5
_THREADS = frozenset({"THREAD_CREATE", "THREAD_UPDATE", "THREAD_DELETE"})
_MESSAGES = frozenset({"MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK"})


def touched(options: DiscordOptions, event: Mapping[str, Any]) -> Sequence[str]:
    """Return the native ids of the documents that an event concerns, none when it concerns none of this source.

    Args:
        options: The source's settings.
        event: What the gateway sent: ``t`` is the event's name, ``d`` what it says
            (discord.com/developers/docs/events/gateway-events).
    """
    name, told = event.get("t"), event.get("d")
    if not isinstance(told, Mapping) or str(told.get("guild_id") or "") not in options.servers:
        return ()
    try:
        if name in _THREADS:
            left_out = {str(told["id"]), str(told.get("parent_id"))} & set(options.exclude)
            return () if left_out else (str(int(told["id"])),)
        if name in _MESSAGES and str(told["channel_id"]) not in options.exclude:
            return tuple(dict.fromkeys(_of_messages(str(name), options, told)))
    except (KeyError, TypeError, ValueError, AttributeError):  # not in the documented form
        return ()
    return ()


def _of_messages(name: str, options: DiscordOptions, told: Mapping[str, Any]) -> Iterator[str]:
    channel, kind = int(told["channel_id"]), told.get("channel_type")
    author = told.get("author") or {}
    is_bots = bool(author.get("bot") or told.get("webhook_id"))
    if is_bots and not options.bots:
        return
    if kind is None or kind in THREADS:
        yield str(channel)
    if kind is None or kind in SPOKEN_IN:
        zone = ZoneInfo(options.timezone)
        for message in told["ids"] if name == "MESSAGE_DELETE_BULK" else (told["id"],):
            yield day_native(channel, day_of(int(message), zone))
        if name == "MESSAGE_DELETE" or (name == "MESSAGE_UPDATE" and int(told.get("flags") or 0) & _HAS_THREAD):
            yield str(int(told["id"]))  # a thread has the id of the message that it began from
