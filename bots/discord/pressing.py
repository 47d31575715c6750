"""What happens when a button under an answer is pressed. Buttons are known by what they say, also after a restart."""

import contextlib
import io
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import cast

import discord

from bots.discord.calling import Calls, mapped, ours, view_of
from bots.discord.reading import Reading
from bots.discord.translating import PLATFORM, asked, place_of, reader_of, turn_of
from bots.pictures import Picture
from bots.platform import Inbox, Incoming, Share, View
from bots.presses import ALWAYS, Presses
from bots.rendering.actions import Act, Action, read_action
from bots.rendering.discord import discord_reasons, render_discord, render_discord_quotes
from bots.rendering.picture_captions import captions
from bots.turn.replying.fallbacks import plain, rendered
from bots.votes import Vote
from bots.whose import Words
from bots.words.captions import caption
from bots.words.people import people_word
from bots.words.sentences import word
from ragcore.errors import CitebotError, MessageGone, PlatformError, PlatformRefused

log = logging.getLogger(__name__)

Ask = Callable[[discord.Interaction, Incoming], Awaitable[None]]
Readers = Callable[[str], Awaitable[frozenset[str]]]


class Pressing:
    """Serves the buttons of one bot."""

    def __init__(self, inbox: Inbox, calls: Calls, reading: Reading, readers: Readers, ask: Ask) -> None:
        """``readers`` tells who is shown what one person alone sees, ``ask`` takes a question that was pressed."""
        self._inbox = inbox
        self._calls = calls
        self._reading = reading
        self._presses = Presses()
        self._readers = readers
        self._ask = ask

    async def press(self, interaction: discord.Interaction) -> None:
        """Do what was pressed; a button that isn't ours is left alone."""
        action = read_action(_pressed(interaction))
        if action is None:
            return
        where = str(interaction.message.id) if interaction.message is not None else ""
        shown_to: frozenset[str] | None = None
        try:
            with self._presses.one(str(interaction.user.id), where, str(action)) as is_first:
                async with mapped():
                    if is_first and action.act is Act.QUOTES:
                        shown_to = await self._show_quotes(action, interaction)
                    elif is_first or action.act in ALWAYS:
                        await self._do(action, interaction)
                    else:
                        await interaction.response.defer()
        except CitebotError as error:
            log.warning("a button of turn %s could not be served: %s", action.reference or "?", error)
            language = self._inbox.language(str(interaction.locale))
            words = (word("went_wrong", language), word("reference", language, reference=action.reference))
            await _excuse(interaction, " ".join(words[: 1 + bool(action.reference)]))
        if shown_to is not None:
            await _illustrate(interaction, await self._inbox.pictures(action.reference, shown_to))

    async def _do(self, action: Action, interaction: discord.Interaction) -> None:
        by, language = str(interaction.user.id), self._inbox.language(str(interaction.locale))
        match action.act:
            case Act.UP:
                await self._inbox.vote(Vote(reference=action.reference, voter=reader_of(by), side="up"))
                await interaction.response.send_message("👍", ephemeral=True, suppress_embeds=True)
            case Act.DOWN:
                await self._inbox.vote(Vote(reference=action.reference, voter=reader_of(by), side="down"))
                person = await self._inbox.may_ask_person(action.reference, by)
                reasons = view_of(discord_reasons(action.reference, language, person=person))
                await interaction.response.send_message(
                    caption("why", language), view=reasons, ephemeral=True, suppress_embeds=True
                )
            case Act.REASON:
                vote = Vote(reference=action.reference, voter=reader_of(by), side="down", reason=action.value)
                await self._inbox.vote(vote)
                await interaction.response.edit_message(content="👎", view=None, suppress_embeds=True)
            case Act.PAGE:
                await self._turn(action, interaction, by, language)
            case Act.SHARE:
                await self._share(action, interaction, by, language)
            case Act.STOP:
                await interaction.response.defer()
                await self._inbox.stop(action.reference, by)
            case Act.DELETE:
                await interaction.response.defer()
                if await self._inbox.withdraw(action.reference, by):
                    await _take_away(interaction)
            case Act.PERSON:
                await interaction.response.defer(ephemeral=True, thinking=True)
                told = await self._inbox.ask_person(action.reference, by)
                await interaction.edit_original_response(content=people_word(told, language))
            case Act.KEEP | Act.DROP:
                await self._keep(action, interaction, reader_of(by), language)
            case Act.ASK | Act.RESEARCH:
                await self._ask_pressed(action, interaction)

    async def _show_quotes(self, action: Action, interaction: discord.Interaction) -> frozenset[str] | None:
        """Show the cited passages to whoever pressed, alone; return who reads them, None where they are gone."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        readers = await self._readers(str(interaction.user.id))
        view = await self._inbox.quotes(action.reference, readers)
        await _reveal(interaction, view, self._inbox.language(str(interaction.locale)))
        return readers if view is not None else None

    async def _turn(self, action: Action, interaction: discord.Interaction, by: str, language: str) -> None:
        """Show another page of an answer in place of the one under which it was pressed."""
        await interaction.response.defer()
        number = int(action.value) if action.value.isdecimal() else 0
        place = place_of(interaction.channel, interaction.guild)
        is_alone = interaction.message is not None and interaction.message.flags.ephemeral
        readers = await self._readers(by) if is_alone or not place.workspace else place.seen_by
        view = await self._inbox.page(action.reference, by, number, readers)
        if view is None:
            await interaction.followup.send(word("page_gone", language), ephemeral=True, suppress_embeds=True)
            return
        try:
            (page,) = await rendered(render_discord, view)
            await interaction.edit_original_response(content=page.content, view=view_of(page.rows))
        except discord.HTTPException as error:
            if not isinstance(ours(error), PlatformRefused):
                raise
            (page,) = await rendered(render_discord, plain(view))
            await interaction.edit_original_response(content=page.content, view=view_of(page.rows))

    async def _share(self, action: Action, interaction: discord.Interaction, by: str, language: str) -> None:
        """Let the channel see what only the asker sees; checked for everybody who reads there."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        place = place_of(interaction.channel, interaction.guild)
        share = await self._inbox.share(action.reference, by, place.seen_by)
        if share.state == "refused":
            await interaction.edit_original_response(content=word("not_shared", language))
            return
        if share.state == "going":
            await interaction.delete_original_response()  # the first of two presses tells how it ends
            return
        if share.view is not None:
            done = False
            try:
                # What is sent before the put-off answer is filled in would fill it in, for the asker alone (Discord's
                # documentation of followup messages).
                await interaction.edit_original_response(content="…")
                await self._show_all(interaction, place.written_to, share.view, share.since)
                done = True
            finally:
                await self._inbox.shared(share.view.reference, lease=share.lease, done=done)
        await interaction.edit_original_response(content="✅")

    async def _show_all(
        self, interaction: discord.Interaction, channel: str, view: View, since: datetime | None
    ) -> None:
        """Show an answer to the channel, but for what stands there since an earlier press.

        Where the bot may not write, it goes by the interaction's token, and nobody could look for it.
        """
        if since is not None and await self._reading.stands(channel, view.reference, since):
            return
        for number, part in enumerate(await rendered(render_discord, view)):
            try:
                await self._calls.post(channel, part, key=Share.key(view.reference, number))
            except (PlatformRefused, MessageGone) as error:
                log.info("turn %s is shared by the interaction's token: %s", view.reference, error)
                await interaction.followup.send(
                    part.content, view=view_of(part.rows), ephemeral=False, suppress_embeds=True, wait=True
                )

    async def _keep(self, action: Action, interaction: discord.Interaction, by: str, language: str) -> None:
        await interaction.response.defer()
        place = place_of(interaction.channel, interaction.guild)
        here = f"{PLATFORM}:{place.workspace}/{place.channel}"
        if not await self._inbox.keep_reply(action.reference, by, here, kept=action.act is Act.KEEP):
            await interaction.followup.send(people_word("not_owner", language), ephemeral=True, suppress_embeds=True)

    async def _ask_pressed(self, action: Action, interaction: discord.Interaction) -> None:
        if interaction.message is None:
            return
        if action.act is Act.RESEARCH:
            alone = interaction.message.flags.ephemeral
            again = asked(interaction, "research", "", turn=action.reference, ephemeral=alone)
            await self._ask(interaction, again)
            if not interaction.response.is_done():  # it is under way already, or nothing is left of the question
                await interaction.response.defer()
        elif text := _label(interaction):
            turn = action.reference or turn_of(interaction.message)
            offered = replace(asked(interaction, "ask", text, turn=turn), words=Words.OFFERED)
            await self._ask(interaction, offered)


