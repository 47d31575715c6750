"""Servers, channels, threads, people and what they wrote, in the JSON of Discord's API v10."""

import itertools
import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]

APPLICATION = 100
BOT = 100
BOT_ROLE = 101
VIEW = 1 << 10
SEND = 1 << 11
HISTORY = 1 << 16
MANAGE_THREADS = 1 << 34
_EPOCH = 1_420_070_400_000
_ordinals = itertools.count(1)

TEXT, DIRECT, CATEGORY, ANNOUNCEMENT, PUBLIC_THREAD, PRIVATE_THREAD, FORUM = 0, 1, 4, 5, 11, 12, 15
SUPPRESS_EMBEDS = 1 << 2
EPHEMERAL = 1 << 6


def snowflake(age: float = 0.0) -> int:
    """Return a new id, of something that came to be so many seconds ago."""
    return (int((time.time() - age) * 1000) - _EPOCH) << 22 | (next(_ordinals) & 0xFFF)


def moment(age: float = 0.0) -> str:
    """Return the time so many seconds ago, as Discord writes it."""
    return datetime.fromtimestamp(time.time() - age, UTC).isoformat()


@dataclass(kw_only=True)
class Channel:
    """A channel of a server, a thread (``parent``), or a direct message with ``person``."""

    id: int
    type: int = TEXT
    guild: int = 0
    parent: int = 0
    person: int = 0
    hidden_from_all: bool = False
    """Whether @everyone can't see it; ``allowed`` then names who can."""
    allowed: set[int] = field(default_factory=set)
    thread_members: set[int] = field(default_factory=set)
    closed: int = 0
    """The error that the bot gets here instead of an answer (50001, 50013); 0: none."""
    messages: dict[int, Json] = field(default_factory=dict)
    name: str = ""
    category: int = 0
    nsfw: bool = False
    overwrites: list[Json] = field(default_factory=list)
    """Further ones, after what ``hidden_from_all`` comes to."""
    tags: dict[int, str] = field(default_factory=dict)
    """Those that a forum offers."""
    applied_tags: list[int] = field(default_factory=list)
    archived_at: str = ""
    """When a thread was archived; empty: it is active."""
    newest: int = 0
    """The last message that was ever said: it is told also when it is deleted."""

    @property
    def last_message(self) -> str | None:
        self.newest = max(self.newest, *self.messages, 0)
        return str(self.newest) if self.newest else None

    def as_json(self, bot: Json) -> Json:
        if self.type == DIRECT:
            return {"id": str(self.id), "type": DIRECT, "last_message_id": None, "recipients": [user_json(self.person)]}
        name = self.name or f"channel-{self.id}"
        shared = {"id": str(self.id), "type": self.type, "guild_id": str(self.guild), "name": name}
        if self.parent:
            return shared | {
                "parent_id": str(self.parent),
                "owner_id": "1",
                # Documented: "not including the initial message or deleted messages".
                "message_count": sum(one != self.id for one in self.messages),
                "last_message_id": self.last_message,
                "applied_tags": [str(tag) for tag in self.applied_tags],
                "member_count": 1,
                "rate_limit_per_user": 0,
                "thread_metadata": {
                    "archived": bool(self.archived_at),
                    "auto_archive_duration": 60,
                    "archive_timestamp": self.archived_at or moment(),
                    "locked": False,
                    **({"invitable": True} if self.type == PRIVATE_THREAD else {}),
                },
            }
        return shared | {
            "position": 0,
            "permission_overwrites": self._overwrites(),
            "topic": None,
            "nsfw": self.nsfw,
            "parent_id": str(self.category) if self.category else None,
            "last_message_id": self.last_message,
            "available_tags": [{"id": str(tag), "name": name, "moderated": False} for tag, name in self.tags.items()],
        }

    def _overwrites(self) -> list[Json]:
        if not self.hidden_from_all:
            return self.overwrites
        people = [{"id": str(one), "type": 1, "allow": str(VIEW | SEND), "deny": "0"} for one in {BOT, *self.allowed}]
        return [{"id": str(self.guild), "type": 0, "allow": "0", "deny": str(VIEW)}, *people, *self.overwrites]


