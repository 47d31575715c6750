"""The table of contents of a text, and the headings that it names and no markup shows, found again where they stand."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragcore.chunking.heading_lines import MOST_CHARACTERS, Kind, heading_line, listed
from ragcore.chunking.text_headings import FoundHeading, Line, with_title

_NAME = re.compile(r"\s*(?:table\s+of\s+)?contents|\s*目\s*[录錄次]", re.IGNORECASE)
_MARKED = re.compile(r"\s{0,3}#{1,6}\s+(?P<title>.*)")
_STRONG = re.compile(r"(\*\*|__)(?P<words>.+)\1")
_LINK = re.compile(r"\[(?P<words>[^\]\n]{1,200})\]\([^)\n]{0,500}\)")
_BULLET = re.compile(r"[-*+•]\s+")
_PAGE = re.compile(r"\s+\d{1,4}$")
_SENTENCE = re.compile(r"[.!?;。！？；]$")
_FEWEST = 3
"""Lines with a leader and a page number that are a table of contents without its name above."""
_MOST = 2_000
_INDENTS = 4
_DEPTHS = {Kind.PART: 0, Kind.SECTION: 2, Kind.IDEOGRAPH: 2, Kind.BRACKETED: 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    title: str
    indent: int


def contents_headings(lines: Sequence[Line]) -> list[FoundHeading]:
    """Return the headings that the first table of contents names, where they stand behind it, in order.

    None where there is no such table, or where less than half of what it names is found. Deep is what is numbered so,
    or indented. What is marked as a heading (``## Soil``) is none of them: the document has it already.
    """
    begin, names_it = _beginning(lines)
    if begin < 0:
        return []
    entries, end = _entries(lines, begin, names_it=names_it)
    places = _Places(lines, end)
    indents = sorted({entry.indent for entry in entries if heading_line(entry.title) is None})[:_INDENTS]
    found: list[FoundHeading] = []
    after, marked = end - 1, 0
    for entry in entries:
        place = places.next(entry.title, after)
        if place is None:
            continue
        after, line = place, lines[place]
        if _MARKED.match(line.text):
            marked += 1
        else:
            text = with_title(lines, place, " ".join(line.text.split()))
            depth = _depth(entry, indents)
            found.append(FoundHeading(section=line.section, offset=line.offset, depth=depth, text=text))
    there = len(found) + marked
    return found if there >= 2 and 2 * there >= len(entries) else []


def is_contents(heading: str) -> bool:
    """Tell whether a heading, or a line, is the name that stands above a table of contents."""
    marked = _MARKED.fullmatch(heading)
    words = (marked["title"] if marked else heading).strip()
    strong = _STRONG.fullmatch(words)
    return _NAME.fullmatch((strong["words"] if strong else words).rstrip(" :：#")) is not None


def _beginning(lines: Sequence[Line]) -> tuple[int, bool]:
    """Return where the first entry may stand, and whether the table's name stands above; -1 for no table."""
    run: list[int] = []
    for place, line in enumerate(lines):
        if line.is_blank:
            continue
        if is_contents(line.text):
            return place + 1, True
        run = [*run, place] if listed(line.text) else []
        if len(run) == _FEWEST:
            return run[0], False
    return -1, False


def _entries(lines: Sequence[Line], begin: int, *, names_it: bool) -> tuple[list[_Entry], int]:
    """Return the entries, and the place behind the last one.

    They end where a sentence stands, or a marked heading, where the first of them comes again as a heading, with its
    number or without, or, where they all have a leader, with the last that has one.
    """
    found: list[_Entry] = []
    end = begin
    with_leader = 0
    first_keys = set[str]()
    for place in range(begin, len(lines)):
        line = lines[place].text.rstrip()
        text = _plain(line)
        if not text:
            continue
        led = listed(text)
        is_over = len(text) > 2 * MOST_CHARACTERS or (_SENTENCE.search(text) and not led and not heading_line(text))
        is_over = is_over or _MARKED.match(line) is not None
        again = bool(found) and not first_keys.isdisjoint(map(_key, _readings(lines, place)))
        lacks = not led and (not names_it or (with_leader >= _FEWEST and 2 * with_leader >= len(found)))
        if is_over or again or lacks or len(found) == _MOST:
            break
        with_leader += bool(led)
        title = led or _PAGE.sub("", text.strip())
        found.append(_Entry(title=title, indent=len(line) - len(line.lstrip())))
        first_keys = first_keys or {_key(one) for one in _titles(title)}
        end = place + 1
    return found, end


def _plain(line: str) -> str:
    """Return a line without the markup of an entry: a bullet, a link, strong type."""
    words = _LINK.sub(r"\g<words>", line.strip())
    words = _BULLET.sub("", words, count=1) if _BULLET.match(words) else words
    strong = _STRONG.fullmatch(words)
    return strong["words"] if strong else words


def _titles(title: str) -> list[str]:
    """Return a title as it stands, and without its number where it has one and more."""
    numbered = heading_line(title)
    return [one for one in (title, numbered.title if numbered else "") if _key(one)]


def _depth(entry: _Entry, indents: Sequence[int]) -> int:
    numbered = heading_line(entry.title)
    if numbered is None:
        return 1 + (indents.index(entry.indent) if entry.indent in indents else _INDENTS)
    return len(numbered.number) if numbered.kind is Kind.DECIMAL else _DEPTHS.get(numbered.kind, 1)


class _Places:
    """Where each short line of the text behind the table stands, by what is written on it."""

    def __init__(self, lines: Sequence[Line], begin: int) -> None:
        self._by_key: dict[str, list[int]] = {}
        for place in range(begin, len(lines)):
            for text in _readings(lines, place):
                self._by_key.setdefault(_key(text), []).append(place)

    def next(self, title: str, after: int) -> int | None:
        """Return the first place behind ``after`` that has this title, with its number or without."""
        for text in _titles(title):
            places = self._by_key.get(_key(text), [])
            index = bisect_right(places, after)
            if index < len(places):
                return places[index]
        return None


def _readings(lines: Sequence[Line], place: int) -> Iterator[str]:
    """Yield a line that may be a heading, and what it is together with the title below it."""
    text = lines[place].text.strip()
    if text and len(text) <= MOST_CHARACTERS:
        yield text
        whole = with_title(lines, place, text)
        if whole != text:
            yield whole


def _key(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
