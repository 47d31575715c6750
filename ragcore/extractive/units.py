"""What an extractive answer can quote: the sentences of a chunk, its lists, and the rows of its tables. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ragcore.citations.sentences import BlockKind, split_sentences
from ragcore.extractive.rows import Row, rows
from ragcore.types import Chunk, SectionKind

_SHORTEST = 12
"""Characters, a dense character counting double: less is a heading, a label or a stray number, never an answer."""
_SHORTEST_DENSE = 8
"""The same where most characters are dense and a full stop ends them: 挂号费20元。 is a sentence, 第二章。 is none."""
_FRAGMENT = 40
"""Prose without a full stop that is shorter than this is a label, a caption or a row of a table that lost its form."""
_POINT = 20
"""An item of a list that is at least so long says something by itself without a full stop, as on slides."""
_LONGEST_LIST = 8
"""Items of a list that is quoted as one; of a longer one the best items are, each alone."""
_STOP = re.compile(r"[.!?。！？…:：；;][\"'”’」』)）*_`]*$")
_ENDS_SENTENCE = re.compile(r"[.!?。！？][\"'”’」』)）*_`]*$")
_INTRODUCES = re.compile(r"[:：][\"'”’」』)）*_`]*$")
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LEAD = re.compile(r"^\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+|>\s*|\[[ x]\]\s+)+")
_ITEM = re.compile(r"^\s*(?:[-*+•]|(?P<number>\d{1,3})[.)])\s")
_WRAPPED = 50
"""A line shorter than this ends where its writer wanted it to: an address, a verse, a label."""
_STARTS_BLOCK = re.compile(r"^\s*(?:[-*+•>|#]|\d{1,3}[.)]\s|```|~~~)")
_STARTS_BLOCK_ALONE = re.compile(r"^\s*(?:[|#]|```|~~~)")
_BLANK_LINE = re.compile(r"\n\s*\n")
_OPENS_WITH_REFERENCE = re.compile(
    r"^\W*(?:(?:it|its|they|them|their|he|she|his|her|this|that|these|those|such|both|either|neither|otherwise|however|"
    r"then|also|after that|in that case|if (?:it|they|this|that|so)|outside them|"
    r"er|sie|es|dies|diese[rs]?|il|elle|ils|elles|cela|ello|esto|estos|este|он|она|они|это)\b"
    r"|其(?!他|它|中)|该|此|这|那(?!么)|它|他|她|上述|但|并|否则|因此|逾期)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One whole sentence, one table row read as a sentence, or a list with what introduces it.

    ``chunk`` and ``order`` tell where it stands: the chunk's index in the prompt, and its place in the chunk;
    ``paragraph`` counts within the chunk. ``leans`` says that it opens with a word that points back, so that it can't
    stand without the unit before it. ``items`` are those of a list, which stand as units of their own too; ``text`` is
    then what introduces it, and may be empty under a heading. ``ordered`` says that the list is numbered, ``goes_on``
    that more items follow than are quoted. ``alone`` is what doesn't go on in its neighbour: a row, a line of code, a
    short point of a list. ``sentences`` is how many it holds: items that are no sentences complete the one that
    introduces them.
    """

    text: str
    chunk: int
    order: int
    paragraph: int = 0
    leans: bool = False
    row: Row | None = None
    alone: bool = False
    items: tuple[str, ...] = ()
    ordered: bool = False
    goes_on: bool = False
    sentences: int = 1

    @property
    def whole(self) -> str:
        """All that is quoted, as one text."""
        return " ".join((self.text, *self.items)).strip()


def units_of(chunk: Chunk, index: int, most: int = 4) -> list[Unit]:
    """Return the quotable units of a chunk, in order; headings, fragments and rules are left out.

    Of a list of more than ``most`` sentences the first are quoted, and that it goes on is told: one step among others
    that is left out unseen would mislead.
    """
    if len({part.kind for part in chunk.parts}) > 1:
        return _units_of_runs(chunk, index, most)
    if chunk.kind is SectionKind.TABLE:
        found = (
            Unit(text=row.said(), chunk=index, order=order, row=row, alone=True)
            for order, row in enumerate(rows(chunk.text))
        )
        return [unit for unit in found if _weight(unit.text) >= _SHORTEST]
    if chunk.kind is SectionKind.CODE:
        lines = [f"`{line.strip()}`" for line in chunk.text.splitlines() if line.strip() and "`" not in line]
        return [
            Unit(text=line, chunk=index, order=order, alone=True)
            for order, line in enumerate(lines)
            if _weight(line) >= _SHORTEST
        ]
    pieces = list(_pieces(_unwrapped(chunk.text)))
    sentences = [
        Unit(
            text=piece.text,
            chunk=index,
            order=2 * order + 1,
            paragraph=piece.paragraph,
            leans=bool(_OPENS_WITH_REFERENCE.match(piece.text)),
            alone=piece.is_point,
        )
        for order, piece in enumerate(pieces)
        if piece.quotable
    ]
    return sorted([*sentences, *_lists(pieces, index, most)], key=lambda unit: unit.order)


