"""Pictures in Office files that are figures, for a model to describe; icons, logos and drawings are passed by."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lxml import etree

from ragcore.errors import ParseError
from ragcore.parsing.container import Container
from ragcore.parsing.media import PICTURE_ENDINGS
from ragcore.parsing.office.ooxml import attribute, child, name_of, number
from ragcore.parsing.pdf.shown import MOST_BYTES, MOST_FIGURES
from ragcore.parsing.picture import for_model
from ragcore.types import Image

LEAST_SIDE = 900_000
"""In the unit of Office files, 360,000 to the centimetre: what is shown narrower or lower than 2.5 cm is an icon."""
LEAST_PIXELS = 100
"""Of a side, and of one whose shown size isn't known."""
REPEATED = 3
"""Places where the same picture stands from which on it is a logo or an ornament."""
UNKNOWN = -1
_MADE_UP = "description automatically generated"
"""Ends the alternative text that Office writes by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A picture as a document shows it: the part it is kept in, its size (``UNKNOWN``: not told), and what is said."""

    part: str
    width: int = UNKNOWN
    height: int = UNKNOWN
    alternative: str = ""
    is_ornament: bool = False


@dataclass(slots=True, kw_only=True)
class Figures:
    """Hands out the figures of an Office file, up to the limits that figures of a PDF have.

    ``uses`` counts by part in how many places it is shown.
    """

    parts: Container
    wanted: bool
    uses: Mapping[str, int]
    found: bool = field(init=False, default=False)
    """Whether there is a figure in it, wanted or not."""
    _count: int = field(init=False, default=0)
    _bytes: int = field(init=False, default=0)
    _beyond: int = field(init=False, default=0)

    def image(self, shown: Shown) -> Image | None:
        """Return a picture; None where it is no figure, isn't wanted, is beyond a limit or can't be read."""
        if not self._is_figure(shown):
            return None
        self.found = True
        if not self.wanted:
            return None
        if self._count >= MOST_FIGURES or self._bytes >= MOST_BYTES:
            self._beyond += 1
            return None
        try:
            image = for_model(self.parts.read(shown.part), least=LEAST_PIXELS)
        except ParseError:
            return None  # the text is read all the same
        if image is not None:
            self._count += 1
            self._bytes += len(image.data) * 3 // 4
        return image

    def warnings(self) -> tuple[str, ...]:
        """Return what is to be told of figures beyond a limit."""
        if not self._beyond:
            return ()
        most = f"{MOST_FIGURES} figures or {MOST_BYTES / 1e6:,.0f} MB of them a document"
        return (f"figures without a picture, over the limit of {most}: {self._beyond}",)

    def _is_figure(self, shown: Shown) -> bool:
        is_read = shown.part in self.parts.names and shown.part.rpartition(".")[2].lower() in PICTURE_ENDINGS
        sides = [side for side in (shown.width, shown.height) if side != UNKNOWN]
        is_small = bool(sides) and min(sides) < LEAST_SIDE
        return is_read and not is_small and not shown.is_ornament and self.uses.get(shown.part, 0) < REPEATED


def size_of(extent: etree._Element | None) -> tuple[int, int]:
    """Return the width and height that an extent tells; ``UNKNOWN`` for both without one."""
    if extent is None:
        return UNKNOWN, UNKNOWN
    return number(attribute(extent, "cx"), UNKNOWN), number(attribute(extent, "cy"), UNKNOWN)


def alternative_of(described: etree._Element | None) -> str:
    """Return the alternative text of a picture that somebody wrote, "" where there is none."""
    text = attribute(described, "descr").strip() if described is not None else ""
    return "" if text.lower().rstrip(" .").endswith(_MADE_UP) else text


def is_ornament(described: etree._Element | None) -> bool:
    """Tell whether a picture is marked as one that says nothing."""
    extensions = child(described, "extLst")
    marks = extensions.iter() if extensions is not None else iter(())
    return any(name_of(mark) == "decorative" and attribute(mark, "val") in ("1", "true") for mark in marks)
