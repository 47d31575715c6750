"""Messages in, a cited summary out: by a model in one call, or in parts where they are many, else by quoting.

Each sentence of it rests on messages: a model's are verified as those of any answer, and one that no message bears out
is left out. Nothing of the messages is kept.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

from ragcore.answer.fixed import reason_of
from ragcore.answer.stages import Stages
from ragcore.citations import markers
from ragcore.citations.attribution import marker_place
from ragcore.citations.cite import cite
from ragcore.citations.resting import numbered_anew
from ragcore.citations.scoring import CitationPolicy
from ragcore.citations.sentences import split_sentences
from ragcore.context.blocks import SEPARATOR, block
from ragcore.errors import ContextTooSmall, ModelBadOutput, ModelError
from ragcore.gist.asking import Asker, Reply
from ragcore.gist.parts import divided, only_cited, put_together, shifted
from ragcore.gist.passages import passages
from ragcore.gist.telling import quoted, telling
from ragcore.gist.values import Limits, Said
from ragcore.links import allowed_urls
from ragcore.models.embeddings import Embedder
from ragcore.models.llm import ChatModel
from ragcore.phrases import phrase
from ragcore.prompts import OWN, Prompts
from ragcore.tokens import Tokenizer
from ragcore.types import Answer, ScoredChunk, Status, Support, Usage

log = logging.getLogger(__name__)

NOTHING = "NOTHING"
LONGEST_REPLY = 8_000
"""Characters of a model's reply that are read."""
NOTES_SHARE = 0.6
"""Of its time a summary of several parts spends so much on the parts at most."""
MOST_NOTES = 56
"""Lines that are put together to one summary."""
QUOTED_OF_PART = 2
"""Messages that stand for a part of which the model wrote nothing of use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Text:
    """What is written, with the chunks that its markers name; ``read`` messages were read for it.

    ``failed`` is why the model didn't write all of it, ``quoted``: none wrote any of it.
    """

    text: str
    chunks: tuple[ScoredChunk, ...]
    read: int
    quoted: bool = False
    failed: ModelError | ContextTooSmall | None = None
    usage: Usage = Usage()


class Summariser:
    """Summarises talks; safe to share."""

    def __init__(
        self,
        *,
        model: ChatModel | None,
        tokenizer: Tokenizer,
        embedder: Embedder | None = None,
        prompts: Prompts = OWN,
        known_languages: frozenset[str] | None = None,
        limits: Limits = Limits(),  # noqa: B008  (frozen)
    ) -> None:
        """Compose; without a model the most telling messages are quoted."""
        self._asker = Asker(model, tokenizer) if model is not None else None
        self._tokenizer = tokenizer
        self._embedder = embedder
        self._prompts = prompts
        self._policy = CitationPolicy(known_languages=known_languages)
        self._limits = limits

    async def summarise(self, said: Sequence[Said], language: str) -> AsyncGenerator[Status | Answer]:
        """Yield how far it is, and end in exactly one Answer; the stage ``read`` tells how many messages were read.

        An answer with ``Support.ABSTAINED`` has no words: there was nothing to summarise.

        Args:
            said: The messages, as far as whoever sees the answer may read them.
            language: That of the summary, as a code; a quoted message keeps its own.

        Raises:
            ConfigError: A template of the operator's cannot be used.
        """
        stages = Stages()
        chunks = await asyncio.to_thread(passages, said, self._limits)
        yield Status(stage="write", detail=str(len(chunks)))
        with stages.stage("write"):
            written = await self._written(chunks, language) if chunks else _Text(text="", chunks=(), read=0)
        yield Status(stage="read", detail=str(written.read))
        yield Status(stage="cite")
        with stages.stage("cite"):
            cited = await cite(
                written.text,
                [one.chunk for one in written.chunks],
                self._embedder,
                policy=self._policy,
                # Who said it and when is its title; the days that it means are for the model.
                place=lambda chunk, passage: "",
            )
            text = await asyncio.to_thread(_each_cited, cited.text, whole_lines=written.quoted)
        notes = [reason_of(written.failed, language)] if written.failed is not None else []
        if written.quoted:
            notes.append(phrase("messages_quoted", language))
        yield Answer(
            question="",
            raw_text=text,
            support=Support.CITED if text else Support.ABSTAINED,
            citations=cited.citations,
            chunks=written.chunks,
            notes=tuple(notes),
            usage=written.usage,
            timings_ms=stages.milliseconds(),
            # Whatever address stands in a message, an answer links to the messages alone.
            allowed_urls=allowed_urls((one.chunk for one in written.chunks), frozenset()),
        )

    async def _written(self, chunks: tuple[ScoredChunk, ...], language: str) -> _Text:
        if self._asker is None:
            return await self._quoting(chunks)
        deadline = asyncio.get_running_loop().time() + self._limits.seconds
        blocks = [block(number, one.chunk) for number, one in enumerate(chunks)]
        costs = await asyncio.to_thread(lambda: [self._tokenizer.count(one + SEPARATOR) + 1 for one in blocks])
        rules = self._prompts.render("gist", language=language, messages=True)
        if sum(costs) > self._asker.room(rules, _when(chunks)):
            return await self._in_parts(self._asker, chunks, costs, language, deadline)
        reply = await self._asker.ask(rules, _when(chunks), blocks, deadline)
        if _is_nothing(reply):
            return _Text(text="", chunks=(), read=len(chunks), usage=reply.usage)
        if text := await self._verified(reply, chunks):
            return replace(_used(text, chunks), read=len(chunks), usage=reply.usage)
        failed = reply.failed or ModelBadOutput("no sentence that a message bears out", raw=reply.text)
        return replace(await self._quoting(chunks), failed=failed, usage=reply.usage)

    async def _in_parts(
        self, asker: Asker, chunks: tuple[ScoredChunk, ...], costs: Sequence[int], language: str, deadline: float
    ) -> _Text:
        """Note each part, side by side, and write the summary from the notes; the oldest messages may be left out."""
        rules = self._prompts.render("gist_part")
        parts = divided(costs, max(1, asker.room(rules, _when(chunks))), max(1, self._limits.calls - 1))
        noting = deadline - self._limits.seconds * (1 - NOTES_SHARE)
        shares = [chunks[part.start : part.stop] for part in parts]
        noted = await asyncio.gather(*(self._noted(asker, rules, share, noting) for share in shares))
        lines = [shifted(one.text, part.start).splitlines() for one, part in zip(noted, parts, strict=True)]
        together = put_together(lines, MOST_NOTES)
        failed = next((one.failed for one in noted if one.failed is not None), None)
        usage = reduce(add, (one.usage for one in noted), Usage())
        notes = _used("\n".join(together), chunks)
        read = sum(len(part) for part in parts)
        if not together:
            return _Text(text="", chunks=(), read=read, usage=usage)
        reply = await self._whole(asker, notes, language, deadline)
        usage += reply.usage
        if text := await self._verified(reply, notes.chunks):
            return replace(_used(text, notes.chunks), read=read, usage=usage, failed=failed)
        failed = reply.failed or ModelBadOutput("no sentence that a message bears out", raw=reply.text)
        few = "\n".join(f"- {line.removeprefix('- ')}" for line in put_together(lines, 2 * self._limits.quoted))
        return replace(_used(few, chunks), read=read, usage=usage, failed=failed)

    async def _whole(self, asker: Asker, notes: _Text, language: str, deadline: float) -> Reply:
        """Write the summary of the notes, as many of them as there is room for."""
        rules = self._prompts.render("gist", language=language, messages=False)
        lines = notes.text.splitlines()
        room = asker.room(rules, _when(notes.chunks))
        while len(lines) > 1 and self._tokenizer.count("\n".join(lines)) > room:
            lines = [line for number, line in enumerate(lines) if number % 2 == 0]
        # As one block of knowledge, which the prompt has at its end as it has messages.
        return await asker.ask(rules, _when(notes.chunks), ["\n".join(lines)], deadline)

    async def _noted(self, asker: Asker, rules: str, chunks: tuple[ScoredChunk, ...], deadline: float) -> _Text:
        """Return the notes of one part, a line each; where the model writes nothing of use, what tells most in it."""
        blocks = [block(number, one.chunk) for number, one in enumerate(chunks)]
        reply = await asker.ask(rules, _when(chunks), blocks, deadline)
        if _is_nothing(reply):
            return _Text(text="", chunks=chunks, read=len(chunks), usage=reply.usage)
        if text := await self._verified(reply, chunks):
            return _Text(text=text, chunks=chunks, read=len(chunks), usage=reply.usage)
        if reply.failed is not None:
            log.warning("a part of a talk is quoted: %s: %s", type(reply.failed).__name__, reply.failed)
        text = await asyncio.to_thread(_quotes, chunks, QUOTED_OF_PART)
        return _Text(text=text, chunks=chunks, read=len(chunks), failed=reply.failed, usage=reply.usage)

    async def _verified(self, reply: Reply, chunks: tuple[ScoredChunk, ...]) -> str:
        """Return those sentences of a reply that messages bear out, with their markers."""
        said = reply.text[:LONGEST_REPLY].strip()
        if not said:
            return ""
        cut = reply.cut or len(reply.text) > LONGEST_REPLY
        read = [one.chunk for one in chunks]
        cited = await cite(said, read, self._embedder, unfinished=cut, policy=self._policy)
        return await asyncio.to_thread(only_cited, cited.text)

    async def _quoting(self, chunks: tuple[ScoredChunk, ...]) -> _Text:
        """Return the most telling messages, a line each."""
        text = await asyncio.to_thread(_quotes, chunks, self._limits.quoted)
        return replace(_used(text, chunks), quoted=True)


def _is_nothing(reply: Reply) -> bool:
    """Return whether a model found that nothing of it matters."""
    return reply.text.strip(" .*`\"'\n").upper() == NOTHING


def _each_cited(text: str, *, whole_lines: bool) -> str:
    """Return what cites of a text: its sentences, or the lines, each of which quotes one message."""
    if not whole_lines:
        return only_cited(text)
    return "\n".join(line for line in text.splitlines() if markers.find(line))


def _quotes(chunks: Sequence[ScoredChunk], most: int) -> str:
    told = telling([one.chunk.text for one in chunks], most) or tuple(range(len(chunks)))[-most:]
    lines = []
    for number in told:
        chunk = chunks[number].chunk
        line = f"{chunk.title.rpartition(',')[0]}: {quoted(chunk.text)}"
        place = marker_place(line, split_sentences(line)[-1])
        lines.append(f"- {line[:place]}{markers.spaced(line, place, markers.marker(number))}{line[place:]}")
    return "\n".join(lines)


def _used(text: str, chunks: Sequence[ScoredChunk]) -> _Text:
    """Return a text with the chunks that it names alone, numbered anew in their order."""
    named = sorted({marker.id for marker in markers.find(text) if marker.id < len(chunks)})
    numbers = {old: new for new, old in enumerate(named)}
    return _Text(text=numbered_anew(text, numbers), chunks=tuple(chunks[old] for old in named), read=len(chunks))


def _when(chunks: Sequence[ScoredChunk]) -> str:
    """Return from when to when these messages were said."""
    if not chunks:
        return ""
    first, last = (chunks[at].chunk.title.rpartition(",")[2].strip() for at in (0, -1))
    return f"{first} - {last}"