def _units_of_runs(chunk: Chunk, index: int, most: int) -> list[Unit]:
    """Return the units of text and code that are quoted together, each run of one kind read by itself."""
    units: list[Unit] = []
    order = paragraph = 0
    starts = [part for at, part in enumerate(chunk.parts) if not at or part.kind is not chunk.parts[at - 1].kind]
    for part, end in zip(starts, [*(part.start for part in starts[1:]), len(chunk.text)], strict=True):
        run = replace(chunk, text=chunk.text[part.start : end], kind=part.kind, parts=())
        # Even numbers are those of lists, and neighbours differ by two: what is of another kind is nobody's neighbour.
        found = [
            replace(unit, order=order + unit.order, paragraph=paragraph + unit.paragraph)
            for unit in units_of(run, index, most)
        ]
        units += found
        order += 2 * len(run.text) + 4
        paragraph += len(run.text) + 1
    return units


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence or label of prose; ``item`` is "" outside of lists, else its bullet or number."""

    text: str
    paragraph: int
    item: str

    @property
    def is_point(self) -> bool:
        """Whether it is a short item without a full stop: it stands by itself."""
        return bool(self.item) and not _STOP.search(self.text) and _weight(self.text) < _FRAGMENT

    @property
    def quotable(self) -> bool:
        weight, ends = _weight(self.text), bool(_ENDS_SENTENCE.search(self.text))
        is_dense = ends and len(_DENSE.findall(self.text)) * 2 >= len(self.text)
        whole = bool(_STOP.search(self.text)) or weight >= (_POINT if self.item else _FRAGMENT)
        return whole and weight >= (_SHORTEST_DENSE if is_dense else _SHORTEST) and not _INTRODUCES.search(self.text)


def _pieces(text: str) -> Iterator[_Piece]:
    """Yield the sentences of prose in order, and the rows of tables that lost their form as sentences."""
    found: list[_Piece] = []
    paragraph, end = 0, 0
    for sentence in split_sentences(text):
        between = text[end : sentence.body]
        end = sentence.body_end
        paragraph += bool(_BLANK_LINE.search(between))
        if sentence.kind is not BlockKind.PROSE:
            paragraph += 1
            continue
        written = text[sentence.body : sentence.body_end]
        marked = _ITEM.match(between.rpartition("\n")[2] + written)
        item = (marked["number"] or "-") if marked else ""
        found.append(_Piece(_LEAD.sub("", " ".join(written.split())), paragraph, item))
    yield from _with_lost_rows(found)


def _with_lost_rows(pieces: Sequence[_Piece]) -> Iterator[_Piece]:
    """Give the lines of a table that lost its form, as in many PDFs, their heading line, so that they can be quoted."""
    heading = ""
    for before, piece in zip([None, *pieces], pieces, strict=False):
        label = not piece.item and not _STOP.search(piece.text) and _weight(piece.text) < _FRAGMENT
        if not label or before is None or before.paragraph != piece.paragraph:
            heading = ""
        if label and heading and any(c.isdigit() for c in piece.text):
            yield _Piece(f"{heading}: {piece.text}.", piece.paragraph, "")
            continue
        if label and len(piece.text.split()) > 1 and not any(c.isdigit() for c in piece.text):
            heading = piece.text
        yield piece


def _lists(pieces: Sequence[_Piece], index: int, most: int) -> Iterator[Unit]:
    """Yield each list of two items or more that is not too long, with the line before it, as far as it may go."""
    at = 0
    while at < len(pieces):
        if not pieces[at].item:
            at += 1
            continue
        end = at
        items: list[str] = []
        sentences: list[int] = []
        while end < len(pieces) and (pieces[end].item or pieces[end].paragraph == pieces[max(at, end - 1)].paragraph):
            # A second sentence of an item has no bullet of its own.
            if pieces[end].item:
                items.append(pieces[end].text)
                sentences.append(0)
            elif items:
                items[-1] += _joint(items[-1]) + pieces[end].text
            sentences[-1] += bool(_ENDS_SENTENCE.search(pieces[end].text))
            end += 1
        before = pieces[at - 1] if at else None
        lead = before.text if before and _INTRODUCES.search(before.text) else ""
        fit = next((n for n in range(len(items), 0, -1) if sum(sentences[:n]) <= most), 0)
        if fit >= 2 and len(items) <= _LONGEST_LIST and (lead or not before or not before.item):
            yield Unit(
                text=lead,
                chunk=index,
                order=2 * at,
                items=tuple(items[:fit]),
                ordered=pieces[at].item != "-",
                goes_on=fit < len(items),
                sentences=max(1, sum(sentences[:fit])),
            )
        at = end


def _joint(before: str) -> str:
    return "" if _DENSE.search(before[-2:]) else " "


def _unwrapped(text: str) -> str:
    """Join the lines of a paragraph that a writer wrapped: a line that is long and goes on, and isn't a list item."""
    lines = text.split("\n")
    out = lines[:1]
    for before, line in pairwise(lines):
        wrapped = _weight(before.strip()) >= _WRAPPED and line.strip() and not _STARTS_BLOCK.match(line)
        if wrapped and not _STARTS_BLOCK_ALONE.match(before):
            joint = "" if _DENSE.search(before[-1:]) or _DENSE.search(line[:1]) else " "
            out[-1] = out[-1].rstrip() + joint + line.lstrip()
        else:
            out.append(line)
    return "\n".join(out)


def _weight(text: str) -> int:
    return len(text) + len(_DENSE.findall(text))
