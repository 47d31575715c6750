"""The gateway's events, handed over to the inbox; and the client that hears them, one shard or many."""

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Awaitable, Callable

import discord
import yarl
from discord import app_commands
from discord.gateway import DiscordWebSocket
from discord.http import Route

from bots.discord.calling import Calls, mapped
from bots.discord.commands import command_tree, sync
from bots.discord.interacting import Interactions
from bots.discord.pressing import Pressing
from bots.discord.reading import Reading
from bots.discord.translating import PLATFORM, asked, incoming_of, is_ephemeral, place_of
from bots.platform import CommandName, Inbox, Incoming, Sent
from bots.retrying import until_kept
from bots.words.gist import SEARCHING, begun
from ragcore.errors import BusyError, PlatformError, PlatformUnreachable, StoreError
from ragcore.types import ConversationKey

log = logging.getLogger(__name__)

LIBRARY_LOG = logging.getLogger("discord")
DISCORD_URL = "https://discord.com/api/v10"
LONGEST_WAIT = 30.0
"""Seconds; what Discord wants us to wait longer for comes back as an error. The library takes no less."""
LOST_SECONDS = 30.0
"""So long the library may try to connect again before that is told."""
_LOOK_SECONDS = 0.5
CLAIM_SECONDS = 1.5
"""So long a first sign waits for its claim: Discord gives it 3 seconds."""
_GUILD_SECONDS = 3.0
_TOLD = frozenset(("MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK"))
"""The events that change what somebody may read."""

Readers = Callable[[str], Awaitable[frozenset[str]]]


