"""Drawing what lies around boxes of a page, and putting such pictures under each other."""

import io
import math
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import numpy as np
from PIL import Image

from ragcore.errors import NoSuchPage
from ragcore.types import Box

MARGIN = 18.0
"""Points around the passage: a line above and below."""
MOST_SIDE = 4_000
"""Pixels of a side. Telegram's Bot API (sendPhoto) takes 10,000 for both sides together, and 10 MB."""
_SCALE = 2.0
"""Pixels a point: 144 dpi."""
_BETWEEN = 12
"""Pixels between what is cut from two pages."""
_MARKED = (1.0, 0.95, 0.62)
"""What a marked place keeps of red, green and blue: yellow, with black letters left black."""


def drawn(document: Any, boxes: Sequence[Box], most_pixels: int) -> Image.Image:
    """Draw what lies around the boxes of one page of a ``pypdfium2.PdfDocument``, and mark them.

    Raises:
        NoSuchPage: There is no such page, or it ends before them.
    """
    import pypdfium2

    number = boxes[0].page
    if not 1 <= number <= len(document):
        raise NoSuchPage(f"it has no page {number}", mend="sync it again")
    try:
        page = document[number - 1]
    except pypdfium2.PdfiumError:
        raise NoSuchPage(f"its page {number} is damaged", mend="copy it again, then sync it") from None
    with closing(page):
        return region(page, boxes, MARGIN, most_pixels, marked=True)


def region(page: Any, boxes: Sequence[Box], margin: float, most_pixels: int, *, marked: bool = False) -> Image.Image:
    """Draw what lies around boxes of a ``pypdfium2.PdfPage``, with so many points of margin.

    Raises:
        NoSuchPage: The page ends before them.
    """
    width, height = page.get_size()
    left, top, right, bottom = _around(boxes, margin, width, height)
    if left >= right or top >= bottom:
        raise NoSuchPage(f"its page {boxes[0].page} ends before the passage", mend="sync it again")
    scale = _scale(right - left, bottom - top, most_pixels)
    crop = left, height - bottom, width - right, top
    try:
        bitmap = page.render(scale=scale, crop=crop, rev_byteorder=True, draw_annots=True)
    except ValueError:  # what is on the page is less than a pixel
        raise NoSuchPage(f"its page {boxes[0].page} ends at the passage", mend="sync it again") from None
    with closing(bitmap):
        pixels = np.array(bitmap.to_numpy()[:, :, :3])
    for box in boxes if marked else ():
        rows = slice(max(0, int((box.top - top) * scale)), max(0, math.ceil((box.bottom - top) * scale)))
        columns = slice(max(0, int((box.left - left) * scale)), max(0, math.ceil((box.right - left) * scale)))
        place = pixels[rows, columns]
        pixels[rows, columns] = (place * np.array(_MARKED)).astype(np.uint8)
    return Image.fromarray(pixels)


def _around(boxes: Sequence[Box], margin: float, width: float, height: float) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of the boxes with their margin, as far as the page goes."""
    return (
        max(0.0, min(box.left for box in boxes) - margin),
        max(0.0, min(box.top for box in boxes) - margin),
        min(width, max(box.right for box in boxes) + margin),
        min(height, max(box.bottom for box in boxes) + margin),
    )


def _scale(width: float, height: float, most_pixels: int) -> float:
    return min(_SCALE, MOST_SIDE / width, MOST_SIDE / height, math.sqrt(most_pixels / (width * height)))


def jpeg_of(picture: Image.Image) -> bytes:
    """Return a picture as a JPEG: of a scan it is a fraction of a PNG."""
    written = io.BytesIO()
    picture.save(written, format="JPEG", quality=85)
    return written.getvalue()


def png_of(parts: Sequence[Image.Image]) -> bytes:
    """Return pictures under each other as a PNG."""
    whole = parts[0]
    if len(parts) > 1:
        height = sum(part.height for part in parts) + _BETWEEN * (len(parts) - 1)
        whole = Image.new("RGB", (max(part.width for part in parts), height), "lightgrey")
        at = 0
        for part in parts:
            whole.paste(part, (0, at))
            at += part.height + _BETWEEN
    written = io.BytesIO()
    whole.save(written, format="PNG")
    return written.getvalue()
