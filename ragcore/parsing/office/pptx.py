"""PowerPoint: one part a slide, its title as heading; tables, charts, diagrams, picture descriptions and notes."""

from collections import Counter
from collections.abc import Iterator, Mapping

from lxml import etree

from ragcore.parsing.container import Container
from ragcore.parsing.grid import Row, table_columns
from ragcore.parsing.media import Media
from ragcore.parsing.office.figures import Figures, Shown, alternative_of, is_ornament, size_of
from ragcore.parsing.office.ooxml import (
    SOFT_HYPHEN,
    attribute,
    chart_table,
    child,
    children,
    name_of,
    number,
    open_package,
    relation_id,
)
from ragcore.parsing.options import Job
from ragcore.parsing.outline import Heading, SectionWriter
from ragcore.parsing.titles import one_line
from ragcore.types import Location, ParsedDocument

_TITLES = frozenset(("title", "ctrTitle"))
_FURNITURE = frozenset(("sldNum", "dt", "ftr", "hdr", "sldImg"))
_BODIES = frozenset(("body", "obj"))
_BULLETS = ("buChar", "buAutoNum", "buBlip")
_NOTES = "Speaker notes:"
"""Said above what was not on the slide: who quotes it should know that the audience did not see it."""
_NO_TITLE = frozenset(("powerpoint presentation", "presentation", "slide 1", "untitled"))


def parse_pptx(job: Job) -> ParsedDocument:
    """Parse a presentation.

    Raises:
        ParseError: A part is damaged.
    """
    package = open_package(job, "ppt/presentation.xml")
    listed = child(package.parts.xml(package.main), "sldIdLst")
    targets = package.parts.relations(package.main)
    slides = [targets.get(relation_id(slide), "") for slide in children(listed, "sldId")] if listed is not None else []
    uses = Counter(target for slide in slides for target in set(package.parts.relations(slide).values()))
    figures = Figures(parts=package.parts, wanted=job.options.images, uses=uses)
    writer = SectionWriter()
    first = ""
    for place, part in enumerate(slides, start=1):
        job.step(place - 1, len(slides))
        if part in package.parts.names:
            heading = _slide(package.parts, part, place, writer, figures)
            first = first or heading
    job.step(len(slides), len(slides))
    named = package.title if package.title.lower() not in _NO_TITLE else ""
    title = named or first
    return ParsedDocument(
        title=title,
        media_type=Media.PPTX,
        sections=writer.sections(title),
        warnings=figures.warnings(),
        has_pictures=figures.found,
        author=package.author,
        updated_at=package.modified,
    )


def _slide(parts: Container, part: str, place: int, writer: SectionWriter, figures: Figures) -> str:
    """Write one slide and return its title."""
    root = parts.xml(part)
    shapes = list(_shapes(child(root, "cSld", "spTree")))
    titles = [shape for shape in shapes if _placeholder(shape) in _TITLES]
    title = one_line(" ".join(" ".join(_paragraphs(shape)) for shape in titles))
    writer.at(Location(slide=place))
    writer.heading(Heading(level=1, text=title))
    for shape in shapes:
        if shape not in titles and _placeholder(shape) not in _FURNITURE:
            _shape(parts, part, shape, writer, figures)
    for notes in parts.related(part, "notesSlide"):
        writer.at(Location(slide=place))
        for shape in _shapes(child(parts.xml(notes), "cSld", "spTree")):
            if _placeholder(shape) not in _FURNITURE and (said := "\n".join(_paragraphs(shape)).strip()):
                writer.text(f"{_NOTES} {said}")
    return title


def _shapes(tree: etree._Element | None) -> Iterator[etree._Element]:
    """Yield the shapes of a tree in its order, those of groups included."""
    stack = list(reversed(tree)) if tree is not None else []
    while stack:
        element = stack.pop()
        name = name_of(element)
        if name in ("sp", "pic", "graphicFrame", "cxnSp"):
            yield element
        elif name in ("grpSp", "AlternateContent", "Choice"):
            stack.extend(reversed(element))


def _placeholder(shape: etree._Element) -> str:
    """Return the placeholder type of a shape; "" for none."""
    for kind in ("nvSpPr", "nvPicPr", "nvGraphicFramePr"):
        found = child(shape, kind, "nvPr", "ph")
        if found is not None:
            return attribute(found, "type") or "body"
    return ""


