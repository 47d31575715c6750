"""What was done for one answer: its stages, its searches and every call of a model, with the time that each took.

A ``Recorder`` is set for the time of an answer (``recorded``), and whoever works for it tells what it does: ``step``,
``searched``, ``called``. Where none is set, that costs a look at a variable. What comes of it is a ``Trace``, a value.

It holds what was asked and read, so it is kept no longer than that, shown to nobody who may not read it
(``ragcore.trace_readers``), and never logged.
"""

import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TypeVar

from ragcore.types import Answer, Message, ScoredChunk, ToolCall, Usage

T = TypeVar("T")

MOST_CALLS, MOST_SEARCHES, MOST_STEPS = 64, 32, 128
"""Of each so many are kept: a question makes a handful, and what loops must not fill the memory."""
LEFT_OUT = "left out"
"""The failure of a call, past the most, of which only the task, the time and the usage are kept."""
BROKEN_OFF = "broken off"
"""The failure of a call that was not waited for to its end: it was late, or whoever asked had gone."""


class Fate(StrEnum):
    """What became of a passage that a search brought in."""

    PASSED = "passed"
    BELOW = "below the gate"
    COPY = "copy"
    """It says the same as one that passed."""
    BEYOND = "beyond"
    """Relevant, and behind as many better ones as are wanted."""
    READ = "read"
    """It stood in the prompt, or was quoted from."""
    NO_ROOM = "no room"
    """It was to be read, and the prompt had no room for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A passage by name, never its text; ``hidden``: whoever looks may not read its document, and all else is empty.

    ``legs`` are its ranks, by leg: ``("dense", 3)``. ``rests_on`` are documents besides its own that it repeats.
    """

    fate: Fate
    chunk_id: str = ""
    document_id: str = ""
    title: str = ""
    score: float = 0.0
    legs: tuple[tuple[str, int], ...] = ()
    rests_on: frozenset[str] = frozenset()
    hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """How many passages each leg brought of a knowledge base; None: it could not be asked."""

    knowledge_base: str
    by_meaning: int | None
    by_words: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One search: for what, where, and what became of the passages that it read, best first.

    ``beside`` are words that count besides those asked for, ``filters`` are as they are written. ``gate`` is the least
    score; ``relaxed``: nothing passed the strict judgement. ``unread`` passages were not live, or are not open to the
    readers.
    """

    text: str
    beside: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    legs: tuple[Leg, ...] = ()
    gate: float = 0.0
    relaxed: bool = False
    unread: int = 0
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage:
    """A page that a search engine named: how many passages of it were given out, the best at which score.

    ``unread`` tells why the page was not read itself, and what the engine says of it had to do; empty: it was read.
    """

    url: str
    title: str = ""
    unread: str = ""
    given: int = 0
    score: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSearched:
    """One search of the web: the words that went out, to which engine, and what came back; ``failure``: why nothing."""

    query: str
    engine: str
    pages: tuple[WebPage, ...] = ()
    failure: str = ""
    hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A stage or a part of one; times are in milliseconds, ``began`` since the question came."""

    name: str
    began: float
    took: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a chat model: all that it was told, all that it wrote, and what that took.

    ``first`` are the milliseconds to the first piece of what is streamed, 0: none came, or it came whole. ``failure``
    is empty where all went well. Pictures are counted, not kept. ``requests`` went to the endpoint: more than one where
    it was tried again, none where the model tells of none.
    """

    task: str
    model: str
    began: float
    took: float
    first: float = 0.0
    messages: tuple[Message, ...] = ()
    pictures: int = 0
    reply: str = ""
    usage: Usage = Usage()
    failure: str = ""
    requests: int = 0
    hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Everything that was done for one answer.

    ``readers`` are those to whom it was said (None: the operator), ``rests_on`` the documents that the conversation
    before may repeat. ``kept``: the answer was written earlier, and no model was asked. ``degraded`` tells what did
    not go as it should, such as a judge of passages that was late. ``read`` are the passages that the writer was given.
    """

    question: str
    asked_at: datetime
    knowledge_bases: tuple[str, ...] = ()
    readers: frozenset[str] | None = None
    rests_on: frozenset[str] = frozenset()
    took: float = 0.0
    support: str = ""
    kept: bool = False
    steps: tuple[Step, ...] = ()
    searches: tuple[Search, ...] = ()
    web: tuple[WebSearched, ...] = ()
    read: tuple[Passage, ...] = ()
    calls: tuple[Call, ...] = ()
    degraded: tuple[str, ...] = ()
    hidden: int = 0

    @property
    def documents(self) -> frozenset[str]:
        """Return the ids of all documents that it may tell of."""
        passages = [*self.read, *(passage for search in self.searches for passage in search.passages)]
        named = (frozenset({one.document_id}) | one.rests_on for one in passages if one.document_id)
        return self.rests_on.union(*named)

    @property
    def size(self) -> int:
        """Return how many characters it holds, about."""
        messages = [message for call in self.calls for message in call.messages]
        said = sum(len(one.text) + sum(len(call.arguments) for call in one.calls) for one in messages)
        replies = sum(len(call.reply) for call in self.calls)
        passages = len(self.read) + sum(len(search.passages) for search in self.searches)
        passages += sum(1 + len(one.pages) for one in self.web)
        return len(self.question) + said + replies + 300 * (1 + passages)


def told_calls(calls: Sequence[ToolCall]) -> str:
    """Return calls of tools as lines: ``search({"what": "leave"})``."""
    return "\n".join(f"{one.name}({one.arguments})" for one in calls)


