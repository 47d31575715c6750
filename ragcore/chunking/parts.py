"""Parts of sections under headings of a method's own, and their pieces: each whole where it fits.

What a method that finds its own headings shares with others: it says where a part begins and what it is called; here
the part gets its place, and is cut. The parts of a section tile it, so that its pieces rejoin to its text.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ragcore.chunking import naive
from ragcore.chunking.pieces import ChunkOptions, Piece
from ragcore.chunking.places import Places
from ragcore.tokens import Tokenizer
from ragcore.types import Section, SectionKind

_SURELY_LONG = 8
"""Characters a token from which on a text is not counted as a whole, but looked at from its beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a section, itself a section with its own heading path and place.

    ``units`` are the offsets at which its clauses, entries or paragraphs begin: where it is cut first when it doesn't
    fit. ``lead`` counts the characters of outer headings that stand before it, and ``lead_path`` is their path.
    ``is_bare``: there is nothing in it but headings, which what follows may carry in its path. ``most`` is the number
    of tokens up to which it stays whole where that is more than ``chunk_tokens``.
    """

    section: Section
    units: tuple[int, ...] = ()
    lead: int = 0
    lead_path: tuple[str, ...] = ()
    is_bare: bool = False
    most: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Where a part begins: ``text[start:end]`` is its heading, empty where text follows on the line.

    ``has_units``: it is cut between units when it doesn't fit, else as ``naive`` cuts.
    """

    start: int
    end: int
    path: tuple[str, ...]
    has_units: bool = True


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield (offset, line) of each line, without its line break."""
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def slices(section: Section, cuts: Sequence[tuple[int, tuple[str, ...]]]) -> list[Section]:
    """Return the section in slices, each with its own heading path, rows and lines.

    Args:
        section: a section of text.
        cuts: where each slice begins, in order, the first at 0, and its heading path.
    """
    places, ends = Places(section), [*cuts, (len(section.text), ())]
    return [replace(places.part(start, end), heading_path=path) for (start, path), (end, _) in pairwise(ends)]


def marked(section: Section, marks: Sequence[Mark], before: Mark, units: Sequence[int]) -> list[Part]:
    """Return the parts that begin at the marks; a heading with nothing below it goes with the one that it heads.

    Args:
        section: a section of text.
        marks: in order.
        before: what stands before the first mark; its ``end`` is found here.
        units: where clauses, entries or paragraphs begin, in order.
    """
    text = section.text
    first = marks[0].start if marks else len(text)
    if marks and not text[:first].strip():
        # Blank lines at the beginning go with what they stand before.
        marks, first = [replace(marks[0], start=0, end=marks[0].end if marks[0].end > first else 0), *marks[1:]], 0
    every = [replace(before, end=_headings_end(text[:first])), *marks] if first or not marks else list(marks)
    cuts: list[tuple[int, tuple[str, ...]]] = []
    heads: list[tuple[Mark, tuple[str, ...]]] = []
    bare = False
    ends = [*(mark.start for mark in every[1:]), len(text)]
    for mark, end in zip(every, ends, strict=True):
        if bare and _in_line(mark.path, cuts[-1][1]):
            heads[-1] = (mark, min(mark.path, cuts[-1][1], key=len))
            cuts[-1] = (cuts[-1][0], mark.path)
        else:
            cuts.append((mark.start, mark.path))
            heads.append((mark, ()))
        bare = mark.end > mark.start and not text[mark.end : end].strip()
    parts: list[Part] = []
    starts = sorted({*units, *(mark.start for mark in every)})
    for part, (start, _), (mark, outer) in zip(slices(section, cuts), cuts, heads, strict=True):
        within = starts[bisect_left(starts, start) : bisect_left(starts, start + len(part.text))]
        own = tuple(unit - start for unit in within) if mark.has_units else ()
        parts.append(Part(section=part, units=own, lead=mark.start - start, lead_path=outer))
    if parts:
        parts[-1] = replace(parts[-1], is_bare=bare)
    return parts


def _in_line(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Tell whether one path begins with the other: text before its own heading has the whole path already."""
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]


