"""Discord: messages, threads and slash commands over the gateway, answers that grow by edits. Imports discord.py.

Where ``api_url`` is not Discord's own, the library's addresses are changed for the whole process.
"""

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Literal

import discord

from bots.discord.calling import Calls, mapped
from bots.discord.interacting import Interactions
from bots.discord.listening import DISCORD_URL, Listener
from bots.discord.reading import Reading
from bots.discord.talk import Talker, address
from bots.discord.translating import PLATFORM, in_thread, is_ephemeral, place_of, privately, stays_one, written_to
from bots.manner import Manner
from bots.platform import Asker, Attachment, Call, Inbox, Incoming, Limit, Reach, Sent, View
from bots.rendering.discord import DiscordMessage, render_discord, render_discord_partial
from bots.rendering.parse import parse_markdown
from bots.talk import Span, Talk, local_zone
from ragcore.errors import PlatformError, PlatformRefused, PlatformUnreachable
from ragcore.types import ConversationKey, Message

__all__ = ["DISCORD_URL", "DiscordPlatform"]

log = logging.getLogger(__name__)

MessageContent = Literal["auto", "on", "off"]
_TYPING_SECONDS = 10.0
_EDIT_SECONDS = 1.2


class DiscordPlatform:
    """One bot; implements ``Platform[DiscordMessage]``."""

    name = PLATFORM

    def __init__(
        self,
        *,
        token: str,
        api_url: str = DISCORD_URL,
        message_content: MessageContent = "auto",
        places: Sequence[str] = (),
    ) -> None:
        """Hold the token; nothing is called yet.

        Args:
            token: The bot's.
            api_url: Of the REST API, its version included; at its default the library is left as it is, another one
                also moves the gateway.
            message_content: Whether to ask for the message content intent; ``auto`` does without when it is refused.
            places: The servers and channels that the settings name as readers: whether an asker is in one is asked of
                Discord.
        """
        self._token = token
        self._api_url = api_url
        self._wanted = message_content
        self._reads_content = message_content != "off"
        self._calls = Calls()
        self._interactions = Interactions(self._calls)
        self._reading = Reading(self._calls, places)
        self._talker = Talker(self._calls)
        self.connected = asyncio.Event()

    @property
    def reads_content(self) -> bool:
        """Tell whether messages that don't mention the bot show what they say."""
        return self._reads_content

    @property
    def limited(self) -> int:
        """Return how many calls Discord has refused with 429."""
        return self._calls.refusals.count

    async def serve(self, inbox: Inbox) -> None:
        """Listen until cancelled; PlatformError when the token or an intent is refused, or the network is away."""
        while True:
            listener = Listener(
                inbox,
                self._calls,
                self._interactions,
                self._reading,
                self._readers_of,
                content=self._reads_content,
                connected=self.connected,
            )
            try:
                async with mapped():
                    await self._listen(listener)
            except _IntentRefused:
                log.warning("Discord refused the message content intent; threads need a mention without it")
                self._reads_content = False
            else:
                raise PlatformUnreachable("Discord closed the connection")

    async def _listen(self, listener: Listener) -> None:
        try:
            await listener.run_until_closed(self._token, self._api_url)
        except discord.PrivilegedIntentsRequired as error:
            if self._wanted == "auto" and self._reads_content:
                raise _IntentRefused from error
            raise
        finally:
            self.connected.clear()
            self._reading.close()
            await listener.close()

    def manner(self, incoming: Incoming) -> Manner:
        """Return edits, about one a second."""
        hidden = in_thread(incoming.conversation) and not incoming.private and not self._reads_content
        return Manner(
            streaming="edit",
            every=_EDIT_SECONDS,
            finds_sent=True,
            status_lasts=0.0 if incoming.token else _TYPING_SECONDS,
            suggests=incoming.reach is Reach.DIRECT,
            shares=is_ephemeral(incoming),
            paged=stays_one(incoming),
            notice="mention_needed" if hidden else "",
        )

    def limits(self, incoming: Incoming, call: Call, begun: Sent | None = None) -> tuple[Limit, ...]:
        """Return what is seen in practice: 5 in 5 seconds and channel, for new messages and for edits; 50 a second.

        The library keeps to what Discord's headers tell as well; calls by an interaction's token count by themselves.
        """
        if incoming.token:
            return () if call is Call.STATUS else (_five(f"interaction {incoming.message}"),)
        # Ten calls a second are left to what nobody paces: histories, members, buttons.
        whole = Limit(bucket="bot", calls=40, seconds=1.0, kept=12, shared=True)
        channel = begun.channel if begun is not None else written_to(incoming)
        match call:
            case Call.STATUS:
                return (whole, _five(f"typing {channel}"))
            case Call.BEGIN | Call.SEND:
                return (whole, _five(f"send {channel}"))
            case Call.CHANGE | Call.END:
                return (whole, _five(f"edit {channel}"))

    def render(self, view: View) -> tuple[DiscordMessage, ...]:
        """Return the whole reply."""
        return render_discord(view)

    def render_partial(self, view: View) -> DiscordMessage:
        """Return what is written so far."""
        return render_discord_partial(view)

    async def status(self, incoming: Incoming, words: str) -> None:
        """Show "typing …": Discord has no words for it; a slash command's reply says it already."""
        if incoming.token:
            return
        try:
            async with mapped():
                await self._calls.client.get_partial_messageable(int(written_to(incoming))).typing()
        except PlatformError as error:
            log.debug("left out: %s", error)

    async def show(self, incoming: Incoming, part: DiscordMessage, *, begun: Sent | None, key: str) -> Sent:
        """Send, then edit."""
        return await self._put(incoming, part, begun=begun, key=key, number=0, final=False)

    async def send(
        self, incoming: Incoming, part: DiscordMessage, *, begun: Sent | None, key: str, number: int
    ) -> Sent:
        """Edit what was begun, or send a message of its own."""
        return await self._put(incoming, part, begun=begun, key=key, number=number, final=True)

    async def _put(
        self, incoming: Incoming, part: DiscordMessage, *, begun: Sent | None, key: str, number: int, final: bool
    ) -> Sent:
        if incoming.token:
            return await self._interactions.put(incoming, part, begun=begun, key=key, number=number, final=final)
        if begun is not None:
            await self._calls.edit(begun, part)
            return begun
        # The first part is a reply, unless a direct message stands right above its answer.
        channel, asked = written_to(incoming), incoming.message
        replies = number == 0 and (not incoming.private or self._calls.newest.is_after(channel, int(asked)))
        return await self._calls.post(channel, part, reply_to=asked if replies else "", key=key)

    async def find(self, incoming: Incoming, key: str) -> Sent | None:
        """Return what was sent under the key, as far as Discord tells it."""
        return await self._reading.find(incoming, key)

    async def withdraw(self, incoming: Incoming, sent: Sent) -> None:
        """Delete a message of ours."""
        if incoming.token:
            await self._interactions.withdraw(incoming, sent)
        else:
            await self._calls.delete(sent)

    async def thread(self, incoming: Incoming, *, limit: int) -> tuple[Message, ...]:
        """Return what was said before a message in its thread, or up the chain of replies."""
        return await self._reading.thread(incoming, limit)

    def in_thread(self, incoming: Incoming) -> bool:
        """Return whether it stands in a thread, which is a channel of its own."""
        return in_thread(incoming.conversation)

    async def zone(self, incoming: Incoming) -> tzinfo:
        """Return the time zone of this machine: Discord tells nobody's."""
        return local_zone()

    async def said(self, incoming: Incoming, span: Span) -> Talk:
        """Return what was said in the thread or the channel, if all who see the reply may read it."""
        return await self._talker.said(incoming, span, reads_content=self._reads_content)

    def permalink(self, incoming: Incoming, message: str) -> str:
        """Return a message's address."""
        return address(incoming.conversation, written_to(incoming), message)

    async def readers(self, incoming: Incoming) -> frozenset[str]:
        """Return the asker, and the servers and channels that Discord confirms them in, for a private reply."""
        if not incoming.private:
            return incoming.seen_by
        return await self._readers_of(incoming.asker.id)

    async def _readers_of(self, user: str) -> frozenset[str]:
        return privately(user) | await self._reading.places_of(user)

    async def fetch(self, incoming: Incoming, attachment: Attachment, *, limit: int) -> bytes:
        """Return a file's content."""
        if attachment.size > limit:
            raise PlatformRefused(f"the file is larger than {limit} bytes")
        return await self._calls.download(attachment.id, limit)

    async def tell(self, person: str, words: str) -> None:
        """Write to ``discord:@USER`` directly; they must share a server with the bot."""
        channel = await self._calls.direct(person.removeprefix(f"{PLATFORM}:@"))
        for part in render_discord(View(document=parse_markdown(words), reference="")):
            await self._calls.post(channel, part)

    async def direct(self, person: str) -> ConversationKey:
        """Return the direct messages with ``discord:@USER``."""
        channel = await self._calls.direct(person.removeprefix(f"{PLATFORM}:@"))
        return ConversationKey(platform=PLATFORM, channel=channel)

    async def seen_in(self, conversation: ConversationKey) -> frozenset[str]:
        """Return the channel, and its server unless outsiders see it."""
        channel = self._calls.client.get_channel(int(conversation.channel))
        if not isinstance(channel, discord.abc.GuildChannel):
            return frozenset({"*", f"{PLATFORM}:{conversation.workspace}/{conversation.channel}"})
        return place_of(channel, channel.guild).seen_by

    async def called(self, asker: Asker) -> str:
        """Return the name that came with what they wrote."""
        return asker.name or asker.id

    async def missed(self, conversations: tuple[ConversationKey, ...], since: datetime) -> tuple[Incoming, ...]:
        """Return what was asked in these conversations' channels since then."""
        return await self._reading.missed(conversations, since)


class _IntentRefused(Exception):
    """The message content intent isn't switched on in the portal."""


def _five(bucket: str) -> Limit:
    """Return a limit of 5 in 5 seconds, one of them left to the library: it would hold back the fifth answer."""
    return Limit(bucket=bucket, calls=4, seconds=5.0, kept=1)
