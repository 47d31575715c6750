"""The tree in a terminal: Rich renderables, links by OSC 8 where the terminal takes them, ``[1]`` always visible."""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, Group, JustifyMethod, RenderableType, RenderResult
from rich.segment import Segment
from rich.style import Style
from rich.table import Table as RichTable
from rich.text import Text as RichText

from bots.rendering.tree import (
    Align,
    Block,
    Break,
    Cite,
    Code,
    Document,
    Fence,
    Heading,
    Inline,
    ItemList,
    Link,
    Paragraph,
    Quote,
    Rule,
    SourceLine,
    Styled,
    Table,
    Text,
)

_STYLES = {"emphasis": Style(italic=True), "strong": Style(bold=True), "strike": Style(strike=True)}
_CODE = Style(color="cyan")
_CITE = Style(color="blue")
_DIM = Style(dim=True)
_JUSTIFY: dict[Align, JustifyMethod] = {"": "left", "left": "left", "center": "center", "right": "right"}
_BULLETS = "•◦▪"
_WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60]")


class Indented:
    """A renderable behind a prefix: one for its first line, one for the rest; never padded at the end."""

    def __init__(self, inside: RenderableType, first: str, rest: str, style: Style | None = None) -> None:
        self.inside = inside
        self.first = RichText(first, style=style or "")
        self.rest = RichText(rest, style=style or "")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines, each behind its prefix."""
        width = max(4, options.max_width - max(self.first.cell_len, self.rest.cell_len))
        lines = console.render_lines(self.inside, options.update(width=width, height=None), pad=False)
        prefix = self.first
        for line in lines or [[]]:
            yield from prefix.render(console, end="")
            yield from line
            yield Segment.line()
            prefix = self.rest


class _Source:
    """A line of the source list; where the console is no terminal and no link can be clicked, with the address."""

    def __init__(self, source: SourceLine) -> None:
        self._source = source

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the number, the label as a link, and where the document is found."""
        source = self._source
        label = RichText(source.label or source.file or source.url, style=_linked(source.url))
        found_at = source.file or ("" if console.is_terminal else source.url)
        if found_at and source.label:
            label.append(f"  {found_at}", Style(dim=True))
        for remark in source.remarks:
            label.append(f" · {remark}", Style(dim=True))
        yield Indented(label, f"[{source.number}] ", " " * (len(str(source.number)) + 3), _CITE)


def document_terminal(document: Document) -> RenderableType:
    """Return a tree as a Rich renderable."""
    parts: list[RenderableType] = list(_spaced(document.blocks))
    if document.sources:
        parts += [RichText(), *(_Source(source) for source in document.sources)]
    if document.notes:
        parts += [RichText(), *(RichText(note, style="italic dim") for note in document.notes)]
    return Group(*parts)


def source_lines(sources: Sequence[SourceLine]) -> RenderableType:
    """Return the numbered source list alone."""
    return Group(*(_Source(source) for source in sources))


def terminal_url(url: str) -> str:
    """Return the URL in the printable ASCII that OSC 8 takes."""
    return quote(url, safe="!#$%&'()*+,/:;=?@[]~-._")


def _linked(url: str) -> Style:
    return Style(link=terminal_url(url)) if url else Style()


def _spaced(blocks: Sequence[Block], *, tight: bool = False, depth: int = 0) -> Iterator[RenderableType]:
    for index, block in enumerate(blocks):
        if index and not tight:
            yield RichText()
        yield _block(block, depth)


def _block(block: Block, depth: int) -> RenderableType:  # noqa: PLR0911 (one return a kind of block)
    match block:
        case Paragraph():
            return _text(block.children)
        case Heading():
            heading = _text(block.children)
            heading.stylize(Style(bold=True, underline=block.level == 1))
            return heading
        case ItemList():
            return _list(block, depth)
        case Quote():
            return Indented(Group(*_spaced(block.blocks)), "│ ", "│ ", _DIM)
        case Fence():
            return Indented(RichText(block.text.expandtabs(4), style=_CODE), "    ", "    ")
        case Table():
            return _table(block)
        case Rule():
            return RichText("─" * 20, style=_DIM)


def _list(block: ItemList, depth: int) -> RenderableType:
    items: list[RenderableType] = []
    last = (block.start or 0) + len(block.items) - 1
    for index, item in enumerate(block.items):
        if index and not block.tight:
            items.append(RichText())
        bullet = _BULLETS[min(depth, len(_BULLETS) - 1)]
        marker = f"{bullet} " if block.start is None else f"{block.start + index}. ".rjust(len(str(last)) + 2)
        inside = Group(*_spaced(item.blocks, tight=block.tight, depth=depth + 1))
        items.append(Indented(inside, marker, " " * len(marker)))
    return Group(*items)


def _table(block: Table) -> RenderableType:
    table = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for cell, align in zip(block.header, block.aligns, strict=True):
        table.add_column(_text(cell), justify=_JUSTIFY[align], overflow="fold")
    for row in block.rows:
        table.add_row(*(_text(cell) for cell in row))
    return table


def _text(children: Sequence[Inline]) -> RichText:
    text = RichText(overflow="fold")
    _append(text, children, Style())
    return text


def _append(text: RichText, children: Sequence[Inline], style: Style) -> None:
    for index, child in enumerate(children):
        match child:
            case Text():
                text.append(child.text.replace("\t", " "), style)
            case Code():
                text.append(child.text, style + _CODE)
            case Styled():
                _append(text, child.children, style + _STYLES[child.style])
            case Link():
                _append(text, child.children, style + Style(underline=True) + _linked(child.url))
            case Cite():
                text.append(f"[{child.number}]", style + _CITE + _linked(child.url))
            case Break():
                text.append("\n" if child.hard else _soft(text.plain, children[index + 1 :]))


def _soft(before: str, after: Sequence[Inline]) -> str:
    """Return what a soft line end shows as: nothing between two East Asian characters, else a space."""
    following = after[0].text if after and isinstance(after[0], Text) else ""
    joined = before[-1:] and following[:1] and _WIDE.match(before[-1:]) and _WIDE.match(following[:1])
    return "" if joined else " "
