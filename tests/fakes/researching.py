"""A small library in memory, and a model that plays each part of a research as a function of its prompt."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ragcore.context import prompt_tokens
from ragcore.errors import ModelBadOutput, ModelError
from ragcore.models.llm import Finish, Piece, TextPiece
from ragcore.phrases import Phrase
from ragcore.refine.refining import RefineOptions, Refiner
from ragcore.terms import is_stop_word, terms
from ragcore.tokens import offline_tokenizer
from ragcore.types import Chunk, Message, Question, ScoredChunk, Usage

PARTS = {
    "You plan a search": "plan",
    "You read passages": "finding",
    "You judge how far": "judge",
    "You help people": "answer",
    "You prepare a task": "analyse",
    "You choose the next": "next",
    "You note what a tool": "finding",
    "You look back": "reflect",
    "You put notes": "rank",
    "You shorten notes": "shorten",
    "You put a question": "rewrite",
    "You translate questions": "translate",
}


def chunk(name: str, text: str, *, base: str = "kb", title: str = "") -> Chunk:
    return Chunk(
        id=f"{name}-0", document_id=f"docs:{name}", knowledge_base=base, ordinal=0, text=text, title=title or name,
        token_count=len(text.split()), url=f"https://wiki.example/{name}",
    )  # fmt: skip


@dataclass(frozen=True)
class Found:
    chunks: tuple[ScoredChunk, ...] = ()
    near: tuple[ScoredChunk, ...] = ()
    notes: tuple[Phrase, ...] = ()
    usage: Usage = Usage()


@dataclass
class Shelf:
    """Finds chunks by the words that they share with a question; ``asked`` are the questions, in order."""

    chunks: Sequence[Chunk]
    top: int = 3
    seconds: float = 0.0
    fails: Callable[[Question], Exception | None] = lambda question: None
    asked: list[Question] = field(default_factory=list)

    async def retrieve(self, question: Question) -> Found:
        self.asked.append(question)
        await asyncio.sleep(self.seconds)
        if error := self.fails(question):
            raise error
        words = set[str]().union(*map(_words, question.searched))
        scores = [(len(words & _words(f"{one.title} {one.text}")), one) for one in self.chunks]
        best = sorted((one for one in scores if one[0]), key=lambda one: (-one[0], one[1].id))[: self.top]
        scored = (ScoredChunk(chunk=one, score=score / (len(words) or 1)) for score, one in best)
        return Found(chunks=tuple(scored))


def _words(text: str) -> set[str]:
    return {term.text for term in terms(text) if not is_stop_word(term)}


Say = Callable[[Sequence[Message]], str | ModelError]


@dataclass
class Part:
    """What a model was asked: which part it played, with its prompt."""

    name: str
    prompt: tuple[Message, ...]

    @property
    def material(self) -> str:
        return self.prompt[-1].text


@dataclass
class ResearchModel:
    """Plays the parts; of a part that has no script the usual one. Counts tokens as we do, replies of any length."""

    scripts: Mapping[str, Say] = field(default_factory=dict)
    context_window: int = 16_000
    max_tokens: int = 500
    seconds: float = 0.0
    slow: Mapping[str, float] = field(default_factory=dict)
    name: str = "researching"
    parts: list[Part] = field(default_factory=list)
    usage: Usage = Usage()
    under_way: int = 0

    async def complete(self, messages: Sequence[Message], *, task: str) -> tuple[str, Usage]:
        part = next((name for start, name in PARTS.items() if messages[0].text.startswith(start)), "")
        assert part, messages[0].text[:80]
        self.parts.append(Part(part, tuple(messages)))
        self.under_way += 1
        self.usage += Usage(calls=1)
        try:
            await asyncio.sleep(self.slow.get(part, self.seconds))
            said = self.scripts.get(part, USUAL[part])(messages)
        finally:
            self.under_way -= 1
        if isinstance(said, ModelError):
            raise said
        tokenizer = offline_tokenizer()
        text = tokenizer.head(said, self.max_tokens)
        taken = tokenizer.count(text) if text == said else self.max_tokens
        usage = Usage(calls=1, prompt_tokens=prompt_tokens(messages, tokenizer), completion_tokens=taken)
        self.usage += replace(usage, calls=0)
        if text != said and task != "answer":
            raise ModelBadOutput("the output was cut at its length limit", raw=text)
        return text, usage

    async def stream(self, messages: Sequence[Message], *, task: str = "answer") -> AsyncIterator[Piece]:
        text, usage = await self.complete(messages, task=task)
        for start in range(0, len(text), 40):
            yield TextPiece(text=text[start : start + 40])
        yield Finish(reason="length" if usage.completion_tokens == self.max_tokens else "stop", usage=usage)

    def asked(self, part: str) -> list[Part]:
        return [one for one in self.parts if one.name == part]


@dataclass
class Spoken:
    """Knows the languages of every knowledge base."""

    languages: tuple[str, ...] = ("en",)

    async def of(self, knowledge_bases: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        await asyncio.sleep(0)
        return dict.fromkeys(knowledge_bases, self.languages)


def refiner(model: ResearchModel, *languages: str, **given: Any) -> Refiner:
    """Return what tells which other words a question needs, over documents in these languages."""
    return Refiner(
        model=model,
        tokenizer=offline_tokenizer(),
        languages=Spoken(languages or ("en",)),
        options=RefineOptions(**given),
    )


def blocks_of(messages: Sequence[Message]) -> list[tuple[int, str]]:
    """Return the numbered blocks of a prompt with their texts."""
    found = []
    for block in messages[0].text.split("\n------\n"):
        head, _, text = block.partition("\nContent:\n")
        if text and "ID: " in head:
            found.append((int(head.rpartition("ID: ")[2].split("\n")[0]), text))
    return found


def plan(*questions: str) -> Say:
    return lambda messages: json.dumps({"questions": list(questions)})


def judged(enough: bool, *missing: str, contradictions: Sequence[tuple[int, int]] = ()) -> Say:
    pairs = [{"one": one, "other": other} for one, other in contradictions]
    return lambda messages: json.dumps({"enough": enough, "missing": list(missing), "contradictions": pairs})


def in_turn(*says: Say) -> Say:
    """Say one after the other, the last one from then on."""
    left = list(says)

    def say(messages: Sequence[Message]) -> str | ModelError:
        return (left.pop(0) if len(left) > 1 else left[0])(messages)

    return say


def quoting(messages: Sequence[Message]) -> str:
    """Say of each block its first sentence, cited."""
    return " ".join(f"{text.split('. ')[0].rstrip('.')} [ID:{number}]." for number, text in blocks_of(messages)[:4])


USUAL: Mapping[str, Say] = {
    "plan": plan(),
    "finding": quoting,
    "judge": judged(True),
    "analyse": lambda messages: "It asks for single facts.",
    "next": lambda messages: "[]",
    "reflect": judged(True),
    "rank": lambda messages: "[]",
    "shorten": lambda messages: "",
    "rewrite": lambda messages: "{}",
    "translate": lambda messages: "{}",
    "answer": quoting,
}
