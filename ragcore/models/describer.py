"""Pictures of documents in words: what a describer does, and the one that asks a chat model that reads pictures."""

import asyncio
import hashlib
from typing import Protocol

from ragcore.context import default_budget, fit_prompt
from ragcore.errors import ModelBadOutput
from ragcore.models.llm import ChatModel
from ragcore.prompts import OWN, Prompts
from ragcore.stores.model_results import ModelResult
from ragcore.tokens import Tokenizer
from ragcore.types import Image, Message, Usage

_MOST_BESIDE = 2_000
"""Characters of a picture's own words that the model is given with it."""


class Describer(Protocol):
    """Puts pictures of documents into words."""

    @property
    def name(self) -> str:
        """Return a fingerprint of all that the words depend on beside the picture: model, options, template."""
        ...

    async def describe(self, image: Image, *, title: str, beside: str) -> str:
        """Return what a picture shows, in words; raise CitebotError when the model gives none.

        Args:
            image: the picture.
            title: of the document that it stands in.
            beside: what is known of it already: its caption, or what OCR read in it.
        """
        ...


class Results(Protocol):
    """What models wrote, kept by all that they were asked with; ``ModelResults`` of the stores."""

    async def get(self, key: str) -> ModelResult | None:
        """Return a result, None where the model was never asked."""
        ...

    async def put(self, result: ModelResult) -> None:
        """Keep a result, in place of an older one of its key."""
        ...


def describer_name(identity: str, prompts: Prompts = OWN) -> str:
    """Return the fingerprint of a model with its options, and of the template that it is asked with."""
    template = prompts.source("describe_document_picture")
    return hashlib.sha256(f"{identity}\n{template}".encode()).hexdigest()[:16]


class ModelDescriber:
    """Asks a chat model that reads pictures, each picture once: what it said is kept."""

    def __init__(
        self, model: ChatModel, identity: str, tokenizer: Tokenizer, results: Results, prompts: Prompts = OWN
    ) -> None:
        """Ask a model; ``identity`` is its name with its options, and changes with each of them."""
        self._prompts = prompts
        self._model = model
        self._tokenizer = tokenizer
        self._results = results
        self.name = describer_name(identity, prompts)

    async def describe(self, image: Image, *, title: str, beside: str) -> str:
        """Return what a picture shows, in words, from what is kept or else from the model.

        Raises:
            ModelError: The model gave nothing.
            ContextTooSmall: The picture does not fit into the model's window.
        """
        prompt = self._prompts.render("describe_document_picture", title=title, beside=beside[:_MOST_BESIDE])
        key = hashlib.sha256("\0".join((self.name, prompt, image.media_type, image.data)).encode()).hexdigest()
        kept = await self._results.get(key)
        if kept is not None and kept.text:
            return kept.text
        text, usage = await self._ask(prompt, image)
        await self._results.put(ModelResult(key=key, task="vision", model=self._model.name, text=text, usage=usage))
        return text

    async def _ask(self, prompt: str, image: Image) -> tuple[str, Usage]:
        fitted = await asyncio.to_thread(
            fit_prompt,
            [Message(role="system", text=prompt), Message(role="user", text="", images=(image,))],
            default_budget(self._model.context_window),
            reserve=self._model.max_tokens,
            tokenizer=self._tokenizer,
        )
        try:
            text, usage = await self._model.complete(fitted.messages, task="vision")
        except ModelBadOutput as error:
            text, usage = error.raw, Usage(calls=1)  # what was cut at its limit is better than none
        if not text.strip():
            raise ModelBadOutput("the model gave no words for a picture", raw=text)
        return text.strip(), usage
