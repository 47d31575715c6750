"""What stands printed in the boxes of a chunk, told by PDFium and not by the code under test."""

import ctypes
import unicodedata
from collections import Counter
from collections.abc import Sequence

import pypdfium2
import pypdfium2.raw as pdfium

from ragcore.types import Box

_STEPS = 10
"""PDFium takes whole numbers on the page as it is shown: tenths of a point, as the boxes have them."""
_SLACK = 0.3


class Printed:
    """An open PDF; close it."""

    def __init__(self, content: bytes) -> None:
        self._document = pypdfium2.PdfDocument(content)

    def __enter__(self) -> "Printed":
        return self

    def __exit__(self, *_: object) -> None:
        self._document.close()

    def size(self, page: int) -> tuple[float, float]:
        """Width and height of a page (from 1) as it is shown."""
        width, height = self._document[page - 1].get_size()
        return float(width), float(height)

    def text(self, box: Box) -> str:
        """Return the text in a box."""
        page = self._document[box.page - 1]
        ends = [self._in_pdf(page, box.left - _SLACK, box.top - _SLACK)]
        ends.append(self._in_pdf(page, box.right + _SLACK, box.bottom + _SLACK))
        (x0, x1), (y0, y1) = (sorted(side) for side in zip(*ends, strict=True))
        return str(page.get_textpage().get_text_bounded(left=x0, bottom=y0, right=x1, top=y1))

    def texts(self, boxes: Sequence[Box]) -> str:
        """Return the text in boxes, one after the other."""
        return "\n".join(self.text(box) for box in boxes)

    @staticmethod
    def _in_pdf(page: pypdfium2.PdfPage, x: float, y: float) -> tuple[float, float]:
        across, up = ctypes.c_double(), ctypes.c_double()
        width, height = (round(side * _STEPS) for side in page.get_size())
        place = (round(x * _STEPS), round(y * _STEPS))
        assert pdfium.FPDF_DeviceToPage(page, 0, 0, width, height, 0, *place, across, up)
        return across.value, up.value


def characters(text: str) -> Counter[str]:
    """Count the letters and digits of a text, ligatures taken apart."""
    return Counter(char for char in unicodedata.normalize("NFKC", text).lower() if char.isalnum())
