"""Everything that happens on one platform, turned into turns: what is claimed, ordered, edited, deleted, stopped."""

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Generic
from weakref import WeakValueDictionary

from bots.access import readable
from bots.platform import Incoming, Platform, R, Reach, View, Vote
from bots.requests import Forget
from bots.service import Backend
from bots.turn.answering import Writer
from bots.turn.claim import Claim
from bots.turn.claims import LEASE_SECONDS, Claims
from bots.turn.commands import command_of, sentence
from bots.turn.feedback import Feedback
from bots.turn.gate import Drop, Refuse, judge
from bots.turn.meter import Meter
from bots.turn.options import TurnOptions, person, place
from bots.turn.order import Job, Lanes
from bots.turn.quotes import quotes_view, shared_view
from bots.turn.rates import Rates
from bots.turn.taking import Taker
from bots.turn.words import language_for, word
from ragcore.errors import BusyError, CitebotError, PlatformError
from ragcore.types import ConversationKey

log = logging.getLogger(__name__)

DELETED_REMEMBERED = 1_000


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
        """
        self.meter = Meter()
        self._platform = platform
        self._backend = backend
        self._claims = claims
        self._feedback = feedback
        self._options = options
        self._alone = alone
        self._lease = lease
        self._now = now
        self._writer = Writer(platform, backend, options)
        self._taker = Taker(platform, self._writer, claims, backend, options, self.meter, self._door)
        self._lanes = Lanes(self._taker.take)
        self._users, self._channels = Rates(options.user_rate), Rates(options.channel_rate)
        # Whatever happens to one conversation's turns happens one at a time.
        self._doors: WeakValueDictionary[ConversationKey, asyncio.Lock] = WeakValueDictionary()
        self._deleted: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._beating: asyncio.Task[None] | None = None
        self._closing = False

    async def __aenter__(self) -> "Turns[R]":
        self._beating = asyncio.create_task(self._beat())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close(0.0)

    async def close(self, seconds: float = 20.0) -> None:
        """Take nothing more, finish what is under way for so long, and hand over the rest."""
        self._closing = True
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.gather(self._beating, return_exceptions=True)
            self._beating = None
        rest = list(self._lanes)
        await self._lanes.close(seconds)
        for job in rest:
            if not job.done:
                with contextlib.suppress(CitebotError):
                    await self._claims.release(job.claim)
        await self._writer.close()

    def running(self) -> int:
        """Return how many turns are under way or wait."""
        return sum(1 for _ in self._lanes)

    async def receive(self, incoming: Incoming) -> bool:
        """Claim the message and begin its turn; False when it is not ours to answer, or was claimed before."""
        rule = self._options.rule(incoming.conversation)
        options = self._options
        incoming = await self._placed(incoming)
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
        arrived = asyncio.get_running_loop().time()
        async with self._door(incoming.conversation):
            if incoming.edited_at is not None:
                # An edit is news of a message whose own keys are claimed already.
                mark = incoming.edited_at.isoformat()
                edit = replace(incoming, keys=tuple(f"{key} {mark}" for key in incoming.keys))
                if (taken := await self._edited(edit, arrived)) is not None:
                    return taken
            claim = await self._claim(incoming)
            if claim is None:
                return False
            refusal = verdict if isinstance(verdict, Refuse) else self._over_rate(incoming, arrived)
            newest = self._lanes.newest(incoming.conversation)
            goes_on = newest is not None and _ends_alike(newest, refusal) and self._belongs(incoming, newest, arrived)
            if newest is not None and goes_on and await self._claims.merge(claim, newest.claim):
                newest.change(incoming, arrived)
                return True
            self._begin(Job(claim=claim, messages={incoming.message: incoming}, touched=arrived, refusal=refusal))
            return True

    async def _placed(self, incoming: Incoming) -> Incoming:
        """Return the message in the conversation that it belongs to, and as one of it."""
        claim = await self._claims.by_reference(incoming.goes_on) if incoming.goes_on else None
        if claim is not None and place(claim.incoming.conversation) == place(incoming.conversation):
            incoming = replace(incoming, conversation=claim.incoming.conversation)
        if incoming.reach is Reach.THREAD and not await self._claims.takes_part(incoming.conversation):
            incoming = replace(incoming, reach=Reach.CHANNEL)
        return incoming

    async def _claim(self, incoming: Incoming, *, replaces: str = "") -> Claim | None:
        claim = await self._claims.claim(incoming, replaces=replaces)
        self.meter.claims["again" if claim is None else "new"] += 1
        if claim is None:
            return None
        log.info("turn %s: %s in %s", claim.reference, incoming.reach.value, place(incoming.conversation))
        if self._options.log_questions:
            log.info("turn %s asks: %s", claim.reference, incoming.text)
        if (place(incoming.conversation), incoming.message) in self._deleted:
            await self._claims.withdraw(claim.reference)
            return None
        return claim

    def _begin(self, job: Job) -> None:
        self._lanes.add(job)

    def _over_rate(self, incoming: Incoming, now: float) -> Refuse | None:
        if wait := self._users.take(f"{incoming.conversation.workspace}/{incoming.asker.id}", now):
            return Refuse("user_limit", wait)
        wait = 0 if incoming.reach is Reach.DIRECT else self._channels.take(place(incoming.conversation), now)
        return Refuse("channel_limit", wait) if wait else None

    def _belongs(self, incoming: Incoming, job: Job, now: float) -> bool:
        """Return whether a message goes on with what its asker has just begun to ask."""
        first = job.incoming
        return (
            first.asker.id == incoming.asker.id
            and first.private == incoming.private
            and Reach.COMMAND not in (first.reach, incoming.reach)
            and now - job.touched < self._options.merge_within
            and not (job.spoken.is_set() or job.sending or job.stopped or job.withdrawn or job.lost)
            and command_of(incoming, incoming.text) is None
            and command_of(first, job.question) is None
        )

    async def _edited(self, incoming: Incoming, arrived: float) -> bool | None:
        """Answer an edited question again, in place; None when it is one that we have not seen before."""
        claims = await self._claims.by_message(incoming.conversation, incoming.message)
        if not claims:
            return None
        newest = claims[0]
        job = self._lanes.find(newest.reference)
        known = job.messages if job is not None else messages_of(await self._claims.line_of(newest))
        before = known.get(incoming.message)
        if before is not None and not _is_news(incoming, before):
            return False
        claim = await self._claim(incoming, replaces=newest.reference)
        if claim is None:
            return False
        if job is not None and not job.done and await self._claims.merge(claim, job.claim):
            job.change(incoming, arrived)
            return True
        messages = {**known, incoming.message: incoming}
        self._begin(Job(claim=claim, messages=messages, touched=arrived, replaces=newest))
        return True

    async def connected(self) -> None:
        """Take up what a crash left, and answer what was asked while nobody listened."""
        await self._resume()
        now = self._now()
        conversations = await self._claims.active_conversations(self._platform.name, now - self._options.look_back)
        try:
            missed = await self._platform.missed(conversations, now - self._options.late_after)
        except PlatformError as error:
            log.warning("what was asked meanwhile could not be read: %s: %s", type(error).__name__, error)
            return
        newest = {incoming.conversation: incoming for incoming in sorted(missed, key=lambda one: one.sent_at)}
        for incoming in newest.values():
            await self.receive(await self._as_found(incoming))

    async def _as_found(self, incoming: Incoming) -> Incoming:
        """Return a message that was read back: one that was changed before we ever saw it is no edit to us."""
        if incoming.edited_at is None or await self._claims.by_message(incoming.conversation, incoming.message):
            return incoming
        return replace(incoming, edited_at=None)

    async def _beat(self) -> None:
        """Keep the leases of what is under way, and take over what nobody works on any more."""
        while True:
            await asyncio.sleep(self._lease / 3)
            try:
                jobs = list(self._lanes)
                held = await self._claims.heartbeat([job.claim for job in jobs])
                for job in jobs:
                    if job.claim.reference not in held and not job.done:
                        job.lost = True
                        job.interrupt()
                await self._resume()
            except CitebotError as error:
                log.warning("the claims could not be kept: %s: %s", type(error).__name__, error)

    async def _resume(self) -> None:
        """Take up the turns that a process left which is gone."""
        for claim in await self._claims.abandoned([self._platform.name], alone=self._alone):
            if (job := self._lanes.find(claim.reference)) is not None:
                # Ours, without a sign of life for too long: whoever worked on it here stops.
                job.lost = True
                job.interrupt()
            log.info("turn %s: taken up after %d attempts", claim.reference, claim.attempts - 1)
            self.meter.claims["resumed"] += 1
            is_late = self._now() - claim.incoming.sent_at > self._options.late_after
            refusal = Refuse("late") if is_late else None
            touched = asyncio.get_running_loop().time() - self._options.merge_within
            line = await self._claims.line_of(claim)
            earlier = line[-2] if len(line) > 1 else None
            self._begin(
                Job(claim=claim, messages=messages_of(line), touched=touched, refusal=refusal, replaces=earlier)
            )

    async def deleted(self, conversation: ConversationKey, message: str) -> None:
        """Withdraw the answer to a message that its asker deleted."""
        self._deleted[(place(conversation), message)] = None
        while len(self._deleted) > DELETED_REMEMBERED:
            self._deleted.popitem(last=False)
        for claim in await self._claims.by_message(conversation, message):
            job = self._lanes.find(claim.reference)
            first = next(iter(messages_of(await self._claims.line_of(claim))))
            if first == message:
                await self._withdraw(claim)
            elif job is not None and message in job.messages:
                # One of several that are answered together: the others stay.
                del job.messages[message]
                job.begin_anew()

    async def withdraw(self, reference: str, by: str) -> bool:
        """Withdraw an answer that its asker, or an admin, wants away."""
        claim = await self._claims.by_reference(reference)
        if claim is None or not self._may(claim, by):
            return False
        await self._withdraw(claim)
        return True

    async def _withdraw(self, claim: Claim) -> None:
        job = self._lanes.find(claim.reference)
        if job is not None:
            job.withdrawn = True
        gone = await self._claims.withdraw(claim.reference)
        if job is not None:
            job.interrupt()  # whoever writes takes back what stands
        elif gone is not None:
            sent = [part.sent for part in gone.sends if part.sent is not None]
            await self._taker.take_back(gone.incoming, sent or [one for one in (gone.begun,) if one is not None])
        conversation = claim.incoming.conversation
        async for _ in self._backend.run(Forget(conversation=conversation, reference=claim.reference)):
            pass

    def _may(self, claim: Claim, by: str) -> bool:
        asker = claim.incoming.asker
        admin = person(replace(claim.incoming, asker=replace(asker, id=by))) in self._options.admins
        return by == asker.id or admin

    async def stop(self, reference: str, by: str) -> bool:
        """Stop a turn for its asker, or an admin."""
        job = self._lanes.find(reference)
        return job is not None and self._stop(job, by)

    async def stop_in(self, conversation: ConversationKey, by: str) -> bool:
        """Stop what is being written in the conversation."""
        job = self._lanes.current(conversation)
        return job is not None and self._stop(job, by)

    def _stop(self, job: Job, by: str) -> bool:
        if not self._may(job.claim, by) or job.sending:
            return False
        job.stopped = True
        job.interrupt()
        return True

    async def vote(self, vote: Vote) -> None:
        """Keep a judgement."""
        if not await self._feedback.vote(vote):
            log.info("turn %s: a vote came too late to be kept", vote.reference)

    async def quotes(self, reference: str, readers: frozenset[str]) -> View | None:
        """Return the cited passages, as far as these readers may read them."""
        claim = await self._claims.by_reference(reference)
        if claim is None:
            return None
        return await quotes_view(self._backend, claim.reference, readers, self._language(claim))

    async def share(self, reference: str, by: str, readers: frozenset[str]) -> View | None:
        """Return the answer for these readers, None unless its asker shares it and they may read all of it."""
        claim = await self._claims.by_reference(reference)
        if claim is None or claim.incoming.asker.id != by:
            return None
        documents = await self._claims.documents_of(claim.reference)
        return await shared_view(self._backend, claim.reference, readers, documents, self._language(claim))

    async def knowledge_bases(self, readers: frozenset[str]) -> tuple[str, ...]:
        """Return what these readers may ask."""
        return readable(self._options.readers_of, readers)

    async def welcome(self, language: str) -> View:
        """Return what greets somebody who opens a conversation."""
        language = self._options.language or language or "en"
        document = sentence(word("greeting", language))
        return View(document=document, reference="", prompts=self._writer.prompts(language), language=language)

    def _language(self, claim: Claim) -> str:
        return language_for(claim.incoming.text, claim.incoming.asker.language, self._options.language)

    def _door(self, conversation: ConversationKey) -> asyncio.Lock:
        door = self._doors.get(conversation)
        if door is None:
            door = self._doors[conversation] = asyncio.Lock()
        return door


def messages_of(line: Sequence[Claim]) -> dict[str, Incoming]:
    """Return the messages that the last of these claims answers in place of the others, each as it was last edited."""
    messages: dict[str, Incoming] = {}
    for one in (message for claim in line for message in (claim.incoming, *claim.also)):
        before = messages.get(one.message)
        if before is None or _is_news(one, before):
            messages[one.message] = one
    return messages


def _ends_alike(job: Job, refusal: Refuse | None) -> bool:
    """Return whether a job ends as a further message does: both are answered, or both came too late."""
    return job.refusal == refusal and (refusal is None or refusal.word == "late")


def _is_news(incoming: Incoming, before: Incoming) -> bool:
    """Return whether an edit is later than what we have, and says something else."""
    if before.edited_at is not None and incoming.edited_at is not None and incoming.edited_at <= before.edited_at:
        return False
    return incoming.text != before.text
