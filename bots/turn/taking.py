"""One turn from its beginning to its end: written, sent, recorded. Here alone everything is caught."""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic

from bots.platform import Incoming, Platform, R, Sent, View
from bots.requests import Forget
from bots.retrying import until_kept
from bots.service import Backend
from bots.turn.answering import Writer
from bots.turn.claims import Claims
from bots.turn.claims.claim import Outcome
from bots.turn.ending import ended_soon
from bots.turn.meter import Meter
from bots.turn.options import TurnOptions
from bots.turn.receiving.gate import Refuse
from bots.turn.receiving.order import Job
from bots.turn.receiving.rush import Rush
from bots.turn.replying import Reply
from bots.turn.replying.means import Means
from bots.turn.replying.pacing import Pacer
from bots.turn.replying.withdrawing import CALL_SECONDS, take_back
from bots.turn.waiting import Waiting
from bots.turn.written import Written
from bots.words.sentences import Word, word
from ragcore.errors import CitebotError, ClaimLost, PlatformError, PlatformRefused, StoreError
from ragcore.types import ConversationKey

log = logging.getLogger(__name__)

Tell = Callable[[str, str], Awaitable[None]]
"""Tells admins: the platform that something is wrong with, and the words."""

TELL_EVERY = 60.0
"""Seconds between two words to an admin about what could not be sent."""
_REFUSED: dict[Word, Outcome] = {
    "late": Outcome.LATE,
    "user_limit": Outcome.LIMITED,
    "channel_limit": Outcome.LIMITED,
    "research_limit": Outcome.LIMITED,
    "research_off": Outcome.NOT_ALLOWED,
    "not_here": Outcome.NOT_ALLOWED,
}


