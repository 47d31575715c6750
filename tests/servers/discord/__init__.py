"""A local Discord: REST and gateway, with what the real one documents and refuses, in one process, faults on demand.

Limits and codes: discord.com/developers/docs. ``server.chat`` and ``server.person`` make what there is; people act by
``say``, ``edit``, ``delete``, ``command`` and ``press``. The bot's messages stand in ``server.channels``.
"""

import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.discord import gateway as gw
from tests.servers.discord.interactions import Interactions
from tests.servers.discord.rest import Rest
from tests.servers.discord.world import (
    APPLICATION,
    BOT,
    DIRECT,
    PRIVATE_THREAD,
    PUBLIC_THREAD,
    Channel,
    Guild,
    Json,
    guild_json,
    member_json,
    message_json,
    moment,
    snowflake,
    spoken,
    user_json,
    without_content,
)
from tests.servers.faults import Faults, Window
from tests.servers.serving import served


@dataclass(kw_only=True)
class Rates:
    """What may be asked within so many seconds; the real numbers come by header and can change."""

    create: tuple[int, float] = (5, 5.0)
    edit: tuple[int, float] = (5, 5.0)
    everything: tuple[int, float] = (50, 1.0)
    history: tuple[int, float] = (50, 1.0)


@dataclass(kw_only=True)
class State:
    """What stands on the server."""

    token: str = "MTAw.local.token"
    url: str = ""
    bot: Json = field(default_factory=lambda: user_json(BOT, bot=True))
    guilds: dict[int, Guild] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    commands: list[Json] = field(default_factory=list)
    syncs: int = 0
    files: dict[str, bytes] = field(default_factory=dict)
    faults: Faults = field(default_factory=Faults)
    via: bool = True
    """Whether a 429 comes from Discord itself; one without ``Via`` comes from a wall before it."""
    shards: int = 1
    application_flags: int = 0
    """What is switched on in the portal, as the application tells it."""
    calls: list[tuple[float, str, Json]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    """The path and query of each call."""
    interfere: Callable[[str, str], web.Response | None] = lambda *_: None
    """Asked with the route and the path of each call; what it returns is answered instead."""
    edit: Callable[[str, Any], Any] = lambda _, told: told
    """Given the route and the answer of each call that went well; what it returns is sent."""
    clock_ahead: float = 0.0
    """Seconds by which the server's clock, as its replies tell it, is ahead of ours."""
    refused: list[tuple[str, int]] = field(default_factory=list)
    typing: list[tuple[float, int]] = field(default_factory=list)
    """When the bot was shown to be typing, and in which channel."""
    pings: list[str] = field(default_factory=list)
    """Whom messages of the bot really notified."""
    previewed: list[str] = field(default_factory=list)
    """Messages of the bot under which clients show previews."""
    rates: Rates = field(default_factory=Rates)
    windows: dict[str, Window] = field(default_factory=dict)
    deleted_nonces: set[str] = field(default_factory=set)
    watch: Callable[[str, str], None] = lambda *_: None
    """Told of each call ``before`` and ``after`` it took effect; its answer is not sent yet."""


class DiscordServer:
    """The server; use ``discord_server``."""

    def __init__(self, *, rates: Rates | None = None) -> None:
        self.state = State(rates=rates or Rates())
        self.gateway = gw.Gateway(token=self.state.token, ready=self._ready, guilds=self._guilds)
        self.interactions = Interactions(self.state, self.tell)
        self.rest = Rest(self.state, self.interactions, self.tell, self.direct)
        self._tokens = itertools.count(1)

    @property
    def url(self) -> str:
        return self.state.url

    @property
    def token(self) -> str:
        return self.state.token

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which a process finds this server."""
        return {"DISCORD_TOKEN": self.token, "CITEBOT_DISCORD__API_URL": self.url}

    @property
    def faults(self) -> Faults:
        return self.state.faults

    # What there is

    def guild(self, guild: int, *, features: tuple[str, ...] = ()) -> Guild:
        """Make a server before the bot connects."""
        return self.state.guilds.setdefault(guild, Guild(id=guild, features=list(features)))

    def channel(self, channel: int, *, guild: int, hidden: bool = False, allowed: tuple[int, ...] = ()) -> Channel:
        """Make a channel of a server; ``hidden`` from all but those ``allowed``."""
        made = Channel(id=channel, guild=guild, hidden_from_all=hidden, allowed=set(allowed))
        self.guild(guild)
        return self.state.channels.setdefault(channel, made)

    def thread(
        self, thread: int, *, parent: int, private: bool = False, members: tuple[int, ...] = (), name: str = ""
    ) -> Channel:
        """Make a thread of a channel."""
        made = Channel(
            id=thread,
            type=PRIVATE_THREAD if private else PUBLIC_THREAD,
            guild=self.state.channels[parent].guild,
            parent=parent,
            name=name,
            thread_members=set(members),
        )
        return self.state.channels.setdefault(thread, made)

    def direct(self, person: int) -> Channel:
        """Return the direct message channel with somebody."""
        for channel in self.state.channels.values():
            if channel.person == person:
                return channel
        made = Channel(id=snowflake(), type=DIRECT, person=person)
        self.state.channels[made.id] = made
        return made

    def join(self, guild: int, person: int, *, flags: int = 0) -> None:
        """Let somebody become a member."""
        self.guild(guild).members[person] = flags

    def answers(self, channel: int) -> list[Json]:
        """Return what the bot has said in a channel, oldest first, ephemeral messages aside."""
        return [one for one in self.state.channels[channel].messages.values() if one["author"]["id"] == str(BOT)]

    def count(self, name: str) -> int:
        """Return how often a route was called (``POST /channels/{}/messages``)."""
        return sum(called == name for _, called, _ in self.state.calls)

    # What people do

    async def say(
        self,
        channel: Channel | int,
        text: str,
        *,
        user: int = 42,
        bot: bool = False,
        reply_to: Json | None = None,
        reply_pings: bool = True,
        age: float = 0.0,
        told: bool = True,
        **more: Any,
    ) -> Json:
        """Let somebody write; returns the message. ``told`` is False for what was written while nobody listened."""
        place = self._channel(channel)
        if place.guild:
            self.guild(place.guild).members.setdefault(user, 0)
        message = message_json(place, user_json(user, bot=bot), text, age=age) | more
        if reply_to is not None:
            message |= {
                "type": 19,
                "referenced_message": reply_to,
                "message_reference": {"message_id": reply_to["id"], "channel_id": str(place.id)},
            }
            if reply_pings and all(one["id"] != reply_to["author"]["id"] for one in message["mentions"]):
                message["mentions"].append(reply_to["author"])
        place.messages[int(message["id"])] = message
        if told:
            await self.tell("MESSAGE_CREATE", message)
        return message

    async def edit(self, message: Json, text: str) -> None:
        """Let somebody change what they wrote."""
        message |= spoken(text) | {"edited_timestamp": moment()}
        await self.tell("MESSAGE_UPDATE", message)

    async def unfurl(self, message: Json) -> None:
        """Let a preview appear under a message: an update that nobody wrote."""
        message["embeds"] = [{"type": "link", "url": "https://example.org"}]
        await self.tell("MESSAGE_UPDATE", message)

    async def delete(self, message: Json) -> None:
        """Let somebody take back what they wrote."""
        channel = self.state.channels[int(message["channel_id"])]
        del channel.messages[int(message["id"])]
        gone = {"id": message["id"], "channel_id": message["channel_id"]}
        await self.tell("MESSAGE_DELETE", gone | ({"guild_id": str(channel.guild)} if channel.guild else {}))

    async def command(
        self, channel: Channel | int, name: str, *, user: int = 42, locale: str = "en-US", **options: object
    ) -> Json:
        """Let somebody use a slash command; returns the interaction."""
        data = self._command_data(name, options)
        return await self._interact(2, self._channel(channel), user, data, locale)

    async def complete(self, channel: Channel | int, name: str, option: str, typed: str, *, user: int = 42) -> Json:
        """Let somebody begin to type an option; returns the interaction."""
        data = self._command_data(name, {option: typed})
        for given in data["options"]:
            given["focused"] = True
        return await self._interact(4, self._channel(channel), user, data, "en-US")

    async def press(self, message: Json, custom_id: str, *, user: int = 42, locale: str = "en-US") -> Json:
        """Let somebody press the button; returns the interaction."""
        held = [button["custom_id"] for row in message["components"] for button in row["components"]]
        if custom_id not in held:
            raise AssertionError(f"no button says {custom_id!r}: {held}")
        channel = self.state.channels[int(message["channel_id"])]
        data = {"custom_id": custom_id, "component_type": 2}
        return await self._interact(3, channel, user, data, locale, message=message)

    def _command_data(self, name: str, options: dict[str, object]) -> Json:
        known = {one["name"]: one for one in self.state.commands}
        if name not in known:
            raise AssertionError(f"there is no /{name}: {sorted(known)}")
        types = {one["name"]: one["type"] for one in known[name].get("options", ())}
        given = [{"name": key, "type": types[key], "value": value} for key, value in options.items()]
        return {"id": known[name]["id"], "name": name, "type": 1, "options": given}

    async def _interact(
        self, kind: int, channel: Channel, user: int, data: Json, locale: str, message: Json | None = None
    ) -> Json:
        interaction: Json = {
            "id": str(snowflake()),
            "application_id": str(APPLICATION),
            "type": kind,
            "version": 1,
            "token": f"interaction-token-{next(self._tokens)}",
            "data": data,
            "channel": channel.as_json(self.state.bot),
            "channel_id": str(channel.id),
            "locale": locale,
            "attachment_size_limit": 10_485_760,
            # Documented: always there, the bot's permissions where the interaction began. All, or none.
            "app_permissions": "0" if channel.closed else str((1 << 46) - 1),
            "entitlements": [],
            "authorizing_integration_owners": {},
            "context": 0 if channel.guild else 1,
        }
        if channel.guild:
            guild = self.guild(channel.guild)
            member = member_json(guild.members.setdefault(user, 0))
            interaction |= {
                "guild_id": str(channel.guild),
                "guild": {"id": str(channel.guild), "locale": "en-US", "features": guild.features},
                "guild_locale": "en-US",
                "member": member | {"user": user_json(user), "permissions": "0"},
            }
        else:
            interaction["user"] = user_json(user)
        if message is not None:
            interaction["message"] = message
        self.interactions.begin(interaction, channel)
        await self.tell("INTERACTION_CREATE", interaction)
        return interaction

    def _channel(self, channel: Channel | int) -> Channel:
        return self.state.channels[channel] if isinstance(channel, int) else channel

    # What the bot hears

    async def tell(self, name: str, data: Json) -> None:
        """Dispatch an event to the shard that it belongs to, as far as its intents reach."""
        guild = int(data.get("guild_id", 0))
        for session in list(self.gateway.sessions.values()):
            if (guild >> 22) % session.shard[1] != session.shard[0]:
                continue
            if name.startswith("MESSAGE"):
                if not session.takes(gw.GUILD_MESSAGES if guild else gw.DIRECT_MESSAGES):
                    continue
                if name != "MESSAGE_DELETE" and not session.takes(gw.MESSAGE_CONTENT):
                    data = without_content(data)
            await session.dispatch(name, data)

    def _ready(self, session: gw.Session) -> Json:
        mine = [guild for guild in self.state.guilds if (guild >> 22) % session.shard[1] == session.shard[0]]
        return {
            "v": 10,
            "user": self.state.bot,
            "guilds": [{"id": str(guild), "unavailable": True} for guild in mine],
            "session_id": session.id,
            "resume_gateway_url": self.gateway.url,
            "shard": list(session.shard),
            "application": {"id": str(APPLICATION), "flags": 0},
        }

    def _guilds(self, session: gw.Session) -> list[Json]:
        return [
            guild_json(guild, [one for one in self.state.channels.values() if one.guild == guild.id], self.state.bot)
            for guild in self.state.guilds.values()
            if (guild.id >> 22) % session.shard[1] == session.shard[0]
        ]


@asynccontextmanager
async def discord_server(*, port: int = 0, rates: Rates | None = None) -> AsyncIterator[DiscordServer]:
    """Serve on a port of its own, on the loopback, until left."""
    server = DiscordServer(rates=rates)
    app = web.Application(client_max_size=2**25)
    app.router.add_get("/gateway", server.gateway.handle)
    app.router.add_get("/gateway/", server.gateway.handle)
    app.router.add_route("*", "/api/v10/{path:.*}", server.rest.handle)
    app.router.add_get("/files/{path:.*}", server.rest.download)
    async with served(app, port) as where:
        server.state.url = f"http://{where}/api/v10"
        server.gateway.url = f"ws://{where}/gateway/"
        server.rest.gateway_url = server.gateway.url
        try:
            yield server
        finally:
            server.gateway.break_off()
