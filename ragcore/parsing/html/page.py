"""HTML: the page's own text under its headings, with anchors, lists, tables and code; never its furniture."""

import re
from collections.abc import Iterator

import lxml.html
from lxml import etree
from lxml.html import HtmlElement

from ragcore.errors import ParseError
from ragcore.parsing.encoding import decode
from ragcore.parsing.grid import table_columns
from ragcore.parsing.html.cleaning import clean
from ragcore.parsing.html.tables import broken_text, cell_text, is_data_table, table_rows
from ragcore.parsing.media import Media
from ragcore.parsing.options import Job
from ragcore.parsing.outline import Heading, SectionWriter
from ragcore.parsing.titles import one_line
from ragcore.types import ParsedDocument

_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w:.-]+)", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"^\s*<\?xml[^>]+encoding\s*=\s*[\"']([\w:.-]+)")
_END = re.compile(r"</html\s*>", re.IGNORECASE)
"""Where libxml2 stops reading; a browser goes on (https://html.spec.whatwg.org, "after after body")."""
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_SPACES = re.compile(r"[ \t\r\n\f\v\xa0]+")
_INVISIBLE = re.compile("[\u200b\ufeff\xad\u2060]")
_BREAK = "\u2028"
_BREAKS = re.compile(f" *{_BREAK} *")
_HEADING = re.compile(r"^h([1-6])$")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|highlight)-(\w+)")
_BLOCK_TAGS = """
address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form header hr html
legend li main ol p section summary table caption tbody thead tfoot tr td th ul h1 h2 h3 h4 h5 h6 option
"""
_BLOCKS = frozenset(_BLOCK_TAGS.split())


def parse_html(job: Job) -> ParsedDocument:
    """Parse a web page.

    Raises:
        ParseError: The page cannot be read as HTML, or holds no text.
    """
    if len(job.content) > job.options.max_tree_bytes:
        size, limit = len(job.content) / 1e6, job.options.max_tree_bytes / 1e6
        raise ParseError(f"it is a page of {size:,.0f} MB, over the limit of {limit:,.0f}", mend="split it")
    root = tree_of(job.content, declared=job.declared_encoding)
    head_title = one_line(root.findtext(".//title") or "")
    author = next(iter(root.xpath("//meta[@name='author']/@content")), "")
    body = clean(root)
    first = next((text for text in map(cell_text, body.iter("h1")) if text), "")
    title = first or head_title
    writer = SectionWriter()
    write_html(body, writer)
    sections = writer.sections(title)
    return ParsedDocument(title=title, media_type=Media.HTML, sections=sections, author=one_line(author))


def tree_of(content: bytes, *, declared: str = "") -> HtmlElement:
    """Parse a page's bytes, in the encoding that it names itself or else in the declared one.

    Raises:
        ParseError: As ``html_tree``, or the bytes are no text.
    """
    own = _CHARSET.search(content[:4096]) or _XML_ENCODING.search(content[:200])
    encoding = own.group(1).decode("ascii", "replace") if own else declared
    return html_tree(decode(content, declared=encoding).text)


def html_tree(text: str) -> HtmlElement:
    """Parse HTML without ever fetching anything or expanding entities that the document defines.

    Raises:
        ParseError: libxml2 gives up on it (nested too deep, one text of over 10 MB).
    """
    source = _END.sub("", _XML_DECLARATION.sub("", text)).encode("utf-8", errors="replace")
    for huge in (False, True):  # libxml2 drops what is nested deeper than 256 levels, with huge trees than 2,048
        parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=huge, no_network=True)
        try:
            tree = lxml.html.document_fromstring(source or b"<html></html>", parser=parser)
        except (etree.LxmlError, ValueError, AssertionError) as error:
            raise ParseError(
                f"it cannot be read as HTML ({one_line(str(error))[:80]})", mend="save the page again"
            ) from None
        if not any("Excessive depth" in entry.message for entry in parser.error_log):
            return tree
    raise ParseError("its HTML is nested too deep", mend="save the page again, or print it to a PDF")


def write_html(root: HtmlElement, writer: SectionWriter, *, is_mail: bool = False) -> None:
    """Write the blocks under an element in document order; of a mail what it quotes with the marks of plain ones."""
    walker = _Walker(writer, is_mail=is_mail)
    stack: list[tuple[HtmlElement, bool]] = [(root, False)]
    while stack:
        element, closing = stack.pop()
        if closing:
            walker.leave(element)
        elif walker.enter(element):
            stack.append((element, True))
            stack.extend((child, False) for child in reversed(element))
            continue
        if element is not root:
            walker.words(element.tail)
    walker.flush()


