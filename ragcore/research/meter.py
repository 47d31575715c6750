"""What a research has taken of its limits, and what it may still take. Lives on one event loop."""

import asyncio
import math
from collections.abc import Iterator
from contextlib import contextmanager

from ragcore.research.values import LimitName, Limits
from ragcore.types import Usage

ANSWER_SHARE = 0.35
"""Of tokens, money and seconds so much is kept for writing the answer."""


class Call:
    """A call of a model under way; ``took`` tells what it took."""

    def __init__(self) -> None:
        self.usage: Usage | None = None

    def took(self, usage: Usage) -> None:
        """Note what the endpoint counted."""
        self.usage = usage


class Meter:
    """Counts searches, tokens, money and seconds; ``hit`` are the limits that kept something from being done."""

    def __init__(self, limits: Limits) -> None:
        """Begin to count now, on the running loop."""
        self.limits = limits
        self.usage = Usage()
        self.hit: dict[LimitName, None] = {}
        self.searches = 0
        self._clock = asyncio.get_running_loop().time
        self._started = self._clock()
        self._tokens = 0
        self._money = 0.0

    @property
    def elapsed(self) -> float:
        """Return the seconds that it has taken, those before a crash with them."""
        return self._clock() - self._started

    @property
    def deadline(self) -> float:
        """Return when the answer is to be there, in the loop's time."""
        return self._started + self.limits.seconds

    @property
    def end_of_rounds(self) -> float:
        """Return when searching ends at the latest, in the loop's time."""
        return self._started + self.limits.seconds * (1 - ANSWER_SHARE)

    @property
    def late(self) -> bool:
        """Return whether the time for searching is over."""
        return self._clock() >= self.end_of_rounds

    @property
    def over(self) -> bool:
        """Return whether all the time is over."""
        return self._clock() >= self.deadline

    @property
    def scarcest(self) -> LimitName:
        """Return which limit leaves the answer the fewest tokens."""
        return "tokens" if self.limits.tokens - self._tokens <= self.tokens_left else "money"

    def stop(self, name: LimitName) -> None:
        """Note that a limit kept something from being done."""
        self.hit[name] = None

    def search(self) -> bool:
        """Take one search, if there is one left."""
        if self.searches >= self.limits.searches:
            self.stop("searches")
            return False
        self.searches += 1
        return True

    def affords(self, prompt: int, completion: int) -> bool:
        """Return whether a call of at most so many tokens leaves what is kept for the answer; a limit is noted."""
        enough = True
        if prompt + completion > self.limits.tokens * (1 - ANSWER_SHARE) - self._tokens:
            self.stop("tokens")
            enough = False
        if self._cost(prompt, completion) > self.limits.money * (1 - ANSWER_SHARE) - self._money:
            self.stop("money")
            enough = False
        return enough

    @contextmanager
    def call(self, prompt: int, completion: int) -> Iterator[Call]:
        """Hold so many tokens while a call is under way, and count what it took.

        A call that failed counts as if it had taken them all: nobody knows. So does what an endpoint doesn't count.
        The usage tells of it that it was made.
        """
        cost = self._cost(prompt, completion)
        self._tokens += prompt + completion
        self._money += cost
        call = Call()
        try:
            yield call
        finally:
            if call.usage is None:
                self.usage += Usage(calls=1)
            else:
                taken = max(prompt, call.usage.prompt_tokens), call.usage.completion_tokens
                self._tokens += sum(taken) - prompt - completion
                self._money += self._cost(*taken) - cost
                self.usage += call.usage

    def count(self, usage: Usage) -> None:
        """Count what was taken already: by a search that asks a model of its own, or before a crash."""
        self.usage += usage
        self._tokens += usage.prompt_tokens + usage.completion_tokens
        self._money += self._cost(usage.prompt_tokens, usage.completion_tokens)

    def resumed(self, elapsed: float) -> None:
        """Go on where so many seconds had passed."""
        self._started = min(self._started, self._clock() - elapsed)

    @property
    def tokens_left(self) -> int:
        """Return how many tokens the answer may take, prompt and reply together."""
        left = float(self.limits.tokens - self._tokens)
        price = self.limits.price
        if price is not None and (dearest := max(price.prompt, price.completion)) > 0:
            left = min(left, (self.limits.money - self._money) * 1_000_000 / dearest)
        return max(0, math.floor(min(left, 1e12)))

    def _cost(self, prompt: int, completion: int) -> float:
        return self.limits.price.of(prompt, completion) if self.limits.price else 0.0
