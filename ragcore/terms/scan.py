"""Cuts a text into terms, with their places in the source."""

import re
import unicodedata
from collections.abc import Collection, Iterator
from functools import lru_cache

from ragcore.terms.compound import WORD, Relative, compound
from ragcore.terms.model import Kind, Term
from ragcore.terms.normal import fold, stem
from ragcore.terms.scripts import MARKS, UNSPACED

# What may stand between the parts of one identifier, path, address, version, hyphenated word or number.
_JOINT = r"(?:://|::|->|/[._]|\\[._]|[_\-]{2,4}|['’.,@&_+#~:/\\‐‑\-])"
_COMPOUND = rf"[._]?{WORD}+(?:{_JOINT}{WORD}+)*(?:\+\+|#(?!{WORD})|\(\))?"
_TOKEN = re.compile(rf"(?P<unspaced>[{UNSPACED}]+)|{_COMPOUND}")
_CLUSTER_MARK = re.compile(
    f"[{MARKS}\u3099\u309a\uff9e\uff9f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece]"
)
_MAX_TERM = 200


def terms(text: str) -> list[Term]:
    """Return the terms of a text in order of their start, overlapping ones included, stop words kept.

    Words come folded and stemmed; numbers without thousands separators; identifiers (``ERR_CONN_104``, ``v2.3.1``,
    ``foo.bar()``, file names, paths, addresses) whole and in parts; runs of unspaced scripts as characters and pairs.
    """
    return [
        Term(found, offset + start, offset + end, kind)
        for offset, relative in _tokens(text)
        for found, start, end, kind in relative
    ]


def spotted(text: str, wanted: Collection[str]) -> list[Term]:
    """Return those of a text's terms whose normal form is wanted, in order of their start."""
    return [
        Term(found, offset + start, offset + end, kind)
        for offset, relative in _tokens(text)
        for found, start, end, kind in relative
        if found in wanted
    ]


def term_texts(text: str, *, characters: bool = True) -> list[tuple[str, Kind]]:
    """Return the terms without their places: what an index takes, at half the cost."""
    return [
        (found, kind)
        for _, relative in _tokens(text)
        for found, _, _, kind in relative
        if characters or kind is not Kind.CHARACTER
    ]


def _tokens(text: str) -> Iterator[tuple[int, tuple[Relative, ...]]]:
    """Yield each token's offset and what it yields."""
    for token in _TOKEN.finditer(text):
        written = token.group()
        yield token.start(), _unspaced(written) if token.lastgroup else _spaced(written)


def _unspaced(run: str) -> tuple[Relative, ...]:
    """Cut a run of an unspaced script into its characters and the pairs of neighbours."""
    clusters = _clusters(run)
    found: list[Relative] = []
    for place, (character, start, end) in enumerate(clusters):
        found.append((character, start, end, Kind.CHARACTER))
        if place + 1 < len(clusters):
            following, _, stop = clusters[place + 1]
            found.append((character + following, start, stop, Kind.PAIR))
    return tuple(found)


def _clusters(run: str) -> list[tuple[str, int, int]]:
    """Split a run into characters with their marks, width folded, each with its place."""
    if unicodedata.is_normalized("NFKC", run) and not _CLUSTER_MARK.search(run):
        return [(character, place, place + 1) for place, character in enumerate(run)]
    bounds = [place for place, character in enumerate(run) if place == 0 or not _CLUSTER_MARK.match(character)]
    return [
        (unicodedata.normalize("NFKC", run[start:end]), start, end)
        for start, end in zip(bounds, [*bounds[1:], len(run)], strict=True)
    ]


def _spaced(written: str) -> tuple[Relative, ...]:
    """Analyse one token of a spaced script: a word, a number, a hyphenated word or an identifier."""
    return _remembered(written) if len(written) <= _MAX_TERM else _analysed(written)


@lru_cache(maxsize=100_000)
def _remembered(written: str) -> tuple[Relative, ...]:
    """Analyse a token, once for all its occurrences."""
    if written.isalpha() and (written[1:].islower() or written.isupper()):
        return ((stem(fold(written)), 0, len(written), Kind.WORD),)
    return _analysed(written)


def _analysed(written: str) -> tuple[Relative, ...]:
    """Analyse a compound; what folds to nothing, such as a lone soft hyphen, is no term."""
    return tuple(found for found in compound(written) if found[0])
