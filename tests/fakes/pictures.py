"""Pictures of passages, made up."""

import io

from PIL import Image

from bots.pictures import Picture


def png(width: int = 60, height: int = 20) -> bytes:
    """Return a PNG of these sides, in pixels."""
    written = io.BytesIO()
    Image.new("1", (width, height), 1).save(written, format="PNG")
    return written.getvalue()


def picture(number: int = 1, *, label: str = "Ferries & <Boats>, page 2", content: bytes | None = None) -> Picture:
    """Return a picture of the citation with this number."""
    return Picture(number=number, label=label, png=png() if content is None else content)
