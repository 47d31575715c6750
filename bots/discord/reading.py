"""What a bot reads of Discord beside its events: threads, what it missed, who is a member of what."""

import logging
from collections.abc import Collection, Sequence
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
    turn_of,
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
MISSED = 1_000
"""So many messages of a channel or thread are read back, the newest: ten calls."""
MOST_THREADS = 25
"""So many threads without a turn of ours are read back in a channel, those with the newest messages."""
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
        """Return what was asked since then in these conversations' channels and threads: mentions and replies.

        Where a turn of ours was, in direct messages and threads, all of it. Beside these the active threads of the
        channels are read, as far as the gateway told of them: at most ``MOST_THREADS`` of each channel. A place that
        can't be read any more is passed over.
        """
        ours = [one for one in conversations if one.platform == PLATFORM]
        known = {int(channel_of(one)) for one in ours}
        found: list[Incoming] = []
        for channel in dict.fromkeys((*map(channel_of, ours), *(one.channel for one in ours))):
            for place in (int(channel), *self._active_threads(int(channel), known, since)):
                try:
                    found += await self._missed_in(place, since, is_known=place in known)
                except PlatformError as error:
                    log.info("channel %s was not read back: %s", place, error)
        return tuple(found)

    def _active_threads(self, channel: int, known: Collection[int], since: datetime) -> list[int]:
        """Return the threads of a channel in which somebody wrote since then, those aside where a turn of ours was."""
        place = self._calls.client.get_channel(channel)
        threads = place.threads if isinstance(place, discord.TextChannel | discord.ForumChannel) else ()
        newest = {one.id: one.last_message_id or one.id for one in threads if one.id not in known}
        new = [one for one in newest if discord.utils.snowflake_time(newest[one]) >= since]
        return sorted(new, key=lambda one: -newest[one])[:MOST_THREADS]

    async def _missed_in(self, channel: int, since: datetime, *, is_known: bool) -> list[Incoming]:
        client = self._calls.client
        async with mapped():
            place = client.get_channel(channel) or await client.fetch_channel(channel)
            if not isinstance(place, discord.abc.Messageable):
                return []
            messages = [one async for one in place.history(limit=MISSED, after=since, oldest_first=False)]
        asked = (incoming_of(one, self._me) for one in reversed(messages))
        # Without a turn of ours a later word in a thread is for others, and must not hide the mention before it.
        left_out = {Reach.CHANNEL} if is_known else {Reach.CHANNEL, Reach.THREAD}
        return [one for one in asked if one is not None and one.reach not in left_out]

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
            # What answers no message was sent after what it is about.
            asked = discord.Object(int(incoming.message)) if incoming.message else incoming.sent_at
            async for message in place.history(limit=_UNSURE, after=asked, oldest_first=True):
                if message.author.id == self._me and str(message.nonce) == key:
                    return Sent(channel=written_to(incoming), id=str(message.id))
        return None

    async def stands(self, channel: str, reference: str, since: datetime) -> bool:
        """Return whether a message of ours in a channel, none older than ``since``, bears the buttons of a turn.

        So far as it can be read: where it can't, nobody knows.
        """
        place = self._calls.client.get_partial_messageable(int(channel))
        try:
            async with mapped():
                async for message in place.history(limit=MISSED, after=since, oldest_first=True):
                    if message.author.id == self._me and turn_of(message) == reference:
                        return True
        except PlatformError as error:
            log.info("what was shared could not be looked for: %s", error)
        return False

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
