"""What happens when a button under an answer is pressed."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bots.platform import Asker, Inbox, Incoming, Reach, Sent, Share, View
from bots.presses import ALWAYS, Presses
from bots.rendering.actions import Act, Action, read_action
from bots.rendering.parse import parse_markdown
from bots.rendering.slack import SlackMessage, SlackModal, render_slack, render_slack_quotes, slack_reasons
from bots.slack.calling import Calls
from bots.slack.modals import Modals, Opened
from bots.slack.people import People
from bots.slack.reading import Reader
from bots.slack.translating import PLATFORM, REPLACES, Self, alone_with, conversation_of, reader_of, seen_in
from bots.turn.replying.fallbacks import plain, rendered
from bots.votes import Vote
from bots.whose import Words
from bots.words.captions import caption
from bots.words.people import PeopleWord, people_word
from bots.words.sentences import Word, word
from ragcore.errors import CitebotError, MessageGone, PlatformError, PlatformRateLimited, PlatformRefused

log = logging.getLogger(__name__)

TRIGGER_SECONDS = 1.5
"""What of the 3 seconds of a trigger may be spent before a modal is opened; what takes longer is shown in it later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    """A pressed button and where it stands; ``alone``: in a message that only the presser sees."""

    action: Action
    words: str
    user: str
    team: str
    channel: str
    message: str
    thread: str
    alone: bool
    trigger: str
    url: str


def read_press(payload: Mapping[str, Any]) -> Press | None:
    """Return what a ``block_actions`` payload says, None when the button isn't ours."""
    pressed = payload["actions"][0]
    chosen = pressed.get("selected_option") or pressed
    action = read_action(str(chosen.get("value") or ""))
    container = payload.get("container") or {}
    channel = str(container.get("channel_id") or (payload.get("channel") or {}).get("id") or "")
    if action is None or not channel:
        return None
    message = str(container.get("message_ts") or "")
    user = payload["user"]
    return Press(
        action=action,
        words=str((chosen.get("text") or {}).get("text") or ""),
        user=str(user["id"]),
        team=str(user.get("team_id") or (payload.get("team") or {}).get("id") or ""),
        channel=channel,
        message=message,
        thread=str(container.get("thread_ts") or (payload.get("message") or {}).get("thread_ts") or message),
        alone=bool(container.get("is_ephemeral")),
        trigger=str(payload.get("trigger_id") or ""),
        url=str(payload.get("response_url") or ""),
    )


def pressed_question(press: Press, bot: Self, *, shared: bool) -> Incoming:
    """Return the question that stands on a pressed button, asked by whoever pressed it; to research, the turn's."""
    research = press.action.act is Act.RESEARCH
    direct = press.channel.startswith("D") and not press.alone
    private = direct or press.alone
    home = press.team if press.team and press.team != bot.team else ""
    place = {"ts": press.message, "thread_ts": press.thread}
    return Incoming(
        keys=(f"press:{press.trigger}",),
        conversation=(
            alone_with(press.user, press.channel, bot) if press.alone else conversation_of(press.channel, place, bot)
        ),
        message=press.message,
        asker=Asker(id=press.user, workspace=home),
        text="" if research else press.words,
        words=Words.OFFERED,
        reach=Reach.DIRECT if direct and not research else Reach.COMMAND,
        command="research" if research else None if direct else "ask",
        sent_at=datetime.now(UTC),
        private=private,
        seen_by=(
            frozenset({"*", reader_of(home or bot.team, press.user)})
            if private
            else seen_in(bot.team, press.channel, shared=shared)
        ),
        goes_on=press.action.reference,
        token=press.url if press.alone else "",
        extra={REPLACES: "1"} if press.alone else {},
    )


