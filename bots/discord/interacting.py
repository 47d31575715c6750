"""Answers to slash commands: a first sign within 3 seconds, 15 minutes by the token, as a plain message after that."""

import asyncio
import logging
import time
from collections import OrderedDict
from typing import cast

import discord

from bots.discord.calling import Calls, mapped, view_of
from bots.discord.translating import APPLICATION, is_ephemeral, stays_one, written_to
from bots.platform import Incoming, Sent
from bots.rendering.discord import DiscordMessage
from ragcore.errors import MessageGone, PlatformAuthError, PlatformError, PlatformRefused

log = logging.getLogger(__name__)

TOKEN_SECONDS = 870.0
"""A token lives 15 minutes; what is left of them is too little for an answer."""
_ORIGINAL = cast(int, "@original")
"""What Discord calls the first answer, whatever its id is."""
_BY_TOKEN = "by_token"
_REMEMBERED = 5_000


class Interactions:
    """The replies to interactions of one bot."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._first: OrderedDict[str, asyncio.Future[int]] = OrderedDict()

    def expect(self, interaction: discord.Interaction) -> None:
        """Let replies wait for the first sign, which is about to be sent."""
        self._first.setdefault(str(interaction.id), asyncio.get_running_loop().create_future())
        while len(self._first) > _REMEMBERED:
            self._first.popitem(last=False)

    async def begin(self, interaction: discord.Interaction, words: str, *, ephemeral: bool) -> None:
        """Send the first sign, or learn that it was sent already."""
        number: int | None = None
        try:
            async with mapped():
                answered = await interaction.response.send_message(words, ephemeral=ephemeral, suppress_embeds=True)
            number = answered.message_id
        except PlatformError as error:
            log.warning("an interaction could not be answered at once: %s", error)
        finally:
            self.leave(interaction, number)

    def leave(self, interaction: discord.Interaction, number: int | None = None) -> None:
        """Let replies wait no more: for a first sign of this id, or one that somebody else sent, or nobody."""
        first = self._first[str(interaction.id)]
        if not first.done():
            first.set_result(number or _ORIGINAL)

    async def put(
        self, incoming: Incoming, part: DiscordMessage, *, begun: Sent | None, key: str, number: int, final: bool
    ) -> Sent:
        """Show or send a part: by the token while it lives, else as a message; raises as ``Platform.show`` does."""
        if self._lives(incoming):
            try:
                sent = await self._put_by_token(incoming, part, begun=begun, key=key, number=number)
            except (MessageGone, PlatformAuthError) as error:
                log.info("an interaction takes no more, a message goes instead: %s", error)
            else:
                self._calls.took(key, sent)
                return sent
        if stays_one(incoming):
            if not final:
                raise PlatformRefused("an answer for one person alone can't grow without its token")
            # Whoever asked in private is answered in private, and so is who asked where the bot may not write.
            return await self._calls.post(await self._calls.direct(incoming.asker.id), part, key=key)
        if begun is not None:
            await self._calls.edit(begun, part)
            return Sent(channel=begun.channel, id=begun.id)
        return await self._calls.post(written_to(incoming), part, key=key)

    def _lives(self, incoming: Incoming) -> bool:
        return time.time() - incoming.sent_at.timestamp() < TOKEN_SECONDS

    async def _put_by_token(
        self, incoming: Incoming, part: DiscordMessage, *, begun: Sent | None, key: str, number: int
    ) -> Sent:
        if begun is not None and _BY_TOKEN not in begun.extra:
            await self._calls.edit(begun, part)
            return begun
        if begun is not None:
            return await self._edit(incoming, int(begun.id), part)
        if number == 0:
            return await self._edit(incoming, await self._original(incoming), part)
        if not is_ephemeral(incoming):
            try:
                return await self._calls.post(written_to(incoming), part, key=key)
            except PlatformRefused as error:
                log.info("a part goes by the interaction's token, since the channel is closed: %s", error)
        # It might be repeated after a kill: webhooks take no nonce (discord-api-docs, pull request 6647), and what one
        # person alone sees can't be looked for, nor what stands in a closed channel. So these replies stay one message
        # (``stays_one``), and only of a channel that was closed meanwhile a further part comes here.
        async with mapped():
            sent = await self._webhook(incoming).send(
                part.content,
                view=view_of(part.rows),
                ephemeral=is_ephemeral(incoming),
                suppress_embeds=True,
                wait=True,
            )
        return self._sent(incoming, sent.id)

    async def _original(self, incoming: Incoming) -> int:
        """Return the id of the first sign; after a restart nobody knows more of it than its name."""
        first = self._first.get(incoming.message)
        return _ORIGINAL if first is None else await asyncio.shield(first)

    async def _edit(self, incoming: Incoming, message: int, part: DiscordMessage) -> Sent:
        async with mapped():
            edited = await self._webhook(incoming).edit_message(message, content=part.content, view=view_of(part.rows))
        return self._sent(incoming, edited.id)

    async def withdraw(self, incoming: Incoming, sent: Sent) -> None:
        """Take a message back, by its token or as a message."""
        self._calls.gone(sent.id)
        if _BY_TOKEN in sent.extra and self._lives(incoming):
            try:
                async with mapped():
                    await self._webhook(incoming).delete_message(int(sent.id))
            except (MessageGone, PlatformAuthError):
                pass
            else:
                return
        if not is_ephemeral(incoming) or _BY_TOKEN not in sent.extra:
            await self._calls.delete(sent)

    def _sent(self, incoming: Incoming, message: int) -> Sent:
        return Sent(channel=written_to(incoming), id=str(message), extra={_BY_TOKEN: "1"})

    def _webhook(self, incoming: Incoming) -> discord.Webhook:
        application = int(incoming.extra[APPLICATION])
        webhook = discord.Webhook.partial(application, incoming.token, client=self._calls.client)
        webhook.type = discord.WebhookType.application  # only these send what one person alone sees
        return webhook
