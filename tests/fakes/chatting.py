"""A chat model that writes what a function of its prompt says, and counts what it was asked."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

from ragcore.models.llm import Finish, Piece, TextPiece
from ragcore.types import Message, Usage

Say = Callable[[str, str], str]
"""From the rules and the material to a reply; may raise what a model's client raises."""


class SayingModel:
    """Asked at the same time, it answers in turn; ``asked`` has the rules and the material of each call."""

    name = "saying"
    context_window = 8_192
    max_tokens = 256

    def __init__(self, say: Say) -> None:
        self.say = say
        self.asked: list[tuple[str, str]] = []
        self.under_way = self.most_at_once = 0

    async def complete(self, messages: Sequence[Message], *, task: str) -> tuple[str, Usage]:
        rules, material = messages[0].text, messages[-1].text
        self.asked.append((rules, material))
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        try:
            await asyncio.sleep(0)
            return self.say(rules, material), Usage(calls=1, prompt_tokens=100, completion_tokens=10)
        finally:
            self.under_way -= 1

    async def stream(self, messages: Sequence[Message], *, task: str = "answer") -> AsyncIterator[Piece]:
        text, usage = await self.complete(messages, task=task)
        yield TextPiece(text=text)
        yield Finish(reason="stop", usage=usage)
