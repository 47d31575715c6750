"""Reading the words of pictures with RapidOCR, when the extra ``ocr`` is installed; its models come in its wheel."""

import functools
import importlib.util
import os
from dataclasses import dataclass
from typing import Any

INSTALL = 'pip install "citebot[ocr]"'
NAME_MODEL = "name a model that reads pictures as vision_model under [llm]"
_CONFIDENCE = 0.5
"""RapidOCR's own least score of a line that it gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """What stands on one line without a gap, and its box in pixels from the upper left corner."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


class Ocr:
    """Finds words in pixels. Not safe for several threads at once; the parse worker has one."""

    def __init__(self, engine: Any) -> None:
        """Use a loaded ``rapidocr.RapidOCR``."""
        self._engine = engine

    def words(self, pixels: Any) -> list[Word]:
        """Return the words in an array of height, width and three colours, in no certain order. Blocks for a second."""
        found = self._engine(pixels)
        if found.txts is None:
            return []
        told = zip(found.txts, found.scores, found.boxes, strict=True)
        return [_word(text, box) for text, score, box in told if float(score) >= _CONFIDENCE and text.strip()]


def _word(text: str, box: Any) -> Word:
    across, down = [float(point[0]) for point in box], [float(point[1]) for point in box]
    return Word(text=text, left=min(across), top=min(down), right=max(across), bottom=max(down))


def has_ocr() -> bool:
    """Tell whether the extra is installed."""
    return importlib.util.find_spec("rapidocr") is not None


@functools.cache
def ocr() -> Ocr | None:
    """Return the engine, loaded once in two seconds; None when the extra is not installed."""
    if not has_ocr():
        return None
    from rapidocr import RapidOCR

    threads = max(1, (os.cpu_count() or 2) // 2)  # the other half is for whoever waits for an answer
    return Ocr(
        RapidOCR(
            params={"Global.log_level": "critical", "EngineConfig.onnxruntime.intra_op_num_threads": threads},
        )
    )
