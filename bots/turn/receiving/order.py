"""Who is answered when: one turn at a time in a conversation, in the order of asking; conversations side by side."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from bots.platform import Incoming
from bots.turn.claims.claim import Claim
from bots.turn.ending import ended_soon
from bots.turn.receiving.gate import Refuse
from bots.turn.receiving.researching import is_research
from bots.turn.written import Written
from bots.whose import Words, of_all
from ragcore.types import ConversationKey


@dataclass(slots=True, kw_only=True, eq=False)
class Job:
    """One turn that is under way or waits: the messages that it answers, and what became of it.

    ``messages`` are by their id, in the order in which they came, each as it was last edited. ``version`` grows
    whenever they change: what was being written then is begun anew. By the loop's time ``asked`` is when the first one
    came, ``touched`` the last one, and ``began`` when the turn began, or what is asked was last edited.
    """

    claim: Claim
    messages: dict[str, Incoming]
    touched: float
    version: int = 0
    refusal: Refuse | None = None
    """Why there is no answer, where that was known at once."""
    replaces: Claim | None = None
    """The earlier turn of a question that was edited: this one answers in its messages."""
    knowledge_bases: tuple[str, ...] = ()
    """Those from which it is answered, as soon as it is known who reads along."""
    stopped: bool = False
    withdrawn: bool = False
    lost: bool = False
    done: bool = False
    sending: bool = False
    """Whether the final answer is being sent: it is too late to begin anew."""
    spoken: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once words of the answer are on the platform, or may be."""
    asking: "asyncio.Task[Written] | None" = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    asked: float = field(init=False)
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.asked = self.began = self.touched

    @property
    def incoming(self) -> Incoming:
        """Return the message that is answered: the first."""
        return self.claim.incoming

    @property
    def question(self) -> str:
        """Return what is asked in all messages together."""
        return "\n".join(text for one in self.messages.values() if (text := one.text.strip()))

    @property
    def words(self) -> Words:
        """Return whose words the question has, as far as all of them are the same one's."""
        return of_all(one.words for one in self.messages.values())

    @property
    def researches(self) -> bool:
        """Return whether the question is researched, as its first message was last edited."""
        return is_research(self.messages.get(self.incoming.message, self.incoming))

    def change(self, message: Incoming, now: float) -> None:
        """Take a further message, or one in its place that was edited, and begin anew what is written, or stopped."""
        if message.message in self.messages:
            self.began = now
        self.messages[message.message] = message
        self.touched = now
        self.stopped = False
        self.begin_anew()

    def begin_anew(self) -> None:
        """Drop what is being written, unless it is being sent: then it is written again afterwards."""
        self.version += 1
        self.interrupt()

    def interrupt(self) -> None:
        """End the writing, if it is under way."""
        if self.asking is not None and not self.sending:
            self.asking.cancel()


class Lanes:
    """The turns of all conversations, each conversation a lane of its own."""

    def __init__(
        self, work: Callable[[Job], Awaitable[None]], queued: Callable[[Job, Callable[[], int]], None]
    ) -> None:
        """Compose.

        Args:
            work: Does one turn; it raises nothing but being cancelled.
            queued: Is told of each turn at once, and how to count those that are ahead of it.
        """
        self._work = work
        self._queued = queued
        self._lanes: dict[ConversationKey, deque[Job]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, job: Job) -> None:
        """Put a turn at the end of its lane; it begins at once when nothing is before it."""
        # First: should it fail, nothing stands in the lane that nobody works on.
        self._queued(job, lambda: self._ahead(job))
        lane = self._lanes.get(job.incoming.conversation)
        if lane is not None:
            lane.append(job)
            return
        self._lanes[job.incoming.conversation] = deque([job])
        task = asyncio.create_task(self._drain(job.incoming.conversation))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _ahead(self, job: Job) -> int:
        lane = self._lanes.get(job.incoming.conversation, ())
        return next((at for at, one in enumerate(lane) if one is job), len(lane))

    def newest(self, conversation: ConversationKey) -> Job | None:
        """Return the turn that was asked for last and is not done yet."""
        lane = self._lanes.get(conversation)
        return lane[-1] if lane else None

    def current(self, conversation: ConversationKey) -> Job | None:
        """Return the turn that is being worked on."""
        lane = self._lanes.get(conversation)
        return lane[0] if lane else None

    def find(self, reference: str) -> Job | None:
        """Return the turn with this reference, None when it is done or elsewhere."""
        return next((job for job in self if job.claim.reference == reference), None)

    def __iter__(self) -> Iterator[Job]:
        return (job for lane in list(self._lanes.values()) for job in list(lane))

    async def _drain(self, conversation: ConversationKey) -> None:
        lane = self._lanes[conversation]
        try:
            while lane:
                try:
                    await self._work(lane[0])
                finally:
                    lane.popleft().ended.set()
        finally:
            del self._lanes[conversation]

    async def close(self, seconds: float) -> None:
        """Let what is under way come to its end for so long, and cancel the rest."""
        tasks = set(self._tasks)
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        for task in tasks:
            task.cancel()
        await ended_soon(*tasks)


class Doors:
    """A lock for each conversation: whatever happens to its turns happens one at a time."""

    def __init__(self) -> None:
        """Begin with none."""
        self._doors: WeakValueDictionary[ConversationKey, asyncio.Lock] = WeakValueDictionary()

    def of(self, conversation: ConversationKey) -> asyncio.Lock:
        """Return the lock under which a conversation's turns change."""
        door = self._doors.get(conversation)
        if door is None:
            door = self._doors[conversation] = asyncio.Lock()
        return door

    def beside(self, conversation: ConversationKey, held: ConversationKey | None) -> AbstractAsyncContextManager[None]:
        """Return the lock of a conversation for whoever holds that of another already, or of the same, or none."""
        return nullcontext() if conversation == held else self.of(conversation)