class Presser:
    """Does what buttons say."""

    def __init__(self, calls: Calls, people: People) -> None:
        self._calls = calls
        self._people = people
        self._reader = Reader(calls, people)
        self._presses = Presses()
        self.modals = Modals(calls)

    async def press(self, press: Press, inbox: Inbox) -> None:
        """Do it; what fails is logged, and told to whoever pressed."""
        reference = press.action.reference
        opened: Opened | None = None
        try:
            with self._presses.one(press.user, f"{press.channel}/{press.message}", str(press.action)) as is_first:
                if is_first and press.action.act is Act.QUOTES:
                    opened = await self._show_quotes(press, inbox)
                elif is_first or press.action.act in ALWAYS:
                    await self._do(press, inbox)
        except CitebotError as error:
            log.warning("a button of turn %s could not be served: %s: %s", reference, type(error).__name__, error)
            with suppress(PlatformError):
                await self._tell(press, "went_wrong", inbox)
        if opened is not None:
            # Whoever closes the passages and presses again meanwhile is served again.
            await self.modals.illustrate(opened, await inbox.pictures(reference, opened.readers))

    async def _language(self, press: Press, inbox: Inbox) -> str:
        return inbox.language(await self._people.language(press.user))

    async def _tell(self, press: Press, what: Word, inbox: Inbox) -> None:
        language = await self._language(press, inbox)
        words = " ".join((word(what, language), word("reference", language, reference=press.action.reference)))
        notice = View(document=parse_markdown(words), reference="")
        await self._calls.respond(press.url, render_slack(notice)[0])

    async def _say(self, press: Press, what: PeopleWord, inbox: Inbox) -> None:
        words = people_word(what, await self._language(press, inbox))
        await self._calls.respond(press.url, render_slack(View(document=parse_markdown(words), reference=""))[0])

    async def _do(self, press: Press, inbox: Inbox) -> None:
        action, reference = press.action, press.action.reference
        voter = reader_of(press.team or self._people.bot.team, press.user)
        match action.act:
            case Act.UP:
                await inbox.vote(Vote(reference=reference, voter=voter, side="up"))
            case Act.DOWN:
                await inbox.vote(Vote(reference=reference, voter=voter, side="down"))
                await self._ask_why(press, inbox)
            case Act.REASON:
                await inbox.vote(Vote(reference=reference, voter=voter, side="down", reason=action.value))
                await self._calls.respond(press.url)
            case Act.STOP:
                await inbox.stop(reference, press.user)
            case Act.DELETE:
                if await inbox.withdraw(reference, press.user) and press.alone:
                    await self._calls.respond(press.url)
            case Act.PAGE:
                await self._turn(press, inbox)
            case Act.SHARE:
                await self._share(press, inbox)
            case Act.PERSON | Act.KEEP | Act.DROP:
                await self._about_people(press, inbox, voter)
            case Act.ASK | Act.RESEARCH:
                shared = not press.channel.startswith("D") and await self._people.is_shared(press.channel)
                await inbox.receive(pressed_question(press, self._people.bot, shared=shared))

    async def _about_people(self, press: Press, inbox: Inbox, by: str) -> None:
        """Take a question to a person, or let what one replied be a document, or none any longer."""
        action = press.action
        if action.act is Act.PERSON:
            await self._say(press, await inbox.ask_person(action.reference, press.user), inbox)
            return
        here = f"{PLATFORM}:{self._people.bot.team}/{press.channel}"
        if not await inbox.keep_reply(action.reference, by, here, kept=action.act is Act.KEEP):
            await self._say(press, "not_owner", inbox)

    async def _ask_why(self, press: Press, inbox: Inbox) -> None:
        language = await self._language(press, inbox)
        reference = press.action.reference
        person = await inbox.may_ask_person(reference, press.user)
        blocks, words = slack_reasons(reference, language, person=person), caption("why", language)
        thread = press.thread if press.thread != press.message else ""
        if press.alone:
            shown = View(document=parse_markdown(words), reference=press.action.reference)
            (message,) = render_slack(shown)
            await self._calls.respond(press.url, type(message)(text=message.text, blocks=blocks))
        else:
            await self._calls.whisper(press.channel, press.user, words, blocks, thread=thread)

    async def _show_quotes(self, press: Press, inbox: Inbox) -> Opened | None:
        """Open a modal while the trigger lives; what is found later is shown in it then. None: nothing is cited."""
        finding = asyncio.ensure_future(self._found(press, inbox))
        try:
            await asyncio.wait({finding}, timeout=TRIGGER_SECONDS)
            if finding.done():
                modal, readers = finding.result()
                view = await self.modals.open(press.trigger, modal)
            else:
                language = await self._language(press, inbox)
                view = await self.modals.open(press.trigger, _notice(word("searching", language), language))
                modal, readers = await finding
                await self.modals.change(view, modal)
        finally:
            finding.cancel()  # where no modal was opened, nobody waits for it any more
        return Opened(view=view, modal=modal, readers=readers) if readers is not None else None

    async def _found(self, press: Press, inbox: Inbox) -> tuple[SlackModal, frozenset[str] | None]:
        """Return the cited passages and who reads them; without readers it says that they are gone."""
        readers = await self._readers(press)
        view = await inbox.quotes(press.action.reference, readers)
        if view is None:
            language = await self._language(press, inbox)
            return _notice(word("quotes_gone", language), language), None
        return await rendered(render_slack_quotes, view), readers

    async def _turn(self, press: Press, inbox: Inbox) -> None:
        """Show another page of an answer in place of the one under which it was pressed."""
        number = int(press.action.value) if press.action.value.isdecimal() else 0
        view = await inbox.page(press.action.reference, press.user, number, await self._readers(press))
        if view is None:
            await self._tell(press, "page_gone", inbox)
            return
        try:
            await self._replace(press, view)
        except PlatformRefused as error:
            log.warning("turn %s: a page was refused: %s", press.action.reference, error)
            await self._replace(press, plain(view))

    async def _replace(self, press: Press, view: View) -> None:
        (page,) = await rendered(render_slack, view)
        if press.alone:
            await self._calls.respond(press.url, page, replace=True)
        else:
            await self._calls.change(Sent(channel=press.channel, id=press.message), page)

    async def _readers(self, press: Press) -> frozenset[str]:
        """Return who reads what is shown to the presser alone."""
        readers = {"*", reader_of(press.team or self._people.bot.team, press.user)}
        if not press.alone and not press.channel.startswith("D"):
            # Whoever pressed it there sees that channel.
            readers.add(f"{PLATFORM}:{self._people.bot.team}/{press.channel}")
        return frozenset(readers | await self._people.readers(press.user))

    async def _share(self, press: Press, inbox: Inbox) -> None:
        """Show the channel what only its asker saw, if all who are there may read it."""
        bot = self._people.bot
        shared = await self._people.is_shared(press.channel)
        share = await inbox.share(press.action.reference, press.user, seen_in(bot.team, press.channel, shared=shared))
        if share.state == "refused":
            await self._tell(press, "not_shared", inbox)
        if share.view is not None:
            done = False
            try:
                for number, part in enumerate(await rendered(render_slack, share.view)):
                    await self._show_all(press, part, Share.key(share.view.reference, number), share.since)
                done = True
            finally:
                await inbox.shared(share.view.reference, lease=share.lease, done=done)
        if share.state in ("now", "done"):
            await self._calls.respond(press.url)

    async def _show_all(self, press: Press, part: SlackMessage, key: str, since: datetime | None) -> None:
        """Show a part to the channel, unless it stands there since an earlier press."""
        if since is not None and await self._stands(press.channel, key, since):
            return
        try:
            await self._calls.post(press.channel, part, key=key)
        except (MessageGone, PlatformRefused, PlatformRateLimited) as error:
            # The bot isn't in that channel: the press's address writes there, but nobody can look for it.
            log.info("turn %s is shared by the address of the press: %s", press.action.reference, error)
            await self._calls.respond(press.url, part, everybody=True)

    async def _stands(self, channel: str, key: str, since: datetime) -> bool:
        try:
            return await self._reader.stands(channel, key, since)
        except PlatformError as error:
            log.info("what was shared could not be looked for: %s", error)
            return False


def _notice(words: str, language: str) -> SlackModal:
    return render_slack_quotes(View(document=parse_markdown(words), reference="", language=language))