class Listener(discord.AutoShardedClient):
    """One connection with one set of intents; a refused intent needs another."""

    def __init__(
        self,
        inbox: Inbox,
        calls: Calls,
        interactions: Interactions,
        reading: Reading,
        readers: Readers,
        *,
        content: bool,
        connected: asyncio.Event,
    ) -> None:
        """``content`` asks for the message content intent; ``connected`` is set once everything is at hand."""
        super().__init__(
            intents=discord.Intents(guilds=True, messages=True, message_content=content),
            allowed_mentions=discord.AllowedMentions.none(),
            max_ratelimit_timeout=LONGEST_WAIT,
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            guild_ready_timeout=0.0,
            http_trace=calls.refusals.trace(),
            enable_debug_events=True,  # for ``on_socket_raw_receive``
        )
        self._inbox = inbox
        self._calls = calls
        self._interactions = interactions
        self._readers = readers
        self._connected = connected
        self._pressing = Pressing(inbox, calls, reading, readers, self._ask)

    async def run_until_closed(self, token: str, api_url: str) -> None:
        """Connect and listen; raises what discord.py raises."""
        # In more detail it writes down tokens, and what people say.
        LIBRARY_LOG.setLevel(max(logging.INFO, LIBRARY_LOG.getEffectiveLevel()))
        elsewhere = api_url.rstrip("/") != DISCORD_URL
        if elsewhere:
            Route.BASE = api_url.rstrip("/")
        await self.login(token)
        if elsewhere:
            # The library asks for it only at its first connection, and comes back to its default after that.
            _, gateway, _ = await self.http.get_bot_gateway()
            DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway)
        await self._connect_and_watch()

    async def _connect_and_watch(self) -> None:
        """Stay connected: the library connects again by itself, and PlatformUnreachable tells who stays away long."""
        connecting = asyncio.create_task(self.connect())
        watching = asyncio.create_task(self._lost())
        try:
            await asyncio.wait({connecting, watching}, return_when=asyncio.FIRST_COMPLETED)
            if not connecting.done():
                raise PlatformUnreachable("Discord has closed the connection and takes none")
            await connecting
        finally:
            for task in (connecting, watching):
                task.cancel()
            await asyncio.gather(connecting, watching, return_exceptions=True)

    async def _lost(self) -> None:
        """Return when it was connected, and no shard has been for long."""
        last = time.monotonic()
        while not self._connected.is_set() or time.monotonic() - last < LOST_SECONDS:
            await asyncio.sleep(_LOOK_SECONDS)
            if not self._connected.is_set() or not all(shard.is_closed() for shard in self.shards.values()):
                last = time.monotonic()

    async def setup_hook(self) -> None:
        """Have the slash commands, and Discord know them, before anybody can use one."""
        self._calls.client = self  # logged in: from now on it makes calls
        tree = command_tree(self, self._use, self._complete, self._complete_source)
        try:
            await sync(tree, self.application_id or 0)
        except PlatformError as error:
            log.warning("the slash commands could not be told to Discord: %s", error)

    async def on_ready(self) -> None:
        """Take up what was missed, as soon as the servers are known; again after each new session."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GUILD_SECONDS):
                while any(guild.unavailable for guild in self.guilds):  # noqa: ASYNC110 (the library tells no such event)
                    await asyncio.sleep(0.02)
        self._connected.set()
        await until_kept(self._inbox.connected, StoreError)

    # Messages

    async def on_socket_raw_receive(self, received: str) -> None:
        """Hand on what happens to messages as the gateway tells it, also what the library makes no event of."""
        if '"MESSAGE_' not in received:
            return
        told = json.loads(received)
        if told.get("t") in _TOLD:
            self._inbox.saw({"t": told["t"], "d": told["d"]})

    async def on_message(self, message: discord.Message) -> None:
        """Hand over what somebody wrote; learn the keys of what we wrote."""
        me = self.user.id if self.user else 0
        if message.guild is None:
            self._calls.newest.saw(str(message.channel.id), message.id)
        if message.author.id == me:
            if message.nonce is not None:
                self._calls.took(str(message.nonce), Sent(channel=str(message.channel.id), id=str(message.id)))
            return
        incoming = incoming_of(message, me)
        if incoming is not None:
            await self._receive(incoming)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """Hand over what somebody changed; a preview that appears is no change of theirs."""
        if payload.message.edited_at is None:
            return
        incoming = incoming_of(payload.message, self.user.id if self.user else 0)
        if incoming is not None:
            await self._receive(incoming)

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        """Tell what somebody took back."""
        await self._deleted(payload.guild_id, payload.channel_id, payload.message_id)

    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        """Tell what a moderator swept away."""
        for message in payload.message_ids:
            await self._deleted(payload.guild_id, payload.channel_id, message)

    async def _deleted(self, guild: int | None, channel: int, message: int) -> None:
        self._calls.gone(str(message))
        known = self.get_channel(channel)
        parent = known.parent_id if isinstance(known, discord.Thread) else channel
        key = ConversationKey(
            platform=PLATFORM,
            workspace=str(guild) if guild else "",
            channel=str(parent),
            thread=f"thread {channel}" if parent != channel else "",
        )
        # Discord tells of it only once.
        await until_kept(lambda: self._inbox.deleted(key, str(message)), StoreError)

    async def _receive(self, incoming: Incoming) -> bool:
        """Claim it, as often as it takes: Discord tells of it only once."""
        try:
            return await until_kept(lambda: self._inbox.receive(incoming), StoreError)
        except BusyError as error:
            log.info("a message is left to whoever comes next: %s", error)
            return False

    # Interactions

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Serve a pressed button; commands go by the tree."""
        if interaction.type is discord.InteractionType.component:
            await self._pressing.press(interaction)

    async def _use(
        self,
        interaction: discord.Interaction,
        name: CommandName,
        text: str = "",
        *,
        knowledge_base: str = "",
        ephemeral: bool = False,
    ) -> None:
        if name in ("ask", "research", "search") and not text.strip():
            name, ephemeral = "help", True
        await self._ask(interaction, asked(interaction, name, text, knowledge_base=knowledge_base, ephemeral=ephemeral))

    async def _ask(self, interaction: discord.Interaction, incoming: Incoming) -> None:
        """Claim what was asked, then show the first sign; a slow database doesn't keep that back for long."""
        self._interactions.expect(interaction)
        claiming = asyncio.create_task(self._receive(incoming))
        await asyncio.wait({claiming}, timeout=CLAIM_SECONDS)
        if claiming.done() and not claiming.result():
            # It came twice, or to another process, which has the word.
            self._interactions.leave(interaction)
            return
        language = self._inbox.language(incoming.asker.language, incoming.text)
        words = begun(incoming.command, language) if incoming.command in SEARCHING else "…"
        await self._interactions.begin(interaction, words, ephemeral=is_ephemeral(incoming))
        await claiming

    async def _complete_source(self, interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
        *before, begun = map(str.strip, typed.split(","))  # several may be named
        names = [name for name in self._inbox.sources(f"{PLATFORM}:@{interaction.user.id}") if name not in before]
        found = [", ".join([*before, name]) for name in names if begun.lower() in name.lower()]
        return [app_commands.Choice(name=name, value=name) for name in found if len(name) <= 100][:25]

    async def _complete(self, interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
        place = place_of(interaction.channel, interaction.guild)
        alone = not place.workspace or bool(getattr(interaction.namespace, "private", False))
        command = interaction.command
        if command is not None and command.name == "search":
            alone = True
        readers = await self._readers(str(interaction.user.id)) if alone else place.seen_by
        key = ConversationKey(platform=PLATFORM, workspace=place.workspace, channel=place.channel)
        try:
            async with mapped():
                names = await self._inbox.knowledge_bases(key, readers)
        except PlatformError:
            return []
        fitting = [name for name in names if typed.lower() in name.lower()]
        return [app_commands.Choice(name=name, value=name) for name in fitting if len(name) <= 100][:25]
