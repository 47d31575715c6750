"""Pictures: their words by OCR, in reading order, and what a model that reads pictures needs of them.

A picture of several frames (a fax as TIFF) has a page a frame.
"""

import base64
import io
import re
import statistics
from collections.abc import Generator, Iterator, Sequence
from typing import Any

import numpy as np

from ragcore.errors import ParseError
from ragcore.parsing.media import Media
from ragcore.parsing.ocr import INSTALL, NAME_MODEL, Ocr, Word, ocr
from ragcore.parsing.options import Job
from ragcore.parsing.outline import SectionWriter
from ragcore.parsing.pdf.frame import Frame
from ragcore.parsing.pdf.layout import Line, reading_order
from ragcore.parsing.pdf.runs import PageRuns, Run
from ragcore.types import Image, ImageType, Location, ParsedDocument, Section

MOST_PIXELS = 64_000_000
"""A page of A4 at 600 dpi has 35 million; three bytes each."""
MOST_FRAMES = 500
MOST_IMAGE_BYTES = 5_000_000
"""What endpoints with the smallest limits take of one picture; a larger one is given to a model scaled down."""
_IMAGE_SIDE = 2_000
_LINE = 12.0
"""Points that the usual line of a picture counts for: what the reading order measures gaps by."""
_GAP = 0.9
"""Line heights between two lines from which on they are two paragraphs."""
_KINDS: tuple[tuple[bytes, ImageType], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def parse_picture(job: Job) -> ParsedDocument:
    """Read a picture's words; where ``options.images`` says so, the picture itself goes along, for a model.

    Raises:
        ParseError: It stands in another document, is damaged or too large; or it has no words or OCR is not installed,
            and no model is to see it.
    """
    if job.depth:
        # Mails are full of logos; and a small mail is parsed in a thread, where nothing may take as long as OCR does.
        raise ParseError("it is a picture", mend="save it as a file of its own")
    engine = ocr() if job.options.ocr else None
    image = _as_it_is(job.content) if job.options.images else None
    is_shown = job.options.images and image is None
    frames: Iterator[Any] = _frames(job.content) if engine is not None or is_shown else iter(())
    writer, count = SectionWriter(), 0
    for count, frame in enumerate(frames, start=1):
        job.step(count - 1, count)
        if is_shown and image is None:
            image = _small(frame)
        if engine is None:
            break  # a model is shown the first alone
        writer.at(Location(page=count))
        _write(_lines(engine, frame), writer)
    sections = writer.sections()
    if count == 1:
        sections = tuple(_without_page(section) for section in sections)
    if not sections and image is None:
        raise _wordless(has_engine=engine is not None)
    seen = (Section(text="", image=image),) if image is not None else ()
    return ParsedDocument(
        title="",
        media_type=Media.PICTURE,
        sections=(*seen, *sections),
        titled=False,
        has_pictures=True,
        lacks_ocr=job.options.ocr and engine is None,
    )


def _without_page(section: Section) -> Section:
    return Section(text=section.text)


def _wordless(*, has_engine: bool) -> ParseError:
    if not has_engine:
        return ParseError(
            "it is a picture, and OCR is not installed", mend=f"{INSTALL}, or {NAME_MODEL}; then sync again"
        )
    return ParseError("it is a picture in which OCR found no words", mend=f"{NAME_MODEL}, or exclude it")


def for_model(content: bytes, *, least: int) -> Image | None:
    """Return a picture that stands in a document, for a model; None where a side has fewer than ``least`` pixels.

    Raises:
        ParseError: It is damaged or too large.
    """
    frames = _frames(content)
    frame: Any = next(frames)
    frames.close()
    return None if min(frame.size) < least else _as_it_is(content) or _small(frame)


def _frames(content: bytes) -> Generator[Any, None, None]:
    """Yield the frames of a picture as Pillow's images in RGB, the way up that it says."""
    from PIL import Image as Pillow
    from PIL import ImageOps, UnidentifiedImageError

    try:
        picture = Pillow.open(io.BytesIO(content))
        still = picture.format in {"GIF", "WEBP", "PNG"}  # an animation's first frame stands for it
        for number in range(1 if still else min(getattr(picture, "n_frames", 1), MOST_FRAMES)):
            picture.seek(number)
            width, height = picture.size
            if width * height > MOST_PIXELS:
                raise _too_large(width * height)
            turned = ImageOps.exif_transpose(picture)
            if turned.has_transparency_data:
                white = Pillow.new("RGBA", turned.size, "white")
                turned = Pillow.alpha_composite(white, turned.convert("RGBA"))
            yield turned.convert("RGB")
    except ParseError:
        raise
    except (Pillow.DecompressionBombError, Pillow.DecompressionBombWarning) as error:
        raise _too_large(max(map(int, re.findall(r"\d+", str(error))), default=0)) from error
    except MemoryError as error:
        raise ParseError("there is not enough memory to unpack this picture", mend="make it smaller") from error
    except UnidentifiedImageError as error:
        raise ParseError(
            "it begins as a picture does, and is none that can be read: damaged, or of a rare kind",
            mend="export it again, as PNG or JPEG",
        ) from error
    except (OSError, ValueError, SyntaxError, EOFError, TypeError, OverflowError) as error:
        raise ParseError("it is a damaged picture", mend="export it again") from error


def _too_large(pixels: int) -> ParseError:
    return ParseError(
        f"it has {pixels / 1e6:,.0f} million pixels, over the limit of {MOST_PIXELS / 1e6:,.0f}", mend="make it smaller"
    )


def _lines(engine: Ocr, frame: Any) -> list[Line]:
    words = engine.words(np.asarray(frame)[:, :, ::-1])  # it takes blue first
    if not words:
        return []
    scale = _LINE / max(1.0, statistics.median(word.bottom - word.top for word in words))
    runs = tuple(_run(word, scale) for word in words)
    width, height = frame.width * scale, frame.height * scale
    whole = (0.0, 0.0, width, height)
    return reading_order(PageRuns(width=width, height=height, runs=runs, frame=Frame(media=whole, shown=whole)))


def _run(word: Word, scale: float) -> Run:
    return Run(
        text=word.text,
        left=word.left * scale,
        right=word.right * scale,
        top=word.top * scale,
        bottom=word.bottom * scale,
        size=(word.bottom - word.top) * scale,
    )


def _write(lines: Sequence[Line], writer: SectionWriter) -> None:
    block: list[str] = []
    before: Line | None = None
    for line in lines:
        if before is not None and (line.region != before.region or line.top - before.bottom > _GAP * before.size):
            writer.text("\n".join(block))
            block = []
        block.append(line.text)
        before = line
    writer.text("\n".join(block))


def _kind(content: bytes) -> ImageType | None:
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _KINDS if content.startswith(start)), None)


def _as_it_is(content: bytes) -> Image | None:
    """Return a picture for a model as it stands; None where it is too large, or of a kind that models don't take."""
    kind = _kind(content)
    if kind is None or len(content) > MOST_IMAGE_BYTES:
        return None
    return Image(media_type=kind, data=base64.b64encode(content).decode("ascii"))


def _small(frame: Any) -> Image:
    """Return a frame for a model, scaled down, as JPEG."""
    small = frame.copy()
    small.thumbnail((_IMAGE_SIDE, _IMAGE_SIDE))
    out = io.BytesIO()
    small.save(out, "JPEG", quality=85)
    return Image(media_type="image/jpeg", data=base64.b64encode(out.getvalue()).decode("ascii"))
