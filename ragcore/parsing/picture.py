"""Pictures: their words by OCR, in reading order, and what a model that reads pictures needs of them.

A picture of several frames (a fax as TIFF) has a page a frame.
"""

import base64
import io
import statistics
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ragcore.errors import ParseError
from ragcore.parsing.media import Media
from ragcore.parsing.ocr import INSTALL, Ocr, Word, ocr
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
    frames = _frames(job) if engine is not None else iter(())
    writer, image, count = SectionWriter(), None, 0
    for count, frame in enumerate(frames, start=1):
        job.step(count - 1, count)
        if job.options.images and image is None:
            image = _for_model(frame, job.content)
        if engine is not None:
            writer.at(Location(page=count))
            _write(_lines(engine, frame), writer)
    if job.options.images and engine is None:
        image = _as_it_is(job.content)
    sections = writer.sections()
    if count == 1:
        sections = tuple(_without_page(section) for section in sections)
    if not sections and image is None:
        raise _wordless(job, has_engine=engine is not None)
    seen = (Section(text="", image=image),) if image is not None else ()
    return ParsedDocument(title="", media_type=Media.PICTURE, sections=(*seen, *sections), titled=False)


def _without_page(section: Section) -> Section:
    return Section(text=section.text)


def _wordless(job: Job, *, has_engine: bool) -> ParseError:
    seeing = "name a model that reads pictures as vision_model under [llm]"
    if not has_engine:
        return ParseError(
            "it is a picture, and OCR is not installed", mend=f"{INSTALL}, or {seeing}; then sync with --full"
        )
    if job.options.images:
        return ParseError("it is a picture in which OCR found no words, too large for a model", mend="make it smaller")
    return ParseError("it is a picture in which OCR found no words", mend=f"{seeing}, or exclude it")


def _frames(job: Job) -> Iterator[Any]:
    """Yield the frames of a picture as Pillow's images in RGB, the way up that it says."""
    from PIL import Image as Pillow
    from PIL import ImageOps, UnidentifiedImageError

    damaged = ParseError("it is a damaged picture", mend="export it again")
    try:
        picture = Pillow.open(io.BytesIO(job.content))
        still = picture.format in {"GIF", "WEBP", "PNG"}  # an animation's first frame stands for it
        for number in range(1 if still else min(getattr(picture, "n_frames", 1), MOST_FRAMES)):
            picture.seek(number)
            width, height = picture.size
            if width * height > MOST_PIXELS:
                millions = width * height / 1e6
                raise ParseError(
                    f"it has {millions:,.0f} million pixels, over the limit of {MOST_PIXELS / 1e6:,.0f}",
                    mend="make it smaller",
                )
            turned = ImageOps.exif_transpose(picture)
            if turned.has_transparency_data:
                white = Pillow.new("RGBA", turned.size, "white")
                turned = Pillow.alpha_composite(white, turned.convert("RGBA"))
            yield turned.convert("RGB")
    except ParseError:
        raise
    except (UnidentifiedImageError, Pillow.DecompressionBombError, Pillow.DecompressionBombWarning) as error:
        raise damaged from error
    except (OSError, ValueError, SyntaxError, EOFError, TypeError, OverflowError, MemoryError) as error:
        raise damaged from error


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


def _for_model(frame: Any, content: bytes) -> Image | None:
    """Return a picture for a model: as it stands where that will do, else its first frame, scaled down, as JPEG."""
    if (image := _as_it_is(content)) is not None:
        return image
    small = frame.copy()
    small.thumbnail((_IMAGE_SIDE, _IMAGE_SIDE))
    out = io.BytesIO()
    small.save(out, "JPEG", quality=85)
    return Image(media_type="image/jpeg", data=base64.b64encode(out.getvalue()).decode("ascii"))
