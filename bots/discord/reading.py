"""What a bot reads of Discord beside its events: threads, what it missed, who is a member of what."""

import logging
from collections.abc import Sequence
from datetime import datetime

import discord

from bots.discord.calling import Calls, mapped
from bots.discord.translating import (
    PLATFORM,
    REPLIES_TO,
    channel_of,
    in_thread,
    incoming_of,
    replied_id,
    replied_to,
    words_of,
    written_to,
)
from bots.platform import Incoming, Reach, Sent
from bots.remembered import Remembered
from ragcore.errors import MessageGone, PlatformError
from ragcore.types import ConversationKey, Message

log = logging.getLogger(__name__)

_CHAIN = 10
"""So many steps of a chain of replies are followed: each is a call."""
_MISSED = 50
"""So many messages of a channel are read back."""
_UNSURE = 20
"""So many messages after a question are looked through for one of ours."""


class Reading:
    """Reads for one bot; all raise PlatformError unless they say otherwise."""

    def __init__(self, calls: Calls, places: Sequence[str]) -> None:
        """``places`` are the servers (``discord:G``) and channels (``discord:G/C``) that the settings name."""
        self._calls = calls
        self._places = tuple(place for place in places if place.startswith(f"{PLATFORM}:") and "@" not in place)
        self._memberships = Remembered(self._confirmed)

    def close(self) -> None:
        """Ask no more."""
        self._memberships.close()

    @property
    def _me(self) -> int:
        user = self._calls.client.user
        return user.id if user is not None else 0

    async def thread(self, incoming: Incoming, limit: int) -> tuple[Message, ...]:
        """Return what was said before a message: in its thread, or up the chain of replies."""
        if limit < 1 or incoming.token:
            return ()
        place = self._calls.client.get_partial_messageable(int(written_to(incoming)))
        if in_thread(incoming.conversation) or not incoming.conversation.workspace:
            before = discord.Object(int(incoming.message))
            async with mapped():
                found = [one async for one in place.history(limit=limit, before=before)]
        else:
            found = await self._chain(place, incoming.extra.get(REPLIES_TO, ""), min(limit, _CHAIN))
        return tuple(self._said(one) for one in reversed(found) if words_of(one, self._me))

    async def _chain(self, place: discord.PartialMessageable, number: str, limit: int) -> list[discord.Message]:
        """Return a message, what it replies to, and so on: newest first, as far as they are still there."""
        found: list[discord.Message] = []
        known: discord.Message | None = None
        while number and len(found) < limit:
            try:
                async with mapped():
                    message = known or await place.fetch_message(int(number))
            except MessageGone:
                break
            found.append(message)
            known, number = replied_to(message), replied_id(message)
        return found

    def _said(self, message: discord.Message) -> Message:
        own = message.author.id == self._me
        return Message(
            role="assistant" if own else "user",
            text=words_of(message, self._me),
            author="" if own else message.author.display_name,
            sent_at=message.created_at,
        )

    async def missed(self, conversations: tuple[ConversationKey, ...], since: datetime) -> tuple[Incoming, ...]:
        """Return what was asked since then: mentions, replies, in threads and direct messages.

        A channel that can't be read any more is passed over.
        """
        found: list[Incoming] = []
        for channel in dict.fromkeys(channel_of(one) for one in conversations if one.platform == PLATFORM):
            try:
                found += await self._missed_in(int(channel), since)
            except PlatformError as error:
                log.info("channel %s was not read back: %s", channel, error)
        return tuple(found)

    async def _missed_in(self, channel: int, since: datetime) -> list[Incoming]:
        client = self._calls.client
        async with mapped():
            place = client.get_channel(channel) or await client.fetch_channel(channel)
            if not isinstance(place, discord.abc.Messageable):
                return []
            messages = [one async for one in place.history(limit=_MISSED, after=since, oldest_first=True)]
        asked = (incoming_of(one, self._me) for one in messages)
        return [one for one in asked if one is not None and one.reach is not Reach.CHANNEL]

    async def find(self, incoming: Incoming, key: str) -> Sent | None:
        """Return what was sent under the key, as far as Discord tells it.

        The gateway tells the key of each message of ours; the history doesn't promise to. A message that is sent again
        under its key within some minutes is not sent twice, so that nothing is lost where this knows nothing.
        """
        known = self._calls.known(key)
        if known is not None:
            return known
        place = self._calls.client.get_partial_messageable(int(written_to(incoming)))
        async with mapped():
            asked = discord.Object(int(incoming.message))
            async for message in place.history(limit=_UNSURE, after=asked, oldest_first=True):
                if message.author.id == self._me and str(message.nonce) == key:
                    return Sent(channel=written_to(incoming), id=str(message.id))
        return None

    async def places_of(self, user: str) -> frozenset[str]:
        """Return the servers and channels, of those that the settings name, that somebody is in now. Never raises."""
        return frozenset([place for place in self._places if await self._is_in(place, user)])

    async def _is_in(self, place: str, user: str) -> bool:
        """Tell whether somebody is in a place; not confirmed means no."""
        try:
            return await self._memberships.get((place, user))
        except (PlatformError, ValueError) as error:
            log.info("whether somebody is in %s could not be asked: %s", place, error)
            return False

    async def _confirmed(self, asked: tuple[str, str]) -> bool:
        async with mapped():
            return await self._is_member(*asked)

    async def _is_member(self, place: str, user: str) -> bool:
        server, _, channel = place.removeprefix(f"{PLATFORM}:").partition("/")
        guild = self._calls.client.get_guild(int(server))
        if guild is None:
            return False
        try:
            member = await guild.fetch_member(int(user))
            if not channel:
                return not member.flags.guest
            return await _sees(guild, int(channel), member)
        except discord.NotFound:
            return False


async def _sees(guild: discord.Guild, channel: int, member: discord.Member) -> bool:
    """Tell whether a member sees a channel or thread; NotFound when they are no member of a private thread."""
    known = guild.get_channel_or_thread(channel)
    if known is None:
        return False
    if isinstance(known, discord.Thread):
        if known.parent is None:
            return False
        sees = known.parent.permissions_for(member)
        if known.is_private() and not sees.manage_threads:
            await known.fetch_member(member.id)
        return sees.view_channel
    return known.permissions_for(member).view_channel
