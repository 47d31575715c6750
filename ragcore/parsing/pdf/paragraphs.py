"""Lines of a page as headings, paragraphs and rows, with words put together that a line end cut."""

import re
import statistics
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ragcore.parsing.pdf.figures import is_caption
from ragcore.parsing.pdf.layout import Line
from ragcore.parsing.pdf.tables import PageTable, find_tables

_BULLET = re.compile(r"^(?:[•‣◦▪●○■□➢✓✔*·–—-]\s|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]\s|☐|☒|☑)")
_NUMBERED = re.compile(r"^(\d+(?:\.\d+)*)\.?\s+\S")
_SENTENCE_END = re.compile(r"[.!?:;。！？：；][\"'”’)\]]?$")
_WORD = re.compile(r"[^\W\d_]+")
_LAST_WORD = re.compile(r"([^\W\d_][\w-]*)-$")
_NEXT_WORD = re.compile(r"^([a-zà-öø-ÿﬀ-ﬄ][^\W\d_]*)")
_WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")
_HEADING_CHARACTERS = 160
_LEVELS = ((1, 1.9), (2, 1.5), (3, 1.28), (4, 1.14))
"""Heading levels, and from which font size against the body's."""


Placed = tuple[int, int, Line]
"""``text[start:end]`` of a block stands on this line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """A block of text, a heading of that ``level`` when it isn't 0, and where its lines stand in it."""

    text: str
    placed: tuple[Placed, ...]
    level: int = 0


Block = Paragraph | PageTable


def words_of(lines: Sequence[Line]) -> set[str]:
    """Return the words that stand whole on some line, in lower case: what tells ``exam-ine`` from ``open-domain``."""
    found: set[str] = set()
    for line in lines:
        text = line.text
        words = _WORD.findall(text.lower())
        found.update(words[1:-1] if text.endswith("-") else words[1:])
    return found


def blocks_of(lines: Sequence[Line], body: float, words: Collection[str]) -> Iterator[Block]:
    """Yield the blocks of one page, tables of figures among them.

    Args:
        lines: The page's lines in reading order.
        body: The line height of the document's running text, in points.
        words: Words of the document, lower case.
    """
    at = 0
    for table in find_tables(lines):
        yield from _text_blocks(lines[at : table.start], body, words)
        yield table
        at = table.end
    yield from _text_blocks(lines[at:], body, words)


def _text_blocks(lines: Sequence[Line], body: float, words: Collection[str]) -> Iterator[Block]:
    pitch = _pitch(lines)
    group: list[Line] = []
    for before, line in zip([None, *lines], lines, strict=False):
        if before is not None and _starts(before, line, body, pitch):
            yield _block(group, body, words)
            group = []
        group.append(line)
    if group:
        yield _block(group, body, words)


def _pitch(lines: Sequence[Line]) -> float:
    """Return the usual distance between two lines of a paragraph, as a multiple of their height."""
    steps = [
        (after.top - before.top) / max(before.size, 1.0)
        for before, after in pairwise(lines)
        if before.region == after.region and after.top > before.top and abs(before.size - after.size) < 0.5
    ]
    near = [step for step in steps if step < 2.5]
    return statistics.median(near) if near else 1.2


def _starts(before: Line, line: Line, body: float, pitch: float) -> bool:
    """Tell whether a line starts a new block."""
    height = max(before.size, line.size)
    if heading_level(before, body) or heading_level(line, body):
        return not _same_heading(before, line, body)
    if len(before.cells) > 1 or len(line.cells) > 1:
        return line.top - before.top > 2.2 * height or line.region != before.region
    if _BULLET.match(line.text) or is_caption(line.text):
        return True
    if line.region != before.region:
        return bool(_SENTENCE_END.search(before.text)) or abs(before.size - line.size) > 0.1 * height
    if abs(before.size - line.size) > 0.15 * height or line.top - before.top > (pitch + 0.35) * height:
        return True
    short = before.right < before.column_right - 0.12 * (before.column_right - before.column_left)
    indented = line.left > before.left + 0.8 * height and line.left > line.column_left + 0.8 * height
    return (short and bool(_SENTENCE_END.search(before.text))) or (indented and not _BULLET.match(before.text))


def heading_level(line: Line, body: float) -> int:
    """Return the level of the heading that a line is, 0 when it is none: by size first, then by bold type."""
    text = line.text.strip()
    is_other = line.table or len(line.cells) > 2 or is_caption(text)
    if is_other or len(text) > _HEADING_CHARACTERS or not any(char.isalpha() for char in text):
        return 0
    ratio = line.size / max(body, 1.0)
    by_size = next((level for level, least in _LEVELS if ratio >= least), 0)
    if len(line.cells) > 1 and not 0 < by_size < 4:
        return 0
    if by_size and by_size < 4:
        return by_size if len(text) > 1 else 0
    if not _reads_like_heading(text) or not (by_size or (line.bold and ratio > 0.95)):
        return 0
    if by_size:
        return by_size
    numbered = _NUMBERED.match(text)
    return 5 + (numbered.group(1).count(".") if numbered else 0)


def _reads_like_heading(text: str) -> bool:
    """Tell a heading in the body's size from a line of a sentence or of a list."""
    if not 2 < len(text) < 100 or text[-1] in ".,;:" or text[0].islower():
        return False
    return text[0].isalnum() and (not _BULLET.match(text) or bool(_NUMBERED.match(text)))


def _same_heading(before: Line, line: Line, body: float) -> bool:
    level = heading_level(line, body)
    close = line.region == before.region and line.top - before.top < 1.6 * max(before.size, line.size)
    numbered = bool(_NUMBERED.match(line.text)) and level >= 5
    return close and level == heading_level(before, body) and before.bold == line.bold and not numbered


def _block(group: Sequence[Line], body: float, words: Collection[str]) -> Block:
    level = heading_level(group[0], body)
    block = _joined(group, words, bare=bool(level))
    return replace(block, level=level if len(block.text) <= _HEADING_CHARACTERS + 40 else 0)


def _joined(group: Sequence[Line], words: Collection[str], *, bare: bool) -> Paragraph:
    """Put lines together to a paragraph; ``bare`` leaves single spaces in it."""
    texts = [" ".join(line.text.split()) if bare else line.text for line in group]
    parts: list[str] = []
    placed: list[Placed] = []
    start = 0
    for line, after, text, following in zip(group, [*group[1:], None], texts, [*texts[1:], ""], strict=True):
        if after is None:
            kept, between = text, ""
        elif len(line.cells) > 1 or len(after.cells) > 1:
            kept, between = text, " " if bare else "\n"
        else:
            kept, between = _seam(text, following, words)
        parts += [kept, between]
        placed.append((start, start + len(kept), line))
        start += len(kept) + len(between)
    return Paragraph(text="".join(parts), placed=tuple(placed))


def _seam(text: str, following: str, words: Collection[str]) -> tuple[str, str]:
    """Return what stays of a line of a paragraph before the next one, and what stands between them.

    A hyphen at the line's end goes when it only cut a word; it stays when both sides are words of the document by
    themselves (``open-domain``), or the word had a hyphen before.
    """
    last, following_word = _LAST_WORD.search(text), _NEXT_WORD.match(following)
    if last and following_word:
        first, second = last.group(1).lower(), following_word.group(1).lower()
        whole = first + second in words
        compound = "-" in first or (first in words and second in words)
        return (text if compound and not whole else text[:-1]), ""
    if text.endswith("-") and following[:1].isalnum():
        return text, ""
    if text and following and _WIDE.match(text[-1]) and _WIDE.match(following[0]):
        return text, ""
    return text, " "
