"""The traces of answers: kept for a while in the memory of the process that gave them, and told to who may read them.

They hold what was asked and read. So they never stand on a disk or in a log, go with the turn that they belong to, and
where no conversation is remembered (``answer.history_days = 0``) none is kept.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bots.app.parts import Parts
from bots.app.remembering import open_of
from bots.requests import Ask, Explained, Why
from bots.settings import Settings
from ragcore.on_web import is_web
from ragcore.trace import Trace
from ragcore.trace_readers import as_read
from ragcore.types import ConversationKey

KEPT_SECONDS = 86_400.0
"""How long a trace is kept: whoever is told of a bad answer looks at it the same day, or the next morning."""
MOST = 200
MOST_CHARACTERS = 16_000_000
"""Of all that are kept: some 60 MB where every character takes four bytes. The oldest go first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """A trace, where it was asked, who alone saw the answer ("": everybody there), and since when it is kept."""

    conversation: ConversationKey
    private_to: str
    trace: Trace
    since: float


class Traces:
    """The newest traces, by the reference of their turn; a turn that is answered again has its newest one."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Keep none so far; the clock tells seconds."""
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._characters = 0
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        """Return how many are kept."""
        return len(self._kept)

    def keep(self, request: Ask, trace: Trace) -> None:
        """Keep the trace of an answer in a conversation that has a reference."""
        if request.conversation is None or not request.reference:
            return
        self.drop(request.reference)
        kept = _Kept(conversation=request.conversation, private_to=request.private_to, trace=trace, since=self._clock())
        self._kept[request.reference] = kept
        self._characters += trace.size
        while len(self._kept) > MOST or self._characters > MOST_CHARACTERS:
            self.drop(next(iter(self._kept)))
        self._expire()

    def drop(self, reference: str) -> None:
        """Forget one."""
        if (gone := self._kept.pop(reference, None)) is not None:
            self._characters -= gone.trace.size

    def forget(self, conversation: ConversationKey, reference: str = "") -> None:
        """Forget those of a conversation, or the one of the reference alone."""
        each = tuple(self._kept.items())
        for name, kept in each:
            if kept.conversation == conversation and reference in ("", name):
                self.drop(name)

    def find(self, request: Why) -> tuple[str, Trace] | None:
        """Return what is asked for, with its reference: of answers that nobody alone saw, or this person."""
        self._expire()
        here = request.conversation
        seen = [
            (name, kept)
            for name, kept in reversed(self._kept.items())
            if kept.private_to in ("", request.person) and _place(kept.conversation) == _place(here)
        ]
        if request.reference:
            seen = [(name, kept) for name, kept in seen if name == request.reference]
        # A command has no thread on some platforms: the channel's newest is meant there.
        seen.sort(key=lambda one: one[1].conversation != here)
        return (seen[0][0], seen[0][1].trace) if seen else None

    def close(self) -> None:
        """Forget all."""
        self._kept.clear()
        self._characters = 0
        self._expire()

    def _expire(self) -> None:
        """Forget what is too old, now and whenever the next one is, also where nothing more is asked."""
        oldest = self._clock() - KEPT_SECONDS
        while self._kept and next(iter(self._kept.values())).since <= oldest:
            self.drop(next(iter(self._kept)))
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._kept:
            left = next(iter(self._kept.values())).since - oldest
            self._timer = asyncio.get_running_loop().call_later(max(1.0, left), self._expire)


async def explain(
    settings: Settings, parts: Parts, traces: Traces, request: Why, bases: Sequence[str]
) -> Explained | None:
    """Return how an answer came about, as far as the audience may read it now; None where that is not known.

    Args:
        settings: Tell which knowledge base each source has.
        parts: Know what is open to whom, and what is remembered.
        traces: Those that are kept.
        request: Which one, and for whom.
        bases: The knowledge bases that the audience may read there.
    """
    found = traces.find(request)
    if found is None:
        return None
    reference, trace = found
    if await parts.history.by_reference(reference) is None:
        traces.drop(reference)  # another process has forgotten the turn
        return None
    if request.audience is None:
        return Explained(reference=reference, trace=trace)
    documents = await open_of(settings, parts, trace.documents, bases, request.audience)
    documents |= {name for name in trace.documents if is_web(name)}
    told = trace.readers is not None and trace.readers <= request.audience
    covers = told and frozenset(trace.knowledge_bases) <= frozenset(bases)
    return Explained(reference=reference, trace=as_read(trace, documents, covers=covers))


def _place(conversation: ConversationKey) -> tuple[str, str, str]:
    return conversation.platform, conversation.workspace, conversation.channel
