"""Whether an answer offers to ask a person. Pure."""

from collections.abc import Sequence

from bots.turn.options import TurnOptions
from ragcore.phrases import LANGUAGES, phrase
from ragcore.types import Answer, Support

WITHHELD = frozenset(phrase("withheld", language) for language in LANGUAGES)


def offers_person(answer: Answer, knowledge_bases: Sequence[str], options: TurnOptions) -> bool:
    """Return whether no document supports an answer, or none was found, and what was searched has owners."""
    uncertain = answer.support not in (Support.CITED, Support.EXEMPT) or answer.raw_text in WITHHELD
    held = [scored.chunk.document_id for scored in answer.chunks]
    return uncertain and options.owned(knowledge_bases, held) is not None
