"""The chat model as a judge of a whole list: it reads the question with numbered passages, and answers their order."""

import re
from collections.abc import Sequence

from ragcore.errors import ModelBadOutput
from ragcore.models.llm import ChatModel
from ragcore.models.rerankers import Reranked
from ragcore.prompts import OWN, Prompts
from ragcore.tokens import Tokenizer
from ragcore.types import Message, Usage

PASSAGE_TOKENS = 400
"""Of a longer passage the head is judged: a chunk of the default size is a whole one."""
QUESTION_TOKENS = 500
SHARE = 0.7
"""Of the model's window that passages and question may fill; the rest is for rules and answer."""
LONGEST = (400, 40)
"""Characters of an answer, and more for each passage: what is longer is prose, or the prompt over again."""

_LIST = re.compile(r"\[([^\[\]]*)(?:\]|$)")
_NUMBER = re.compile(r"(?<![\w.-])\d{1,4}(?![\w]|\.\d)")
_PLAIN = re.compile(r"[\d\s,;>.、，]+")
_FRAME = re.compile(r"<(?=\s*/?\s*(?:passage|question)\b)", re.IGNORECASE)


class ListwiseReranker:
    """Asks a chat model for the order of passages: one call a question, whatever their number."""

    def __init__(self, model: ChatModel, tokenizer: Tokenizer, prompts: Prompts = OWN) -> None:
        """Keep the model; the tokenizer cuts passages to what its window takes."""
        self._prompts = prompts
        self._model = model
        self._tokenizer = tokenizer

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model.name

    @property
    def calls(self) -> int:
        """Return 1: all passages are judged at once."""
        return 1

    async def rerank(self, query: str, texts: Sequence[str]) -> Reranked:
        """Return the order of the texts that the model named; it gives no scores.

        Raises:
            ModelError: The model failed; ModelBadOutput where it answered anything but an order.
            ConfigError: A template of the operator's cannot be used.
        """
        room = int(self._model.context_window * SHARE) // max(1, len(texts) + 1)
        passages = [self._fitted(text, min(PASSAGE_TOKENS, room)) for text in texts]
        question = self._fitted(query, min(QUESTION_TOKENS, room))
        messages = (
            Message(role="system", text=self._prompts.render("rerank")),
            Message(role="user", text=self._prompts.render("rerank_passages", passages=passages, question=question)),
        )
        answer, usage = await self._model.complete(messages, task="rerank")
        return Reranked(order=order_in(answer, len(texts), usage), usage=usage)

    def _fitted(self, text: str, limit: int) -> str:
        """Return the head of a text, in which nothing looks like the frame around it."""
        return _FRAME.sub("‹", self._tokenizer.head(text, limit)).strip()


def order_in(answer: str, count: int, usage: Usage | None = None) -> tuple[int, ...]:
    """Return the order of ``count`` texts that a model's answer names, best first.

    Read are one list (``[3, 0]``, also without its end), numbers in brackets of their own (``[3] > [0]``), or numbers
    and nothing else. Numbers of no text, and what comes twice, are dropped.

    Raises:
        ModelBadOutput: There is no order in it; it carries ``usage``, which was paid all the same.
    """
    if len(answer) > LONGEST[0] + LONGEST[1] * count:
        raise ModelBadOutput("the model wrote a text instead of an order of passages", raw=answer[:200], usage=usage)
    lists = [_NUMBER.findall(found) for found in _LIST.findall(answer) if not re.search(r"[{:]", found)]
    longest = max(lists, key=len, default=[])
    named = longest if len(longest) > 1 else [number for one in lists for number in one]
    if not named and _PLAIN.fullmatch(answer.strip()):
        named = _NUMBER.findall(answer)
    order = tuple(dict.fromkeys(number for number in map(int, named) if number < count))
    if not order:
        raise ModelBadOutput("the model named no order of passages", raw=answer[:200], usage=usage)
    return order
