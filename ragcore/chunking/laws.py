"""Method ``laws``: an article a piece, under its path: law, part, chapter, section, article.

Chinese (编, 分编, 章, 节, 条; Chinese or Arabic numerals, 之一) and English (Book, Title, Part, Chapter,
Division, Section, Article, Clause, Rule, §; Arabic, Roman or spelled out). What opens a division and what only speaks
of one is told by ``law_openings``; headings of the document's own are taken up into the same path.

- An article that fits within ``chunk_tokens`` is one piece; outer headings right before it go with it where there is
  room. One that doesn't fit is cut between its clauses and paragraphs (款, 项, (1), (a)), a clause over the budget as
  ``naive`` cuts; each piece has the article's path.
- In a text that names no articles, as contracts and British acts do, bare numbers with a caption are its articles:
  "5. Payment", "5 Fines", 一、付款; what is numbered below them (5.1) are clauses.
- A preamble, an annex and a table of contents are divisions of their own. Text before the first of all has the
  document's headings alone.
- Parts, titles and chapters are nested in the order in which they first come; sections stand within articles where
  they are the more numerous (a constitution), else articles within sections.
- Sections of the document are never joined: an article that runs over a page's end has a piece on each page.
- A heading with nothing below it before a page, a table or a nested heading begins gives no piece where that one's
  heading path holds it.
- ``overlap`` repeats text within a clause that is over the budget, never between clauses or articles.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ragcore.chunking.bare_numbers import TEXTED, bare_articles
from ragcore.chunking.law_openings import KINDS, Finder, Opening, is_clause, kind_of_heading
from ragcore.chunking.parts import Mark, Part, cut, lines_of, marked
from ragcore.chunking.pieces import ChunkOptions, Piece
from ragcore.tokens import Tokenizer
from ragcore.types import Section, SectionKind

_MOVABLE = ("title", "part", "chapter", "division")
"""English kinds that stand in any order: titles in parts (treaties), parts in titles (codes)."""
_FIRST_LINES = 5
_AROUND = frozenset(("law", "front", "annex"))
"""Kinds that stand around articles, and say nothing of how these are named."""


def chunk(
    sections: Sequence[Section], options: ChunkOptions, tokenizer: Tokenizer, following: Section | None
) -> list[Piece]:
    """Return the pieces of a whole document, in order; ``following`` is not looked at."""
    finder = Finder()
    found = [finder.openings(section.text) if section.kind is SectionKind.TEXT else [] for section in sections]
    found = _without_contents(found)
    found = _with_bare_numbers(_laws_alone(found, sections), sections)
    ranks = _ranks([opening for openings in found for opening in openings])
    path = _Path(ranks)
    parts: list[Part] = []
    for section, openings in zip(sections, found, strict=True):
        path.head(section.heading_path)
        parts += _parts(section, openings, path)
    return cut(parts, options, tokenizer)


def _with_bare_numbers(found: list[list[Opening]], sections: Sequence[Section]) -> list[list[Opening]]:
    """Take bare numbers with a caption ("5. Payment", 一、付款) for articles, in a text that names none before them."""
    flat = [(index, opening) for index, openings in enumerate(found) for opening in openings]
    in_parts = any(opening.kind not in _AROUND for _, opening in flat)
    first = next(((index, opening.start) for index, opening in flat if opening.kind in TEXTED), (len(found), 0))
    bare = bare_articles(sections, found, in_parts=in_parts)
    if bare and (min(bare), bare[min(bare)][0].start) > first:
        return found
    every = [[*openings, *bare.get(index, ())] for index, openings in enumerate(found)]
    return [sorted(openings, key=lambda opening: opening.start) for openings in every]


def _without_contents(found: Sequence[Sequence[Opening]]) -> list[list[Opening]]:
    """Leave out what a table of contents lists: all up to where its first entry comes again."""
    flat = [(index, opening) for index, openings in enumerate(found) for opening in openings]
    kept: list[list[Opening]] = [[] for _ in found]
    at = 0
    while at < len(flat):
        index, opening = flat[at]
        at += 1
        first = flat[at][1] if opening.is_contents and at < len(flat) else None
        if first is not None:
            again = (n for n in range(at + 1, len(flat)) if _same(flat[n][1], first))
            body = next(again, None)
            if body is None:
                continue
            at = body
        elif opening.is_contents:
            continue
        kept[index].append(opening)
    return kept


def _same(one: Opening, other: Opening) -> bool:
    return one.kind == other.kind and one.number == other.number and (bool(one.number) or one.name == other.name)


def _laws_alone(found: Sequence[Sequence[Opening]], sections: Sequence[Section]) -> list[list[Opening]]:
    """Leave out names of laws that open none: numbering begins anew after one that does.

    The first line of all is left out where a blank line follows: that is the document's title already.
    """
    flat = [(index, opening) for index, openings in enumerate(found) for opening in openings]
    following: list[int] = []
    for _, opening in reversed(flat):
        following.append(opening.number or (following[-1] if following else 0))
    kept: list[list[Opening]] = [[] for _ in found]
    seen = False
    for (index, opening), number in zip(flat, reversed(following), strict=True):
        if opening.kind == "law":
            if number != 1 or not (seen or _is_early(sections[index].text, opening, index)):
                continue
        else:
            seen = True
        kept[index].append(opening)
    return kept


def _is_early(text: str, opening: Opening, index: int) -> bool:
    """Tell a law's name at the document's beginning that the parser did not take for its title."""
    before = [line for line in text[: opening.start].split("\n") if line.strip()]
    if index or len(before) > _FIRST_LINES:
        return False
    after = text[opening.end :].split("\n", 2)
    return bool(before) or bool(len(after) > 1 and after[1].strip())


def _ranks(openings: Sequence[Opening]) -> Mapping[str, float]:
    """Return how deep each kind stands in this document; higher is deeper."""
    ranks = {kind: float(rank) for rank, kind in enumerate(KINDS)}
    movable: list[str] = []
    for opening in openings:
        if opening.kind in _MOVABLE and opening.kind not in movable:
            movable.append(opening.kind)
    ranks |= dict(zip(movable, sorted(ranks[kind] for kind in movable), strict=True))
    ranks |= {f"sub{kind}": ranks[kind] + 0.5 for kind in _MOVABLE}
    counts = [sum(opening.kind == kind for opening in openings) for kind in ("article", "section")]
    first = next((opening.kind for opening in openings if opening.kind in {"article", "section"}), "")
    if first == "article" and counts[1] > counts[0]:
        ranks["article"], ranks["section"] = ranks["section"], ranks["article"]
    return ranks


class _Path:
    """The divisions that are open at one place: those found in the text and the document's own headings."""

    def __init__(self, ranks: Mapping[str, float]) -> None:
        self._ranks = ranks
        self._open: list[tuple[float, str, int]] = []
        self._headings: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The path, outermost first."""
        return tuple(name for _, name, _ in self._open)

    def enter(self, kind: str, name: str, depth: int = -1) -> None:
        """Open a division, closing those that it ends; ``depth`` is that of the document's own heading."""
        self._enter(self._ranks[kind], name, depth)

    def _enter(self, rank: float, name: str, depth: int) -> None:
        for at, (held, known, _) in enumerate(self._open):
            if (held, known) == (rank, name):
                del self._open[at + 1 :]
                return
        ends = self._ranks["annex"] if rank == self._ranks["front"] else rank
        while self._open and self._open[-1][0] >= ends:
            self._open.pop()
        self._open.append((rank, name, depth))

    def head(self, headings: tuple[str, ...]) -> None:
        """Follow the document's own headings; while they stay, what was found in the text stays open."""
        same = 0
        while same < min(len(headings), len(self._headings)) and headings[same] == self._headings[same]:
            same += 1
        if len(self._headings) > same:
            closed = next((at for at, entry in enumerate(self._open) if entry[2] >= same), len(self._open))
            del self._open[closed:]
        for depth in range(same, len(headings)):
            kind = kind_of_heading(headings[depth])
            # What is named like a law within another heading is no law: "Emergency rules" in a chapter.
            if kind and (kind != "law" or not depth):
                self.enter(kind, headings[depth], depth)
            else:
                # A heading of no kind stands within what is open: the caption of an article, the name of a law.
                self._enter(self._open[-1][0] + 0.25 if self._open else 0.25, headings[depth], depth)
        self._headings = headings


def _parts(section: Section, openings: Sequence[Opening], path: _Path) -> list[Part]:
    """Return the parts of one section."""
    if section.kind is not SectionKind.TEXT:
        return [Part(section=replace(section, heading_path=path.names))]
    before = Mark(start=0, end=0, path=path.names)
    marks: list[Mark] = []
    for opening in openings:
        path.enter(opening.kind, opening.name)
        marks.append(Mark(start=opening.start, end=opening.end, path=path.names))
    return marked(section, marks, before, _clauses(section.text))


def _clauses(text: str) -> list[int]:
    """Return where clauses and paragraphs begin."""
    found: list[int] = []
    blank = True
    for start, line in lines_of(text):
        filled = bool(line.strip())
        if filled and (blank or is_clause(line)):
            found.append(start)
        blank = not filled
    return found
