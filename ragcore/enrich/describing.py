"""Pictures of documents in words: what a describer does, and the one that asks a chat model that reads pictures."""

import asyncio
import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ragcore.enrich.asking import Asker, Call, Spent
from ragcore.errors import ModelBadOutput, ModelRefused
from ragcore.prompts import OWN, Prompts
from ragcore.types import Image

TEMPLATE = "describe_document_picture"
TASK = "vision"
"""What the model is asked for, as far as its options go."""
ATTEMPTS = 2
"""How often a model is asked about a picture that it does not describe: both at once, for what it writes varies."""
REPLY_TOKENS = 150
"""Of two to six sentences, for an estimate."""

_MOST_BESIDE = 2_000
"""Characters of a picture's own words that the model is given with it."""
_LONGEST_REFUSAL = 400
"""Characters. A description that goes on for longer than this says something, however it begins."""
_REFUSAL = re.compile(
    r"\s*(?:(?:i['’]?m|i am) (?:very |so |really )?sorry|sorry|i apologi[sz]e|unfortunately,? i)\b"
    r"|\s*(?:as an ai\b|i (?:can['’]?t|cannot|can not|am unable to|am not able to|won['’]?t|do not|don['’]t) "
    r"(?:\w+ ){0,2}?(?:help|assist|describe|view|see|process|identify|analy[sz]e|comply|provide|interpret|read)\b)"
    r"|\s*i['’]m (?:unable|not able) to\b"
    r"|\s*(?:es tut mir leid|tut mir leid|leider kann ich|je suis désolée?|désolée?|lo siento|mi dispiace)\b"
    r"|\s*(?:抱歉|对不起|對不起|很抱歉|我无法|我無法|我不能|申し訳)",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w{2}|[^\W\d_a-zA-Z]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """A call that a picture would take: its key, and about how many tokens go there and come back."""

    key: str
    prompt_tokens: int
    reply_tokens: int = REPLY_TOKENS


class Describer(Protocol):
    """Puts pictures of documents into words."""

    @property
    def name(self) -> str:
        """Return a fingerprint of all that the words depend on beside the picture: model, options, template."""
        ...

    @property
    def spent(self) -> Spent:
        """Return what it has asked since the beginning."""
        ...

    def apart(self) -> "Describer":
        """Return another that has spent nothing yet, and shares all else with this one."""
        ...

    async def describe(self, image: Image, *, title: str, beside: str, owner: str = "") -> str | None:
        """Return what a picture shows, in words; None where the model has been asked often enough, and gave none.

        Args:
            image: the picture.
            title: of the document that it stands in.
            beside: what is known of it already: its caption, or what OCR read in it.
            owner: the id of that document: what is said is kept while it is live.

        Raises:
            CitebotError: It can't be asked now.
        """
        ...

    async def foresee(self, image: Image, *, title: str, beside: str) -> Foreseen | None:
        """Return what describing a picture would take; None where it is known already."""
        ...

    async def release(self, owner: str, before: datetime) -> None:
        """Note that a document has no other pictures than those that were described for it since this time."""
        ...


def describer_name(identity: str, prompts: Prompts = OWN) -> str:
    """Return the fingerprint of a model with its options, and of the template that it is asked with."""
    return hashlib.sha256(f"{identity}\n{prompts.source(TEMPLATE)}".encode()).hexdigest()[:16]


def description_of(reply: str) -> str:
    """Return the description in what a model wrote of a picture.

    Raises:
        ModelBadOutput: There is none: it wrote no words, declined, or gave its instructions back.
    """
    text = reply.strip()
    if not _WORD.search(text):
        raise ModelBadOutput("the model gave no words for a picture", raw=reply)
    if len(text) <= _LONGEST_REFUSAL and _REFUSAL.match(text):
        raise ModelBadOutput("the model declined to describe a picture", raw=reply)
    if "You turn a picture into words" in text:
        raise ModelBadOutput("the model gave its instructions for a picture back", raw=reply)
    return text


class ModelDescriber:
    """Asks a chat model that reads pictures, each picture once: what it said is kept, also that it said nothing."""

    def __init__(self, asker: Asker) -> None:
        """Ask through ``asker``, one for the task ``vision`` with ``ATTEMPTS``."""
        self._asker = asker
        self.name = describer_name(asker.identity, asker.prompts)

    @property
    def spent(self) -> Spent:
        """Return what it has asked since the beginning."""
        return self._asker.spent

    def apart(self) -> "ModelDescriber":
        """Return another that has spent nothing yet, and shares all else with this one."""
        return ModelDescriber(self._asker.apart())

    async def describe(self, image: Image, *, title: str, beside: str, owner: str = "") -> str | None:
        """Return what a picture shows, in words, from what is kept or else from the model; None where it gave none.

        Raises:
            ModelError: The model can't be asked now.
            ContextTooSmall: The picture does not fit into the model's window.
        """
        call, asker = _call(image, title, beside), self._asker.on_behalf(owner)
        for _ in range(ATTEMPTS):
            try:
                told = await asker.ask(call, description_of)
            except ModelRefused:
                return None  # it would be refused again
            except ModelBadOutput:
                continue  # once more; the last attempt gives None
            await asker.note()
            return told
        return None

    async def release(self, owner: str, before: datetime) -> None:
        """Note that a document has no other pictures than those that were described for it since this time."""
        await self._asker.release([owner], before)

    async def foresee(self, image: Image, *, title: str, beside: str) -> Foreseen | None:
        """Return what describing a picture would take; None where it is known already."""
        call = _call(image, title, beside)
        key = self._asker.key_of(call)
        if await self._asker.known([key]):
            return None
        tokens = await asyncio.to_thread(self._asker.tokens_of, call)
        return Foreseen(key=key, prompt_tokens=tokens)


def _call(image: Image, title: str, beside: str) -> Call:
    return Call(template=TEMPLATE, inputs={"title": title, "beside": beside[:_MOST_BESIDE]}, images=(image,))