@dataclass(kw_only=True)
class Guild:
    """A server; ``members`` maps people to the flags of their membership."""

    id: int
    features: list[str] = field(default_factory=list)
    members: dict[int, int] = field(default_factory=dict)
    name: str = ""
    everyone: int = VIEW | SEND | HISTORY
    """What @everyone may do."""
    own: int = VIEW | SEND | HISTORY
    """What the bot's role adds to that."""
    roles: dict[int, str] = field(default_factory=dict)
    """Further roles, which allow nothing of their own."""


def user_json(user: int, *, bot: bool = False) -> Json:
    name = "citebot" if user == BOT else f"user{user}"
    return {
        "id": str(user),
        "username": name,
        "global_name": None if bot else f"User {user}",
        "discriminator": "0",
        "avatar": None,
        "bot": bot,
        "public_flags": 0,
    }


def member_json(flags: int = 0) -> Json:
    return {"roles": [], "joined_at": moment(), "deaf": False, "mute": False, "nick": None, "flags": flags}


def guild_json(guild: Guild, channels: list[Channel], bot: Json) -> Json:
    everyone = {
        "id": str(guild.id),
        "name": "@everyone",
        "permissions": str(guild.everyone),
        "position": 0,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "managed": False,
        "mentionable": False,
        "flags": 0,
    }
    own = everyone | {
        "id": str(BOT_ROLE),
        "name": "citebot",
        "managed": True,
        "tags": {"bot_id": str(BOT)},
        "permissions": str(guild.own),
    }
    others = [everyone | {"id": str(one), "name": name, "permissions": "0"} for one, name in guild.roles.items()]
    return {
        "id": str(guild.id),
        "name": guild.name or f"Server {guild.id}",
        "owner_id": "1",
        "roles": [everyone, own, *others],
        "emojis": [],
        "stickers": [],
        "features": guild.features,
        "channels": [one.as_json(bot) for one in channels if not one.parent],
        "threads": [one.as_json(bot) for one in channels if one.parent and not one.archived_at],
        "members": [member_json() | {"user": bot, "roles": [str(BOT_ROLE)]}],
        "voice_states": [],
        "presences": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
        "member_count": len(guild.members) + 1,
        "preferred_locale": "en-US",
        "unavailable": False,
        "joined_at": moment(),
        "large": False,
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "premium_tier": 0,
        "nsfw_level": 0,
        "mfa_level": 0,
        "system_channel_flags": 0,
        "afk_timeout": 300,
        "icon": None,
        "splash": None,
        "banner": None,
    }


def message_json(channel: Channel, author: Json, content: str, *, age: float = 0.0) -> Json:
    """Return a new message, its mentions read from what it says."""
    return {
        "id": str(snowflake(age)),
        "channel_id": str(channel.id),
        **({"guild_id": str(channel.guild)} if channel.guild else {}),
        "author": author,
        "timestamp": moment(age),
        "edited_timestamp": None,
        "tts": False,
        "pinned": False,
        "type": 0,
        "flags": 0,
        "attachments": [],
        "embeds": [],
        "components": [],
        **spoken(content),
    }


def spoken(content: str) -> Json:
    """Return what of a message follows from its words."""
    users = dict.fromkeys(re.findall(r"<@!?(\d+)>", content))
    return {
        "content": content,
        "mention_everyone": bool(re.search(r"@(?:everyone|here)\b", content)),
        "mentions": [user_json(int(one), bot=int(one) == BOT) for one in users],
        "mention_roles": list(dict.fromkeys(re.findall(r"<@&(\d+)>", content))),
    }


def without_content(message: Json) -> Json:
    """Return a message as a bot sees it without the message content intent, where it is not meant for it."""
    own = message["author"]["id"] == str(BOT)
    mentioned = any(one["id"] == str(BOT) for one in message["mentions"])
    if own or mentioned or "guild_id" not in message:
        return message
    hidden = message | {"content": "", "embeds": [], "attachments": [], "components": []}
    if hidden.get("referenced_message"):
        hidden["referenced_message"] = without_content(hidden["referenced_message"])
    return hidden
