"""What a server tells of its channels and threads, as far as the bot's permissions reach."""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from tests.servers.discord.rules import Refused, invalid
from tests.servers.discord.world import (
    BOT,
    BOT_ROLE,
    HISTORY,
    MANAGE_THREADS,
    PRIVATE_THREAD,
    VIEW,
    Channel,
    Json,
    guild_json,
    moment,
)

if TYPE_CHECKING:
    from tests.servers.discord import State

_NOT_BY_REST = ("channels", "threads", "members", "voice_states", "presences", "large", "joined_at", "unavailable")
MOST_ARCHIVED = 100


def of_guild(state: "State", guild: int, what: str) -> Json | list[Json]:
    """Return a server, its channels (all of them, threads aside) or its active threads (those that the bot may see)."""
    known = state.guilds.get(guild)
    if known is None:
        raise Refused(404, 10004, "Unknown Guild")
    channels = [one for one in state.channels.values() if one.guild == guild]
    if what == "channels":
        return [one.as_json(state.bot) for one in channels if not one.parent]
    if what == "threads/active":
        return _threads(state, [one for one in channels if one.parent and not one.archived_at and sees(state, one)])
    told = guild_json(known, [], state.bot)
    return {name: value for name, value in told.items() if name not in _NOT_BY_REST}


def archived(state: "State", channel: Channel, path: str, query: Mapping[str, str]) -> Json:
    """Return a page of the archived threads of a channel: by time of archiving, the joined ones by id."""
    is_joined, is_private = path.startswith("users/"), path.endswith("private")
    allowed = permissions_in(state, channel)
    if not allowed & VIEW:
        raise Refused(403, 50001, "Missing Access")
    if not allowed & HISTORY or (is_private and not is_joined and not allowed & MANAGE_THREADS):
        raise Refused(403, 50013, "Missing Permissions")
    limit = int(query.get("limit", MOST_ARCHIVED))
    if not 1 <= limit <= MOST_ARCHIVED:
        raise invalid("limit", "NUMBER_TYPE_MAX", f"int value should be less than or equal to {MOST_ARCHIVED}.")
    found = [
        one
        for one in state.channels.values()
        if one.parent == channel.id and one.archived_at and (one.type == PRIVATE_THREAD) == is_private
    ]
    if is_joined:
        found = sorted((one for one in found if BOT in one.thread_members), key=lambda one: -one.id)
        found = [one for one in found if "before" not in query or one.id < int(query["before"])]
    else:
        found = sorted(found, key=lambda one: datetime.fromisoformat(one.archived_at), reverse=True)
        if "before" in query:
            before = datetime.fromisoformat(query["before"])
            found = [one for one in found if datetime.fromisoformat(one.archived_at) < before]
    return _threads(state, found[:limit]) | {"has_more": len(found) > limit}


def sees(state: "State", channel: Channel) -> bool:
    """Tell whether the bot sees a channel or thread: a private one when it is in it, or manages threads."""
    allowed = permissions_in(state, channel)
    is_in = channel.type != PRIVATE_THREAD or BOT in channel.thread_members or bool(allowed & MANAGE_THREADS)
    return bool(allowed & VIEW) and is_in


def may_read_history(state: "State", channel: Channel) -> bool:
    """Tell whether the bot is shown what was said before."""
    return not channel.guild or bool(permissions_in(state, channel) & HISTORY)


def permissions_in(state: "State", channel: Channel) -> int:
    """Return what the bot may do in a channel; a thread has the permissions of its channel."""
    place = state.channels.get(channel.parent, channel) if channel.parent else channel
    guild = state.guilds[channel.guild]
    allowed = guild.everyone | guild.own
    for kind, whose in ((0, {channel.guild}), (0, {BOT_ROLE}), (1, {BOT})):
        for one in place._overwrites():
            if one["type"] == kind and int(one["id"]) in whose:
                allowed = (allowed & ~int(one["deny"])) | int(one["allow"])
    return allowed


def _threads(state: "State", threads: list[Channel]) -> Json:
    joined = [one for one in threads if BOT in one.thread_members]
    members = [{"id": str(one.id), "user_id": str(BOT), "join_timestamp": moment(), "flags": 0} for one in joined]
    return {"threads": [one.as_json(state.bot) for one in threads], "members": members}
