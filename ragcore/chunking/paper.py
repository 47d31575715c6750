"""Method ``paper``: title and authors, the abstract, sections, references, each under its own heading.

- What stands before the abstract (title, authors, where they work) is kept together, under no heading: what a parser
  took for one there is a line of names. It is one piece, though it hold more than ``chunk_tokens``: up to
  ``MOST_TOKENS``.
- The abstract, its keywords with it, is one piece of up to ``MOST_TOKENS``, too. Where both don't fit, the keywords go
  apart; what is longer by itself is cut within ``chunk_tokens``, front or abstract.
- The parser's headings hold. Where it found none, the usual ones and those numbered in order ("2", "2.1", "II.",
  "一、") open sections, a numbered list doesn't.
- References stand under their own heading alone, whatever section the parser put them in, and are cut between entries.
- A caption of a figure or table is a part of its own under the number, with the picture beside it; a table has its
  caption in its heading path, as its rows are a section of their own.
- Everything else is cut as ``naive`` cuts. No other sections of the document are joined, columns are in the order in
  which the parser read them, and a heading with nothing below it gives no piece where the next one's path holds it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ragcore.chunking.joining import joined
from ragcore.chunking.paper_headings import Heading, Role, bare_of, caption_of, is_picture, is_references, read
from ragcore.chunking.parts import Mark, Part, cut, lines_of, marked, slices
from ragcore.chunking.pieces import ChunkOptions, Piece
from ragcore.parsing.titles import one_line
from ragcore.tokens import Tokenizer
from ragcore.types import Section, SectionKind

MOST_TOKENS = 512
"""Journals allow an abstract of 150 to 350 words, two of three with keywords below; a token and a half a word."""
_FRONT_SECTIONS = 10
"""How many sections may stand before an abstract."""
_CAPTION_CHARACTERS = 200
_ENTRY = re.compile(r"\s{0,8}(?:\[[\w+\-]{1,12}\]|\(?\d{1,3}[.)])\s")
_BACK_MATTER = re.compile(r"(?:appendi|acknowl|supplement|author contrib|funding|附录|致谢)", re.I)


def chunk(
    sections: Sequence[Section], options: ChunkOptions, tokenizer: Tokenizer, following: Section | None
) -> list[Piece]:
    """Return the pieces of a whole document, in order; ``following`` is not looked at."""
    reader = _Reader(_rehead(sections))
    parts = [part for index in range(len(sections)) for part in reader.parts(index)]
    at = next((at for at, part in enumerate(parts) if _is_abstract(part.section.heading_path)), -1)
    if at < 0:
        return cut(parts, options, tokenizer)
    limit = max(MOST_TOKENS, options.chunk_tokens)
    front, own, body = parts[:at], _abstract(parts[at], tokenizer, limit), parts[at + 1 :]
    if any(part.section.heading_path or part.section.kind is not SectionKind.TEXT for part in front):
        return cut([*front, *own, *body], options, tokenizer)
    whole = joined([part.section for part in front], tokenizer, limit)
    before = cut(front, options, tokenizer) if whole is None else [whole]
    return [*before, *cut([*own, *body], options, tokenizer)]


def _abstract(part: Part, tokenizer: Tokenizer, limit: int) -> list[Part]:
    """Return the abstract as a part that stays whole, and its keywords as one of their own where both don't fit."""
    whole, text = replace(part, most=limit), part.section.text
    found = [start for start, _, heading in _headings(text) if heading.role is Role.KEYWORDS and start > part.lead]
    if not found or tokenizer.count(text) <= limit:
        return [whole]
    path = part.section.heading_path
    abstract, keywords = slices(part.section, [(0, path), (found[0], path)])
    units = tuple(unit for unit in part.units if unit < found[0])
    return [replace(whole, section=abstract, units=units, is_bare=False), Part(section=keywords)]


