"""Models that answer at a pace of their own, and what people saw of the answers, and when."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from bots.requests import Ask, Event
from ragcore.types import Delta
from tests.bots.turn.flows import Flow, Model, answer_to, words_for

NEVER = 10.0**6
SIGN = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How a model answers: seconds until its first words, and from then to the end."""

    silent: float = 0.2
    speaking: float = 0.2


def paced(*paces: Pace) -> Model:
    """Return a model that answers each question at the pace of its number (``Why 3?``), once or again."""

    async def script(request: Ask) -> AsyncIterator[Event]:
        number = int("".join(filter(str.isdigit, request.question.splitlines()[0])) or 0)
        pace = paces[number % len(paces)]
        await asyncio.sleep(pace.silent)
        text = words_for(request.question)
        for piece in text.split(" "):
            yield Delta(text=f"{piece} ")
            await asyncio.sleep(pace.speaking / len(text.split(" ")))
        yield answer_to(request.question, text)

    return Model(script)


@dataclass(slots=True)
class Seen:
    """When somebody saw what of the answer to a message, by the loop's time."""

    signs: dict[str, float]
    words: dict[str, float]
    whole: dict[str, float]


def watched(flow: Flow) -> Seen:
    """Note what the platform shows from now on."""
    seen = Seen({}, {}, {})

    def noting(name: str, *kept: dict[str, float]) -> None:
        call: Callable[..., Awaitable[Any]] = getattr(flow.platform, name)

        async def noted(incoming: Any, *arguments: Any, **named: Any) -> Any:
            result = await call(incoming, *arguments, **named)
            for one in kept:
                one.setdefault(incoming.message, asyncio.get_running_loop().time())
            return result

        setattr(flow.platform, name, noted)

    noting("status", seen.signs)
    noting("show", seen.signs, seen.words)
    noting("send", seen.signs, seen.whole)
    return seen
