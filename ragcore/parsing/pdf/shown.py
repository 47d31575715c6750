"""Pictures for a model: figures that a caption names, and pages without text; up to a number and a size a document."""

from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from ragcore.errors import NoSuchPage
from ragcore.parsing.pdf.opening import PDFIUM
from ragcore.types import Box

MOST_FIGURES = 300
"""Of a document, pages among them. Each is a question to a model; theses and manuals with more figures are rare."""
MOST_BYTES = 60_000_000
"""Of a document's figures and pages: they stay in the worker's memory, a third larger as Base64, until the last page is
read. A drawing takes about 0.1 MB, a photograph of ``_PIXELS`` up to 3."""
_PIXELS = 1_000_000
"""What a model is shown of a figure: models scale larger ones down."""
_PAGE_PIXELS = 2_000_000
"""Of a page: A4 at 144 dpi, as OCR reads it."""


@dataclass(slots=True, kw_only=True)
class Figures:
    """Draws figures and pages of an open ``pypdfium2.PdfDocument``, where ``wanted``."""

    document: Any
    wanted: bool
    found: bool = field(init=False, default=False)
    """Whether there is something to draw in it, wanted or not."""
    _count: int = field(init=False, default=0)
    _bytes: int = field(init=False, default=0)
    _beyond: int = field(init=False, default=0)

    def png(self, box: Box) -> bytes:
        """Return what stands in a box; b"" where it isn't wanted, is beyond a limit or can't be drawn."""
        self.found = True
        if not self.wanted:
            return b""
        if self._is_full:
            self._beyond += 1
            return b""
        return self._counted(self._drawn(box))

    def page_jpeg(self, number: int) -> bytes:
        """Return a page (from 1) whole; b"" where it isn't wanted, is beyond a limit or can't be drawn."""
        self.found = True
        return self._counted(self._drawn_page(number)) if self.wanted and not self._is_full else b""

    @property
    def _is_full(self) -> bool:
        return self._count >= MOST_FIGURES or self._bytes >= MOST_BYTES

    def _counted(self, drawn: bytes) -> bytes:
        self._count += 1
        self._bytes += len(drawn)
        return drawn

    def warnings(self) -> tuple[str, ...]:
        """Return what is to be told of figures beyond a limit."""
        if not self._beyond:
            return ()
        most = f"{MOST_FIGURES} figures or {MOST_BYTES / 1e6:,.0f} MB of them a document"
        return (f"figures without a picture, over the limit of {most}: {self._beyond}",)

    def _drawn(self, box: Box) -> bytes:
        import pypdfium2

        from ragcore.parsing.pdf.drawing import png_of, region

        try:
            with PDFIUM, closing(self.document[box.page - 1]) as page:
                return png_of([region(page, [box], 0.0, _PIXELS)])
        except (pypdfium2.PdfiumError, NoSuchPage, ValueError, OSError):
            return b""  # its caption is read all the same

    def _drawn_page(self, number: int) -> bytes:
        import pypdfium2

        from ragcore.parsing.pdf.drawing import jpeg_of, region

        try:
            with PDFIUM, closing(self.document[number - 1]) as page:
                width, height = page.get_size()
                whole = Box(page=number, left=0.0, top=0.0, right=width, bottom=height)
                return jpeg_of(region(page, [whole], 0.0, _PAGE_PIXELS))
        except (pypdfium2.PdfiumError, NoSuchPage, ValueError, OSError):
            return b""  # it is told as a page without text
