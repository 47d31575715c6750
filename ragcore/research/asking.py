"""One call of the model for a step of a research: fitted, within the limits, and never an error to whoever asked."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.context import Fitted, default_budget, fit_prompt
from ragcore.context.cutting import cut_middle
from ragcore.errors import ContextTooSmall, ModelBadOutput, ModelError
from ragcore.models.llm import ChatModel
from ragcore.prompts import OWN, Prompts
from ragcore.research.meter import Meter
from ragcore.tokens import Tokenizer
from ragcore.types import Message, Usage

log = logging.getLogger(__name__)

TASK = "research"

QUESTION_PART = 8
"""Of the model's window a question fills at most one part of so many where it stands beside other things."""

NO_MODEL = "no language model is set up"
OVER_LIMIT = "the limit for the model is used up"
NOT_USABLE = "the language model's reply could not be used"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model wrote, ``text`` None where it wrote nothing, and then why, in words for a reader.

    ``blocks`` tells how many of the given knowledge blocks its prompt held. ``cut``: its length limit ended the text.
    """

    text: str | None = None
    reason: str = ""
    blocks: int = 0
    cut: bool = False
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks the model, if there is one; ``meter`` is that of one research.

    ``reply_tokens`` is what a reply may take at most, where that differs from the model's other tasks.
    """

    model: ChatModel | None
    tokenizer: Tokenizer
    meter: Meter
    prompts: Prompts = OWN
    reply_tokens: int | None = None

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
        try:
            fitted = await asyncio.to_thread(self._fit, model, messages, knowledge)
        except ContextTooSmall as error:
            log.warning("%s: %s", template, error)
            return Reply(reason=error.user_message)
        if not self.meter.affords(fitted.count, self._reserve(model)):
            return Reply(reason=OVER_LIMIT)
        with self.meter.call(fitted.count, self._reserve(model)) as call:
            try:
                text, usage = await model.complete(fitted.messages, task=TASK)
            except ModelError as error:
                log.warning("%s: %s: %s", template, type(error).__name__, error)
                if not isinstance(error, ModelBadOutput) or not error.raw.strip():
                    return Reply(reason=error.user_message, usage=Usage(calls=1))
                usage = Usage(calls=1, prompt_tokens=fitted.count, completion_tokens=self._reserve(model))
                call.took(usage)
                return Reply(text=error.raw, blocks=fitted.blocks, cut=True, usage=usage)
            call.took(usage)
        return Reply(text=text, blocks=fitted.blocks, usage=usage)

    def _reserve(self, model: ChatModel) -> int:
        return self.reply_tokens or model.max_tokens

    def short(self, text: str) -> str:
        """Return a question without its middle where it would leave too little of the window to anything else."""
        if self.model is None:
            return text
        most = self.model.context_window // QUESTION_PART
        return text if self.tokenizer.count(text) <= most else cut_middle(text, 0, most, self.tokenizer)

    def _fit(self, model: ChatModel, messages: Sequence[Message], knowledge: Sequence[str]) -> Fitted:
        return fit_prompt(
            messages,
            default_budget(model.context_window),
            knowledge=knowledge,
            reserve=self._reserve(model),
            tokenizer=self.tokenizer,
        )
