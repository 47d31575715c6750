"""Reading scanned pages with RapidOCR, when the extra ``ocr`` is installed; its models come in its wheel."""

import functools
import importlib.util
from typing import Any

from ragcore.parsing.pdf.frame import Frame
from ragcore.parsing.pdf.runs import PageRuns, Run

_INSTALL = 'install OCR with: pip install "citebot[ocr]", then sync with --full'
_SCAN_AGAIN = "OCR found no words on them; scan them sharper, or leave them"

_SCALE = 2.0
"""Pixels a point: 144 dpi, enough for print of 9 points."""
_MAX_PIXELS = 16_000_000
_CONFIDENCE = 0.5


class OcrEngine:
    """Reads the text of a rendered page."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def read(self, page: Any) -> PageRuns:
        """Return the lines that OCR finds on a ``pypdfium2.PdfPage``, each as a run, in points."""
        width, height = page.get_size()
        scale = min(_SCALE, (_MAX_PIXELS / max(1.0, width * height)) ** 0.5)
        bitmap = page.render(scale=scale)
        pixels = bitmap.to_numpy()
        found, _ = self._engine(pixels)
        bitmap.close()
        runs = [_run(box, str(text), scale) for box, text, score in found or [] if float(score) >= _CONFIDENCE]
        whole = (0.0, 0.0, width, height)
        return PageRuns(width=width, height=height, runs=tuple(runs), frame=Frame(media=whole, shown=whole))


def _run(box: Any, text: str, scale: float) -> Run:
    across = [float(point[0]) / scale for point in box]
    down = [float(point[1]) / scale for point in box]
    return Run(
        text=text,
        left=min(across),
        right=max(across),
        top=min(down),
        bottom=max(down),
        size=round(max(down) - min(down)),
    )


@functools.cache
def ocr_engine() -> OcrEngine | None:
    """Return the engine, or None when the extra is not installed."""
    if importlib.util.find_spec("rapidocr_onnxruntime") is None:
        return None
    from rapidocr_onnxruntime import RapidOCR

    return OcrEngine(RapidOCR())


def ocr_mend(*, wanted: bool) -> str:
    """Return what can be done about pages without text, where OCR was ``wanted`` or not."""
    return _SCAN_AGAIN if wanted and ocr_engine() is not None else _INSTALL