class Taker(Generic[R]):
    """Takes the turns of one platform."""

    def __init__(
        self,
        platform: Platform[R],
        writer: Writer[R],
        claims: Claims,
        backend: Backend,
        options: TurnOptions,
        meter: Meter,
        door: Callable[[ConversationKey], asyncio.Lock],
        tell_elsewhere: Tell | None = None,
        rush: Rush | None = None,
    ) -> None:
        """Compose.

        Args:
            platform: Where people ask.
            writer: Writes what a turn has to say.
            claims: Who answers what.
            backend: What answers, and forgets.
            options: What the operator decided.
            meter: Counts.
            door: Gives the lock under which a conversation's turns change.
            tell_elsewhere: Tells the admins whom other platforms reach.
            rush: Tells when many messages are being taken, before which answers wait a little.
        """
        self._platform = platform
        self._writer = writer
        self._claims = claims
        self._backend = backend
        self._options = options
        self._meter = meter
        self._door = door
        self._tell_elsewhere = tell_elsewhere
        self._rush = rush or Rush()
        self._pacer = Pacer()
        self._waiting: dict[Job, Waiting[R]] = {}
        self._told = -TELL_EVERY

    def queued(self, job: Job, ahead: Callable[[], int]) -> None:
        """Give a first sign to somebody who has just asked, and keep the time until they have an answer."""
        means = Means(
            platform=self._platform,
            claim=job.claim,
            claims=self._claims,
            pacer=self._pacer,
            meter=self._meter,
            lost=lambda: job.lost,
        )
        reply = Reply(means, spoken=job.spoken, started=job.asked, earlier=job.replaces)
        self._waiting[job] = Waiting(job, reply, writer=self._writer, budget=self._options.budget, ahead=ahead)
        self._waiting[job].begin()

    async def close(self) -> None:
        """Leave those who still wait to whoever takes their turns."""
        waiting = [asyncio.create_task(one.end()) for one in self._waiting.values()]
        self._waiting.clear()
        await ended_soon(*waiting)

    async def take(self, job: Job) -> None:
        """Do one turn; raises nothing but being cancelled."""
        job.began = asyncio.get_running_loop().time()
        waiting = self._waiting.pop(job)
        reply = waiting.reply
        try:
            failed = await self._failure(job, reply)
            if failed is not None and _may_be_told(failed) and job.refusal is None:
                job.refusal = Refuse("went_wrong")
                failed = await self._failure(job, reply)
            if failed is not None:
                await reply.leave()
                await self._give_up(job, failed)
                job.done = True
        except ClaimLost:
            log.info("turn %s: given up, for it is somebody else's or withdrawn", job.claim.reference)
            job.done = True
            await reply.settle()
            if await self._is_withdrawn(job):
                await reply.withdraw()
                await reply.leave()
        finally:
            # Cancelled, it isn't done: somebody else goes on with it.
            await waiting.end()
            self._meter.end.add(asyncio.get_running_loop().time() - job.asked)

    async def _is_withdrawn(self, job: Job) -> bool:
        """Return whether the question is gone; another process may have heard so, and not know what is being sent."""
        if job.withdrawn:
            return True
        try:
            async with asyncio.timeout(CALL_SECONDS):
                claim = await self._claims.by_reference(job.claim.reference)
        except (StoreError, TimeoutError) as error:
            kind = type(error).__name__
            log.warning("turn %s: what became of it is not known: %s: %s", job.claim.reference, kind, error)
            return False
        return claim is not None and claim.outcome is Outcome.WITHDRAWN

    async def _failure(self, job: Job, reply: Reply[R]) -> Exception | None:
        """Do all of it, and return what went wrong; ClaimLost is raised."""
        try:
            await self._begin(job, reply)
            await self._write_and_send(job, reply)
        except ClaimLost:
            raise
        except Exception as error:
            if not isinstance(error, CitebotError):
                log.exception("turn %s failed", job.claim.reference)
            return error
        return None

    async def take_back(self, incoming: Incoming, sent: Sequence[Sent]) -> None:
        """Withdraw messages of an answer that nobody writes any more."""
        for one in sent:
            await take_back(self._platform, incoming, one)

    async def _begin(self, job: Job, reply: Reply[R]) -> None:
        if job.refusal is None:
            reply.say(self._writer.searching(job))
        await reply.recover()

    async def _write_and_send(self, job: Job, reply: Reply[R]) -> None:
        language = self._writer.language(job)
        await self._rush.over()
        while True:
            version = job.version
            written = await self._written(job, reply)
            if written is None:
                continue
            job.sending = True
            view = View(
                document=written.document,
                reference=job.claim.reference,
                buttons=written.buttons,
                prompts=written.prompts,
                language=language,
            )
            try:
                await reply.finish(view, knowledge_bases=job.knowledge_bases)
                async with self._door(job.incoming.conversation):
                    if job.version == version:
                        await self._finish(job, written)
                        return
            finally:
                job.sending = False

    async def _finish(self, job: Job, written: Written) -> None:
        outcome, answer = written.outcome, written.answer
        await until_kept(lambda: self._claims.finish(job.claim, outcome, answer=answer), StoreError)
        if answer is not None:
            await self._forget_if_reset(job)
        job.done = True
        self._count(written)
        log.info("turn %s: %s", job.claim.reference, outcome.value)

    async def _forget_if_reset(self, job: Job) -> None:
        """Remember nothing that was asked before a reset and answered after it, by another process."""
        try:
            if await self._claims.past.was_reset_since(job.claim):
                conversation = await self._claims.history_of(job.incoming.conversation)
                async for _ in self._backend.run(Forget(conversation=conversation, reference=job.claim.reference)):
                    pass
        except CitebotError as error:
            log.warning("turn %s: may be remembered after a reset: %s", job.claim.reference, error)

    async def _forget_replaced(self, job: Job) -> None:
        try:
            await self._writer.forget_replaced(job)
        except CitebotError as error:
            log.warning("turn %s: what it replaces is still remembered: %s", job.claim.reference, error)

    async def _written(self, job: Job, reply: Reply[R]) -> Written | None:
        """Return what is to be sent, None when what is asked has changed meanwhile."""
        if job.lost or job.withdrawn:
            raise ClaimLost("there is nothing to write any more")
        if job.refusal is not None:
            await self._forget_replaced(job)
            outcome = _REFUSED.get(job.refusal.word, Outcome.FAILED)
            seconds = job.refusal.seconds
            minutes = math.ceil(seconds / 60)
            return self._writer.plain_reason(job, job.refusal.word, outcome, seconds=seconds, minutes=minutes)
        if job.stopped:
            return await self._stopped(job, reply)
        version = job.version
        job.asking = asyncio.create_task(self._writer.write(job, reply))
        try:
            return await job.asking
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            if job.version == version and not (job.stopped or job.withdrawn or job.lost):
                log.warning("turn %s: what answers cancelled itself", job.claim.reference)
                return self._writer.plain_reason(job, "went_wrong", Outcome.FAILED)
            return None
        finally:
            job.asking = None

    async def _stopped(self, job: Job, reply: Reply[R]) -> Written:
        language = self._writer.language(job)
        if reply.shown.strip() and job.spoken.is_set():
            return await self._writer.cut_short(job, reply.shown, word("stopped", language), Outcome.STOPPED)
        return self._writer.plain_reason(job, "stopped", Outcome.STOPPED)

    async def _give_up(self, job: Job, error: Exception) -> None:
        """Mark a turn whose answer the platform does not take, and tell an admin."""
        log.error("turn %s could not be sent: %s: %s", job.claim.reference, type(error).__name__, error)
        self._meter.outcomes[Outcome.UNSENT] += 1
        try:
            await self._claims.finish(job.claim, Outcome.UNSENT)
        except CitebotError as lost:
            log.warning("turn %s: not marked: %s: %s", job.claim.reference, type(lost).__name__, lost)
        now = asyncio.get_running_loop().time()
        if now - self._told < TELL_EVERY:
            return
        self._told = now
        why = f"{self._platform.name}, {type(error).__name__}, {job.claim.reference}"
        await self._tell(word("unsent", self._options.language or "en", why=why))

    async def _tell(self, words: str) -> None:
        """Tell the admins, also those elsewhere: what took no answer may take no word to an admin either."""
        if self._tell_elsewhere is not None:
            await self._tell_elsewhere(self._platform.name, words)
        for admin in self._options.admins:
            if admin.startswith(f"{self._platform.name}:"):
                try:
                    async with asyncio.timeout(CALL_SECONDS):
                        await self._platform.tell(admin, words)
                except (PlatformError, TimeoutError) as failed:
                    log.warning("an admin was not told: %s: %s", type(failed).__name__, failed)

    def _count(self, written: Written) -> None:
        self._meter.outcomes[written.outcome] += 1
        usage = written.usage if written.answer is None else written.answer.usage
        self._meter.tokens["prompt"] += usage.prompt_tokens
        self._meter.tokens["completion"] += usage.completion_tokens


def _may_be_told(failed: Exception) -> bool:
    """Return whether a plain reason may go where the answer did not: a fault of ours, or words that were refused."""
    return isinstance(failed, PlatformRefused) or not isinstance(failed, CitebotError)
