"""An answer without a model: from a question and its chunks to a text of their best sentences."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragcore.extractive.choosing import Chosen, choose
from ragcore.extractive.directness import is_direct, is_near
from ragcore.extractive.expectation import Expectation
from ragcore.extractive.matter import Matter, weigh_units
from ragcore.extractive.options import ExtractOptions
from ragcore.extractive.pools import is_named, place
from ragcore.extractive.units import Unit, units_of
from ragcore.extractive.wording import worded
from ragcore.extractive.words import LIGHTEST, Word, content, question_words
from ragcore.models.embeddings import Embedder
from ragcore.types import ScoredChunk

_DEFAULT_OPTIONS = ExtractOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """Quoted sentences with ``[ID:n]`` markers, n an index into the chunks; ``text`` is "" for none.

    ``direct`` says that they plainly answer what was asked; else they are only what comes nearest to it.
    """

    text: str = ""
    direct: bool = False


_NOTHING = Extract()


async def extract(
    question: str,
    chunks: Sequence[ScoredChunk],
    embedder: Embedder | None,
    options: ExtractOptions = _DEFAULT_OPTIONS,
    *,
    sure: bool = True,
) -> Extract:
    """Return the best-supported whole sentences, or the two that come nearest where none answers.

    Best first, none repeated, and no more than answer the question; a sentence that opens with a pronoun brings the one
    before it, a line that introduces a list brings the list, and sentences that follow each other in the document
    keep their order. A table row begins with what it is of and goes on in ``column: value``, with the columns that were
    asked for. Nothing when the sentences are of another matter; ``sure`` says that the chunks passed the relevance
    gate, else more must speak for what is only near.
    """
    units = await asyncio.to_thread(_units, question, chunks, options)
    if not units:
        return _NOTHING
    expectation = Expectation(question)
    matter = await weigh_units(question, units, chunks, expectation, embedder, options)
    return await asyncio.to_thread(_quoted, question, matter, expectation, options, sure)


def _quoted(question: str, matter: Matter, expectation: Expectation, options: ExtractOptions, sure: bool) -> Extract:
    units = matter.units
    chosen = choose(question, matter, expectation, options)
    if is_direct(question, matter, chosen.units, options):
        return Extract(text=_worded(units, chosen, question), direct=True)
    near = choose(question, matter, expectation, replace(options, sentences=options.sentences_near))
    if is_near(question, matter, near.units, options, sure=sure):
        return Extract(text=_worded(units, near, question))
    return _NOTHING


def _worded(units: Sequence[Unit], chosen: Chosen, question: str) -> str:
    return worded([units[i] for i in chosen.units], question, goes_on=chosen.goes_on)


def _units(question: str, chunks: Sequence[ScoredChunk], options: ExtractOptions) -> list[Unit]:
    """Return what may be quoted: all units of the chunks that are read, of others the rows that bear the name asked."""
    words = question_words(question, identifier=options.identifier)
    asked = {word.term for word in words}
    read = _read(words, chunks, options)
    units = [unit for index, scored in enumerate(chunks) for unit in units_of(scored.chunk, index, options.sentences)]
    return [unit for unit in units if unit.chunk in read or is_named(unit, asked)]


def _read(words: Sequence[Word], chunks: Sequence[ScoredChunk], options: ExtractOptions) -> set[int]:
    """Return the indexes of the best chunks, and for a word of the question that none of them has the next that does.

    Of the warranty of a TW-200 the best may all be about the TW-200, and none about a warranty.
    """
    read = set(range(min(options.chunks, len(chunks))))
    lacking = {word.term for word in words if word.weight >= LIGHTEST}
    for index, scored in enumerate(chunks):
        if not lacking:
            break
        held = lacking & {*content(place(scored.chunk)), *content(scored.chunk.text)}
        if held:
            read.add(index)
            lacking -= held
    return read
