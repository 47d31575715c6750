"""Reading scanned pages by OCR, when the extra ``ocr`` is installed."""

import functools
from typing import Any

from ragcore.parsing.ocr import INSTALL, NAME_MODEL, Ocr, Word, ocr
from ragcore.parsing.pdf.frame import Frame
from ragcore.parsing.pdf.runs import PageRuns, Run

_SCALE = 2.0
"""Pixels a point: 144 dpi, enough for print of 9 points."""
_MAX_PIXELS = 16_000_000


class OcrEngine:
    """Reads the text of a rendered page."""

    def __init__(self, engine: Ocr) -> None:
        self._engine = engine

    def read(self, page: Any) -> PageRuns:
        """Return the lines that OCR finds on a ``pypdfium2.PdfPage``, each as a run, in points."""
        width, height = page.get_size()
        scale = min(_SCALE, (_MAX_PIXELS / max(1.0, width * height)) ** 0.5)
        bitmap = page.render(scale=scale)
        pixels = bitmap.to_numpy()
        words = self._engine.words(pixels)
        bitmap.close()
        runs = [_run(word, scale) for word in words]
        whole = (0.0, 0.0, width, height)
        return PageRuns(width=width, height=height, runs=tuple(runs), frame=Frame(media=whole, shown=whole))


def _run(word: Word, scale: float) -> Run:
    return Run(
        text=word.text,
        left=word.left / scale,
        right=word.right / scale,
        top=word.top / scale,
        bottom=word.bottom / scale,
        size=round((word.bottom - word.top) / scale),
    )


@functools.cache
def ocr_engine() -> OcrEngine | None:
    """Return the engine, or None when the extra is not installed."""
    engine = ocr()
    return None if engine is None else OcrEngine(engine)


def ocr_mend(*, wanted: bool, has_model: bool) -> str:
    """Return what can be done about pages without text, where OCR was ``wanted`` or not, and a model sees pictures."""
    naming = "" if has_model else f", or {NAME_MODEL}"
    if wanted and ocr_engine() is not None:
        return f"OCR found no words on them; scan them sharper{naming}, or leave them"
    return f"install OCR with: {INSTALL}{naming}; then sync again"
