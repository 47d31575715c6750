"""EPUB books: the chapters in reading order, under the names that the table of contents gives them."""

import posixpath
from dataclasses import dataclass
from urllib.parse import unquote

from lxml import etree

from ragcore.errors import ParseError
from ragcore.parsing.container import Container, open_zip, resolve
from ragcore.parsing.encoding import decode
from ragcore.parsing.html.cleaning import clean
from ragcore.parsing.html.page import html_tree, write_html
from ragcore.parsing.media import Media
from ragcore.parsing.office.ooxml import child, children, moment, name_of
from ragcore.parsing.options import Job
from ragcore.parsing.outline import Heading, SectionWriter
from ragcore.parsing.titles import one_line
from ragcore.types import Location, ParsedDocument

_PAGES = ("application/xhtml+xml", "text/html")


def parse_epub(job: Job) -> ParsedDocument:
    """Parse an EPUB 2 or 3 book.

    Raises:
        ParseError: A part is damaged or missing, or the book is encrypted.
    """
    book = open_zip(job.content, job.options)
    main = _package_part(book)
    package = book.xml(main)
    if "META-INF/rights.xml" in book.names:
        raise ParseError("it is protected (DRM)", mend="use a copy without protection")
    chapters = _chapters(package, main, book)
    names = _contents(package, main, book)
    writer = SectionWriter()
    for done, part in enumerate(chapters):
        job.step(done, len(chapters))
        _write_chapter(book, part, names.get(part, ""), writer)
    job.step(len(chapters), len(chapters))
    facts = child(package, "metadata")
    title = _fact(facts, "title")
    return ParsedDocument(
        title=title,
        media_type=Media.EPUB,
        sections=writer.sections(title),
        author=_fact(facts, "creator"),
        updated_at=moment(_fact(facts, "date")),
    )


def _package_part(book: Container) -> str:
    roots = book.xml("META-INF/container.xml").iter() if "META-INF/container.xml" in book.names else ()
    for element in roots:
        path = unquote(element.get("full-path", "")) if name_of(element) == "rootfile" else ""
        if path in book.names:
            return path
    found = next((name for name in sorted(book.names) if name.endswith(".opf")), "")
    if not found:
        raise ParseError("its table of parts is missing", mend="export it again")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """An entry of the manifest."""

    part: str
    kind: str
    is_contents: bool


def _items(package: etree._Element, main: str, book: Container) -> dict[str, _Item]:
    """Return the manifest's entries that are there, by id."""
    folder = posixpath.dirname(main)
    manifest = child(package, "manifest")
    items = {
        item.get("id", ""): _Item(
            part=resolve(folder, item.get("href", "")),
            kind=item.get("media-type", ""),
            is_contents="nav" in item.get("properties", "").split(),
        )
        for item in (children(manifest, "item") if manifest is not None else [])
    }
    return {key: item for key, item in items.items() if item.part in book.names}


def _chapters(package: etree._Element, main: str, book: Container) -> list[str]:
    items = _items(package, main, book)
    spine = child(package, "spine")
    order = [items.get(ref.get("idref", "")) for ref in (children(spine, "itemref") if spine is not None else [])]
    return [item.part for item in order if item is not None and item.kind in _PAGES and not item.is_contents]


def _contents(package: etree._Element, main: str, book: Container) -> dict[str, str]:
    """Return the chapters' names by part, from the navigation document or the NCX."""
    names: dict[str, str] = {}
    for item in _items(package, main, book).values():
        part = item.part
        if item.is_contents:
            for link in html_tree(decode(book.read(part)).text).iter("a"):
                _name(names, part, link.get("href", ""), "".join(link.itertext()))
        elif item.kind == "application/x-dtbncx+xml":
            for point in book.xml(part).iter():
                source = child(point, "content") if name_of(point) == "navPoint" else None
                label = child(point, "navLabel", "text") if source is not None else None
                if source is not None and label is not None:
                    _name(names, part, source.get("src", ""), label.text or "")
    return names


def _name(names: dict[str, str], part: str, target: str, label: str) -> None:
    if target and one_line(label):
        names.setdefault(resolve(posixpath.dirname(part), target), one_line(label))


def _write_chapter(book: Container, part: str, name: str, writer: SectionWriter) -> None:
    """Write one chapter; one without a heading of its own goes under its name in the table of contents."""
    tree = html_tree(decode(book.read(part)).text)
    body = clean(tree)
    has_heading = any(any(True for _ in body.iter(f"h{level}")) for level in range(1, 7))
    writer.at(Location())
    if name and not has_heading:
        writer.silent_heading(Heading(level=1, text=name))
    write_html(body, writer)


def _fact(metadata: etree._Element | None, name: str) -> str:
    found = child(metadata, name)
    return one_line("".join(str(text) for text in found.itertext())) if found is not None else ""
