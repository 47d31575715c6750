"""An answer without a model: from a question and its chunks to a text of their best sentences."""

from collections.abc import Sequence

from ragcore.extractive.choosing import choose
from ragcore.extractive.expectation import Expectation
from ragcore.extractive.matter import weigh_units
from ragcore.extractive.options import ExtractOptions
from ragcore.extractive.support import answers
from ragcore.extractive.units import units_of
from ragcore.extractive.wording import worded
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
    considered = chunks[: options.chunks]
    units = [
        unit for index, scored in enumerate(considered) for unit in units_of(scored.chunk, index, options.sentences)
    ]
    if not units:
        return ""
    expectation = Expectation(question)
    matter = await weigh_units(question, units, considered, expectation, embedder, options)
    chosen = choose(question, matter, expectation, options)
    if not answers(question, matter, chosen, options, sure=sure):
        return ""
    return worded([units[i] for i in chosen], question)
