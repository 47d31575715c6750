"""From where text stands as it is read to where it stands on the page as it is shown."""

import math
from dataclasses import dataclass
from typing import Any

from ragcore.types import Box

Sides = tuple[float, float, float, float]
"""Left, bottom, right, top in PDF space; left, top, right, bottom in a space that is read."""

_STEP = 10
"""Boxes are kept to a tenth of a point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """How the text of a page is turned, and what of the page is shown, turned how.

    ``media`` is the whole page and ``shown`` the part that viewers show, both in PDF space. ``text_turn`` and
    ``page_turn`` count quarters, that of the text against the clock, that of the page with it.
    """

    media: Sides
    shown: Sides
    text_turn: int = 0
    page_turn: int = 0

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the page as it is shown, in points."""
        left, bottom, right, top = self.shown
        return (right - left, top - bottom) if self.page_turn % 2 == 0 else (top - bottom, right - left)

    def read(self, sides: Sides) -> Sides:
        """Return where something in PDF space stands as the page's text is read."""
        return turned(sides, self.media, self.text_turn)

    def box(self, page: int, sides: Sides) -> Box | None:
        """Return the box of something that stands there as text is read; None when it isn't shown.

        Args:
            page: the page's number, from 1.
            sides: left, top, right, bottom.
        """
        left, top, right, bottom = turned(_turned_back(sides, self.media, self.text_turn), self.shown, self.page_turn)
        if not all(map(math.isfinite, (left, top, right, bottom))):
            return None
        width, height = (math.floor(side * _STEP) / _STEP for side in self.size)
        box = Box(
            page=page,
            left=max(0.0, math.floor(left * _STEP) / _STEP),
            top=max(0.0, math.floor(top * _STEP) / _STEP),
            right=min(width, math.ceil(right * _STEP) / _STEP),
            bottom=min(height, math.ceil(bottom * _STEP) / _STEP),
        )
        return box if box.left < box.right and box.top < box.bottom else None


NOWHERE = Frame(media=(0.0, 0.0, 0.0, 0.0), shown=(0.0, 0.0, 0.0, 0.0))
"""The frame of what is on no page: nothing of it has a box."""


def frame_of(page: Any, text_turn: int) -> Frame:
    """Return the frame of a ``pypdfium2.PdfPage``."""
    media, crop = page.get_mediabox(), page.get_cropbox()
    shown = (max(media[0], crop[0]), max(media[1], crop[1]), min(media[2], crop[2]), min(media[3], crop[3]))
    is_empty = shown[0] >= shown[2] or shown[1] >= shown[3]
    quarters = page.get_rotation() // 90
    return Frame(media=media, shown=media if is_empty else shown, text_turn=text_turn, page_turn=quarters)


def turned(sides: Sides, frame: Sides, quarters: int) -> Sides:
    """Return left, top, right, bottom in a frame that is turned so that what runs ``quarters`` upwards runs right."""
    left, bottom, right, top = frame
    x0, y0, x1, y1 = sides
    match quarters:
        case 0:
            return x0 - left, top - y1, x1 - left, top - y0
        case 1:
            return y0 - bottom, x0 - left, y1 - bottom, x1 - left
        case 2:
            return right - x1, y0 - bottom, right - x0, y1 - bottom
        case _:
            return top - y1, right - x1, top - y0, right - x0


def _turned_back(sides: Sides, frame: Sides, quarters: int) -> Sides:
    """Undo ``turned``."""
    left, bottom, right, top = frame
    x0, y0, x1, y1 = sides
    match quarters:
        case 0:
            return left + x0, top - y1, left + x1, top - y0
        case 1:
            return left + y0, bottom + x0, left + y1, bottom + x1
        case 2:
            return right - x1, bottom + y0, right - x0, bottom + y1
        case _:
            return right - y1, top - x1, right - y0, top - x0
