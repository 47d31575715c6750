"""One call of the model for a summary: fitted, in time, and a reason instead of an error."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.context import default_budget, fit_prompt, prompt_tokens
from ragcore.errors import ContextTooSmall, ModelBadOutput, ModelError, ModelInterrupted
from ragcore.models.llm import ChatModel
from ragcore.tokens import Tokenizer
from ragcore.types import Message, Usage

TASK = "summarise"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model wrote, ``cut`` where its length limit ended it; ``failed`` is why it wrote nothing."""

    text: str = ""
    cut: bool = False
    failed: ModelError | ContextTooSmall | None = None
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks a model."""

    model: ChatModel
    tokenizer: Tokenizer

    def room(self, rules: str, question: str) -> int:
        """Return how many tokens the blocks of a prompt with these rules may take, below 0 where there is no room."""
        frame = prompt_tokens([Message(role="system", text=rules), Message(role="user", text=question)], self.tokenizer)
        return default_budget(self.model.context_window) - self.model.max_tokens - frame

    async def ask(self, rules: str, question: str, blocks: Sequence[str], deadline: float) -> Reply:
        """Let the model do what the rules say; ``deadline`` is the loop's time."""
        messages = [Message(role="system", text=rules), Message(role="user", text=question)]
        try:
            fitted = await asyncio.to_thread(
                fit_prompt,
                messages,
                default_budget(self.model.context_window),
                knowledge=blocks,
                reserve=self.model.max_tokens,
                tokenizer=self.tokenizer,
            )
            if blocks and not fitted.blocks:
                raise ContextTooSmall("no message fits beside the rules: raise llm.context_window")
        except ContextTooSmall as error:
            return Reply(failed=error)
        try:
            async with asyncio.timeout_at(deadline):
                text, usage = await self.model.complete(fitted.messages, task=TASK)
        except TimeoutError:
            return Reply(failed=ModelInterrupted("a summary has only so much time"), usage=Usage(calls=1))
        except ModelError as error:
            if isinstance(error, ModelBadOutput) and error.raw.strip():
                return Reply(text=error.raw, cut=True, usage=Usage(calls=1))
            return Reply(failed=error, usage=Usage(calls=1))
        return Reply(text=text, usage=usage)
