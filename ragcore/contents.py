"""The table of contents of a document: which sections it has, how deep, and with which chunk each begins. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

FEWEST = 2
"""Sections of a table of contents: one alone is the whole document."""
LONGEST_SECTION = 20
"""Chunks a heading at most, on average, so that the headings of a document tell its parts apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A section: the chunk with which it begins, how deep it stands (1 is the outermost), what it is called."""

    ordinal: int
    level: int
    title: str


def of_headings(paths: Iterable[tuple[int, Sequence[str]]]) -> Iterator[Entry]:
    """Yield the sections that headings make: for each chunk in order its ordinal and its path of headings."""
    before: Sequence[str] = ()
    for ordinal, path in paths:
        depth = 0
        while depth < min(len(before), len(path)) and before[depth] == path[depth]:
            depth += 1
        for level in range(depth, len(path)):
            if title := path[level].strip():
                yield Entry(ordinal=ordinal, level=level + 1, title=title)
        before = path


def tells_apart(entries: int, chunks: int) -> bool:
    """Return whether so many sections are a table of contents of so many chunks."""
    return entries >= FEWEST and chunks <= LONGEST_SECTION * entries


def section(entries: Sequence[Entry], at: int, chunks: int) -> range:
    """Return the ordinals of the chunks of a section with those below it, of a document of so many chunks."""
    entry = entries[at]
    ends = (other.ordinal for other in entries[at + 1 :] if other.level <= entry.level)
    return range(entry.ordinal, max(entry.ordinal + 1, next(ends, chunks)))
