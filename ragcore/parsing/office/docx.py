"""Word documents: headings by style, lists with their numbers, tables, footnotes, text boxes; the accepted text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from lxml import etree

from ragcore.parsing.container import Container
from ragcore.parsing.grid import Row, table_columns
from ragcore.parsing.media import Media
from ragcore.parsing.office.docx_figures import captioned, pictures_in, uses_of
from ragcore.parsing.office.docx_styles import Numbering, Styles
from ragcore.parsing.office.figures import Figures, Shown
from ragcore.parsing.office.ooxml import SOFT_HYPHEN, attribute, child, children, name_of, number, open_package
from ragcore.parsing.options import Job
from ragcore.parsing.outline import Heading, SectionWriter
from ragcore.parsing.pdf.figures import is_caption
from ragcore.parsing.titles import one_line
from ragcore.types import ParsedDocument

_SKIPPED = frozenset(
    ("del", "moveFrom", "instrText", "delText", "Fallback", "txbxContent", "pPr", "rPr", "sdtPr", "fldData")
)
"""What is not, or not any more, part of the running text; text boxes are written after their paragraph."""
_HEADING_CHARACTERS = 90
_GUESSED_LEVEL = 5
_INLINE = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    """What walking the body needs."""

    styles: Styles
    numbering: Numbering
    notes: dict[str, str]
    guess_headings: bool
    below_title: int
    figures: Figures
    targets: Mapping[str, str]
    writer: SectionWriter = field(default_factory=SectionWriter)


def parse_docx(job: Job) -> ParsedDocument:
    """Parse a Word document.

    Raises:
        ParseError: A part is damaged.
    """
    package = open_package(job, "word/document.xml")
    root = package.parts.xml(package.main)
    body = child(root, "body")
    targets = package.parts.relations(package.main)
    styles = Styles(_part(package.parts, package.main, "styles"))
    paragraphs = [element for element in root.iter() if name_of(element) == "p"]
    word = _Word(
        styles=styles,
        numbering=Numbering(_part(package.parts, package.main, "numbering")),
        notes=_notes(package.parts, package.main),
        guess_headings=not any(map(styles.level, paragraphs)),
        below_title=int(any(map(styles.is_title, paragraphs))),
        figures=Figures(parts=package.parts, wanted=job.options.images, uses=uses_of(root, targets)),
        targets=targets,
    )
    if body is not None:
        _write_blocks(body, word)
    title = package.title or _first_title(body, word.styles)
    return ParsedDocument(
        title=title,
        media_type=Media.DOCX,
        sections=word.writer.sections(title),
        warnings=word.figures.warnings(),
        has_pictures=word.figures.found,
        author=package.author,
        updated_at=package.modified,
    )


def _part(parts: Container, main: str, kind: str) -> etree._Element | None:
    name = next(iter(parts.related(main, kind)), "")
    return parts.xml(name) if name else None


def _notes(parts: Container, main: str) -> dict[str, str]:
    """Return footnotes and endnotes by kind and id."""
    found: dict[str, str] = {}
    for kind in ("footnote", "endnote"):
        root = _part(parts, main, f"{kind}s")
        for note in children(root, kind) if root is not None else []:
            text = one_line(
                " ".join(paragraph_text(paragraph) for paragraph in note.iter() if name_of(paragraph) == "p")
            )
            if attribute(note, "type") not in ("separator", "continuationSeparator") and text:
                found[kind + attribute(note, "id")] = text
    return found


def _first_title(body: etree._Element | None, styles: Styles) -> str:
    """Return the first paragraph of style Title, else the first outermost heading."""
    first = ""
    for paragraph in body.iter() if body is not None else ():
        if name_of(paragraph) != "p":
            continue
        level = styles.level(paragraph)
        text = one_line(paragraph_text(paragraph)) if level else ""
        if text and styles.is_title(paragraph):
            return text
        first = first or (text if level == 1 else "")
    return first


def _write_blocks(parent: etree._Element, word: _Word) -> None:
    """Write paragraphs and tables in order, and the figures with their captions."""
    blocks = list(_blocks(parent))
    pictures = {at: shown for at, block in enumerate(blocks) if (shown := pictures_in(block, word.targets))}
    told = captioned(blocks, pictures, partial(_is_caption, word)) if pictures else {}
    for at, block in enumerate(blocks):
        if name_of(block) == "tbl":
            _table(block, word)
            _figures(told.get(at, ()), word)
        elif at in told and _is_caption(word, block):
            _figures(told[at], word, caption=paragraph_text(block).strip())
        else:
            _paragraph(block, word)
            _figures(told.get(at, ()), word)


def _is_caption(word: _Word, block: etree._Element) -> bool:
    if name_of(block) != "p":
        return False
    text = paragraph_text(block).strip()
    return bool(text) and (word.styles.is_caption(block) or is_caption(text))


def _figures(pictures: Sequence[Shown], word: _Word, caption: str = "") -> None:
    """Write a caption with the first of its figures, then the others; what is no figure leaves no trace."""
    for shown in pictures:
        image = word.figures.image(shown)
        if image is not None:
            word.writer.apart(caption or shown.alternative, image=image)
            caption = ""
    word.writer.text(caption)


def _blocks(parent: etree._Element) -> Iterator[etree._Element]:
    """Yield paragraphs and tables in order, whatever content controls and custom XML wrap them."""
    stack = list(reversed(parent))
    while stack:
        element = stack.pop()
        name = name_of(element)
        if name in ("p", "tbl"):
            yield element
        elif name not in _SKIPPED and not _is_contents(element):
            stack.extend(reversed(element))


def _is_contents(element: etree._Element) -> bool:
    """Tell a table of contents: headings and page numbers that only lead to where the text is."""
    gallery = child(element, "sdtPr", "docPartObj", "docPartGallery")
    return gallery is not None and attribute(gallery, "val") == "Table of Contents"


def _paragraph(paragraph: etree._Element, word: _Word) -> None:
    text = "" if word.styles.is_contents(paragraph) else paragraph_text(paragraph).strip()
    marker = word.numbering.marker(paragraph, word.styles) if text else ""
    level = word.styles.level(paragraph)
    if level and not word.styles.is_title(paragraph):
        level += word.below_title
    if word.guess_headings:
        level = _guessed_level(paragraph, text, marker)
    line = f"{marker}{text}" if marker else text
    if level and text:
        word.writer.heading(Heading(level=level, text=one_line(line.removeprefix("- "))))
    elif text and marker:
        word.writer.item(line)
    elif text:
        word.writer.text(line)
    for box in _text_boxes(paragraph):
        _write_blocks(box, word)
    _write_notes(paragraph, word)


def _write_notes(element: etree._Element, word: _Word) -> None:
    """Write the footnotes and endnotes to which a paragraph or a table refers."""
    for reference in element.iter():
        if name_of(reference) in ("footnoteReference", "endnoteReference"):
            word.writer.text(
                word.notes.get(name_of(reference).removesuffix("Reference") + attribute(reference, "id"), "")
            )


def _guessed_level(paragraph: etree._Element, text: str, marker: str) -> int:
    """Return the level of a short bold or upper-case line, for documents that have no heading styles at all."""
    if not 2 < len(text) <= _HEADING_CHARACTERS or text[-1] in ".,;:" or "\n" in text or marker == "- ":
        return 0
    letters = [char for char in text if char.isalpha()]
    runs = [run for run in paragraph.iter() if name_of(run) == "r" and any(name_of(part) == "t" for part in run)]
    bold = bool(runs) and all(_is_on(child(run, "rPr", "b")) for run in runs)
    capitals = len(letters) > 3 and all(char.isupper() for char in letters)
    return _GUESSED_LEVEL if letters and (bold or capitals) else 0


def _is_on(toggle: etree._Element | None) -> bool:
    return toggle is not None and attribute(toggle, "val") not in ("0", "false")


def _text_boxes(paragraph: etree._Element) -> Iterator[etree._Element]:
    for box in paragraph.iter():
        if name_of(box) == "txbxContent" and not any(name_of(above) == "Fallback" for above in box.iterancestors()):
            yield box


def paragraph_text(paragraph: etree._Element) -> str:
    """Return a paragraph's text as it reads with all tracked changes accepted."""
    parts: list[str] = []
    stack = list(reversed(paragraph))
    while stack:
        element = stack.pop()
        name = name_of(element)
        if name == "t":
            parts.append((element.text or "").replace(SOFT_HYPHEN, ""))
        elif name in _INLINE:
            parts.append(_INLINE[name])
        elif name == "r" and _is_hidden(element):
            continue
        elif name not in _SKIPPED:
            stack.extend(reversed(element))
    return "".join(parts)


