"""A chat model that writes what a function of its prompt says, and counts what it was asked."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

from ragcore.models.llm import Finish, Piece, TextPiece
from ragcore.types import Message, Usage

Say = Callable[[str, str], str]
"""From the rules and the material to a reply; may raise what a model's client raises."""


class SayingModel:
    """Asked at the same time, it answers in turn; ``asked`` has the rules and the material of each call.

    With ``at_once`` the first so many calls wait for each other.
    """

    name = "saying"
    context_window = 8_192
    max_tokens = 256

    def __init__(self, say: Say, *, at_once: int = 0) -> None:
        self.say = say
        self.gathering = asyncio.Barrier(at_once) if at_once else None
        self.asked: list[tuple[str, str]] = []
        self.under_way = self.most_at_once = 0

    async def complete(self, messages: Sequence[Message], *, task: str) -> tuple[str, Usage]:
        rules, material = messages[0].text, messages[-1].text
        self.asked.append((rules, material))
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        try:
            if self.gathering is not None and len(self.asked) <= self.gathering.parties:
                await self.gathering.wait()
            await asyncio.sleep(0)
            return self.say(rules, material), Usage(calls=1, prompt_tokens=100, completion_tokens=10)
        finally:
            self.under_way -= 1

    async def stream(self, messages: Sequence[Message], *, task: str = "answer") -> AsyncIterator[Piece]:
        text, usage = await self.complete(messages, task=task)
        yield TextPiece(text=text)
        yield Finish(reason="stop", usage=usage)
