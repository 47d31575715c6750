"""Captions of figures, and the pictures that they belong to."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.parsing.pdf.frame import Sides

_CAPTION = re.compile(
    r"(?:figure|fig\.?|abbildung|abb\.|рис(?:унок|\.))\s{0,2}[a-z]?\d{1,3}(?:[.\-]\d{1,3}){0,2}[a-z]?\s?[.:|–—]\s*\S"
    r"|[图圖]\s{0,2}\d{1,3}(?:[.\-]\d{1,3}){0,2}(?:\s?[.:：]\s*|\s+)(?![所中显顯示可和与與])\S",
    re.IGNORECASE,
)
_CAPTION_CHARACTERS = 800
_NEAR = 60.0
"""Points between a picture and its caption."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture on a page: where it stands as text is read (left, top, right, bottom)."""

    sides: Sides


def is_caption(text: str) -> bool:
    """Tell the caption of a figure (``Figure 3: ...``, ``图 3 ...``) from a sentence that names one."""
    return len(text) <= _CAPTION_CHARACTERS and bool(_CAPTION.match(text))


def picture_of(caption: Sides, pictures: Sequence[Picture]) -> Picture | None:
    """Return the picture that is nearest above or below a caption and shares some of its width; None without one."""
    gaps = {
        at: max(caption[1] - picture.sides[3], picture.sides[1] - caption[3])
        for at, picture in enumerate(pictures)
        if min(caption[2], picture.sides[2]) > max(caption[0], picture.sides[0])
    }
    nearest = min(gaps, key=lambda at: gaps[at], default=None)
    return None if nearest is None or gaps[nearest] > _NEAR else pictures[nearest]
