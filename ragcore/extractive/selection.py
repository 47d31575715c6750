"""An answer without a model: from a question and its chunks to a text of their best sentences."""

from collections.abc import Sequence

from ragcore.extractive.choosing import choose
from ragcore.extractive.expectation import Expectation
from ragcore.extractive.matter import weigh_units
from ragcore.extractive.options import ExtractOptions
from ragcore.extractive.pools import is_named
from ragcore.extractive.support import answers
from ragcore.extractive.units import Unit, units_of
from ragcore.extractive.wording import worded
from ragcore.extractive.words import question_words
from ragcore.models.embeddings import Embedder
from ragcore.types import ScoredChunk

_DEFAULT_OPTIONS = ExtractOptions()


async def extract(
    question: str,
    chunks: Sequence[ScoredChunk],
    embedder: Embedder | None,
    options: ExtractOptions = _DEFAULT_OPTIONS,
    *,
    sure: bool = True,
) -> str:
    """Return the best-supported whole sentences as a text with ``[ID:n]`` markers, n an index into chunks.

    Best first, none repeated, and no more than answer the question; a sentence that opens with a pronoun brings the one
    before it, a line that introduces a list brings the list, and sentences that follow each other in the document
    keep their order. A table row begins with what it is of and goes on in ``column: value``, with the columns that were
    asked for. "" when no sentence of the chunks says what is asked; ``sure`` says that the chunks passed the relevance
    gate, else more is asked of their sentences.
    """
    units = _units(question, chunks, options)
    if not units:
        return ""
    expectation = Expectation(question)
    matter = await weigh_units(question, units, chunks, expectation, embedder, options)
    chosen = choose(question, matter, expectation, options)
    if not answers(question, matter, chosen, options, sure=sure):
        return ""
    return worded([units[i] for i in chosen], question)


def _units(question: str, chunks: Sequence[ScoredChunk], options: ExtractOptions) -> list[Unit]:
    """Return what may be quoted: all units of the best chunks, of the others the rows that bear the name asked for."""
    asked = {word.term for word in question_words(question, identifier=options.identifier)}
    units = [unit for index, scored in enumerate(chunks) for unit in units_of(scored.chunk, index, options.sentences)]
    return [unit for unit in units if unit.chunk < options.chunks or is_named(unit, asked)]
