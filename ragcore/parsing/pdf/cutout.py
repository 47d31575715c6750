"""A passage of a PDF as a picture: cut from its pages around its boxes, which are marked."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from ragcore.parsing.pdf.opening import PDFIUM, open_pdf
from ragcore.types import Box

MOST_PAGES = 3
"""Pages that are shown, from the first on; under each other in one picture."""
MOST_PIXELS = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Cutout:
    """A PNG, and the pages that it shows, from 1."""

    png: bytes
    pages: tuple[int, ...]


def cut_out(content: bytes, boxes: Sequence[Box], *, most_pixels: int = MOST_PIXELS) -> Cutout:
    """Draw the passage that stands in the boxes; blocks for about 50 ms a page.

    Args:
        content: The PDF in which the boxes were found.
        boxes: Where the passage stands; at least one.
        most_pixels: Of the picture.

    Raises:
        ParseError: The PDF is damaged or protected by a password.
        NoSuchPage: It has no such page, or this ends before the box: it is another version.
    """
    from ragcore.parsing.pdf.drawing import drawn, png_of

    by_page = [list(group) for _, group in groupby(sorted(boxes, key=lambda box: box.page), lambda box: box.page)]
    shown = by_page[:MOST_PAGES]
    document = open_pdf(content)
    try:
        with PDFIUM:
            parts = [drawn(document, group, most_pixels // len(shown)) for group in shown]
    finally:
        with PDFIUM:
            document.close()
    return Cutout(png=png_of(parts), pages=tuple(group[0].page for group in shown))
