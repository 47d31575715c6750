"""What was said in a channel or a thread of Discord, for a summary."""

import asyncio
import logging
from datetime import UTC, datetime

import discord

from bots.discord.calling import Calls, mapped
from bots.discord.translating import words_of, written_to
from bots.platform import Incoming
from bots.talk import Span, Talk
from ragcore.errors import PlatformError, PlatformRefused
from ragcore.gist.values import Said
from ragcore.types import ConversationKey

log = logging.getLogger(__name__)

_SAID = {discord.MessageType.default, discord.MessageType.reply}
MOST_THREADS = 20
"""So many threads are read for a summary of a channel, those with the newest messages: each is a call at least."""
THREADS_SECONDS = 30.0
SITE = "https://discord.com/channels"


class Talker:
    """Reads what was said; all raise PlatformError."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def said(self, incoming: Incoming, span: Span, *, reads_content: bool) -> Talk:
        """Return what was said in the channel and its public threads, or in the thread.

        ``reads_content``: the bot may see the words of messages that don't mention it.
        """
        client = self._calls.client
        me = client.user.id if client.user is not None else 0
        number = int(written_to(incoming)) if span.thread else int(incoming.conversation.channel)
        left = False
        async with mapped():
            channel = await self._checked(incoming, number)
            until = discord.Object(int(incoming.message))
            if span.until is not None:
                until = min(until, discord.Object(discord.utils.time_snowflake(span.until)), key=lambda one: one.id)

            async def newest(place: int) -> list[discord.Message]:
                history = client.get_partial_messageable(place).history(
                    limit=span.most + 1, after=span.since, before=until, oldest_first=False
                )
                return [one async for one in history]

            found = await newest(number)
        if not span.thread and channel is not None:
            reaches = found[-1].created_at if len(found) > span.most else span.since
            try:
                async with asyncio.timeout(THREADS_SECONDS), mapped():
                    threads, left = await _threads_of(channel, reaches)
                    for thread in threads:
                        found += await newest(thread.id)
            except (TimeoutError, PlatformError) as error:
                log.info("threads of a channel were not read: %s: %s", type(error).__name__, error)
                left = True
            found.sort(key=lambda message: message.id, reverse=True)
        hidden = not reads_content and any(map(_is_bare, found))
        said = [self._said(one, incoming, me) for one in reversed(found[: span.most]) if _counts(one, me)]
        return Talk(messages=tuple(said), whole=len(found) <= span.most, threads_left=left, hidden=hidden)

    async def _checked(self, incoming: Incoming, number: int) -> discord.abc.GuildChannel | None:
        """Return the channel, or of a thread its channel, if all who see the reply may read what was said there.

        None in direct messages. Refused is what the asker may not read back, or somebody who would see the reply in
        public may not: who may see a channel need not be allowed to read what was said there before.
        """
        if not incoming.conversation.workspace:
            return None
        client = self._calls.client
        guild = client.get_guild(int(incoming.conversation.workspace))
        if guild is None:
            raise PlatformRefused("Discord has told of no such server")
        known = guild.get_channel_or_thread(number) or await client.fetch_channel(number)
        place = known.parent if isinstance(known, discord.Thread) else known
        if not isinstance(place, discord.abc.GuildChannel):
            raise PlatformRefused("Discord has told of no such channel")
        allowed = place.permissions_for(await guild.fetch_member(int(incoming.asker.id)))
        own = place.permissions_for(guild.me)  # without it Discord tells of no message, and of no refusal
        reads = allowed.view_channel and allowed.read_message_history and own.read_message_history
        if not reads or not (incoming.private or all_read_back(place)):
            raise PlatformRefused("not everybody who would see a summary may read what was said before")
        if isinstance(known, discord.Thread) and known.is_private() and not allowed.manage_threads:
            await known.fetch_member(int(incoming.asker.id))
        return place

    def _said(self, message: discord.Message, incoming: Incoming, me: int) -> Said:
        files = "\n".join(f"({file.filename})" for file in message.attachments)
        return Said(
            id=str(message.id),
            author=message.author.display_name,
            text=f"{words_of(message, me)}\n{files}".strip(),
            sent_at=message.created_at.astimezone(UTC),
            url=address(incoming.conversation, str(message.channel.id), str(message.id)),
        )


def address(conversation: ConversationKey, channel: str, message: str) -> str:
    """Return a message's address, as Discord's "Copy Message Link" gives it."""
    return f"{SITE}/{conversation.workspace or '@me'}/{channel}/{message}"


def all_read_back(place: discord.abc.GuildChannel) -> bool:
    """Return whether everybody who sees a channel may certainly read what was said there before. Pure.

    By its roles and exceptions, since a bot is told of few members: somebody's rights are those of @everyone and of
    each role together, less what a role alone is denied, and then their own exception.
    """
    everyone = place.permissions_for(place.guild.default_role)
    if everyone.view_channel and not everyone.read_message_history:
        return False
    opens = False
    for role in place.guild.roles:
        allowed = place.permissions_for(role)
        if allowed.view_channel and not allowed.read_message_history:
            return False
        own = place.overwrites_for(role)
        # Whom another role lets see the channel is denied its past by this one.
        opens = opens or (not role.is_default() and own.view_channel is True and own.read_message_history is not True)
    for whom, own in place.overwrites.items():
        if whom in (place.guild.default_role, place.guild.me):
            continue
        is_role = isinstance(whom, discord.Role) or getattr(whom, "type", None) is discord.Role
        if own.read_message_history is False:
            # Who is denied both may still see the channel by another role that lets them.
            if own.view_channel is not False or (is_role and opens):
                return False
        elif not is_role and own.view_channel and not (own.read_message_history or everyone.read_message_history):
            return False
    return True


async def _threads_of(channel: discord.abc.GuildChannel, since: datetime | None) -> tuple[list[discord.Thread], bool]:
    """Return the public threads of a channel with words since then, and whether some of its threads are left out.

    Who reads a channel back reads its public threads, archived ones included; a private one is for those in it.
    """
    if not isinstance(channel, discord.TextChannel | discord.ForumChannel):
        return [], False
    threads = {one.id: one for one in channel.threads}
    archived = [one async for one in channel.archived_threads(limit=MOST_THREADS)]
    threads |= {one.id: one for one in archived}

    def newest(one: discord.Thread) -> datetime:
        return discord.utils.snowflake_time(one.last_message_id or one.id)

    recent = [one for one in threads.values() if not one.is_private() and (since is None or newest(one) >= since)]
    # They come by the time of archiving, which is later than the last words.
    more = len(archived) == MOST_THREADS and (since is None or archived[-1].archive_timestamp >= since)
    return sorted(recent, key=newest, reverse=True)[:MOST_THREADS], more or len(recent) > MOST_THREADS


def _is_bare(message: discord.Message) -> bool:
    """Return whether a message shows nothing at all, as those do whose content is kept from us."""
    return message.type in _SAID and not (message.content or message.attachments or message.embeds or message.stickers)


def _counts(message: discord.Message, me: int) -> bool:
    return message.author.id != me and message.type in _SAID
