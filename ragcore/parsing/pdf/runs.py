"""A PDF page's characters as runs: pieces of one line without a gap, each with its box.

Coordinates are points, from the page's top left corner as it is read; a page whose text is turned is turned back.
"""

import ctypes
import math
import statistics
from collections import Counter
from dataclasses import dataclass
from typing import Any

from ragcore.parsing.pdf.frame import NOWHERE, Frame, Sides, frame_of

_GAP = 1.2
"""A horizontal gap of more than this many line heights ends a run: a gutter or the next cell, not a word space."""
_LINE_END_HYPHENS = "\x02\ufffe\xad"
_QUARTER = math.pi / 2
_LIGATURES = {"ff": "ﬀ", "fi": "ﬁ", "fl": "ﬂ", "ﬀi": "ﬃ", "ﬀl": "ﬄ"}
"""PDFium takes ligatures apart; the text is kept as it is printed, and search folds them (NFKC)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Text on one line without a gap; ``size`` is the line height of its font in points.

    ``table``: it stands for a whole table, and has no text of its own but the runs of each cell, row by row.
    """

    text: str
    left: float
    right: float
    top: float
    bottom: float
    size: float
    bold: bool = False
    table: "tuple[tuple[tuple[Run, ...], ...], ...]" = ()

    @property
    def middle(self) -> float:
        """The vertical centre."""
        return (self.top + self.bottom) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRuns:
    """The runs of a page in the order of its content stream, its size in points, and where all that is shown."""

    width: float
    height: float
    runs: tuple[Run, ...]
    frame: Frame = NOWHERE
    pictures: tuple[Sides, ...] = ()


def page_runs(page: Any, textpage: Any) -> PageRuns:
    """Read a page's runs.

    Args:
        page: A ``pypdfium2.PdfPage``.
        textpage: Its text page.
    """
    import pypdfium2.raw as pdfium

    reader = _Reader(pdfium, textpage)
    frame = frame_of(page, _turned(reader.runs))
    # Text that is turned otherwise than the page's (stamps) is left out.
    runs = [_placed(run, frame) for run, quarter in reader.runs if quarter == frame.text_turn and run.text.strip()]
    left, bottom, right, top = frame.media
    width, height = (right - left, top - bottom) if frame.text_turn % 2 == 0 else (top - bottom, right - left)
    return PageRuns(width=width, height=height, runs=tuple(runs), frame=frame)


def _turned(runs: list[tuple[Run, int]]) -> int:
    """Return how many quarters the text of most characters is turned."""
    counts: Counter[int] = Counter()
    for run, quarter in runs:
        counts[quarter] += len(run.text)
    return counts.most_common(1)[0][0] if counts else 0


def _placed(run: Run, frame: Frame) -> Run:
    """Move a run from PDF space to reading space."""
    left, top, right, bottom = frame.read((run.left, run.bottom, run.right, run.top))
    return Run(text=run.text, left=left, right=right, top=top, bottom=bottom, size=run.size, bold=run.bold)


class _Reader:
    """Walks the characters of a text page once and cuts them into runs (in PDF space, y upwards)."""

    def __init__(self, pdfium: Any, textpage: Any) -> None:
        self._pdfium = pdfium
        self._page = textpage.raw
        self.runs: list[tuple[Run, int]] = []
        self._text: list[str] = []
        self._boxes: list[Sides] = []
        self._last: Sides = (0.0, 0.0, 0.0, 0.0)
        self._first = 0
        self._angle = 0
        self._read()

    def _read(self) -> None:
        pdfium, page = self._pdfium, self._page
        rect = pdfium.FS_RECTF()
        pointer = ctypes.byref(rect)
        unicode_of, box_of = pdfium.FPDFText_GetUnicode, pdfium.FPDFText_GetLooseCharBox
        for index in range(max(0, pdfium.FPDFText_CountChars(page))):
            code = unicode_of(page, index)
            if code in (10, 13):
                self._end()
            elif code in (32, 160, 9):
                if self._text:
                    self._text.append(" ")
            elif code and box_of(page, index, pointer):
                self._add(index, _character(code), (rect.left, rect.bottom, rect.right, rect.top))
        self._end()

    def _add(self, index: int, char: str, box: Sides) -> None:
        if self._text and self._breaks(box):
            self._end()
        if not self._text:
            self._first = index
            self._angle = self._quarter(index)
            self._boxes = []
        elif box == self._last and self._text[-1] + char in _LIGATURES:
            self._text[-1] = _LIGATURES[self._text[-1] + char]
            return
        self._text.append(char)
        self._boxes.append(box)
        self._last = box

    def _breaks(self, box: Sides) -> bool:
        """Tell whether the next character stands on another line or beyond a gap."""
        last = self._last
        along, across = (0, 1) if self._angle % 2 == 0 else (1, 0)
        height = max(last[across + 2] - last[across], 1.0)
        if box[across] != last[across]:
            overlap = min(last[across + 2], box[across + 2]) - max(last[across], box[across])
            if overlap < 0.3 * min(height, max(box[across + 2] - box[across], 0.1)):
                return True
        ahead = self._angle in (0, 1)
        gap = box[along] - last[along + 2] if ahead else last[along] - box[along + 2]
        return gap > _GAP * height or gap < -1.5 * height

    def _quarter(self, index: int) -> int:
        angle = self._pdfium.FPDFText_GetCharAngle(self._page, index)
        return round(angle / _QUARTER) % 4 if angle >= 0 else 0

    def _end(self) -> None:
        if self._text:
            lefts, bottoms, rights, tops = zip(*self._boxes, strict=True)
            left, bottom, right, top = min(lefts), min(bottoms), max(rights), max(tops)
            low, high = (bottoms, tops) if self._angle % 2 == 0 else (lefts, rights)
            size = statistics.median_low([end - start for start, end in zip(low, high, strict=True)])
            text = "".join(self._text).rstrip()
            run = Run(text=text, left=left, right=right, top=top, bottom=bottom, size=size, bold=self._bold())
            self.runs.append((run, self._angle))
        self._text = []

    def _bold(self) -> bool:
        pdfium = self._pdfium
        if pdfium.FPDFText_GetFontWeight(self._page, self._first) >= 600:
            return True
        name = ctypes.create_string_buffer(128)
        flags = ctypes.c_int()
        length = pdfium.FPDFText_GetFontInfo(self._page, self._first, name, 128, ctypes.byref(flags))
        return 0 < length <= 128 and any(
            mark in name.value.lower() for mark in (b"bold", b"black", b"heavy", b"semibd")
        )


def _character(code: int) -> str:
    char = chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else "\ufffd"
    return "-" if char in _LINE_END_HYPHENS else "" if code < 32 else char