class _Walker:
    """Gathers inline text and gives whole blocks to the writer."""

    def __init__(self, writer: SectionWriter, *, is_mail: bool) -> None:
        self._writer = writer
        self._is_mail = is_mail
        self._marks = ""
        self._inline: list[str] = []
        self._lists: list[int | None] = []
        self._items: list[str] = []
        self._marker = ""
        self._anchor = ""

    def words(self, text: str | None) -> None:
        """Add inline text."""
        if text:
            self._inline.append(text)

    def enter(self, element: HtmlElement) -> bool:
        """Begin an element; return whether its children are to be visited."""
        tag = element.tag if isinstance(element.tag, str) else ""
        if tag == "br":
            self._inline.append(_BREAK)
            return False
        if tag == "pre":
            self._pre(element)
            return False
        if tag == "table" and is_data_table(element):
            self._table(element)
            return False
        if tag in _BLOCKS:
            self.flush()
        if self._is_mail and is_quote(element):
            self._close_list()
            self._marks += "> "
        self._remember_anchor(element, tag)
        if tag in ("ul", "ol"):
            start = element.get("start", "1")
            self._lists.append(
                int(start) if tag == "ol" and start.isascii() and start.isdigit() and len(start) < 9 else None
            )
            if tag == "ol" and self._lists[-1] is None:
                self._lists[-1] = 1
        elif tag == "li":
            self._marker = self._next_marker()
        self.words(element.text)
        return True

    def leave(self, element: HtmlElement) -> None:
        """End an element."""
        level = _level(element)
        if level:
            text = one_line(self._take().replace("\n", " "))
            self._close_list()
            anchor = _own_anchor(element) or self._anchor
            self._anchor = ""
            if text and self._marks:
                self._write(text)
            elif text:
                self._writer.heading(Heading(level=level, text=text, anchor=anchor))
        elif element.tag in ("ul", "ol"):
            self.flush()
            self._lists = self._lists[:-1]
            if not self._lists:
                self._close_list()
        elif element.tag in _BLOCKS:
            self.flush()
            if self._is_mail and is_quote(element):
                self._close_list()
                self._marks = self._marks[2:]

    def flush(self) -> None:
        """End the paragraph or the part of a list item that was being gathered."""
        text = self._take()
        if not text:
            return
        self._anchor = ""
        if not self._lists:
            self._write(text)
            return
        indent = "  " * (len(self._lists) - 1)
        lead = self._marker or "  "
        self._marker = ""
        self._items.append(indent + lead + text.replace("\n", "\n" + indent + " " * len(lead)))

    def _take(self) -> str:
        text = _INVISIBLE.sub("", "".join(self._inline))
        self._inline = []
        return _BREAKS.sub("\n", _SPACES.sub(" ", text)).strip()

    def _close_list(self) -> None:
        if self._items:
            self._write("\n".join(self._items))
        self._items = []

    def _write(self, text: str) -> None:
        self._writer.text(self._marks + text.replace("\n", f"\n{self._marks}"))

    def _next_marker(self) -> str:
        if not self._lists or self._lists[-1] is None:
            return "- "
        number = self._lists[-1]
        self._lists[-1] = number + 1
        return f"{number}. "

    def _pre(self, element: HtmlElement) -> None:
        self.flush()
        self._close_list()
        language = _LANGUAGE.search(" ".join(element.xpath("descendant-or-self::*/@class")))
        self._writer.code(_INVISIBLE.sub("", _lines_of_code(element)), language.group(1) if language else "")

    def _table(self, element: HtmlElement) -> None:
        self.flush()
        self._close_list()
        caption = element.find("caption")
        if caption is not None:
            self._writer.text(cell_text(caption))
        rows = table_rows(element)
        if rows:
            self._writer.table(*table_columns(rows))

    def _remember_anchor(self, element: HtmlElement, tag: str) -> None:
        if tag in ("section", "article", "div", "span", "a") and _level(element) == 0:
            self._anchor = element.get("id") or (element.get("name", "") if tag == "a" else "") or self._anchor


def is_quote(element: HtmlElement) -> bool:
    """Tell whether an element of a mail is what it quotes of another, not what is indented.

    Thunderbird, Apple Mail and Proton write ``type="cite"``, Gmail, Yahoo and Zoho a class that says so.
    """
    if element.tag != "blockquote":
        return False
    return element.get("type", "").lower() == "cite" or "quote" in element.get("class", "").lower()


def _level(element: HtmlElement) -> int:
    """Return the heading level of an element, 0 for others."""
    found = _HEADING.match(element.tag) if isinstance(element.tag, str) else None
    if found:
        return int(found.group(1))
    level = element.get("aria-level", "2")
    return int(level) if element.get("role") == "heading" and level in "123456" and element.tag in _BLOCKS else 0


def _own_anchor(heading: HtmlElement) -> str:
    inner: Iterator[str] = (value for value in heading.xpath(".//@id|.//a/@name") if value)
    return heading.get("id") or next(inner, "")


def _lines_of_code(element: HtmlElement) -> str:
    """Return the text of ``pre`` with its line ends, those written as ``br`` or as one ``div`` a line included."""
    if element.find(".//div") is None and element.find(".//li") is None:
        return broken_text(element, frozenset(("br",)), "\n")
    return broken_text(element, frozenset(("br", "div", "p", "li")), "\n").replace("\n\n", "\n")
