"""What its asker does to a question that was asked: edits it, deletes it, stops it, takes its answer back."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace

from bots.platform import Incoming, Sent
from bots.requests import Forget
from bots.service import Backend
from bots.turn.claims import Claims
from bots.turn.claims.claim import Claim, Outcome, has_words, is_news, messages_of
from bots.turn.options import TurnOptions, person
from bots.turn.receiving.arriving import Arrivals
from bots.turn.receiving.gate import Pass, Refuse
from bots.turn.receiving.order import Doors, Job, Lanes
from ragcore.types import ConversationKey

log = logging.getLogger(__name__)

_STANDS = frozenset({Outcome.ANSWERED, Outcome.UNSUPPORTED, Outcome.ABSTAINED})
"""After these an answer stands."""


class Changes:
    """Changes to the questions of one platform."""

    def __init__(
        self,
        claims: Claims,
        arrivals: Arrivals,
        lanes: Lanes,
        doors: Doors,
        backend: Backend,
        options: TurnOptions,
        *,
        take_back: Callable[[Incoming, Sequence[Sent]], Awaitable[None]],
    ) -> None:
        """``take_back`` withdraws messages of an answer that nobody writes any more."""
        self._claims = claims
        self._arrivals = arrivals
        self._lanes = lanes
        self._doors = doors
        self._backend = backend
        self._options = options
        self._take_back = take_back

    async def edited(self, incoming: Incoming, arrived: float, verdict: Pass | Refuse) -> bool | None:
        """Answer an edited question again, in place, unless the ``verdict`` or its asker's pace says why not.

        None when it is one that we have not seen before.
        """
        async with self._answering(incoming.conversation, incoming.message, held=incoming.conversation) as claims:
            if not claims:
                return None
            # It is answered where its message is, which may have been joined with one of another conversation.
            edit = replace(incoming, conversation=claims[0].incoming.conversation)
            return await self._edited(edit, claims[0], arrived, verdict)

    @asynccontextmanager
    async def _answering(
        self, conversation: ConversationKey, message: str, *, held: ConversationKey | None = None
    ) -> AsyncIterator[tuple[Claim, ...]]:
        """Give the claims that answer a message, newest first, with the door of their conversation held."""
        while True:
            found = await self._claims.by_message(conversation, message)
            home = found[0].incoming.conversation if found else held
            async with self._doors.beside(home, held) if home is not None else nullcontext():
                if home != held:
                    found = await self._claims.by_message(conversation, message)
                    if not found or found[0].incoming.conversation != home:
                        continue
                yield found
                return

    async def _edited(self, incoming: Incoming, newest: Claim, arrived: float, verdict: Pass | Refuse) -> bool:
        job = self._lanes.find(newest.reference)
        known = job.messages if job is not None else messages_of(await self._claims.line_of(newest))
        before = known.get(incoming.message)
        if before is not None and not is_news(incoming, before):
            return False
        claim = await self._arrivals.claim(incoming, replaces=newest.reference)
        if claim is None:
            return False
        refusal = verdict if isinstance(verdict, Refuse) else await self._arrivals.over_rate(claim, arrived)
        if job is not None and not job.done and await self._claims.merge(claim, job.claim):
            job.refusal = refusal
            job.change(incoming, arrived)
            return True
        messages = {**known, incoming.message: incoming}
        self._lanes.add(Job(claim=claim, messages=messages, touched=arrived, replaces=newest, refusal=refusal))
        return True

    async def deleted(self, conversation: ConversationKey, message: str) -> None:
        """Withdraw the answer to a message that its asker deleted; what was asked with it is answered without it."""
        self._arrivals.delete(conversation, message)
        seen: set[str] = set()
        async with self._answering(conversation, message) as found:
            ended: list[tuple[Claim, Job | None]] = []
            for claim in found:
                line = () if claim.reference in seen else await self._claims.line_of(claim)
                seen |= {one.reference for one in line}
                if line:
                    ended += await self._leave_out(line, conversation, message)
        for claim, job in ended:
            await self._take_away(claim, job)

    async def _leave_out(
        self, line: Sequence[Claim], conversation: ConversationKey, message: str
    ) -> list[tuple[Claim, Job | None]]:
        """Let the last turn of a line answer without the message; return those that ended, and who works on them."""
        newest, job = line[-1], self._lanes.find(line[-1].reference)
        rest = {name: one for name, one in messages_of(line).items() if name != message and has_words(one)}
        if message == line[0].incoming.message:
            return await self._part(line, rest)
        if not rest or newest.outcome is Outcome.WITHDRAWN:
            await self._claims.leave_out(conversation, message)
        elif job is not None and not job.done:
            await self._claims.leave_out(conversation, message)
            if job.messages.pop(message, None) is not None:
                job.begin_anew()
        elif newest.outcome in _STANDS:
            first = next(iter(rest.values()))
            key = f"without {conversation.channel}/{message}"
            again = replace(first, keys=(key,), conversation=newest.incoming.conversation)
            claim = await self._claims.leave_out(conversation, message, again=again, replaces=newest.reference)
            if claim is not None:
                touched = asyncio.get_running_loop().time()
                self._lanes.add(Job(claim=claim, messages=rest, touched=touched, replaces=newest))
        else:
            await self._claims.leave_out(conversation, message)
        return []

    async def _part(self, line: Sequence[Claim], rest: Mapping[str, Incoming]) -> list[tuple[Claim, Job | None]]:
        """End all turns of a line, for what they reply to is gone; what was asked with it is asked on its own."""
        jobs = {claim.reference: self._lanes.find(claim.reference) for claim in line}
        for job in jobs.values():
            if job is not None:
                job.withdrawn = True
        ended, again = await self._claims.part(line, rest)
        for claim in again:
            log.info("turn %s: asked on its own, for what was asked with it is deleted", claim.reference)
            touched = asyncio.get_running_loop().time()
            refusal = Refuse("late") if line[-1].outcome is Outcome.LATE else None
            self._lanes.add(Job(claim=claim, messages=messages_of((claim,)), touched=touched, refusal=refusal))
        return [(claim, jobs[claim.reference]) for claim in ended]

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
        if gone is not None:
            await self._take_away(gone, job)

    async def _take_away(self, gone: Claim, job: Job | None) -> None:
        """Take back what stands of a turn that ended, as it stood then, and forget it."""
        if job is not None:
            job.interrupt()  # whoever writes takes back what stands
        else:
            sent = [part.sent for part in gone.sends if part.sent is not None]
            await self._take_back(gone.incoming, sent or [one for one in (gone.begun,) if one is not None])
        conversation = await self._claims.history_of(gone.incoming.conversation)
        async for _ in self._backend.run(Forget(conversation=conversation, reference=gone.reference)):
            pass

    def _may(self, claim: Claim, by: str) -> bool:
        asker = claim.incoming.asker
        admin = person(replace(claim.incoming, asker=replace(asker, id=by))) in self._options.admins
        return by == asker.id or admin

    async def stop(self, reference: str, by: str) -> bool:
        """Stop a turn for its asker, or an admin, whichever process writes it."""
        job = self._lanes.find(reference)
        if job is not None:
            return self._stop(job, by)
        claim = await self._claims.by_reference(reference)
        return claim is not None and self._may(claim, by) and await self._claims.stops.ask(claim.reference)

    async def stop_in(self, conversation: ConversationKey, by: str) -> bool:
        """Stop what is being written in the conversation."""
        job = self._lanes.current(conversation)
        if job is not None:
            return self._stop(job, by)
        return await self.stop(await self._claims.stops.running_in(conversation), by)

    async def stop_as_asked(self) -> None:
        """Stop what was asked to stop in another process."""
        writing = (job for job in self._lanes if not (job.stopped or job.sending or job.done))
        jobs = {job.claim.reference: (job, job.version) for job in writing}
        for reference in await self._claims.stops.asked(jobs) if jobs else ():
            job, version = jobs[reference]
            if job.version == version:  # else what was to stop is not written any more
                job.stopped = True
                job.interrupt()

    def _stop(self, job: Job, by: str) -> bool:
        if not self._may(job.claim, by) or job.sending:
            return False
        job.stopped = True
        job.interrupt()
        return True