def _is_hidden(run: etree._Element) -> bool:
    return _is_on(child(run, "rPr", "vanish"))


def _table(table: etree._Element, word: _Word) -> None:
    rows = _table_rows(table)
    if not rows:
        return
    if max(len(row.filled) for row in rows) == 1:
        for cell in (cell for row in rows for cell in row.cells if cell.strip()):
            word.writer.text(cell)
    else:
        word.writer.table(*table_columns(rows))
    _write_notes(table, word)


def _table_rows(table: etree._Element) -> list[Row]:
    """Lay a table out as a grid; merged cells are repeated, marked as spans."""
    rows: list[Row] = []
    above: tuple[str, ...] = ()
    for element in _rows_of(table):
        cells: list[str] = []
        spans: set[int] = set()
        for cell in _cells_of(element):
            across = max(1, min(number(_property(cell, "gridSpan"), 1), 100))
            merged = child(cell, "tcPr", "vMerge")
            continues = merged is not None and attribute(merged, "val") != "restart"
            text = above[len(cells)] if continues and len(cells) < len(above) else _cell_text(cell)
            spans.update(range(len(cells) + (0 if continues else 1), len(cells) + across))
            cells += [text] * across
        above = tuple(cells)
        row = Row(number=len(rows) + 1, cells=above, spans=frozenset(spans))
        if any(cell.strip() for cell in cells):
            rows.append(row)
    return rows


def _rows_of(table: etree._Element) -> Iterator[etree._Element]:
    for element in table:
        if name_of(element) == "tr" and child(element, "trPr", "del") is None:
            yield element
        elif name_of(element) in ("sdt", "customXml"):
            yield from (inner for inner in element.iter() if name_of(inner) == "tr")


def _cells_of(row: etree._Element) -> Iterator[etree._Element]:
    for element in row:
        if name_of(element) == "tc":
            yield element
        elif name_of(element) in ("sdt", "customXml"):
            yield from (inner for inner in element.iter() if name_of(inner) == "tc")


def _property(cell: etree._Element, name: str) -> str:
    found = child(cell, "tcPr", name)
    return attribute(found, "val") if found is not None else ""


def _cell_text(cell: etree._Element) -> str:
    """Return a cell's paragraphs on one line; those of a table inside it follow in reading order."""
    return one_line(" ".join(paragraph_text(inner) for inner in cell.iter() if name_of(inner) == "p"))