def _rehead(sections: Sequence[Section]) -> list[Section]:
    """Take the headings off what stands before the abstract, and those above the references' own."""
    found: list[Section] = []
    for section in sections:
        path = section.heading_path
        at = next((depth for depth, heading in enumerate(path) if is_references(heading)), 0)
        found.append(replace(section, heading_path=path[at:]))
    for index, section in enumerate(found[:_FRONT_SECTIONS]):
        path = section.heading_path
        if _is_abstract(path):
            return [*(replace(before, heading_path=()) for before in found[:index]), *found[index:]]
        if any(read(heading) is not None for heading in path):
            break
        if _has_abstract(section):
            return [*(replace(before, heading_path=()) for before in found[: index + 1]), *found[index + 1 :]]
    return found


def _is_abstract(path: Sequence[str]) -> bool:
    heading = read(path[-1]) if path else None
    return heading is not None and heading.role is Role.ABSTRACT


def _has_abstract(section: Section) -> bool:
    return section.kind is SectionKind.TEXT and any(
        heading.role is Role.ABSTRACT for _, _, heading in _headings(section.text)
    )


def _headings(text: str) -> Iterator[tuple[int, int, Heading]]:
    """Yield (start, end, heading) of the lines that may be headings: none that goes on a paragraph."""
    free, fenced = True, False
    for start, line in lines_of(text):
        filled = line.strip()
        fenced ^= filled.startswith("```")
        heading = read(line) if filled and not fenced and (free or filled.startswith("#")) else None
        if heading is not None:
            yield start, start if heading.is_run_in else start + len(line), heading
        free = not filled or heading is not None


class _Reader:
    """Walks the sections of one paper, holding the heading that is open."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self._sections = sections
        given = {section.heading_path for section in sections if section.heading_path}
        # A lone heading that is none of a paper's is its title.
        lone = next(iter(given)) if len(given) == 1 else ()
        self._title = lone if lone and read(lone[-1]) is None else ()
        self._given: tuple[str, ...] = ()
        self._own: list[tuple[int, str]] = []
        self._role = Role.SECTION
        self._alone = False
        self._started = False
        self._numbers = _Numbers()

    def parts(self, index: int) -> list[Part]:
        """Return the parts of a section."""
        section = self._sections[index]
        self._follow(section.heading_path)
        if section.kind is not SectionKind.TEXT:
            caption = self._caption_beside(index) if section.kind is SectionKind.TABLE else ""
            path = (*self._path, caption) if caption else self._path
            return [Part(section=replace(section, heading_path=path))]
        before = self._mark(0, 0)
        marks = list(self._marks(section))
        return marked(section, marks, before, _units(section.text))

    @property
    def _path(self) -> tuple[str, ...]:
        own = tuple(name for _, name in self._own)
        return own if self._alone else (*self._given, *own)

    def _mark(self, start: int, end: int, *names: str) -> Mark:
        """Return the mark of a part under what is open; the body's text is cut as ``naive`` cuts."""
        in_body = self._started and self._role is Role.SECTION
        return Mark(start=start, end=end, path=(*self._path, *names), has_units=not in_body)

    def _follow(self, path: tuple[str, ...]) -> None:
        """Take up the parser's headings; while they stay, what was found in the text stays open."""
        if path == self._given:
            return
        self._given, self._own, self._alone = path, [], False
        heading = read(path[-1]) if path else None
        references = bool(path) and is_references(path[0])
        self._role = Role.REFERENCES if references else heading.role if heading is not None else Role.SECTION
        self._started = self._started or bool(path and path != self._title)

    def _marks(self, section: Section) -> Iterator[Mark]:
        """Yield where parts of a section begin."""
        openings = {start: (end, heading) for start, end, heading in _headings(section.text)}
        captions = {} if self._role is Role.REFERENCES else dict(_captions(section.text))
        leaves = -1
        for start in sorted({*openings, *captions, *(end for end, _ in captions.values())}):
            if start in openings and self._opens(openings[start][1], section):
                yield self._mark(start, openings[start][0])
            elif start in captions and self._role is not Role.REFERENCES:
                leaves, label = captions[start]
                yield self._mark(start, start, label)
            elif start == leaves and start < len(section.text):
                yield self._mark(start, start)

    def _opens(self, heading: Heading, section: Section) -> bool:
        """Tell whether a heading opens a part here, and open it."""
        if section.heading_path and heading.name in section.heading_path:
            return False
        if heading.role is Role.KEYWORDS:
            return False
        is_unheaded = section.heading_path in {(), self._title}
        if heading.role is Role.SECTION:
            if self._role is Role.REFERENCES and not (heading.is_usual and _BACK_MATTER.match(heading.name)):
                return False
            # Before the abstract, and without one before the first usual heading, numbers are those of addresses.
            if not is_unheaded or not (self._started or heading.is_usual) or not self._numbers.take(heading):
                return False
        if heading.role is Role.ABSTRACT and (self._role is not Role.SECTION or self._own or not is_unheaded):
            return False
        level = self._numbers.level(heading)
        self._own = [*(entry for entry in self._own if entry[0] < level), (level, heading.name)]
        if heading.role is Role.REFERENCES:
            # They stand under their own heading alone, and so does what comes after them.
            self._own, self._alone = self._own[-1:], True
        self._role, self._started = heading.role, True
        return True

    def _caption_beside(self, index: int) -> str:
        """Return the caption of a table: the paragraph before it, else the one after it."""
        if index and (caption := _table_caption(self._sections[index - 1], -1)):
            return caption
        return _table_caption(self._sections[index + 1], 0) if index + 1 < len(self._sections) else ""


