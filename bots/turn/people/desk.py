"""What one platform does for questions that go to people: takes presses and replies, and lets stand what is wanted."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Generic

from bots.platform import Incoming, Platform, R, Reach
from bots.requests import Explained, Why
from bots.service import Backend
from bots.turn.claims import Claims
from bots.turn.claims.claim import Claim, Outcome, question_of
from bots.turn.ending import end, note_end
from bots.turn.options import TurnOptions, person, place
from bots.turn.people.ledger import Ledger
from bots.turn.people.posting import Poster
from bots.turn.people.values import Ask, Owners, said_in
from bots.turn.people.wording import told_alone, worded_in
from bots.votes import AskedPerson
from ragcore.errors import CitebotError, PlatformError
from ragcore.types import ConversationKey

log = logging.getLogger(__name__)

POSTING_SECONDS = 3.0
"""How long a reply to something unknown waits for what is just being posted."""
LOOK_SECONDS = 10.0
"""How often it is looked for what another process, or one that is gone, wants to stand here."""


class Desk(Generic[R]):
    """The questions to people of one platform; does nothing where no knowledge base has owners."""

    def __init__(
        self,
        platform: Platform[R],
        claims: Claims,
        backend: Backend,
        options: TurnOptions,
        ledger: Ledger | None,
        *,
        alone: bool,
        now: Callable[[], datetime],
    ) -> None:
        """Compose; nothing is posted before ``begin``. ``alone`` and ``now`` as in ``bots.turn.turns``."""
        self._platform = platform
        self._claims = claims
        self._backend = backend
        self._options = options
        self._ledger = ledger if options.owners else None
        self._places = {owners.place for owners in options.owners.values() if owners.platform == platform.name}
        self._alone = alone
        self._now = now
        self._poster = Poster(platform, claims, backend, options, self._ledger) if self._ledger is not None else None
        self._working: asyncio.Task[None] | None = None
        self._idle = asyncio.Event()
        self._idle.set()

    def begin(self) -> None:
        """Let stand what is wanted, from now on."""
        if self._poster is not None and self._working is None:
            self._working = asyncio.create_task(self._work(self._poster))
            self._working.add_done_callback(self._work_again)

    def _work_again(self, ended: "asyncio.Task[None]") -> None:
        """Go on after a fault of ours; what it was about is left to its taker for a while, and then tried again."""
        if note_end(ended):
            self._working = None
            self.begin()

    async def close(self) -> None:
        """Begin nothing more; what is under way is done by whoever comes next."""
        working, self._working = self._working, None
        await end(working)

    async def _work(self, poster: Poster[R]) -> None:
        ledger = self._ledger
        assert ledger is not None
        news = ledger.news(self._platform.name)
        while True:
            news.clear()
            try:
                self._idle.clear()
                while (post := await ledger.posts.take(self._platform.name, alone=self._alone)) is not None:
                    await poster.do(post)
            except CitebotError as error:
                log.warning("what goes to people could not be looked at: %s: %s", type(error).__name__, error)
            finally:
                self._idle.set()
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await news.wait()
            except TimeoutError:
                continue

    async def may_ask(self, reference: str, by: str) -> bool:
        """Return whether this asker may take the question of a turn to a person."""
        claim = await self._claims.by_reference(reference) if self._ledger is not None else None
        return claim is not None and await self._asked(claim, by) is not None

    async def ask(self, reference: str, by: str) -> AskedPerson:
        """Take the question of a turn to the owners of what was searched."""
        claim = await self._claims.by_reference(reference) if self._ledger is not None else None
        found = await self._asked(claim, by) if claim is not None else None
        if self._ledger is None or claim is None or found is None:
            return "refused"
        ask, owners = found
        ask = replace(ask, question=await self._in_full(claim, ask))
        return await self._ledger.ask(ask, owners, limit=self._options.person_limit)

    async def _asked(self, claim: Claim, by: str) -> tuple[Ask, Owners] | None:
        """Return what goes to whom if this person takes a turn's question to a person; None: they may not."""
        incoming = claim.incoming
        question = question_of([claim])
        if incoming.asker.id != by or not question or claim.outcome is Outcome.WITHDRAWN:
            return None
        seen = await self._seen_by(incoming)
        held = await self._claims.prompt_of(claim.reference)
        base = self._options.owned(self._options.readable_in(incoming, seen), [one.document_id for one in held])
        if base is None:
            return None
        ask = Ask(
            reference=claim.reference,
            knowledge_base=base,
            asker=person(incoming),
            question=question,
            incoming=replace(incoming, text="", attachments=(), replied_text="", replied_author=""),
            asked_at=self._now(),
            direct=incoming.private and bool(incoming.token),
        )
        return ask, self._options.owners[base]

    async def _in_full(self, claim: Claim, ask: Ask) -> str:
        """Return a question as its owners understand it, who did not hear what was said before."""
        said = await self._claims.said_before(claim)
        if not said:
            return ask.question
        wording = await self._wording(claim, ask.knowledge_base)
        return await asyncio.to_thread(told_alone, ask.question, said, wording)

    async def _wording(self, claim: Claim, base: str) -> str:
        """Return the words that a question was searched by, if that is known here; else nothing.

        They may repeat what was answered before, and become the title of a document: so only where every reader of the
        knowledge base may read all that they rest on.
        """
        wording = ""
        request = Why(
            conversation=await self._claims.history_of(claim.incoming.conversation),
            reference=claim.reference,
            knowledge_bases=(base,),
            person=person(claim.incoming) if claim.incoming.private else "",
        )
        for reader in self._options.readers_of.get(base, ()):
            request = replace(request, audience=frozenset({reader}))
            try:
                told = [event async for event in self._backend.run(request) if isinstance(event, Explained)]
            except CitebotError as error:
                log.info("what a question was searched by is not known: %s: %s", type(error).__name__, error)
                return ""
            wording = worded_in(told[0].trace) if told else ""
            if not wording:
                return ""
        return wording

    async def _seen_by(self, incoming: Incoming) -> frozenset[str]:
        if not incoming.private:
            return incoming.seen_by
        try:
            return incoming.seen_by | await self._platform.readers(incoming)
        except PlatformError as error:
            log.info("who reads could not be confirmed: %s: %s", type(error).__name__, error)
            return incoming.seen_by | {person(incoming)}

    async def heard(self, incoming: Incoming) -> bool:
        """Take what is said to a card, which is no question to the bot; False where a message is for the bot after all.

        One that names the bot, or is a command, is for the bot. One of somebody who doesn't decide there is for those
        who do, and one that begins with the mention of somebody for them: changed into such a one, it is taken back.
        """
        if self._ledger is None or place(incoming.conversation) not in self._places or incoming.asker.is_bot:
            return False
        if incoming.command is not None or incoming.reach is Reach.MENTION:
            return False
        ask = await self._ledger.asked_in(incoming)
        if ask is None and incoming.reach in (Reach.REPLY, Reach.THREAD) and not self._idle.is_set():
            # It may be said to a card that stands, and that nobody has written down yet.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POSTING_SECONDS):
                    await self._idle.wait()
            ask = await self._ledger.asked_in(incoming)
        owners = self._options.owners.get(ask.knowledge_base) if ask is not None else None
        if ask is None or owners is None:
            return False
        by = person(incoming)
        if incoming.to_others:
            here = incoming.conversation
            await self._ledger.deleted(here.platform, here.channel, incoming.message)
        elif owners.has(by, place(incoming.conversation)) and said_in(incoming):
            await self._ledger.reply(ask, incoming, await self._platform.called(incoming.asker), by)
        return True

    async def deleted(self, conversation: ConversationKey, message: str) -> None:
        """Let a reply that its author deleted be gone everywhere."""
        if self._ledger is not None and place(conversation) in self._places:
            await self._ledger.deleted(conversation.platform, conversation.channel, message)

    async def keep(self, reply: str, by: str, where: str, *, kept: bool) -> bool:
        """Let a reply be a document, or none any longer; False unless one of its owners pressed it there."""
        found = await self._ledger.reply_of(reply) if self._ledger is not None else None
        owners = self._options.owners.get(found.knowledge_base) if found is not None else None
        if self._ledger is None or owners is None or not owners.has(by, where):
            return False
        return await self._ledger.keep(reply, by, kept=kept) is not None

    async def connected(self) -> None:
        """Take what was said to the cards while nobody listened, as far as the platform lets it be read."""
        if self._ledger is None or not self._places:
            return
        since = self._now() - self._options.look_back
        cards = await self._ledger.open_cards(self._platform.name, since)
        workspaces = {one.channel: one.workspace for one in self._conversations()}
        threads = tuple(
            ConversationKey(
                platform=self._platform.name, workspace=workspaces.get(channel, ""), channel=channel, thread=message
            )
            for channel, message in cards
        )
        if not threads:
            return
        try:
            missed = await self._platform.missed(threads, since)
        except PlatformError as error:
            log.warning("what people said meanwhile could not be read: %s: %s", type(error).__name__, error)
            return
        for incoming in missed:
            await self.heard(incoming)

    def _conversations(self) -> Sequence[ConversationKey]:
        return [owners.conversation for owners in self._options.owners.values()]
