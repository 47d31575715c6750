"""One call of the model for a step of a research: fitted, within the limits, and never an error to whoever asked."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from ragcore.context import Fitted, default_budget, fit_prompt
from ragcore.context.cutting import cut_middle
from ragcore.errors import ContextTooSmall, ModelBadOutput, ModelError, ModelWithoutTools
from ragcore.models.llm import Called, CallingModel, ChatModel, ToolSpec
from ragcore.models.openai_forms import tools_text
from ragcore.prompts import OWN, Prompts
from ragcore.research.meter import Meter
from ragcore.tokens import Tokenizer
from ragcore.types import Message, ToolCall, Usage

log = logging.getLogger(__name__)

TASK = "research"

QUESTION_PART = 8
"""Of the model's window a question fills at most one part of so many where it stands beside other things."""

NO_MODEL = "no language model is set up"
OUT_OF_TIME = "the time for searching is over"
OVER_LIMIT = "the limit for the model is used up"
NOT_USABLE = "the language model's reply could not be used"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model wrote, ``text`` None where it wrote nothing, and then why, in words for a reader.

    ``blocks`` tells how many of the given knowledge blocks its prompt held. ``cut``: its length limit ended it.
    ``calls`` are the tools that it asks for. ``without_tools``: the endpoint takes none, and was not asked otherwise.
    """

    text: str | None = None
    reason: str = ""
    blocks: int = 0
    cut: bool = False
    usage: Usage = Usage()
    calls: tuple[ToolCall, ...] = ()
    without_tools: bool = False


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks the model, if there is one; ``meter`` is that of one research.

    ``reply_tokens`` is what a reply may take at most, where that differs from the model's other tasks. ``calling`` is
    the same model, where its endpoint may be offered tools.
    """

    model: ChatModel | None
    tokenizer: Tokenizer
    meter: Meter
    prompts: Prompts = OWN
    reply_tokens: int | None = None
    calling: CallingModel | None = None

    async def ask(
        self,
        template: str,
        material: str,
        *,
        history: Sequence[Message] = (),
        knowledge: Sequence[str] = (),
        **inputs: object,
    ) -> Reply:
        """Let the model do what a template says with the material.

        Raises:
            ConfigError: A template of the operator's cannot be used.
        """
        model = self.model
        if model is None:
            return Reply(reason=NO_MODEL)
        rules = Message(role="system", text=self.prompts.render(template, **inputs))
        messages = [rules, *history, Message(role="user", text=material)]

        async def made(fitted: Sequence[Message]) -> Called:
            text, usage = await model.complete(fitted, task=TASK)
            return Called(text=text, calls=(), usage=usage)

        return await self._made(template, model, messages, made, knowledge=knowledge)

    async def call(
        self,
        template: str,
        material: str,
        offer: Sequence[ToolSpec],
        *,
        history: Sequence[Message] = (),
        behind: Sequence[Message] = (),
        **inputs: object,
    ) -> Reply:
        """Let the model do what a template says with the material, by calls of tools.

        Args:
            template: Is told of no tools: the endpoint does that.
            material: What it is asked.
            offer: The tools that it may ask for.
            history: What was said, called and given before.
            behind: What was called and given since.
            inputs: Of the template.

        Raises:
            ConfigError: A template of the operator's cannot be used.
        """
        model = self.calling
        if model is None:
            return Reply(reason=NO_MODEL)
        rules = Message(role="system", text=self.prompts.render(template, **inputs))
        messages = [rules, *history, Message(role="user", text=material), *behind]

        async def made(fitted: Sequence[Message]) -> Called:
            return await model.call(fitted, task=TASK, tools=offer)

        beside = await asyncio.to_thread(lambda: self.tokenizer.count(tools_text(offer)))
        return await self._made(template, model, messages, made, beside=beside)

    async def _made(
        self,
        template: str,
        model: ChatModel,
        messages: Sequence[Message],
        made: Callable[[Sequence[Message]], Awaitable[Called]],
        *,
        knowledge: Sequence[str] = (),
        beside: int = 0,
    ) -> Reply:
        """Make a call with the messages that fit; ``beside`` are tokens that it is told besides."""
        reserve = self.reply_tokens or model.max_tokens
        budget = default_budget(model.context_window)
        try:
            fitted: Fitted = await asyncio.to_thread(
                fit_prompt, messages, budget, knowledge=knowledge, reserve=reserve + beside, tokenizer=self.tokenizer
            )
        except ContextTooSmall as error:
            log.warning("%s: %s", template, error)
            return Reply(reason=error.user_message)
        prompt = fitted.count + beside
        if not self.meter.affords(prompt, reserve):
            return Reply(reason=OVER_LIMIT)
        with self.meter.call(prompt, reserve) as call:
            try:
                called = await made(fitted.messages)
            except ModelWithoutTools as error:
                log.info("%s: %s", template, error)
                call.took(Usage(calls=1))
                return Reply(reason=error.user_message, usage=Usage(calls=1), without_tools=True)
            except ModelError as error:
                log.warning("%s: %s: %s", template, type(error).__name__, error)
                if not isinstance(error, ModelBadOutput) or not error.raw.strip():
                    return Reply(reason=error.user_message, usage=Usage(calls=1))
                usage = Usage(calls=1, prompt_tokens=prompt, completion_tokens=reserve)
                call.took(usage)
                return Reply(text=error.raw, blocks=fitted.blocks, cut=True, usage=usage)
            call.took(called.usage)
        return Reply(text=called.text, blocks=fitted.blocks, cut=called.cut, usage=called.usage, calls=called.calls)

    def short(self, text: str) -> str:
        """Return a question without its middle where it would leave too little of the window to anything else."""
        if self.model is None:
            return text
        most = self.model.context_window // QUESTION_PART
        return text if self.tokenizer.count(text) <= most else cut_middle(text, 0, most, self.tokenizer)
