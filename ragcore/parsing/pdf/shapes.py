"""What is drawn on a page beside its letters, as far as it tells how the page is laid out: rules and pictures.

Only what the page draws itself is looked at, not what stands in forms that it places.
"""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ragcore.parsing.pdf.frame import Frame, Sides

_MOST_OBJECTS = 20_000
"""Objects of a page that are looked at: a page of a filing has 2,000, a map has any number."""
_MOST_SEGMENTS = 400
"""Segments of one path: a table drawn at once has a few for each cell, a curve has any number."""
_MOST_OF_PAGE = 6_000
"""Segments of a page, about 20 ms; more are a drawing, whose rules part nothing."""
_THIN = 2.0
"""Points of the thickness of a rule, and by which it may lean."""
_SHORTEST = 8.0
_LEAST_PICTURE = 36.0
"""Points of a picture's shorter side; smaller ones are icons and bullets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shapes:
    """Rules and pictures, as the page's text is read: left, top, right, bottom."""

    across: tuple[Sides, ...] = ()
    down: tuple[Sides, ...] = ()
    pictures: tuple[Sides, ...] = ()


def page_shapes(page: Any, frame: Frame) -> Shapes:
    """Return the rules and pictures of a ``pypdfium2.PdfPage``."""
    import pypdfium2.raw as pdfium

    across: list[Sides] = []
    down: list[Sides] = []
    pictures: list[Sides] = []
    left = _MOST_OF_PAGE
    for index in range(min(pdfium.FPDFPage_CountObjects(page.raw), _MOST_OBJECTS)):
        drawn = pdfium.FPDFPage_GetObject(page.raw, index)
        kind = pdfium.FPDFPageObj_GetType(drawn)
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            sides = frame.read(_bounds(pdfium, drawn))
            if min(sides[2] - sides[0], sides[3] - sides[1]) >= _LEAST_PICTURE:
                pictures.append(sides)
        elif kind == pdfium.FPDF_PAGEOBJ_PATH:
            for line in _lines(pdfium, drawn) if left > 0 else ():
                left -= 1
                sides = frame.read(line)
                width, height = sides[2] - sides[0], sides[3] - sides[1]
                if height <= _THIN and width >= _SHORTEST:
                    across.append(sides)
                elif width <= _THIN and height >= _SHORTEST:
                    down.append(sides)
    if left <= 0:
        return Shapes(pictures=tuple(pictures))
    return Shapes(across=tuple(across), down=tuple(down), pictures=tuple(pictures))


def _bounds(pdfium: Any, drawn: Any) -> Sides:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not pdfium.FPDFPageObj_GetBounds(drawn, left, bottom, right, top):
        return 0.0, 0.0, 0.0, 0.0
    return left.value, bottom.value, right.value, top.value


def _lines(pdfium: Any, path: Any) -> Iterator[Sides]:
    """Yield what of a path may be rules: itself where it is thin, else its strokes, in PDF space."""
    left, bottom, right, top = bounds = _bounds(pdfium, path)
    if min(right - left, top - bottom) <= _THIN:
        yield bounds
        return
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    if not pdfium.FPDFPath_GetDrawMode(path, fill, stroke) or not stroke.value:
        return
    yield from _strokes(pdfium, path)


def _strokes(pdfium: Any, path: Any) -> Iterator[Sides]:
    count = pdfium.FPDFPath_CountSegments(path)
    matrix = pdfium.FS_MATRIX()
    if not 1 < count <= _MOST_SEGMENTS or not pdfium.FPDFPageObj_GetMatrix(path, matrix):
        return
    across, up = ctypes.c_float(), ctypes.c_float()
    first = last = (0.0, 0.0)
    for index in range(count):
        segment = pdfium.FPDFPath_GetPathSegment(path, index)
        pdfium.FPDFPathSegment_GetPoint(segment, across, up)
        place = (
            matrix.a * across.value + matrix.c * up.value + matrix.e,
            matrix.b * across.value + matrix.d * up.value + matrix.f,
        )
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            first = place
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield _between(last, place)
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield _between(place, first)
        last = place


def _between(one: tuple[float, float], other: tuple[float, float]) -> Sides:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1])
