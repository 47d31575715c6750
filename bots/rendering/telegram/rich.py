"""A rich message (Bot API 10.1): headings, lists and tables as Telegram's own blocks, which hold no markup to escape.

The server is asked to make no entities of its own (``skip_entity_detection``), so nothing needs a joiner here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bots.rendering.direction import is_right_to_left
from bots.rendering.markup import safe_url
from bots.rendering.measure import units
from bots.rendering.plain import plain_pieces, soft_break
from bots.rendering.sources import source_inlines
from bots.rendering.steps import step_line
from bots.rendering.tree import (
    Block,
    Break,
    Cell,
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
    Steps,
    Styled,
    Table,
    Text,
)

MAX_CHARACTERS = 32_768
"""UTF-16 units of all words and addresses, the stricter count where the documents name none."""
MAX_BLOCKS = 500
"""The items of lists and the rows of tables counted as blocks."""
MAX_LEVELS = 16
"""Of blocks, items and styles within each other."""
MAX_COLUMNS = 20
MAX_SPANS = 2
"""Styles, links and code within each other. The server takes more, but what it answers holds the message again, and to
read that aiogram tries every kind of text at every depth: 2 ms at the second, 30 at the third, 15 seconds at the fifth,
in which nobody else is answered."""
_STYLES = {"emphasis": "italic", "strong": "bold", "strike": "strikethrough"}

RichText = str | list[Any] | dict[str, Any]
RichBlock = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramRich:
    """The content of ``sendRichMessage``: blocks as JSON, sent with ``skip_entity_detection``."""

    blocks: tuple[RichBlock, ...]
    is_rtl: bool = False


def rich_of(document: Document) -> TelegramRich | None:
    """Return the document as a rich message, None where it is beyond what one takes."""
    if _has_wide_table(document.blocks):
        return None
    blocks = [rich for block in document.blocks for rich in _block(block)]
    blocks += [{"type": "footer", "text": _source_text(document)}] if document.sources or document.notes else []
    blocks += _steps(document.steps) if document.steps else []
    words = "".join(plain_pieces(document.blocks))
    if not words.strip() or _levels(blocks) > MAX_LEVELS:
        return None
    if _count(blocks) > MAX_BLOCKS or _characters(blocks) > MAX_CHARACTERS:
        return None
    return TelegramRich(blocks=tuple(blocks), is_rtl=is_right_to_left(words))


def _steps(steps: Steps) -> list[RichBlock]:
    """Return the steps as a block that opens when it is pressed."""
    lines: list[RichBlock] = [{"type": "paragraph", "text": step_line(step)} for step in steps.lines]
    return [{"type": "details", "summary": steps.title, "blocks": lines}]


def has_table(blocks: Sequence[Block]) -> bool:
    """Return whether a table stands anywhere in the blocks."""
    return any(isinstance(block, Table) or has_table(_inside(block)) for block in blocks)


def _block(block: Block) -> list[RichBlock]:  # noqa: PLR0911 (one return a kind of block)
    match block:
        case Paragraph():
            return [{"type": "paragraph", "text": _text(block.children)}]
        case Heading():
            return [{"type": "heading", "text": _text(block.children), "size": block.level}]
        case ItemList():
            return [_list(block)] if block.items else []
        case Quote():
            inside = [rich for inner in block.blocks for rich in _block(inner)]
            return [{"type": "blockquote", "blocks": inside}] if inside else []
        case Fence():
            named = {"language": block.language} if block.language else {}
            return [{"type": "pre", "text": block.text, **named}] if block.text.strip() else []
        case Table():
            header = [_cell(cell, align, header=True) for cell, align in zip(block.header, block.aligns, strict=True)]
            rows = [[_cell(cell, align) for cell, align in zip(row, block.aligns, strict=True)] for row in block.rows]
            return [{"type": "table", "cells": [header, *rows], "is_bordered": True}]
        case Rule():
            return [{"type": "divider"}]


def _list(block: ItemList) -> RichBlock:
    items: list[RichBlock] = []
    for index, item in enumerate(block.items):
        blocks = [rich for inner in item.blocks for rich in _block(inner)] or [{"type": "paragraph", "text": " "}]
        numbered = {} if block.start is None else {"value": block.start + index, "type": "1"}
        items.append({"blocks": blocks, **numbered})
    return {"type": "list", "items": items}


def _cell(cell: Cell, align: str, *, header: bool = False) -> RichBlock:
    placed: RichBlock = {"align": align or "left", "valign": "top", "text": _text(cell)}
    return {**placed, "is_header": True} if header else placed


def _source_text(document: Document) -> RichText:
    lines: list[Any] = []
    for source in document.sources:
        age = f" · {source.updated_at.date().isoformat()}" if source.updated_at else ""
        lines += [*(["\n"] if lines else []), _text((*source_inlines(source), Text(text=age)))]
    for note in document.notes:
        lines += [*(["\n"] if lines else []), {"type": "italic", "text": note}]
    return lines


def _text(children: Sequence[Inline], room: int = MAX_SPANS) -> RichText:
    """Return text with at most so many spans within each other: what leads somewhere stays, a style may go."""
    around = zip((None, *children), children, (*children[1:], None), strict=False)
    pieces = [_piece(child, before, after, room) for before, child, after in around]
    return pieces[0] if len(pieces) == 1 else pieces or " "


def _piece(  # noqa: PLR0911 (one return a kind of inline)
    child: Inline, before: Inline | None, after: Inline | None, room: int
) -> RichText:
    match child:
        case Code() if not room:
            return child.text
        case Styled() if _needed(child.children) >= room:
            return _text(child.children, room)
        case Text():
            return child.text
        case Code():
            return {"type": "code", "text": child.text}
        case Styled():
            return {"type": _STYLES[child.style], "text": _text(child.children, room - 1)}
        case Link():
            return {"type": "url", "text": _text(child.children, room - 1), "url": safe_url(child.url)}
        case Cite():
            label = f"[{child.number}]"
            return {"type": "url", "text": label, "url": safe_url(child.url)} if child.url else label
        case Break():
            last = before.text if isinstance(before, Text) else " "
            return "\n" if child.hard else soft_break(last, (after,) if after else ())


def _needed(children: Sequence[Inline]) -> int:
    """Return how many spans within each other the links and code take."""
    deepest = 0
    for child in children:
        match child:
            case Code() | Cite():
                deepest = max(deepest, 1)
            case Link():
                deepest = max(deepest, 1 + _needed(child.children))
            case Styled():
                deepest = max(deepest, _needed(child.children))
    return deepest


def _inside(block: Block) -> tuple[Block, ...]:
    match block:
        case Quote():
            return block.blocks
        case ItemList():
            return tuple(inner for item in block.items for inner in item.blocks)
        case _:
            return ()


def _levels(value: object) -> int:
    """Return how many blocks, items and styles stand within each other; a table's cells are no level of their own."""
    if isinstance(value, dict):
        own = 0 if "valign" in value else 1
        return own + max(map(_levels, value.values()), default=0)
    return max(map(_levels, value), default=0) if isinstance(value, list) else 0


def _has_wide_table(blocks: Sequence[Block]) -> bool:
    return any(
        len(block.header) > MAX_COLUMNS if isinstance(block, Table) else _has_wide_table(_inside(block))
        for block in blocks
    )


def _count(blocks: Sequence[RichBlock]) -> int:
    """Return the number of blocks, items of lists and rows of tables counted as such."""
    total = 0
    for block in blocks:
        items = block.get("items", [])
        total += 1 + _count(block.get("blocks", [])) + len(items) + len(block.get("cells", []))
        total += sum(_count(item["blocks"]) for item in items)
    return total


def _characters(value: object) -> int:
    """Return the characters of all text in the blocks, addresses too."""
    if isinstance(value, str):
        return units(value)
    if isinstance(value, dict):
        return sum(_characters(inner) for key, inner in value.items() if key not in {"type", "align", "valign"})
    return sum(map(_characters, value)) if isinstance(value, list) else 0
