"""Finds what Markdown takes literally: fences, code spans, links and URLs. No marker is looked for inside these."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

MAX_URL = 2000
"""The longest link target that is told from prose, in characters."""
MAX_LINK_TEXT = 500
"""The longest link text, in characters."""

# Every quantifier is bounded or possessive: matching stays linear whatever the text.
URL_CHARACTERS = r"(?:(?!\[\s?[iI][dD])[!#-;=?-_a-~])"
URL_PATTERN = rf"(?:(?:https?|ftp|file)://|www\.){URL_CHARACTERS}{{1,{MAX_URL}}}+"
_TARGET = rf"<[^<>\n]{{0,{MAX_URL}}}+>|[^\s()<>]{{0,{MAX_URL}}}+(?:\([^\s()<>]{{0,500}}+\)[^\s()<>]{{0,500}}+){{0,3}}+"
_TITLE = r"""(?:[ \t]{1,4}(?:"[^"\n]{0,300}+"|'[^'\n]{0,300}+'))?+"""
# A link whose text is a marker is a marker written wrong, and no link.
_MARKER_TEXT = r"(?!\s?[iI][dD][sS]?\s?[:：]?\s?\d)"
TARGET_PATTERN = rf"\((?:{_TARGET}){_TITLE}[ \t]{{0,4}}\)"
_LINK = rf"!?\[{_MARKER_TEXT}[^\[\]\n]{{0,{MAX_LINK_TEXT}}}+\]{TARGET_PATTERN}"

_LINK_OR_URL = re.compile(rf"(?P<link>{_LINK})|(?<![A-Za-z0-9])(?P<url>{URL_PATTERN})")
_FENCE_LINE = re.compile(
    r"^(?P<prefix>[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t][ \t>]*+)*+)(?P<fence>`{3,}+|~{3,}+)(?P<info>[^\n]*+)$",
    re.MULTILINE,
)
# Models open a fence behind a sentence as well; it is one when a line of nothing but backticks closes it.
_LATE_FENCE = re.compile(
    r"^(?P<prefix>[ \t>]*+)[^`\n]*[^`\s][ \t]*+(?P<fence>`{3,}+)[\w+#.-]{0,20}+[ \t]*+$", re.MULTILINE
)
_BACKTICKS = re.compile(r"`++")
# A code span runs over a line end, but not out of its paragraph, list item, row or quote.
_BLOCK_END = re.compile(r"\n(?=[ \t]*+(?:\n|\Z|[-+*|>#]|\d{1,9}[.)][ \t]))")
_TRAILING = ".,;:!?'\")]*_~"


class LiteralKind(StrEnum):
    """What a literal stretch is."""

    FENCE = "fence"
    CODE = "code"
    LINK = "link"
    URL = "url"


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """A stretch of text, ``text[start:end]``, that is taken as written."""

    start: int
    end: int
    kind: LiteralKind


class Literals:
    """The literal stretches of one text, in order and disjoint."""

    __slots__ = ("_starts", "spans")

    def __init__(self, text: str) -> None:
        """Find them, in linear time."""
        self.spans: Sequence[Literal] = _find(text)
        self._starts = [span.start for span in self.spans]

    def covers(self, offset: int) -> bool:
        """Return whether the character at this offset stands inside a literal stretch."""
        index = bisect_right(self._starts, offset) - 1
        return index >= 0 and offset < self.spans[index].end

    def divided_at(self, offset: int) -> bool:
        """Return whether something put in before this character would stand inside a literal stretch."""
        index = bisect_right(self._starts, offset - 1) - 1
        return index >= 0 and offset < self.spans[index].end


def mask(text: str, spans: Sequence[Literal], fill: str) -> str:
    """Return a text of the same length in which each span is overwritten with the character ``fill``."""
    pieces: list[str] = []
    done = 0
    for span in spans:
        pieces += (text[done : span.start], fill * (span.end - span.start))
        done = span.end
    return "".join((*pieces, text[done:]))


def fences_apart(text: str) -> str:
    """Return the text with a line end before each fence that Markdown would not see, or not see the end of.

    That is one that opens behind a sentence, or behind the sign of a list item while its lines are not indented as the
    item. The new line begins as the least indented of those lines, so that all stand in the same quote or list item.
    """
    if "```" not in text and "~~~" not in text:
        return text
    pieces: list[str] = []
    done = 0
    for span in Literals(text).spans:
        if span.kind is LiteralKind.FENCE and (apart := _apart(text, span)) is not None:
            start, margin = apart
            pieces += (text[done:start], "\n", margin)
            done = start
    return "".join((*pieces, text[done:]))


def _apart(text: str, fence: Literal) -> tuple[int, str] | None:
    """Return where a line end is missing before a fence, and how the line after it begins; None where none is."""
    first, *lines = text[fence.start : fence.end].split("\n")
    margins = [line[: len(line) - len(line.lstrip(" \t>"))] for line in lines if line.strip(" \t>")]
    margin = min(margins, key=len, default="")
    if fence.start and text[fence.start - 1] != "\n":
        return fence.start, margin
    opening, closing = _FENCE_LINE.match(first), _FENCE_LINE.match(lines[-1]) if lines else None
    if opening is None or closing is None or not _closes(closing, opening["fence"]):
        return None
    in_item = opening["prefix"].strip(" \t>")
    return (fence.start + opening.start("fence"), margin) if in_item and len(margin) < opening.start("fence") else None


def _find(text: str) -> Sequence[Literal]:
    fences = list(_fences(text))
    # Newlines in the place of a fence keep whatever surrounds it from joining over it.
    outside = mask(text, fences, "\n")
    codes = list(_code_spans(outside))
    links = list(_links(mask(outside, codes, "x")))
    return _outermost(sorted([*fences, *codes, *links], key=lambda span: (span.start, -span.end)))


def _outermost(spans: Sequence[Literal]) -> Sequence[Literal]:
    kept: list[Literal] = []
    for span in spans:
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept


def _fences(text: str) -> Iterator[Literal]:
    opening: re.Match[str] | None = None
    late: re.Match[str] | None = None
    seen = 0
    for line in _fence_lines(text):
        if opening is not None and (end := _end_of_quote(text, opening, seen, line.end())) is not None:
            yield Literal(start=opening.start(), end=end, kind=LiteralKind.FENCE)
            opening = None
        seen = line.end() + 1
        if line.re is _LATE_FENCE:
            late = line if opening is None and late is None else late
        elif opening is not None:
            if _closes(line, opening["fence"]) and _depth(line) == _depth(opening):
                yield Literal(start=opening.start(), end=line.end(), kind=LiteralKind.FENCE)
                opening = None
        elif late is not None and _closes(line, late["fence"]) and _depth(line) <= _depth(late):
            yield Literal(start=late.start("fence"), end=line.end(), kind=LiteralKind.FENCE)
            late = None
        elif line["fence"][0] == "~" or "`" not in line["info"]:
            opening, late = line, None
    if opening is not None:
        end = _end_of_quote(text, opening, seen, len(text))
        yield Literal(start=opening.start(), end=len(text) if end is None else end, kind=LiteralKind.FENCE)


def _fence_lines(text: str) -> list[re.Match[str]]:
    lines = {line.start(): line for line in _LATE_FENCE.finditer(text)}
    # A line that is both, a fence behind the sign of a list item, is a fence that opens in its place.
    lines |= {line.start(): line for line in _FENCE_LINE.finditer(text)}
    return [lines[start] for start in sorted(lines)]


def _depth(line: re.Match[str]) -> int:
    """Return in how many quotes a fence stands."""
    return line["prefix"].count(">")


def _end_of_quote(text: str, opening: re.Match[str], start: int, end: int) -> int | None:
    """Return where the quote ends in which a fence was opened, if between start and end: the fence ends with it."""
    depth = _depth(opening)
    if not depth or start >= end:
        return None
    outside = re.compile(rf"^(?!(?:[ \t]*+>){{{depth}}})", re.MULTILINE).search(text, start, end)
    return outside.start() - 1 if outside else None


def _closes(line: re.Match[str], fence: str) -> bool:
    alone = not line["info"].strip() and not line["prefix"].strip(" \t>")
    return alone and line["fence"][0] == fence[0] and len(line["fence"]) >= len(fence)


def _code_spans(text: str) -> Iterator[Literal]:
    start = 0
    for block_end in (*(found.start() for found in _BLOCK_END.finditer(text)), len(text)):
        runs = [run.span() for run in _BACKTICKS.finditer(text, start, block_end)]
        yield from _paired(runs)
        start = block_end


def _paired(runs: Sequence[tuple[int, int]]) -> Iterator[Literal]:
    """Pair each run of backticks with the next one of the same length, as CommonMark does."""
    following: dict[int, int] = {}
    partner = [-1] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        partner[index] = following.get(length, -1)
        following[length] = index
    index = 0
    while index < len(runs):
        if partner[index] < 0:
            index += 1
            continue
        yield Literal(start=runs[index][0], end=runs[partner[index]][1], kind=LiteralKind.CODE)
        index = partner[index] + 1


def _links(text: str) -> Iterator[Literal]:
    for found in _LINK_OR_URL.finditer(text):
        if found["link"] is not None:
            yield Literal(start=found.start(), end=found.end(), kind=LiteralKind.LINK)
            continue
        url = found["url"].rstrip(_TRAILING)
        yield Literal(start=found.start(), end=found.start() + len(url), kind=LiteralKind.URL)