class _Numbers:
    """Whether a numbered heading is the next one, and how deep it stands."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[int, ...]] = {}
        self._refused: dict[str, tuple[int, ...]] = {}
        self._top = ""

    def take(self, heading: Heading) -> bool:
        """Tell whether the heading is the next one in order; one with a usual name needs no order."""
        numbers, scheme = heading.numbers, heading.scheme
        if not numbers:
            return True
        last = self._last.get(scheme, ())
        steps = {(*last, 1), *((*last[:depth], last[depth] + 1) for depth in range(len(last)))}
        # A list within a section may come to the section's next number; the one before it was refused.
        refused = self._refused.get(scheme, ())
        in_list = bool(refused) and numbers == (*refused[:-1], refused[-1] + 1)
        if heading.is_usual or (numbers in steps and not in_list):
            self._last[scheme] = numbers
            self._refused.pop(scheme, None)
            self._top = self._top or scheme
            return True
        self._refused[scheme] = numbers
        return False

    def level(self, heading: Heading) -> int:
        """Return how deep the heading stands, from 0."""
        below = 1 if heading.scheme and heading.scheme != self._top else 0
        return below + max(len(heading.numbers) - 1, 0)


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each paragraph, the blank lines after it included."""
    begin, blank = 0, True
    for start, line in lines_of(text):
        filled = bool(line.strip())
        if filled and blank and text[begin:start].strip():
            yield begin, start
            begin = start
        blank = not filled
    if text[begin:].strip():
        yield begin, len(text)


def _captions(text: str) -> Iterator[tuple[int, tuple[int, str]]]:
    """Yield (start, (end, label)) of each caption, with the picture beside it."""
    spans = list(_paragraphs(text))
    taken = -1
    for at, span in enumerate(spans):
        start, end = span
        label = caption_of(text[start : start + _CAPTION_CHARACTERS])
        if not label:
            continue
        if at and spans[at - 1][0] > taken and is_picture(text[slice(*spans[at - 1])]):
            start = spans[at - 1][0]
        elif at + 1 < len(spans) and is_picture(text[slice(*spans[at + 1])]):
            after = spans[at + 2] if at + 2 < len(spans) else (0, 0)
            if not caption_of(text[after[0] : after[0] + _CAPTION_CHARACTERS]):
                end = spans[at + 1][1]
        taken = start
        yield start, (end, label)


def _table_caption(section: Section, which: int) -> str:
    """Return the first (0) or last (-1) paragraph of a section if it is a table's caption."""
    if section.kind is not SectionKind.TEXT:
        return ""
    spans = list(_paragraphs(section.text))
    paragraph = section.text[slice(*spans[which])] if spans else ""
    label = caption_of(paragraph[:_CAPTION_CHARACTERS])
    return one_line(bare_of(paragraph))[:_CAPTION_CHARACTERS] if label[:1] in {"T", "表"} else ""


def _units(text: str) -> list[int]:
    """Return where paragraphs and entries of a list of references begin."""
    found = [start for start, _ in _paragraphs(text)]
    return sorted({*found, *(start for start, line in lines_of(text) if _ENTRY.match(line))})
