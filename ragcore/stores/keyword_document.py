"""What of a chunk the keyword index holds: one bag of terms, in which the better places count more often.

Counting a title's terms several times inside one field, rather than searching several fields, is what BM25F does: the
places are weighed before the saturation, so a term cannot win by standing in many fields.
"""

from hashlib import blake2b

from ragcore.terms import gaps, term_texts
from ragcore.types import Chunk

TITLE_WEIGHT = 2
HEADING_WEIGHT = 2
KEYWORD_WEIGHT = 5
QUESTION_WEIGHT = 6
"""How often a term of each place counts beside one of the text. With inscit's titles cut into title and headings,
nDCG@10 of a whole search is 0.762, 0.790, 0.791 and 0.793 for headings counted 0, 1, 2 and 3 times. Keywords and
questions have RAGFlow's weights (rag/nlp/search.py: title 2, keywords 5, questions 6)."""

OPEN = "-"
"""What stands in the place of a reader set where the source told no readers."""

_SEPARATOR = "\x1f"


def scope(knowledge_base: str) -> str:
    """Return the prefix that parts a knowledge base's terms from all others'.

    It makes a knowledge base cost nothing to filter by, gives each its own document frequencies, and leaves no way
    for a question to one to meet a chunk of another. 64 bits of a hash, since every term carries it.
    """
    return blake2b(knowledge_base.encode(), digest_size=8).hexdigest() + _SEPARATOR


def bag(chunk: Chunk) -> list[str]:
    """Return the terms of a chunk, as often as they count, without its knowledge base's prefix."""
    found = _texts(chunk.text)
    found += _texts(chunk.title) * TITLE_WEIGHT
    found += _texts(" \n".join(chunk.heading_path)) * HEADING_WEIGHT
    found += _texts(" \n".join((*chunk.keywords, *chunk.tags))) * KEYWORD_WEIGHT
    found += _texts(" \n".join(chunk.questions)) * QUESTION_WEIGHT
    return found + _name_terms(chunk, set(found))


def _texts(text: str) -> list[str]:
    """Return a text's terms in their normal form, and what abbreviations of its words are known by."""
    return [*(term for term, _ in term_texts(text)), *gaps(text)]


def _name_terms(chunk: Chunk, known: set[str]) -> list[str]:
    """Return what the native id adds: a file's name and path are asked for, though they may not stand in it."""
    _, _, native = chunk.document_id.partition(":")
    return [term for term in _texts(native) if term not in known]
