"""Parents: which chunks of a document are quoted together when one of them is found.

Children are searched because a short text is embedded sharply, parents are quoted because a long one explains more. A
parent is made of pieces that follow each other under the same heading path, at most ``parent_tokens`` of them together;
a table stands for itself. Nothing is cut anew, so a change of ``parent_tokens`` embeds nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragcore.chunking.pieces import Piece
from ragcore.tokens import Tokenizer
from ragcore.types import Parent, Section, SectionKind

_SEAM_TOKENS = 2
"""What two texts may count more together than apart: a token split otherwise, and the blank line between sections."""
_SECTIONS_AHEAD = 64
"""Sections that may lie between two pieces without giving one: headings whose words stand in a path, blank ones."""
_LEFT_OUT = 1_000
"""Characters within a section that may lie between two pieces: headings that a method found there and left out."""


@dataclass(frozen=True, slots=True)
class _Member:
    piece: Piece
    goes_on: bool


class Parents:
    """Groups the pieces of one document, given part by part in their order; the same pieces give the same parents.

    Holds no more than the parent that is not complete yet.
    """

    def __init__(self, parent_tokens: int, tokenizer: Tokenizer) -> None:
        """Begin a document; with ``parent_tokens`` 0 no piece has a parent.

        Args:
            parent_tokens: the most that the pieces of a parent hold together, in the tokenizer's tokens.
            tokenizer: counts.
        """
        self._limit = parent_tokens
        self._tokenizer = tokenizer
        self._members: list[_Member] = []
        self._tokens = 0
        self._first = 0

    def add(self, sections: Sequence[Section], pieces: Iterable[Piece]) -> list[tuple[Piece, Parent | None]]:
        """Take the next pieces and the sections that they were cut from; return those whose parent is complete now.

        A piece that is alone in its parent has none.
        """
        if not self._limit:
            return [(piece, None) for piece in pieces]
        done: list[tuple[Piece, Parent | None]] = []
        seams = _Seams(sections)
        for piece in pieces:
            own = piece.text[piece.overlap :]
            goes_on = seams.goes_on(own)
            tokens = self._tokenizer.count(own) if piece.overlap else piece.token_count
            if not self._takes(piece, goes_on, tokens):
                done += self.close()
            self._tokens += tokens + _SEAM_TOKENS if self._members else piece.token_count
            self._members.append(_Member(piece, goes_on))
        return done

    def close(self) -> list[tuple[Piece, Parent | None]]:
        """Return the pieces of the parent that is complete now: another begins, or the document is at its end."""
        first, last = self._first, self._first + len(self._members) - 1
        closed = [
            (member.piece, Parent(first=first, last=last, goes_on=member.goes_on) if last > first else None)
            for member in self._members
        ]
        self._first = last + 1
        self._members, self._tokens = [], 0
        return closed

    def _takes(self, piece: Piece, goes_on: bool, tokens: int) -> bool:
        """Return whether the piece belongs to the parent that is not complete yet."""
        if not self._members:
            return True
        before = self._members[-1].piece
        is_prose = SectionKind.TABLE not in (piece.kind, before.kind)
        return (
            piece.heading_path == before.heading_path
            and (goes_on or is_prose)
            and self._tokens + _SEAM_TOKENS + tokens <= self._limit
        )


class _Seams:
    """Follows pieces through the sections that they were cut from, whatever method cut them."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self._sections = sections
        self._at = 0
        self._end = 0

    def goes_on(self, own: str) -> bool:
        """Return whether this text, the next piece's own, begins where the one before it ended, in the same section."""
        if not own:
            return False
        for at in range(self._at, min(self._at + _SECTIONS_AHEAD, len(self._sections))):
            text, begun = self._sections[at].text, self._end if at == self._at else 0
            found = text.find(own, begun, begun + _LEFT_OUT + len(own))
            if found >= 0:
                self._at, self._end = at, found + len(own)
                return found == begun > 0
        return False  # made of several sections: the next one is looked for from where the last was found