def _paragraphs(shape: etree._Element) -> list[str]:
    body = child(shape, "txBody")
    lines = [_paragraph(paragraph) for paragraph in children(body, "p")] if body is not None else []
    return [line for line in lines if line.strip()]


def _points(shape: etree._Element) -> list[str]:
    """Return the paragraphs of a slide's shape, its points as items of a list.

    The body of a slide shows its paragraphs with bullets unless they say otherwise; alone, one is no list.
    """
    body = child(shape, "txBody")
    written = [paragraph for paragraph in children(body, "p") if _text(paragraph)] if body is not None else []
    listed = _placeholder(shape) in _BODIES and len(written) > 1
    return [_paragraph(paragraph, listed=listed) for paragraph in written]


def _paragraph(paragraph: etree._Element, *, listed: bool = False) -> str:
    """Return a paragraph's text, with a bullet where it has one; deeper levels of a list are indented."""
    properties = child(paragraph, "pPr")
    depth = min(number(attribute(properties, "lvl")), 8) if properties is not None else 0
    plain = child(properties, "buNone") is not None if properties is not None else False
    bullet = any(child(properties, name) is not None for name in _BULLETS) if properties is not None else False
    text = _text(paragraph)
    if not text or not (depth > 0 or bullet or (listed and not plain)):
        return text
    indent = "  " * depth
    return f"{indent}- " + text.replace("\n", f"\n{indent}  ")


def _text(paragraph: etree._Element) -> str:
    parts: list[str] = []
    for element in paragraph.iter():
        if name_of(element) == "t":
            parts.append((element.text or "").replace(SOFT_HYPHEN, ""))
        elif name_of(element) == "br":
            parts.append("\n")
    return "".join(parts).strip()


def _shape(parts: Container, part: str, shape: etree._Element, writer: SectionWriter, figures: Figures) -> None:
    if name_of(shape) == "pic":
        _picture(shape, parts.relations(part), writer, figures)
    elif name_of(shape) == "graphicFrame":
        _frame(parts, part, shape, writer)
    else:
        writer.text("\n".join(_points(shape)))


def _picture(shape: etree._Element, targets: Mapping[str, str], writer: SectionWriter, figures: Figures) -> None:
    """Write a picture's alternative text, with the picture where it is a figure."""
    described = child(shape, "nvPicPr", "cNvPr")
    blip = child(shape, "blipFill", "blip")
    width, height = size_of(child(shape, "spPr", "xfrm", "ext"))
    shown = Shown(
        part=targets.get(attribute(blip, "embed"), "") if blip is not None else "",
        width=width,
        height=height,
        alternative=alternative_of(described),
        is_ornament=is_ornament(described),
    )
    image = figures.image(shown)
    if image is not None:
        writer.apart(shown.alternative, image=image)
    else:
        writer.text(shown.alternative)


def _frame(parts: Container, part: str, frame: etree._Element, writer: SectionWriter) -> None:
    data = child(frame, "graphic", "graphicData")
    targets = parts.relations(part)
    for element in data if data is not None else ():
        if name_of(element) == "tbl":
            rows = _table_rows(element)
            if rows:
                writer.table(*table_columns(rows))
        elif name_of(element) == "chart" and targets.get(relation_id(element), "") in parts.names:
            title, names, rows_of_values = chart_table(parts.xml(targets[relation_id(element)]))
            writer.text(title)
            if rows_of_values:
                writer.table(names, rows_of_values)
        elif name_of(element) == "relIds" and targets.get(attribute(element, "dm"), "") in parts.names:
            diagram = parts.xml(targets[attribute(element, "dm")])
            lines = [_paragraph(paragraph) for paragraph in diagram.iter() if name_of(paragraph) == "p"]
            writer.text("\n".join(line for line in lines if line))


def _table_rows(table: etree._Element) -> list[Row]:
    rows: list[Row] = []
    for element in children(table, "tr"):
        cells: list[str] = []
        spans: set[int] = set()
        for cell in children(element, "tc"):
            if attribute(cell, "hMerge") in ("1", "true"):
                spans.add(len(cells))
                cells.append(cells[-1] if cells else "")
            elif attribute(cell, "vMerge") in ("1", "true") and rows and len(cells) < len(rows[-1].cells):
                spans.add(len(cells))
                cells.append(rows[-1].cells[len(cells)])
            else:
                cells.append(" ".join(_paragraphs(cell)))
        if any(cell.strip() for cell in cells):
            rows.append(Row(number=len(rows) + 1, cells=tuple(cells), spans=frozenset(spans)))
    return rows
