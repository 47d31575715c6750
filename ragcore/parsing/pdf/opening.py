"""Opening a PDF, and the one lock around all that PDFium does."""

import threading
from typing import Any

from ragcore.errors import ParseError

PDFIUM = threading.Lock()
"""PDFium may be used by one thread at a time; held for a batch of pages, so that documents take turns."""


def open_pdf(content: bytes) -> Any:
    """Return the ``pypdfium2.PdfDocument``; an empty user password opens it, as it does in every viewer.

    Raises:
        ParseError: It is damaged, or protected by a password.
    """
    import pypdfium2

    try:
        with PDFIUM:
            return pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        if "assword" in str(error):
            raise ParseError("it is protected with a password", mend="save it without a password") from None
        raise ParseError("it is damaged or cut off", mend="copy it again, or print it to a new PDF") from None
