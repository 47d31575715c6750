"""PDF: pages in batches, running lines taken out, columns read in order, paragraphs put together again."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import islice
from typing import Any

from ragcore.errors import ParseError
from ragcore.parsing.media import Media
from ragcore.parsing.ocr import has_ocr
from ragcore.parsing.options import Job
from ragcore.parsing.outline import SectionWriter
from ragcore.parsing.pdf.figures import Picture
from ragcore.parsing.pdf.frame import NOWHERE, Frame
from ragcore.parsing.pdf.furniture import Furniture
from ragcore.parsing.pdf.layout import Line, reading_order
from ragcore.parsing.pdf.ocr import ocr_engine, ocr_mend
from ragcore.parsing.pdf.opening import PDFIUM, open_pdf
from ragcore.parsing.pdf.paragraphs import blocks_of, heading_level, words_of
from ragcore.parsing.pdf.ruled import ruled_tables, taken_out
from ragcore.parsing.pdf.runs import PageRuns, page_runs
from ragcore.parsing.pdf.shapes import page_shapes
from ragcore.parsing.pdf.shown import Figures
from ragcore.parsing.pdf.writing import PageWriter
from ragcore.parsing.titles import one_line
from ragcore.types import ParsedDocument

_FEW_CHARACTERS = 12
"""A page with less text than this and an image on it, or many shapes, is taken for a scan."""
_MANY_SHAPES = 50
_NO_TITLE = re.compile(
    r"^(?:untitled|microsoft (?:word|powerpoint|excel)|.*\.(?:docx?|pptx?|xlsx?|indd|qxd|tex|dvi|html?|pdf)$)", re.I
)
_DATE = re.compile(r"^D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+-])(\d\d)'?(\d\d)?|Z)?")
_TITLE_CHARACTERS = 200
_MOST_OF_PAGE = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """One page as lines; ``scanned`` when it has next to no text but an image, ``broken`` when it can't be loaded."""

    number: int
    height: float
    lines: tuple[Line, ...]
    frame: Frame
    pictures: tuple[Picture, ...] = ()
    scanned: bool = False
    broken: bool = False


def parse_pdf(job: Job) -> ParsedDocument:
    """Parse a PDF; an empty user password opens it, as it does in every viewer.

    Raises:
        ParseError: It is damaged, protected by a password, cancelled, or holds only images that OCR does not read, and
            no model is to see.
    """
    document = open_pdf(job.content)
    try:
        return _parse(document, job)
    finally:
        with PDFIUM:
            document.close()


def _parse(document: Any, job: Job, *, running: bool = True) -> ParsedDocument:
    """Parse an open document; without ``running`` no line is taken for one that runs through it, but a bare number."""
    with PDFIUM:
        total = len(document)
        facts = {key: _fact(document, key) for key in ("Title", "Author", "ModDate", "CreationDate")}
    if not total:
        raise ParseError(
            "it is damaged or cut off: no page can be read", mend="copy it again, or print it to a new PDF"
        )
    writer, furniture = SectionWriter(), Furniture(total if running else None)
    figures = Figures(document=document, wanted=job.options.images)
    written = PageWriter(writer, figures)
    sizes: Counter[float] = Counter()
    scanned: list[int] = []
    unread: list[int] = []
    is_left_to_ocr = not job.options.ocr and has_ocr()  # who only foresees what reading takes
    broken: list[int] = []
    big = ""
    for batch in _batches(document, total, job):
        for page in batch:
            furniture.learn(page.lines, page.height)
        kept = {page.number: furniture.without(page.lines, page.height) for page in batch}
        every = [line for lines in kept.values() for line in lines]
        sizes.update(_sizes(every))
        words = words_of(every)
        for page in batch:
            body = _body_of_page(kept[page.number], sizes)
            if page.number == 1:
                big = _biggest(kept[1], body)
            written.write(blocks_of(kept[page.number], body, words), page.number, page.frame, page.pictures)
            if page.scanned:
                scanned.append(page.number)
                if is_left_to_ocr or not written.scan(page.number):
                    unread.append(page.number)
            if (page.pictures or page.scanned) and figures.wanted:
                job.step(batch[-1].number, total)  # drawing may take long
            if page.broken:
                broken.append(page.number)
    written.close()
    mend = ocr_mend(wanted=job.options.ocr, has_model=figures.wanted) if unread else ""
    if len(unread) == total:
        raise ParseError("its pages are images without text", mend=mend)
    title = _title(facts.get("Title", "")) or big
    sections = writer.sections(title)
    if running and not any(section.text for section in sections) and _has_plain_page(document, broken):
        # Tickets, forms, slides of one line: what comes back on each page, its number aside, is all that they say.
        return _parse(document, job, running=False)
    return ParsedDocument(
        title=title,
        media_type=Media.PDF,
        sections=sections,
        warnings=_warnings("pages without text, only images", unread, f"; {mend}")
        + _warnings("pages that are damaged", broken)
        + figures.warnings(),
        author=one_line(facts.get("Author", "")),
        updated_at=_date(facts.get("ModDate", "") or facts.get("CreationDate", "")),
        has_pictures=figures.found,
        lacks_ocr=bool(scanned) and job.options.ocr and ocr_engine() is None,
    )


def _fact(document: Any, key: str) -> str:
    """Return a property, "" when it is absent or not valid UTF-16."""
    try:
        return str(document.get_metadata_value(key))
    except UnicodeDecodeError:
        return ""


