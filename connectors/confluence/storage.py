"""Confluence's storage format as Markdown, with the lines at which headings and anchors stand. Pure.

https://confluence.atlassian.com/doc/confluence-storage-format-790796544.html. A macro that isn't known keeps its body;
one that shows another page leads to it, for that may be for fewer readers.
"""

import copy
import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from lxml import etree

from connectors.atlassian.markup import DEEPEST, fenced, one_line, paragraph, plain
from connectors.confluence.inline import (
    AC,
    Element,
    Place,
    inline,
    parameter,
    tag_of,
)
from connectors.confluence.tables import table

_ENTITY = re.compile(r"<!\[CDATA\[.*?(?:\]\]>|\Z)|&([A-Za-z][A-Za-z0-9]*);", re.DOTALL)
_XML = frozenset({"amp", "lt", "gt", "quot", "apos"})
_CONTROL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ACCOUNT = re.compile(r'ri:(?:account-id|userkey|username)="([^"]+)"')
_HEADING = re.compile(r"h[1-6]")
_THROUGH = frozenset({"div", "section", "article", "center", "tbody", "root", "details", "figure"})
_LABELS = {
    "info": "Info",
    "note": "Note",
    "warning": "Warning",
    "tip": "Tip",
    "panel": "",
    "expand": "",
    "ui-expand": "",
}
_CODE = frozenset({"code", "noformat", "code-block", "mathblock", "plantuml", "mermaid", "html", "markdown"})
_BODIES = frozenset({f"{AC}rich-text-body", f"{AC}plain-text-body"})
_INLINE_MACROS = frozenset({"status", "jira", "include", "excerpt-include"})
_BLOCKS = frozenset(
    {"p", "ul", "ol", "table", "pre", "blockquote", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "dl"}
    | {f"{AC}{name}" for name in ("task-list", "layout", "layout-section", "layout-cell", "adf-extension")}
    | _THROUGH
)


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together; ``anchor`` is the name of a heading or an anchor that stands at the first one."""

    lines: tuple[str, ...]
    anchor: str = ""
    is_heading: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Markdown:
    """Lines, and which fragments lead to which of them, counted from 0."""

    lines: tuple[str, ...]
    anchors: tuple[tuple[int, str], ...]


def accounts(storage: str) -> frozenset[str]:
    """Return the ids of the people that a text mentions."""
    return frozenset(map(html.unescape, _ACCOUNT.findall(storage)))


def markdown(storage: str, place: Place) -> Markdown:
    """Return a text as Markdown."""
    root = _parsed(storage)
    if root is None:
        return Markdown(lines=tuple(paragraph(plain(re.sub(r"<[^>]*>", " ", storage)))), anchors=())
    lines, anchors, seen = list[str](), list[tuple[int, str]](), dict[str, int]()
    waiting: list[str] = []
    """Anchors that stand before the next lines."""
    for block in _blocks(root, place, 0):
        if block.anchor:
            fragment = place.anchor(block.anchor)
            count = seen.get(fragment, 0) if block.is_heading else 0
            seen[fragment] = count + 1
            waiting.append(f"{fragment}.{count}" if count else fragment)
        if block.lines:
            lines += ["", *block.lines] if lines else block.lines
            anchors += ((len(lines) - len(block.lines), fragment) for fragment in waiting)
            waiting = []
    return Markdown(lines=tuple(lines), anchors=tuple(anchors))


def _parsed(storage: str) -> Element | None:
    def character(found: re.Match[str]) -> str:
        if not found[1] or found[1] in _XML:
            return found[0]
        meant = html.unescape(found[0])
        return meant if meant != found[0] else f"&amp;{found[1]};"

    text = _CONTROL.sub("", _ENTITY.sub(character, storage))
    # Texts may be nested deeper than the parser would take by itself; what walks them stops at a depth of its own.
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, remove_comments=True, huge_tree=True
    )
    try:
        return etree.fromstring(f'<root xmlns:ac="ac" xmlns:ri="ri" xmlns:at="at">{text}</root>', parser)
    except etree.XMLSyntaxError:
        return None


def _blocks(parent: Element, place: Place, depth: int) -> Iterator[Block]:
    """Yield the blocks in an element; text between them makes paragraphs of its own."""
    if depth > DEEPEST:
        yield from _paragraph(" ".join(map(str, parent.itertext())))
        return
    loose = _Loose(parent, place)
    for child in parent:
        if _is_block(child):
            yield from loose.flushed()
            yield from _block(child, place, depth + 1)
            loose.add_text(child.tail)
        else:
            loose.add(child)
    yield from loose.flushed()


class _Loose:
    """Text and inline elements that stand beside blocks."""

    def __init__(self, parent: Element, place: Place) -> None:
        self._place = place
        self._holder = etree.Element("p")
        self._holder.text = parent.text

    def add(self, element: Element) -> None:
        """Take an inline element with what follows it."""
        self._holder.append(copy.deepcopy(element))  # lxml would take it out of the tree that is walked

    def add_text(self, text: str | None) -> None:
        """Take text that follows a block."""
        self._holder.text = (self._holder.text or "") + (text or "")

    def flushed(self) -> Iterator[Block]:
        """Yield what was taken as a paragraph, and begin anew."""
        holder, self._holder = self._holder, etree.Element("p")
        yield from _paragraph(inline(holder, self._place))


def _is_block(element: Element) -> bool:
    tag = tag_of(element)
    if tag in {f"{AC}structured-macro", f"{AC}macro"}:
        name = element.get(f"{AC}name") or ""
        has_body = any(tag_of(child) in _BODIES for child in element)
        return name == "anchor" or (has_body and name not in _INLINE_MACROS)
    if tag == f"{AC}adf-extension":
        return True
    return tag in _BLOCKS


def _block(element: Element, place: Place, depth: int) -> Iterator[Block]:
    tag = tag_of(element)
    if _HEADING.fullmatch(tag):
        text = one_line(inline(element, place))
        if text:
            name = one_line("".join(_readable(element)))
            yield Block((f"{'#' * int(tag[1])} {text}",), name, is_heading=True)
    elif tag in {"ul", "ol", f"{AC}task-list", "table"}:
        lines = tuple(table(element, place) if tag == "table" else _list(element, place, depth))
        if lines:
            yield Block(lines)
    elif tag == "blockquote":
        for block in _blocks(element, place, depth):
            yield replace(block, lines=tuple(f"> {line}".rstrip() for line in block.lines))
    elif tag in {"pre", "hr"}:
        lines = tuple(fenced("".join(map(str, element.itertext())))) if tag == "pre" else ("---",)
        yield Block(lines)
    elif tag in {f"{AC}structured-macro", f"{AC}macro"}:
        yield from _macro(element, place, depth)
    elif tag == f"{AC}adf-extension":
        yield from _adf(element, place, depth)
    else:
        yield from _blocks(element, place, depth)


def _readable(element: Element) -> Iterator[str]:
    """Yield the text of a heading as it makes the anchor: without what macros in it are set by."""
    yield element.text or ""
    for child in element:
        if tag_of(child) not in {f"{AC}parameter", f"{AC}placeholder"}:
            yield from _readable(child)
        yield child.tail or ""


def _paragraph(text: str) -> Iterator[Block]:
    lines = paragraph(text)
    if lines:
        yield Block(tuple(lines))


def _macro(macro: Element, place: Place, depth: int) -> Iterator[Block]:
    """Yield what a macro shows."""
    name = (macro.get(f"{AC}name") or "").lower()
    if name == "anchor":
        named = parameter(macro, "") or parameter(macro, "anchor")
        if named:
            yield Block((), named)
        return
    bodies = [child for child in macro if tag_of(child) == f"{AC}rich-text-body"]
    codes = [child for child in macro if tag_of(child) == f"{AC}plain-text-body"]
    if name in _LABELS:
        words = [_LABELS[name], one_line(parameter(macro, "title"))]
        label = ": ".join(filter(None, words))
        if label:
            yield Block((f"**{label}**",))
    for body in bodies:
        yield from _blocks(body, place, depth + 1)
    for code in codes:
        if name in _CODE and parameter(macro, "title"):
            yield Block((f"**{one_line(parameter(macro, 'title'))}**",))
        language = parameter(macro, "language") if name in _CODE else ""
        yield Block(tuple(fenced("".join(map(str, code.itertext())), language)))


def _adf(element: Element, place: Place, depth: int) -> Iterator[Block]:
    """Yield what the newer editor put beside the format: its content, else what it left for older readers."""
    found = [*element.iter(f"{AC}adf-content")] or [*element.iter(f"{AC}adf-fallback")]
    for content in found[:1]:
        yield from _blocks(content, place, depth + 1)


def _list(element: Element, place: Place, depth: int) -> Iterator[str]:
    """Yield the lines of a list, and of those in it, indented below their entry."""
    number = 0
    for item in element:
        tag = tag_of(item)
        if tag == f"{AC}task":
            is_done = "".join(_texts(item, f"{AC}task-status")).strip() == "complete"
            mark, inner = f"- [{'x' if is_done else ' '}] ", [*item.iterchildren(f"{AC}task-body")]
        elif tag == "li":
            number += 1
            mark, inner = f"{number}. " if tag_of(element) == "ol" else "- ", [item]
        elif tag in {"ul", "ol"}:
            yield from (f"  {line}" for line in _list(item, place, depth + 1))
            continue
        else:
            continue
        blocks = [block for one in inner for block in _blocks(one, place, depth + 1)]
        yield from _entry(mark, blocks)


def _entry(mark: str, blocks: Iterable[Block]) -> Iterator[str]:
    indent = " " * (2 if mark.startswith("-") else len(mark))
    is_first = True
    for block in blocks:
        for line in block.lines:
            yield f"{mark}{line}" if is_first else f"{indent}{line}".rstrip()
            is_first = False


def _texts(element: Element, tag: str) -> Iterator[str]:
    for one in element.iterchildren(tag):
        yield from (str(text) for text in one.itertext())