async def _take_away(interaction: discord.Interaction) -> None:
    """Delete the message that was pressed, where its own token may be too old for it: by the token of the press."""
    if interaction.message is None or interaction.message.webhook_id is None:
        return
    with contextlib.suppress(MessageGone):
        async with mapped():
            await interaction.delete_original_response()


async def _reveal(interaction: discord.Interaction, view: View | None, language: str) -> None:
    """Fill in the cited passages that were put off, for the one who pressed alone."""
    if view is None:
        await interaction.edit_original_response(content=word("quotes_gone", language))
        return
    first, *rest = await rendered(render_discord_quotes, view)
    # Their links are written so that no preview comes, which an edit can't switch off.
    await interaction.edit_original_response(content=first.content, view=view_of(first.rows))
    for part in rest:
        await interaction.followup.send(part.content, view=view_of(part.rows), ephemeral=True, suppress_embeds=True)


async def _illustrate(interaction: discord.Interaction, pictures: tuple[Picture, ...]) -> None:
    """Show pictures of the passages to the same one; where that fails, it is nobody's business but the log's.

    They go in one message, which takes 10 files (https://docs.discord.com/developers/resources/message).
    """
    pictures = tuple(one for one in pictures if len(one.png) <= interaction.filesize_limit)
    if not pictures:
        return
    files = [discord.File(io.BytesIO(one.png), one.name, description=one.caption) for one in pictures]
    (words, *_) = await rendered(render_discord, captions(pictures))
    try:
        async with mapped():
            await interaction.followup.send(words.content, files=files, ephemeral=True, suppress_embeds=True)
    except PlatformError as error:
        log.info("passages are shown without pictures: %s", error)


def _label(interaction: discord.Interaction) -> str:
    """Return what stands on the button that was pressed."""
    pressed = _pressed(interaction)
    for row in interaction.message.components if interaction.message is not None else ():
        for item in row.children if isinstance(row, discord.ActionRow) else ():
            if isinstance(item, discord.Button) and item.custom_id == pressed:
                return item.label or ""
    return ""


def _pressed(interaction: discord.Interaction) -> str:
    data: Mapping[str, object] = cast(Mapping[str, object], interaction.data or {})
    return str(data.get("custom_id", ""))


async def _excuse(interaction: discord.Interaction, words: str) -> None:
    """Say that it did not work, to whoever pressed: in place of what was put off, or beside what stands."""
    try:
        async with mapped():
            if not interaction.response.is_done():
                await interaction.response.send_message(words, ephemeral=True, suppress_embeds=True)
            elif interaction.response.type is discord.InteractionResponseType.deferred_channel_message:
                await interaction.edit_original_response(content=words)
            else:
                await interaction.followup.send(words, ephemeral=True, suppress_embeds=True)
    except PlatformError as error:
        log.info("nor could that be said: %s", error)
