"""The Markdown of a Slack stream: only ever added to, so only what later words can't change is given out.

The tree of half an answer is read anew for each piece. Blocks before the last one stand; the last is given out as far
as it is settled: whole rows of a table, and of a paragraph the words before anything that could still become markup.
Code comes when it is whole, so that a stream which ends early never leaves a fence open.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from bots.platform import View
from bots.rendering.markup import Markup
from bots.rendering.quiet import quiet
from bots.rendering.slack.markdown import SlackMarkdown
from bots.rendering.tree import (
    Block,
    Break,
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

# What could begin markup that ends later: emphasis, code, a link, an entity, a table's border.
_OPEN = re.compile(r"[*~`\[<&|\\]|(?<![^\W_])_|_(?![^\W_])|!(?=\[|$)")
# Where a word has ended: an address can't go on behind these.
_ENDED = re.compile(r".*[\s\u3000-\u303f\uff01-\uff0f\uff1a-\uff20]", re.DOTALL)


def slack_stream_text(view: View, sent: str = "") -> str:
    """Return the Markdown to show of an answer still being written; it begins with ``sent``, what was shown already.

    If later words turned out to change what was shown, nothing is added: the final message sets it right.
    """
    text = _Settled().write(_settled(view.document.blocks))
    return text if text.startswith(sent) else sent


class _Settled(SlackMarkdown):
    """Slack's Markdown without marks for the direction of a line, which its later words would decide."""

    def inlines(self, children: Sequence[Inline], styles: frozenset[str] = frozenset()) -> str:
        return Markup.inlines(self, children if styles else quiet(children), styles)


def _settled(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return what stands of the blocks, the last of which may go on."""
    if not blocks:
        return ()
    last = _settled_block(blocks[-1])
    return (*(_tight(block) for block in blocks[:-1]), *((last,) if last else ()))


def _settled_block(block: Block) -> Block | None:
    match block:
        case Paragraph():
            children = _settled_inlines(block.children)
            return Paragraph(children=children) if children else None
        case ItemList():
            *whole, last = block.items
            inside = _settled(last.blocks)
            items = (*(_tight_item(item) for item in whole), *((ListItem(blocks=inside),) if inside else ()))
            return replace(block, items=items, tight=True) if items else None
        case Quote():
            blocks = _settled(block.blocks)
            return Quote(blocks=blocks) if blocks else None
        case Table():
            return replace(block, rows=block.rows[:-1]) if block.rows else None
        case Heading() | Fence() | Rule():
            return None


def _tight(block: Block) -> Block:
    """Return a finished block; whether a list is loose is told by its end, so none is."""
    match block:
        case ItemList():
            return replace(block, items=tuple(map(_tight_item, block.items)), tight=True)
        case Quote():
            return Quote(blocks=tuple(map(_tight, block.blocks)))
        case _:
            return block


def _tight_item(item: ListItem) -> ListItem:
    return ListItem(blocks=tuple(map(_tight, item.blocks)))


def _settled_inlines(children: Sequence[Inline]) -> tuple[Inline, ...]:
    found: list[Inline] = []
    for index, child in enumerate(children):
        after = children[index + 1 : index + 2]
        if isinstance(child, Text):
            opening = _OPEN.search(child.text)
            if opening or not after:
                ended = _ENDED.match(child.text[: opening.start()] if opening else child.text)
                found += [Text(text=ended[0])] if ended else []
                break
        elif not after or _is_open(child) or not _ends_behind(child, after[0]):
            break
        found.append(child)
    return _trimmed(found)


def _is_open(child: Inline) -> bool:
    """Return whether something within could still become other markup."""
    if isinstance(child, Text):
        return bool(_OPEN.search(child.text))
    return isinstance(child, Styled) and any(map(_is_open, child.children))


def _ends_behind(child: Inline, following: Inline) -> bool:
    """Return whether what follows can't become part of the address that this may be."""
    if not isinstance(child, Code | Link) or not isinstance(following, Text):
        return True
    return bool(_ENDED.match(following.text))


def _trimmed(found: list[Inline]) -> tuple[Inline, ...]:
    """Return the inlines without white space at their end: what follows decides how it shows."""
    while found:
        last = found[-1]
        if isinstance(last, Text) and last.text.rstrip():
            return (*found[:-1], Text(text=last.text.rstrip()))
        if not isinstance(last, Break | Text):
            return tuple(found)
        found = found[:-1]
    return ()
