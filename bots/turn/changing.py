"""What its asker does to a question that was asked: edits it, deletes it, stops it, takes its answer back."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from bots.platform import Incoming, Sent
from bots.requests import Forget
from bots.service import Backend
from bots.turn.arriving import Arrivals
from bots.turn.claim import Claim, is_news, messages_of
from bots.turn.claims import Claims
from bots.turn.gate import Pass, Refuse
from bots.turn.options import TurnOptions, person
from bots.turn.order import Doors, Job, Lanes
from ragcore.types import ConversationKey


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
        self, conversation: ConversationKey, message: str, *, held: ConversationKey
    ) -> AsyncIterator[tuple[Claim, ...]]:
        """Give the claims that answer a message, newest first, with the door of their conversation held."""
        while True:
            found = await self._claims.by_message(conversation, message)
            home = found[0].incoming.conversation if found else held
            async with self._doors.beside(home, held):
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
        refusal = verdict if isinstance(verdict, Refuse) else self._arrivals.over_rate(incoming, arrived)
        if job is not None and not job.done and await self._claims.merge(claim, job.claim):
            job.refusal = refusal
            job.change(incoming, arrived)
            return True
        messages = {**known, incoming.message: incoming}
        self._lanes.add(Job(claim=claim, messages=messages, touched=arrived, replaces=newest, refusal=refusal))
        return True

    async def deleted(self, conversation: ConversationKey, message: str) -> None:
        """Withdraw the answer to a message that its asker deleted."""
        self._arrivals.delete(conversation, message)
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
            await self._take_back(gone.incoming, sent or [one for one in (gone.begun,) if one is not None])
        conversation = await self._claims.history_of(claim.incoming.conversation)
        async for _ in self._backend.run(Forget(conversation=conversation, reference=claim.reference)):
            pass

    def _may(self, claim: Claim, by: str) -> bool:
        asker = claim.incoming.asker
        admin = person(replace(claim.incoming, asker=replace(asker, id=by))) in self._options.admins
        return by == asker.id or admin

    def stop(self, reference: str, by: str) -> bool:
        """Stop a turn for its asker, or an admin."""
        job = self._lanes.find(reference)
        return job is not None and self._stop(job, by)

    def stop_in(self, conversation: ConversationKey, by: str) -> bool:
        """Stop what is being written in the conversation."""
        job = self._lanes.current(conversation)
        return job is not None and self._stop(job, by)

    def _stop(self, job: Job, by: str) -> bool:
        if not self._may(job.claim, by) or job.sending:
            return False
        job.stopped = True
        job.interrupt()
        return True
