"""What every platform's markup shares: how blocks, lists and quotes are laid out in lines, and styles nested in a line.

A platform adds how it writes words, code, links and fences (``Markup``). Text becomes markup here and nowhere else, so
escaping is by construction: what a writer doesn't write itself goes through ``words``.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bots.rendering.plain import soft_break
from bots.rendering.tree import (
    Block,
    Break,
    Cite,
    Code,
    Fence,
    Heading,
    Inline,
    ItemList,
    Link,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    Styled,
    Table,
    Text,
)

JOINER = "\u2060"
"""The word joiner: no width, no line break, no letter, so that what it stands in is no name, no tag and no address."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of markup; a fixed one, such as a line of code, takes no indent."""

    text: str
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block stands: how many lists deep, and whether in a quote."""

    depth: int = 0
    quoted: bool = False


class Markup(ABC):
    """Writes a tree in one platform's markup.

    What was written of a block is kept: to find what fits, the same blocks are written many times in other company.
    """

    hard_break = "\n"
    indents_code = False
    """Whether code within a list is indented with it."""

    def __init__(self) -> None:
        """Start with nothing written."""
        # By identity, which is quicker than comparing trees; the block is kept so that its id is not given away.
        self._written: dict[tuple[int, Place], tuple[Block, list[Line]]] = {}

    @abstractmethod
    def words(self, text: str) -> str:
        """Return plain words so that they are shown as they are."""

    @abstractmethod
    def code(self, text: str) -> str:
        """Return a code span."""

    @abstractmethod
    def style(self, style: str, inside: str) -> str:
        """Return ``inside``, which neither starts nor ends with white space, in the style."""

    @abstractmethod
    def link(self, url: str, children: Sequence[Inline]) -> str:
        """Return a link."""

    @abstractmethod
    def heading(self, level: int, children: Sequence[Inline]) -> str:
        """Return a heading on a line of its own."""

    @abstractmethod
    def fence(self, text: str, language: str) -> str:
        """Return a block of code, not empty."""

    @abstractmethod
    def quote(self, lines: list[Line]) -> list[Line]:
        """Return the lines as quoted."""

    @abstractmethod
    def table(self, table: Table, place: Place) -> list[Line]:
        """Return a table."""

    def cite(self, cite: Cite) -> str:
        """Return ``[number]``, a link where the source has an address."""
        label = (Text(text=f"[{cite.number}]"),)
        return self.link(cite.url, label) if cite.url else self.words(f"[{cite.number}]")

    def rule(self) -> str:
        """Return a line across."""
        return "───────"

    def marker(self, number: int | None, depth: int) -> str:
        """Return what stands before an item: of a numbered list, or of one with bullets (None)."""
        return f"{'•◦▪'[min(depth, 2)]} " if number is None else f"{number}. "

    def paragraph(self, text: str) -> str:
        """Return the text of a paragraph so that no line of it starts anything else."""
        return text

    def between(self, before: str, piece: str) -> str:
        """Return what must stand between two pieces of a line so that they stay two."""
        return ""

    def write(self, blocks: Sequence[Block]) -> str:
        """Return the blocks with an empty line between them."""
        return "\n".join(line.text for line in self.lines(blocks, Place())).strip("\n")

    def lines(self, blocks: Sequence[Block], place: Place, *, tight: bool = False) -> list[Line]:
        """Return the lines of the blocks."""
        found: list[Line] = []
        for block in blocks:
            lines = self._lines_of(block, place)
            if found and lines and not (tight and isinstance(block, ItemList)):
                found.append(Line(""))
            found += lines
        return found

    def _lines_of(self, block: Block, place: Place) -> list[Line]:
        known = self._written.get((id(block), place))
        if known is None:
            known = self._written[id(block), place] = (block, self.block(block, place))
        return known[1]

    def block(self, block: Block, place: Place) -> list[Line]:  # noqa: PLR0911 (one return a kind of block)
        """Return the lines of one block."""
        match block:
            case Paragraph():
                return _lines(self.paragraph(self.inlines(block.children)))
            case Heading():
                return _lines(self.heading(block.level, _one_line(block.children)))
            case ItemList():
                return self._list(block, place)
            case Quote():
                inside = self.lines(block.blocks, Place(depth=place.depth, quoted=True))
                return inside if place.quoted or not inside else self.quote(inside)
            case Fence():
                return _lines(self.fence(block.text, block.language), fixed=True) if block.text.strip() else []
            case Table():
                return self.table(block, place)
            case Rule():
                return [Line(self.rule())]

    def _list(self, block: ItemList, place: Place) -> list[Line]:
        found: list[Line] = []
        for index, item in enumerate(block.items):
            if index and not block.tight:
                found.append(Line(""))
            number = None if block.start is None else block.start + index
            found += self._item(item, self.marker(number, place.depth), block.tight, place)
        return found

    def _item(self, item: ListItem, marker: str, tight: bool, place: Place) -> list[Line]:
        lines = self.lines(item.blocks, Place(depth=place.depth + 1, quoted=place.quoted), tight=tight)
        if not lines or (lines[0].fixed and not self.indents_code):
            lines = [Line(""), *lines]
        indent = " " * len(marker)
        first, *rest = lines
        return [Line((marker + first.text).rstrip(" ") or marker), *(self._indented(line, indent) for line in rest)]

    def _indented(self, line: Line, indent: str) -> Line:
        if not line.text or (line.fixed and not self.indents_code):
            return line
        return Line(indent + line.text, line.fixed)

    def inlines(self, children: Sequence[Inline], styles: frozenset[str] = frozenset()) -> str:
        """Return the inlines of one block; a style within itself is written once."""
        written = ""
        before: Inline | None = None
        for index, child in enumerate(children):
            piece = self._inline(child, written, children[index + 1 : index + 2], styles)
            if isinstance(child, Styled) and isinstance(before, Styled) and piece and written:
                written += JOINER
            written += self.between(written, piece) + piece
            before = child
        return written

    def _inline(self, child: Inline, before: str, after: Sequence[Inline], styles: frozenset[str]) -> str:
        match child:
            case Text():
                return self.words(child.text)
            case Code():
                return self.code(child.text)
            case Styled():
                return self.styled(child, styles)
            case Link():
                return self.link(child.url, child.children)
            case Cite():
                return self.cite(child)
            case Break():
                return self.hard_break if child.hard else soft_break(before, after)

    def styled(self, child: Styled, styles: frozenset[str]) -> str:
        """Return a styled run, the white space at its ends outside the style."""
        inside = self.inlines(child.children, styles | {child.style})
        bare = inside.strip()
        if not bare or child.style in styles:
            return inside
        start = inside.index(bare[0])
        return inside[:start] + self.style(child.style, bare) + inside[start + len(bare) :]


def strip_markup_edges(inside: str) -> str:
    """Return what stands between two emphasis marks so that Markdown takes them as such whatever stands around.

    CommonMark's flanking rules look at the characters beside a mark: punctuation within and a letter without undo it.
    """
    start = "" if inside[:1].isalnum() else JOINER
    end = "" if inside[-1:].isalnum() else JOINER
    return start + inside + end


def safe_url(url: str, more: str = "") -> str:
    """Return the URL without the characters that end a link in any markup, and ``more`` of them."""
    return re.sub(rf"[\s<>()\\\"|`{re.escape(more)}]", lambda found: _percent(found[0]), url)


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())


def _one_line(children: Iterable[Inline]) -> tuple[Inline, ...]:
    return tuple(Break(hard=False) if isinstance(child, Break) else child for child in children)


def _lines(text: str, *, fixed: bool = False) -> list[Line]:
    return [Line(line, fixed) for line in text.split("\n")]


def prefixed(lines: Iterable[Line], prefix: str) -> Iterator[Line]:
    """Yield the lines behind a prefix, as quotes are written."""
    for line in lines:
        yield Line((prefix + line.text).rstrip(" ") or prefix, line.fixed)