def _headings_end(text: str) -> int:
    """Return the length of a text that is nothing but headings in Markdown, else 0."""
    filled = [line for line in text.split("\n") if line.strip()]
    return len(text) if all(line.lstrip().startswith("#") for line in filled) else 0


def cut(parts: Sequence[Part], options: ChunkOptions, tokenizer: Tokenizer) -> list[Piece]:
    """Return the pieces of all parts, in order.

    A part that fits is one piece. Of one that doesn't, so many units as fit are a piece; a unit that alone doesn't is
    cut by ``naive``. Nothing is repeated between units. A bare part gives no piece where the next one's heading path
    begins with its own.
    """
    pieces: list[Piece] = []
    parts = [part for part in parts if part.section.text.strip()]
    for part, after in zip(parts, [*parts, None][1:], strict=True):
        if part.is_bare and after is not None and _carries(after, part):
            continue
        pieces += _pieces(part, options, tokenizer)
    return pieces


def _carries(after: Part, part: Part) -> bool:
    path = part.section.heading_path
    return bool(path) and after.section.heading_path[: len(path)] == path


def _pieces(part: Part, options: ChunkOptions, tokenizer: Tokenizer) -> list[Piece]:
    section = part.section
    if section.kind is not SectionKind.TEXT:
        return naive.chunk([section], options, tokenizer, None)
    whole = replace(options, chunk_tokens=max(part.most, options.chunk_tokens), parent_tokens=0)
    if _fits(section.text, whole, tokenizer):
        return [_whole(section, tokenizer)]
    if part.lead and _fits(section.text[part.lead :], options, tokenizer):
        cuts = [(0, part.lead_path), (part.lead, section.heading_path)]
    else:
        cuts = [(start, section.heading_path) for start in _groups(section.text, part.units, options, tokenizer)]
    return [
        piece
        for slice_ in slices(section, cuts)
        for piece in (
            [_whole(slice_, tokenizer)]
            if _fits(slice_.text, options, tokenizer)
            else naive.chunk([slice_], options, tokenizer, None)
        )
    ]


def _whole(section: Section, tokenizer: Tokenizer) -> Piece:
    return Piece(
        text=section.text,
        kind=section.kind,
        heading_path=section.heading_path,
        location=section.location,
        token_count=tokenizer.count(section.text),
    )


def _fits(text: str, options: ChunkOptions, tokenizer: Tokenizer) -> bool:
    budget = options.chunk_tokens
    if len(text) > budget * _SURELY_LONG and len(tokenizer.head(text, budget)) < len(text):
        return False
    return tokenizer.count(text) <= budget


def _groups(text: str, units: Sequence[int], options: ChunkOptions, tokenizer: Tokenizer) -> list[int]:
    """Return where the groups of units begin that go together into a piece."""
    starts = sorted({0, *(start for start in units if 0 < start < len(text))})
    spans = _without_crumbs(list(pairwise([*starts, len(text)])), options.chunk_tokens // 8)
    found: list[int] = []
    members: list[tuple[int, int]] = []
    total = 0
    for start, end in spans:
        unit = text[start:end]
        tokens = tokenizer.count(unit) if _fits(unit, options, tokenizer) else options.chunk_tokens + 1
        if members and total + tokens > options.chunk_tokens:
            found += _beginnings(text, members, options, tokenizer)
            members, total = [], 0
        members.append((start, end))
        total += tokens
    return found + _beginnings(text, members, options, tokenizer)


def _beginnings(
    text: str, members: Sequence[tuple[int, int]], options: ChunkOptions, tokenizer: Tokenizer
) -> list[int]:
    """Return where a group begins, or each of its members where together they count more tokens than apart."""
    whole = text[members[0][0] : members[-1][1]]
    together = len(members) == 1 or _fits(whole, options, tokenizer)
    return [members[0][0]] if together else [start for start, _ in members]


def _without_crumbs(spans: Sequence[tuple[int, int]], crumb: int) -> list[tuple[int, int]]:
    """Join very short units that follow each other, so that a megabyte of them isn't counted one by one.

    Two crumbs fit together whatever they hold: a code point takes four tokens at most.
    """
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and end - start < crumb and joined[-1][1] - joined[-1][0] < crumb:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
