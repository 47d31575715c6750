"""Headings in text that has no markup for them, found by their numbers and by what stands around them.

A line counts as a heading where it reads like one, stands where one may stand, is no entry of a list or of a table of
contents, and its number follows that of the heading before it. A line in doubt is none: its text then stays under the
heading before.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ragcore.chunking.doubtful_headings import begins_late, confirmed
from ragcore.chunking.heading_lines import DEPTHS, HeadingLine, Kind, heading_line, is_title
from ragcore.chunking.places import Places
from ragcore.types import Section, SectionKind

_MOST_SKIPPED = 2
"""By how much a number may be higher than the one before: a heading between may have gone unseen."""
_MOST_BESIDE_TEXT = 40
"""Characters of a title with text on the very next line."""
_UNDERLINES = frozenset("=-~^*_")
_LIST = 3
"""So many headings beside each other, with no text between, are a list or a table of contents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a document's running text, and where it stands: its section, and the offset in that one's text."""

    section: int
    offset: int
    text: str

    @property
    def is_blank(self) -> bool:
        """Tell whether there is nothing on it."""
        return not self.text.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundHeading:
    """A heading, where its line begins, and how deep it is: a deeper one stands below it."""

    section: int
    offset: int
    depth: int
    text: str


def lines_of(sections: Sequence[Section]) -> list[Line]:
    """Return the lines of all sections of running text, with a blank one behind each section."""
    lines: list[Line] = []
    for number, section in enumerate(sections):
        offset = 0
        for text in section.text.split("\n") if section.kind is SectionKind.TEXT else ():
            lines.append(Line(section=number, offset=offset, text=text))
            offset += len(text) + 1
        lines.append(Line(section=number, offset=len(section.text), text=""))
    return lines


def numbered_headings(lines: Sequence[Line], kinds: Collection[Kind]) -> list[FoundHeading]:
    """Return the headings among the lines that are numbered, or named, in one of these ways."""
    candidates: dict[int, HeadingLine] = {}
    doubtful: dict[int, HeadingLine] = {}
    for place, found, is_sure in _candidates(lines):
        if found.kind in kinds:
            (candidates if is_sure else doubtful)[place] = found
    sure = dict(_without_lists(lines, candidates))
    ordered = sorted({**sure, **confirmed(sure, doubtful)}.items())
    order = _Order()
    headings: list[FoundHeading] = []
    for (place, found), following in zip(ordered, [*(after for _, after in ordered), None][1:], strict=True):
        if order.take(found, following):
            text, line = with_title(lines, place, found.text), lines[place]
            headings.append(FoundHeading(section=line.section, offset=line.offset, depth=found.depth, text=text))
    return headings


def _candidates(lines: Sequence[Line]) -> Iterator[tuple[int, HeadingLine, bool]]:
    """Yield the lines that read like a heading and stand where one may stand, and whether there is no doubt of that."""
    before = ""  # the line above
    for place, line in enumerate(lines):
        found = heading_line(line.text)
        if found is not None and not line.is_blank:
            below = lines[place + 1].text.strip() if place + 1 < len(lines) else ""
            above = before.strip()
            is_alone = not above or heading_line(above) is not None
            # A long line with text right below it is one of a paragraph.
            is_short = len(found.title) <= _MOST_BESIDE_TEXT or not below or heading_line(below) is not None
            may_stand = (is_alone or above[-1] in ".!?:。！？：") and is_short and not below[:1].islower()
            if found.is_stopped or (found.kind is Kind.DECIMAL and len(found.number) == 1):
                # "1. Milk" below a sentence is an entry of a list.
                stands = is_alone and (not below or set(below) <= _UNDERLINES or heading_line(below) is not None)
            else:
                stands = may_stand
            if stands or (may_stand and not found.is_stopped and not found.is_listed):
                yield place, found, stands
        before = line.text


def _without_lists(lines: Sequence[Line], candidates: dict[int, HeadingLine]) -> Iterator[tuple[int, HeadingLine]]:
    """Yield the candidates that are not beside others as the entries of a list or a table of contents are."""
    run: list[int] = []
    for place, line in enumerate(lines):
        if place in candidates:
            if run and _begins_anew(candidates[place], [candidates[one] for one in (run[0], run[-1])]):
                yield from _judged(run, candidates)
                run = []
            run.append(place)
        elif not line.is_blank:
            yield from _judged(run, candidates)
            run = []
    yield from _judged(run, candidates)


def _begins_anew(found: HeadingLine, first_and_last: Sequence[HeadingLine]) -> bool:
    """Tell whether the headings themselves begin here, right behind the table of contents that names them."""
    first, last = first_and_last
    return found.is_listed != last.is_listed or found.text == first.text


def _judged(run: Sequence[int], candidates: dict[int, HeadingLine]) -> Iterator[tuple[int, HeadingLine]]:
    found = [candidates[place] for place in run]
    beside = [after for before, after in pairwise(found) if after.depth <= before.depth]
    is_list = len(run) >= _LIST or any(one.kind is Kind.DECIMAL and len(one.number) == 1 for one in beside)
    if not (beside and is_list):
        yield from ((place, one) for place, one in zip(run, found, strict=True) if not one.is_listed)


def with_title(lines: Sequence[Line], place: int, text: str) -> str:
    """Return a bare ``Chapter 1`` with the title that stands alone on one of the two lines below it.

    Any other text comes back as it is.
    """
    bare = heading_line(text)
    if bare is None or bare.title or bare.kind is Kind.NAMED:
        return text
    for below in (place + 1, place + 2):
        if below + 1 < len(lines) and not lines[below].is_blank:
            title = lines[below].text
            is_one = is_title(title) and lines[below + 1].is_blank and heading_line(title) is None
            return f"{text} {' '.join(title.split())}" if is_one else text
    return text


class _Order:
    """Whether a number follows those before it."""

    def __init__(self) -> None:
        self._last: dict[Kind, tuple[int, ...]] = {}
        self._fresh: set[Kind] = set(Kind)
        self._chapter = 0
        self._is_stopped: dict[int, bool] = {}

    def take(self, found: HeadingLine, following: HeadingLine | None) -> bool:
        """Tell whether it comes next, and go on from it; ``following`` is the one that may come after it.

        Headings of one depth all end in a full stop, or none does: what differs is a step of some instruction.
        """
        kind, number = found.kind, found.number
        if self._is_stopped.get(found.depth, found.is_stopped) != found.is_stopped:
            return False
        last = self._last.get(kind)
        if number and not (last and _follows(last, number)):
            begins = number[0] in {0, 1, self._chapter} and all(part <= _MOST_SKIPPED for part in number[1:])
            if kind is Kind.DECIMAL and last is None and number[0] <= 1 + _MOST_SKIPPED:
                begins = begins or begins_late(found, following)
            if not (kind in self._fresh and begins):
                return False
        self._is_stopped[found.depth] = found.is_stopped
        if number:
            self._last[kind] = number
        if kind is Kind.CHAPTER:
            self._chapter = number[0]
        self._fresh = (self._fresh - {kind}) | {other for other in Kind if DEPTHS[other] > DEPTHS[kind]}
        return True


def _follows(last: tuple[int, ...], number: tuple[int, ...]) -> bool:
    if number <= last:
        return False
    same = next((place for place, (a, b) in enumerate(zip(last, number, strict=False)) if a != b), len(last))
    step = number[same] - (last[same] if same < len(last) else 0)
    return step <= _MOST_SKIPPED and all(part <= _MOST_SKIPPED for part in number[same + 1 :])


def under_headings(sections: Sequence[Section], headings: Sequence[FoundHeading]) -> list[Section]:
    """Return the sections cut at the headings, which are in order, each part with its headings in its path.

    Joined again, the parts of a section are its text. The headings that were found stand below the section's own ones,
    and end where these change. One with nothing but a deeper one below it goes into the same part.
    """
    done: list[Section] = []
    opened: list[FoundHeading] = []
    own: tuple[str, ...] | None = None
    waiting = list(reversed(headings))
    for number, section in enumerate(sections):
        if section.heading_path != own:
            own, opened = section.heading_path, []
        start, places = 0, Places(section)
        while waiting and waiting[-1].section == number:
            heading = waiting.pop()
            before = section.text[start : heading.offset]
            is_bare = bool(opened) and opened[-1].depth < heading.depth and _is_heading(before, opened[-1])
            if not is_bare and before.strip():
                done.append(_part(section, places, (start, heading.offset), opened))
                start = heading.offset
            opened = [*(one for one in opened if one.depth < heading.depth), heading]
        done.append(_part(section, places, (start, len(section.text)), opened))
    return done


def _is_heading(text: str, heading: FoundHeading) -> bool:
    """Tell whether a text holds nothing but this heading."""
    return " ".join(text.split()) == heading.text


def _part(section: Section, places: Places, span: tuple[int, int], opened: Sequence[FoundHeading]) -> Section:
    """Return a part of a section, under the headings that are open there."""
    path = (*section.heading_path, *(heading.text for heading in opened))
    whole = span == (0, len(section.text))
    return replace(section if whole else places.part(*span), heading_path=path)