def passage_of(scored: ScoredChunk, fate: Fate) -> Passage:
    """Return a passage by name."""
    chunk = scored.chunk
    return Passage(
        fate=fate,
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        title=chunk.title,
        score=scored.score,
        legs=tuple(scored.ranks.items()),
        rests_on=frozenset(leaf.document_id for leaf in chunk.rests_on),
    )


@dataclass(slots=True, kw_only=True)
class Calling:
    """A call that is under way; whoever makes it writes down how it goes."""

    task: str
    model: str
    began: float
    messages: Sequence[Message]
    ended: float | None = None
    first: float = 0.0
    reply: list[str] = field(default_factory=list)
    usage: Usage = Usage()
    failure: str = BROKEN_OFF
    requests: int = 0


class Recorder:
    """Takes down what is done for one answer."""

    def __init__(self, *, clock: Callable[[], float] = time.perf_counter) -> None:
        """Start the clock, which tells seconds."""
        self._clock = clock
        self._began = clock()
        self._asked_at = datetime.now(UTC)
        self._steps: list[Step] = []
        self._searches: list[Search] = []
        self._web: list[WebSearched] = []
        self._calls: list[Calling] = []
        self._read: tuple[Passage, ...] = ()
        self._degraded: dict[str, None] = {}
        self.kept = False

    def now(self) -> float:
        """Return the milliseconds since the question came."""
        return (self._clock() - self._began) * 1000

    def step(self, name: str, began: float) -> None:
        """Take down a step that ends now."""
        if len(self._steps) < MOST_STEPS:
            self._steps.append(Step(name=name, began=began, took=self.now() - began))

    def searched(self, search: Search) -> None:
        """Take down a search."""
        if len(self._searches) < MOST_SEARCHES:
            self._searches.append(search)

    def searched_web(self, search: WebSearched) -> None:
        """Take down a search of the web."""
        if len(self._web) < MOST_SEARCHES:
            self._web.append(search)

    def call(self, task: str, model: str, messages: Sequence[Message]) -> Calling:
        """Take down a call that begins now."""
        calling = Calling(task=task, model=model, began=self.now(), messages=messages)
        self._calls.append(calling)
        return calling

    def requested(self, messages: Sequence[Message]) -> None:
        """Take down that a request goes to the endpoint for the call under way that has these very messages."""
        for call in reversed(self._calls):
            if call.messages is messages and call.ended is None:
                call.requests += 1
                return

    def given(self, chunks: Sequence[ScoredChunk], room: int) -> None:
        """Take down what the writer was given, best first, and for how many of it there was room."""
        fates = (Fate.READ if number < room else Fate.NO_ROOM for number in range(len(chunks)))
        self._read = tuple(passage_of(one, fate) for one, fate in zip(chunks, fates, strict=True))

    def degraded(self, what: str) -> None:
        """Take down what did not go as it should."""
        self._degraded[what] = None

    @property
    def went_well(self) -> bool:
        """Return whether no call has failed or was broken off, and nothing else went wrong."""
        return not self._degraded and not any(call.failure for call in self._calls)

    def trace(
        self,
        answer: Answer,
        *,
        knowledge_bases: tuple[str, ...] = (),
        readers: frozenset[str] | None = None,
        rests_on: frozenset[str] = frozenset(),
    ) -> Trace:
        """Return all that was taken down, as it stands now."""
        calls = [self._frozen(call, whole=number < MOST_CALLS) for number, call in enumerate(self._calls)]
        return Trace(
            question=answer.question,
            asked_at=self._asked_at,
            knowledge_bases=knowledge_bases,
            readers=readers,
            rests_on=rests_on,
            took=self.now(),
            support=answer.support.value,
            kept=self.kept,
            steps=tuple(sorted(self._steps, key=lambda step: step.began)),
            searches=tuple(self._searches),
            web=tuple(self._web),
            read=self._read,
            calls=tuple(calls),
            degraded=tuple(self._degraded),
        )

    def _frozen(self, call: Calling, *, whole: bool) -> Call:
        ended = self.now() if call.ended is None else call.ended
        messages = tuple(replace(one, images=()) if one.images else one for one in call.messages) if whole else ()
        return Call(
            task=call.task,
            model=call.model,
            began=call.began,
            took=ended - call.began,
            first=call.first,
            messages=messages,
            pictures=sum(len(one.images) for one in call.messages),
            reply="".join(call.reply) if whole else "",
            usage=call.usage,
            failure=call.failure if whole else call.failure or LEFT_OUT,
            requests=call.requests,
        )


_CURRENT: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


def current() -> Recorder | None:
    """Return what takes down the answer that is being worked on here, None where nothing does."""
    return _CURRENT.get()


@contextmanager
def step(name: str) -> Iterator[None]:
    """Take down how long what runs inside takes."""
    recorder = _CURRENT.get()
    if recorder is None:
        yield
        return
    began = recorder.now()
    try:
        yield
    finally:
        recorder.step(name, began)


def degraded(what: str) -> None:
    """Tell that something did not go as it should, and the answer goes on without it."""
    if (recorder := _CURRENT.get()) is not None:
        recorder.degraded(what)


async def recorded(events: AsyncGenerator[T], recorder: Recorder) -> AsyncGenerator[T]:
    """Yield the events, with the recorder set while they are made, and only then.

    A generator runs in the context of whoever waits for its next value, so the variable is set for each step anew.
    """
    async with aclosing(events):
        while True:
            token = _CURRENT.set(recorder)
            try:
                event = await anext(events)
            except StopAsyncIteration:
                return
            finally:
                _CURRENT.reset(token)
            yield event
