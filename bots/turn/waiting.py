"""Whoever has asked and has no answer yet: a sign at once, and a reason in time where another question is first."""

import asyncio
from collections.abc import Callable
from typing import Generic

from bots.platform import R, View
from bots.turn.answering import Writer
from bots.turn.budget import Budget
from bots.turn.ending import end
from bots.turn.receiving.order import Job
from bots.turn.replying import Reply
from bots.words.sentences import Word, word


class Waiting(Generic[R]):
    """One question from its arrival to the end of its turn."""

    def __init__(
        self, job: Job, reply: Reply[R], *, writer: Writer[R], budget: Budget, ahead: Callable[[], int]
    ) -> None:
        """``ahead`` tells how many questions come before this one in its conversation."""
        self.reply = reply
        self._job = job
        self._writer = writer
        self._budget = budget
        self._ahead = ahead
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Give the first sign, and keep the time."""
        if self._ahead():
            self.reply.say(word("waiting", self._writer.language(self._job)))
        self._task = asyncio.create_task(self._watch())

    async def end(self) -> None:
        """Show and send nothing more."""
        await end(self._task)
        await self.reply.settle()

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(self._budget.reason_at(self._job.asked) - loop.time())
        job = self._job
        if job.done or job.stopped or job.withdrawn or job.lost:
            return
        ahead = self._ahead()
        if not ahead and not self._budget.is_late(job.asked, job.began):
            return  # the turn itself says in time why there is no answer
        key: Word = "began_late" if not ahead else ("waits" if ahead == 1 else "waits_behind")
        document, language = self._writer.reason(job, key, count=ahead), self._writer.language(job)
        self.reply.tell(View(document=document, reference=job.claim.reference, language=language))
