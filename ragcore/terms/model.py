"""What the analysis yields."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """How a term came out of the text; terms of one place may overlap."""

    WORD = "word"
    """A word of a spaced script, folded and stemmed; or a number without its thousands separators."""
    IDENTIFIER = "identifier"
    """A code, version, file name, path, address or dotted name, whole."""
    PART = "part"
    """A piece of an identifier or of a hyphenated word, folded and stemmed like a word."""
    PAIR = "pair"
    """Two neighbouring characters of an unspaced script."""
    CHARACTER = "character"
    """One character of an unspaced script."""


@dataclass(frozen=True, slots=True)
class Term:
    """A normalised term and where it stands: ``source[start:end]`` is what was written.

    Equal ``text`` and ``kind`` class means: the same word for search. ``end`` is exclusive.
    """

    text: str
    start: int
    end: int
    kind: Kind = Kind.WORD