def _batches(document: Any, total: int, job: Job) -> Iterator[list[_Page]]:
    """Yield the pages in batches; tells the progress and stops on request after each page, which OCR may take long."""
    job.step(0, total)
    for first in range(0, total, job.options.page_batch):
        batch: list[_Page] = []
        with PDFIUM:
            for index in range(first, min(first + job.options.page_batch, total)):
                batch.append(_page(document, index, job))
                job.step(index + 1, total)
        yield batch


def _page(document: Any, index: int, job: Job) -> _Page:
    """Read one page; one that PDFium cannot load is broken."""
    import pypdfium2

    try:
        page = document[index]
    except pypdfium2.PdfiumError:
        return _Page(number=index + 1, height=1.0, lines=(), frame=NOWHERE, broken=True)
    textpage = None
    try:
        textpage = page.get_textpage()
        runs = _with_tables(page_runs(page, textpage), page)
        lines = tuple(reading_order(runs))
        scanned = sum(len(line.text) for line in lines) < _FEW_CHARACTERS and _has_picture(page)
        if scanned and job.options.ocr:
            engine = ocr_engine()
            read = engine.read(page) if engine is not None else None
            if read is not None and read.runs:
                return _Page(number=index + 1, height=read.height, lines=tuple(reading_order(read)), frame=read.frame)
        return _Page(
            number=index + 1,
            height=max(runs.height, 1.0),
            lines=lines,
            frame=runs.frame,
            pictures=tuple(Picture(sides=sides) for sides in runs.pictures),
            scanned=scanned,
        )
    except pypdfium2.PdfiumError:
        return _Page(number=index + 1, height=1.0, lines=(), frame=NOWHERE, broken=True)
    finally:
        if textpage is not None:
            textpage.close()
        page.close()


def _with_tables(runs: PageRuns, page: Any) -> PageRuns:
    """Return the runs with each table that is drawn with rules in one of them, and the pictures of the page."""
    shapes = page_shapes(page, runs.frame)
    tables = ruled_tables(runs.runs, shapes)
    return replace(runs, runs=tuple(taken_out(runs.runs, tables)), pictures=shapes.pictures)


def _has_plain_page(document: Any, broken: Sequence[int]) -> bool:
    for index in range(len(document)):
        if index + 1 not in broken:
            with PDFIUM, closing(document[index]) as page:
                if not _has_picture(page):
                    return True
    return False


def _has_picture(page: Any) -> bool:
    """Tell whether a page shows an image, or so many drawn shapes that they may be letters."""
    import pypdfium2.raw as pdfium

    if any(True for _ in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=4)):
        return True
    shapes = page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_PATH], max_depth=4)
    return sum(1 for _ in islice(shapes, _MANY_SHAPES)) == _MANY_SHAPES


def _sizes(lines: Sequence[Line]) -> Counter[float]:
    """Count characters by line height, to a quarter of a point; those between rules are no running text."""
    counts: Counter[float] = Counter()
    for line in lines:
        for cell in line.cells:
            counts[round(cell.size * 4) / 4] += len(cell.text)
    return counts


def _body_of_page(lines: Sequence[Line], sizes: Counter[float]) -> float:
    """Return the line height of most running text so far, or of most of this page when that is set larger."""
    body = max(sizes, key=lambda size: (sizes[size], size), default=12.0)
    own = _sizes(lines)
    largest = max(own, key=lambda size: (own[size], size), default=0.0)
    return max(body, largest) if own[largest] > _MOST_OF_PAGE * own.total() else body


def _biggest(lines: Sequence[Line], body: float) -> str:
    """Return the biggest heading of the first page: what a reader takes for the title."""
    levels = [(heading_level(line, body), line.size) for line in lines]
    sizes = [size for level, size in levels if 0 < level <= 4]
    if not sizes:
        return ""
    first = next(at for at, (level, size) in enumerate(levels) if 0 < level <= 4 and size > 0.97 * max(sizes))
    words = [lines[first].text]
    for before, line in zip(lines[first:], lines[first + 1 :], strict=False):
        if abs(line.size - lines[first].size) > 0.03 * line.size or line.top - before.top > 1.8 * line.size:
            break
        words.append(line.text)
    title = one_line(" ".join(words))
    return title if len(title) <= _TITLE_CHARACTERS else ""


def _title(value: str) -> str:
    """Return the title property when somebody wrote it, not a program."""
    title = one_line(value.replace("\x00", ""))
    wordy = sum(char.isalpha() for char in title) > len(title) / 2 and len(title) > 3
    return title if wordy and not _NO_TITLE.match(title) and len(title) <= _TITLE_CHARACTERS else ""


def _warnings(what: str, pages: Sequence[int], mend: str = "") -> tuple[str, ...]:
    shown = ", ".join(map(str, pages[:10])) + (" ..." if len(pages) > 10 else "")
    return (f"{what}: {shown}{mend}",) if pages else ()


def _date(value: str) -> datetime | None:
    """Read a PDF date such as ``D:20230831120000-04'00'``."""
    found = _DATE.match(value)
    if found is None:
        return None
    year, month, day, hour, minute, second, sign, ahead, ahead_minutes = found.groups()
    offset = timedelta(hours=int(ahead or 0), minutes=int(ahead_minutes or 0)) * (-1 if sign == "-" else 1)
    try:
        zone = timezone(offset) if sign else UTC
        return datetime(
            int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=zone
        )
    except ValueError:
        return None
