"""The source list under an answer, and which of a document's addresses a platform can lead to."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from bots.rendering.tree import (
    Block,
    Cite,
    Document,
    Heading,
    Inline,
    ItemList,
    Link,
    ListItem,
    Paragraph,
    Quote,
    SourceLine,
    Styled,
    Table,
    Text,
)
from ragcore.characters import edge_before

MAX_TITLE = 100
MAX_PLACE = 60
"""Longer ones are cut in a source list, in characters."""


def shortened(text: str, most: int) -> str:
    """Return the text, cut with an ellipsis between two visible characters if it is longer than ``most``."""
    return text if len(text) <= most else text[: edge_before(text, most - 1)].rstrip() + "…"


def source_inlines(source: SourceLine, *, linked: bool = True) -> tuple[Inline, ...]:
    """Return one line of the list without its age: ``[1] Title, place``."""
    title = shortened(source.title or source.file or source.url, MAX_TITLE)
    place = shortened(source.place, MAX_PLACE)
    named: Inline = Text(text=title)
    if source.url and linked and title:
        named = Link(url=source.url, children=(named,))
    behind = "".join((f", {place}" if place else "", *(f" · {remark}" for remark in source.remarks)))
    return (Text(text=f"[{source.number}] "), named, *((Text(text=behind),) if behind else ()))


def reachable(document: Document, fits: Callable[[str], bool]) -> Document:
    """Return the document with links only where a chat client follows them: http and https, not too long to be written.

    From an address that does not fit its text directive is left out first: the page is still the right one.
    """
    urls = _urls(document)
    kept = {url: _reachable_url(url, fits) for url in urls}
    if all(kept[url] == url for url in urls):
        return document
    return replace(
        document,
        blocks=tuple(_block(block, kept) for block in document.blocks),
        sources=tuple(replace(source, url=kept.get(source.url, "")) for source in document.sources),
    )


def _reachable_url(url: str, fits: Callable[[str], bool]) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if parts.scheme.lower() not in {"http", "https"} or not parts.netloc:
        return ""
    shorter = url if fits(url) else url.partition(":~:")[0].rstrip("#")
    return shorter if fits(shorter) else ""


def _urls(document: Document) -> set[str]:
    found = {source.url for source in document.sources if source.url}
    pending: list[Block | ListItem | Inline] = list(document.blocks)
    while pending:
        node = pending.pop()
        match node:
            case Paragraph() | Heading() | Styled():
                pending += node.children
            case Quote() | ListItem():
                pending += node.blocks
            case ItemList():
                pending += node.items
            case Table():
                pending += [child for row in (node.header, *node.rows) for cell in row for child in cell]
            case Link() | Cite() if node.url:
                found.add(node.url)
            case _:
                pass
    return found


def _block(block: Block, kept: dict[str, str]) -> Block:
    match block:
        case Paragraph() | Heading():
            return replace(block, children=_inlines(block.children, kept))
        case Quote():
            return replace(block, blocks=tuple(_block(inner, kept) for inner in block.blocks))
        case ItemList():
            items = (ListItem(blocks=tuple(_block(inner, kept) for inner in item.blocks)) for item in block.items)
            return replace(block, items=tuple(items))
        case Table():
            return replace(
                block,
                header=tuple(_inlines(cell, kept) for cell in block.header),
                rows=tuple(tuple(_inlines(cell, kept) for cell in row) for row in block.rows),
            )
        case _:
            return block


def _inlines(children: Sequence[Inline], kept: dict[str, str]) -> tuple[Inline, ...]:
    found: list[Inline] = []
    for child in children:
        match child:
            case Cite():
                found.append(replace(child, url=kept.get(child.url, "")))
            case Link():
                url = kept.get(child.url, "")
                found += [replace(child, url=url)] if url else child.children
            case Styled():
                found.append(replace(child, children=_inlines(child.children, kept)))
            case _:
                found.append(child)
    return tuple(found)
