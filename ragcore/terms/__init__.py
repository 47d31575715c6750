"""Text analysis: what the keyword index, the relevance gate, citations and extractive answers call a term.

One analysis for documents and questions, for every script: words are folded and stemmed, unspaced scripts (Chinese,
Japanese, Korean, Thai ...) are cut into overlapping pairs, identifiers are kept whole and in parts. Pure functions.
"""

from ragcore.terms.gaps import gap_of, gaps, may_be_abbreviated, spelt_out
from ragcore.terms.model import Kind, Term
from ragcore.terms.scan import spotted, term_texts, terms
from ragcore.terms.scripts import language_of
from ragcore.terms.stopwords import is_stop_word

__all__ = [
    "Kind",
    "Term",
    "gap_of",
    "gaps",
    "is_stop_word",
    "language_of",
    "may_be_abbreviated",
    "spelt_out",
    "spotted",
    "term_texts",
    "terms",
]
