"""Everything that happens on one platform, turned into turns, or handed to whoever looks after it."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Generic

from bots.pictures import Picture
from bots.platform import Incoming, Platform, R, Share, View
from bots.retrying import INSTANT
from bots.service import Backend
from bots.turn.answering import Writer
from bots.turn.claims import LEASE_SECONDS, Claims
from bots.turn.claims.claim import Claim
from bots.turn.commands import sentence
from bots.turn.ending import end, ended_soon, note_end
from bots.turn.feedback import Feedback
from bots.turn.meter import Meter
from bots.turn.options import TurnOptions
from bots.turn.people.desk import Desk
from bots.turn.people.ledger import Ledger
from bots.turn.receiving.arriving import Arrivals
from bots.turn.receiving.catching_up import CatchingUp
from bots.turn.receiving.changing import Changes
from bots.turn.receiving.gate import Drop, Refuse, judge
from bots.turn.receiving.joining import goes_on, opened_just_before
from bots.turn.receiving.order import Doors, Job, Lanes
from bots.turn.receiving.researching import researched, worded
from bots.turn.receiving.rush import Rush
from bots.turn.retelling import Retelling
from bots.turn.taking import Taker, Tell
from bots.turn.threads import Threads
from bots.votes import AskedPerson, Vote
from bots.words.sentences import language_for, word
from ragcore.errors import BusyError, CitebotError
from ragcore.types import ConversationKey

log = logging.getLogger(__name__)

STOP_SECONDS = 2.0
"""How often it is looked whether another process was told to stop what is under way here."""


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


class Turns(Generic[R]):
    """The inbox of one platform; safe to use from many tasks of one loop. Use as an async context."""

    def __init__(
        self,
        platform: Platform[R],
        *,
        backend: Backend,
        claims: Claims,
        feedback: Feedback,
        options: TurnOptions,
        alone: bool = False,
        lease: float = LEASE_SECONDS,
        now: Callable[[], datetime] = utc_now,
        tell_elsewhere: Tell | None = None,
        people: Ledger | None = None,
    ) -> None:
        """Compose.

        Args:
            platform: Where people ask.
            backend: What answers.
            claims: Who answers what.
            feedback: Where votes are kept.
            options: What the operator decided.
            alone: No other process answers from this database: what a crash left is taken up at once.
            lease: That of the claims, in seconds.
            now: The time, for the ages of messages.
            tell_elsewhere: Tells the admins whom other platforms reach.
            people: Where the questions stand that go to people; None: none do.
        """
        self.meter = Meter()
        self._backend = backend
        self._claims = claims
        self._feedback = feedback
        self._options = options
        self._alone = alone
        self._lease = lease
        self._now = now
        self._doors = Doors()
        self._writer = Writer(platform, backend, claims, options)
        self._retelling = Retelling(backend, claims, options, alone=alone, closing=lambda: self._closing)
        self._rush = Rush()
        self._taker = taker = Taker(
            platform, self._writer, claims, backend, options, self.meter, self._doors.of, tell_elsewhere, self._rush
        )
        self._lanes = Lanes(taker.take, taker.queued)
        self._threads = Threads(platform, claims, options)
        self._arrivals = Arrivals(claims, options, self.meter)
        self._changes = Changes(
            claims, self._arrivals, self._lanes, self._doors, backend, options, take_back=taker.take_back
        )
        self._catching_up = CatchingUp(
            platform,
            claims,
            self._arrivals,
            self._lanes,
            options,
            self.meter,
            alone=alone,
            now=now,
            receive=self.receive,
        )
        self._desk = Desk(platform, claims, backend, options, people, alone=alone, now=now)
        self._beating: asyncio.Task[None] | None = None
        self._losing: asyncio.TimerHandle | None = None
        self._closing = False

    async def __aenter__(self) -> "Turns[R]":
        self._begin_to_beat(self._lease / 3)
        self._kept(self._lease / 3 * 2)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close(0.0)

    async def close(self, seconds: float = 20.0) -> None:
        """Take nothing more, finish what is under way for so long, and hand over the rest."""
        self._closing = True
        await self._desk.close()
        await end(self._beating)
        self._begin_to_beat(0.0)  # what is being finished stays ours; nothing is taken up beside it
        rest = list(self._lanes)
        await self._lanes.close(seconds)
        await self._taker.close()
        await end(self._beating)
        if self._losing is not None:
            self._losing.cancel()
        await ended_soon(*(asyncio.create_task(self._hand_over(job.claim)) for job in rest if not job.done))
        await self._writer.close()

    async def _hand_over(self, claim: Claim) -> None:
        with contextlib.suppress(CitebotError):  # it waits for the end of its lease then
            await self._claims.release(claim)

    def running(self) -> int:
        """Return how many turns are under way or wait."""
        return sum(1 for _ in self._lanes)

    async def receive(self, incoming: Incoming) -> bool:
        """Claim the message and begin its turn; False when it is not ours to answer, or was claimed before."""
        async with self._rush.taking():
            return await self._receive(incoming)

    async def _receive(self, incoming: Incoming) -> bool:
        arrived = asyncio.get_running_loop().time()
        rule = self._options.rule(incoming.conversation)
        options = self._options
        if await self._desk.heard(incoming):
            return True
        asked = worded(await self._arrivals.placed(await self._threads.placed(incoming)))
        if (found := await researched(asked, self._claims)) is None:
            return False
        incoming = found
        await self._threads.hear(incoming)
        verdict = judge(
            incoming,
            respond=rule.respond,
            now=self._now(),
            edit_within=options.edit_within,
            late_after=options.late_after,
        )
        if isinstance(verdict, Drop):
            log.debug("a message is left alone: %s", verdict.reason)
            return False
        if self._closing:
            raise BusyError("the bot is being stopped; whoever comes next takes the message")
        async with self._arrivals.turn_of(incoming), self._doors.of(incoming.conversation):
            if incoming.edited_at is not None:
                # An edit is news of a message whose own keys are claimed already.
                mark = incoming.edited_at.isoformat()
                edit = replace(incoming, keys=tuple(f"{key} {mark}" for key in incoming.keys))
                if (taken := await self._changes.edited(edit, arrived, verdict)) is not None:
                    return taken
            claim = await self._arrivals.claim(incoming)
            if claim is None:
                return False
            refusal = verdict if isinstance(verdict, Refuse) else await self._arrivals.over_rate(claim, arrived)
            if not await self._join(claim, refusal, arrived):
                messages = {incoming.message: incoming}
                self._lanes.add(Job(claim=claim, messages=messages, touched=arrived, refusal=refusal))
            return True

    async def _join(self, claim: Claim, refusal: Refuse | None, arrived: float) -> bool:
        """Let a turn that was just begun answer a further message too; False when there is none that goes on with it.

        Both doors are held then, that of the message's own conversation first. No two wait for each other: the other
        one's conversation is one in which a turn was begun, and with such a one nothing is joined the other way round.
        """
        incoming, within = claim.incoming, self._options.merge_within
        job = self._lanes.newest(incoming.conversation) or opened_just_before(incoming, self._lanes, within=within)
        if job is None:
            return False
        async with self._doors.beside(job.incoming.conversation, incoming.conversation):
            if not goes_on(incoming, job, refusal, arrived, within=within):
                return False
            if not await self._claims.merge(claim, job.claim):
                return False
            job.change(incoming, arrived)
            return True

    def saw(self, event: Mapping[str, Any]) -> None:
        """Do nothing: of what use raw events are is known to whoever runs the platform."""

    async def connected(self) -> None:
        """Take up what a crash left, and answer what was asked while nobody listened."""
        self._desk.begin()
        await self._catching_up.resume()
        await self._catching_up.read_back()
        await self._desk.connected()

    def _begin_to_beat(self, wait: float) -> None:
        self._beating = asyncio.create_task(self._beat(wait))
        self._beating.add_done_callback(self._beat_again)

    def _beat_again(self, ended: "asyncio.Task[None]") -> None:
        """Go on after a fault of ours: without a sign of life others would take what is under way here."""
        if not self._closing and note_end(ended):
            self._begin_to_beat(self._lease / 3)

    def _kept(self, seconds: float) -> None:
        """Keep what is under way for so long, unless the claims are kept again before.

        A timer, for whatever keeps the next beat from coming must not keep us writing: soon others may take the
        claims, and no two may write over each other. Where nobody else works on this database it is not set.
        """
        if self._losing is not None:
            self._losing.cancel()
        if not self._alone:
            self._losing = asyncio.get_running_loop().call_later(seconds, self._lose_unkept)

    def _lose_unkept(self) -> None:
        log.warning("the claims were not kept in time: others may take them soon")
        self._lose(self._lanes)
        self._kept(self._lease / 3)

    async def _rest(self, until: float) -> None:
        """Wait for the next beat; where others work on this database, stop meanwhile what they were told to stop."""
        loop = asyncio.get_running_loop()
        while (left := until - loop.time()) > INSTANT:
            await asyncio.sleep(min(left, STOP_SECONDS))
            if not self._alone:
                try:
                    async with asyncio.timeout(min(STOP_SECONDS, self._lease / 6)):
                        await self._changes.stop_as_asked()
                except (CitebotError, TimeoutError) as error:
                    log.debug("whether something is to stop could not be asked: %s", error)

    async def _beat(self, wait: float) -> None:
        """Keep the leases of what is under way, and take over what nobody works on any more; first after a ``wait``."""
        loop = asyncio.get_running_loop()
        beat = loop.time() + wait
        while True:
            await self._rest(beat)
            began, jobs = loop.time(), list(self._lanes)
            beat = began + self._lease / 3
            try:
                async with asyncio.timeout(self._lease / 3):
                    held = await self._claims.heartbeat([job.claim for job in jobs])
                    self._kept(began + self._lease / 3 * 2 - loop.time())
                    self._lose(job for job in jobs if job.claim.reference not in held)
                    if not self._closing:
                        await self._catching_up.resume()
            except (CitebotError, TimeoutError) as error:
                log.warning("the claims could not be kept: %s: %s", type(error).__name__, error)

    def _lose(self, jobs: Iterable[Job]) -> None:
        """Write no more of what others have, or may have soon; whatever is still ours then is taken up anew."""
        for job in jobs:
            if not job.done:
                job.lost = True
                job.interrupt()

    async def joined(self, conversation: ConversationKey, message: str, at: datetime) -> None:
        """Keep when somebody came to a group."""
        await self._claims.heard.joined(conversation, message, at)

    async def deleted(self, conversation: ConversationKey, message: str) -> None:
        """Withdraw the answer to a message that its asker deleted, or what an owner said."""
        await self._desk.deleted(conversation, message)
        await self._changes.deleted(conversation, message)

    async def withdraw(self, reference: str, by: str) -> bool:
        """Withdraw an answer that its asker, or an admin, wants away."""
        return await self._changes.withdraw(reference, by)

    async def stop(self, reference: str, by: str) -> bool:
        """Stop a turn for its asker, or an admin."""
        return await self._changes.stop(reference, by)

    async def stop_in(self, conversation: ConversationKey, by: str) -> bool:
        """Stop what is being written in the conversation."""
        return await self._changes.stop_in(conversation, by)

    async def vote(self, vote: Vote) -> None:
        """Keep a judgement."""
        if not await self._feedback.vote(vote):
            log.info("turn %s: a vote came too late to be kept", vote.reference)

    async def may_ask_person(self, reference: str, by: str) -> bool:
        """Return whether this asker may take the question of a turn to a person."""
        return await self._desk.may_ask(reference, by)

    async def ask_person(self, reference: str, by: str) -> AskedPerson:
        """Take the question of a turn to the owners of what was searched."""
        return await self._desk.ask(reference, by)

    async def keep_reply(self, reply: str, by: str, where: str, *, kept: bool) -> bool:
        """Let an owner's reply be a document, or none any longer."""
        return await self._desk.keep(reply, by, where, kept=kept)

    async def quotes(self, reference: str, readers: frozenset[str]) -> View | None:
        """Return the cited passages, as far as these readers may read them."""
        return await self._retelling.quotes(reference, readers)

    async def pictures(self, reference: str, readers: frozenset[str]) -> tuple[Picture, ...]:
        """Return the cited passages as pictures, as far as these readers may read them; none while closing."""
        return await self._retelling.pictures(reference, readers)

    async def share(self, reference: str, by: str, readers: frozenset[str]) -> Share:
        """Begin to share an answer once, if its asker does it and these readers may read all of it."""
        return await self._retelling.share(reference, by, readers)

    async def shared(self, reference: str, *, lease: float, done: bool) -> None:
        """Record how sharing an answer ended."""
        await self._claims.shares.end(reference, lease=lease, done=done)

    async def page(self, reference: str, by: str, number: int, readers: frozenset[str]) -> View | None:
        """Return a page of a reply that stays one message, if these readers may still read what it was made from."""
        return await self._retelling.page(reference, by, number, readers)

    async def knowledge_bases(self, conversation: ConversationKey, readers: frozenset[str]) -> tuple[str, ...]:
        """Return what these readers may ask in the conversation's channel."""
        return self._options.asked_in(conversation, readers)

    def sources(self, person: str) -> tuple[str, ...]:
        """Return the sources that somebody may sync: an admin all."""
        return self._options.sources if person in self._options.admins else ()

    def language(self, told: str, text: str = "") -> str:
        """Return in which language somebody reads our own sentences: the settings' one, else their own."""
        return language_for(text, told, self._options.language)

    async def welcome(self, language: str) -> View:
        """Return what greets somebody who opens a conversation."""
        language = self.language(language)
        document = sentence(word("greeting", language))
        return View(document=document, reference="", prompts=self._writer.prompts(language), language=language)
