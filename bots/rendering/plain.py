"""The tree as plain text: what a reader reads of it, to measure by and to look at."""

import re
from collections.abc import Iterator, Sequence

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
    Paragraph,
    Quote,
    Rule,
    Styled,
    Table,
    Text,
)

_WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60]")


def plain_inlines(children: Sequence[Inline]) -> str:
    """Return the words of inlines, a citation as ``[1]``."""
    written = ""
    for index, child in enumerate(children):
        match child:
            case Text() | Code():
                written += child.text
            case Styled() | Link():
                written += plain_inlines(child.children)
            case Cite():
                written += f"[{child.number}]"
            case Break():
                written += "\n" if child.hard else soft_break(written, children[index + 1 : index + 2])
    return written


def plain_pieces(blocks: Sequence[Block]) -> Iterator[str]:
    """Yield the words of blocks, piece by piece in reading order."""
    for block in blocks:
        match block:
            case Paragraph() | Heading():
                yield plain_inlines(block.children)
            case ItemList():
                for item in block.items:
                    yield from plain_pieces(item.blocks)
            case Quote():
                yield from plain_pieces(block.blocks)
            case Fence():
                yield block.text
            case Table():
                yield from (plain_inlines(cell) for row in (block.header, *block.rows) for cell in row)
            case Rule():
                pass


def soft_break(before: str, after: Sequence[Inline]) -> str:
    """Return what a soft line end shows as: nothing between two East Asian characters, else a space."""
    following = after[0].text if after and isinstance(after[0], Text) else ""
    joined = before[-1:] and following[:1] and _WIDE.match(before[-1:]) and _WIDE.match(following[:1])
    return "" if joined else " "
