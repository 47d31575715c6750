"""Splits a tree into parts that fit a platform's message, before any markup exists.

No link, code span, citation or table row is cut: parts are made of whole pieces of the tree. A fence goes on with its
language, a table with its header, a list with its number. Where a paragraph must be cut it is cut behind a sentence,
else behind a word, else between two visible characters, and never before a citation. What fits is the platform's word
(``Fits``): its length in its own unit, its blocks. Parts joined again are the document, white space at the cuts aside.

Each candidate has at most ``most`` characters of text, so a part costs a few tries of its own size, whatever follows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from bots.rendering.inline_cut import Cutter
from bots.rendering.plain import plain_pieces
from bots.rendering.tables import between, cards
from bots.rendering.tree import (
    Block,
    Document,
    Fence,
    Heading,
    Inline,
    ItemList,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    Table,
    Text,
)
from ragcore.characters import edge_after, edge_before

Fits = Callable[[Document], bool]
"""Whether a document is one message; what fits, fits with less in it."""

_MOVED_HEADINGS = 6
"""So many headings at the end of a part begin the next one instead; more of them in a row head nothing."""

_FitsBlocks = Callable[[tuple[Block, ...]], bool]
_Piece = tuple[Block | None, tuple[Block, ...]]
"""The first piece of a block, None when nothing of it fits, and what is left."""


def split(document: Document, fits: Fits, most: int) -> tuple[Document, ...]:
    """Return the parts in order, one if it fits; sources and notes stand on the last.

    ``most`` is the number of characters of text beyond which nothing fits. What fits nowhere (a limit below a single
    piece) stands in a part of its own.
    """
    parts: list[Document] = []
    rest = _with_short_notes(document, most)
    while not (_is_short(rest, most) and fits(rest)):
        if not rest.blocks:
            part, rest = _take_sources(rest, fits)
        else:
            # What is too long only with its sources: half of it stays with them.
            alone = Document(blocks=rest.blocks)
            room = most // 2 if _is_short(alone, most) and fits(alone) else most
            head, tail = take(rest.blocks, lambda blocks: fits(Document(blocks=blocks)), room)
            part, rest = Document(blocks=head), replace(rest, blocks=tail)
        parts.append(part)
        if not (rest.blocks or rest.sources or rest.notes):
            return tuple(parts)
    return (*parts, rest)


def first_part(document: Document, fits: Fits, most: int) -> tuple[Document, bool]:
    """Return as much of the document as fits, and whether that is all of it."""
    if _is_short(document, most) and fits(document):
        return document, True
    head, _ = take(document.blocks, lambda blocks: fits(Document(blocks=blocks)), most)
    return Document(blocks=head), False


def take(
    blocks: tuple[Block, ...], fits: _FitsBlocks, most: int, *, forced: bool = True
) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    """Return the most that fits, with a piece of the next block where that is better, and the rest.

    ``forced``: never nothing, but a plainer form, or at last the smallest piece, whether it fits or not.
    """
    if not blocks:
        return (), ()
    whole = _largest(_room(blocks, most), lambda count: fits(blocks[:count]))
    if whole == len(blocks):
        return blocks, ()
    head, following = blocks[:whole], blocks[whole]
    piece, left = _cut(following, lambda block: fits((*head, block)), most)
    if piece is None or (head and _better_whole(head, piece, following, fits, most)):
        piece, left = None, (following,)
    if piece is None and not head:
        if not forced:
            return (), blocks
        plainer = _plainer(following)
        if plainer is not None:
            return take((*plainer, *blocks[1:]), fits, most)
        piece, left = _least(following, lambda block: fits((block,)), most)
    moved = 0
    while piece is None and len(head) > 1 and isinstance(head[-1], Heading) and moved < _MOVED_HEADINGS:
        head, left, moved = head[:-1], (head[-1], *left), moved + 1
    return (head if piece is None else (*head, piece)), (*left, *blocks[whole + 1 :])


def _better_whole(head: Sequence[Block], piece: Block, block: Block, fits: _FitsBlocks, most: int) -> bool:
    """Return whether the block should rather begin the next part: this one is half full, and it fits there whole."""
    if isinstance(block, Heading | Rule):
        return True
    half = _size(head) >= _size((piece,))
    return half and _size((block,), most) <= most and fits((block,))


def _cut(block: Block, fits: Callable[[Block], bool], most: int) -> _Piece:  # noqa: PLR0911 (one return a kind)
    match block:
        case Paragraph():
            start, end = Cutter(block.children, most).cut(lambda some: fits(Paragraph(children=some)))
            return (Paragraph(children=start) if start else None), ((Paragraph(children=end),) if end else ())
        case Heading():
            start, end = Cutter(block.children, most).cut(lambda some: fits(replace(block, children=some)))
            return (replace(block, children=start) if start else None), ((Paragraph(children=end),) if end else ())
        case Fence():
            return _cut_fence(block, fits, most)
        case Table():
            room = _room_rows(block, most)
            count = _largest(room, lambda rows: fits(replace(block, rows=block.rows[:rows])), least=1)
            if count == 0:
                return None, (block,)
            return replace(block, rows=block.rows[:count]), (replace(block, rows=block.rows[count:]),)
        case ItemList():
            return _cut_list(block, fits, most)
        case Quote():
            head, tail = _cut_inside(block.blocks, lambda inner: fits(Quote(blocks=inner)), most)
            return (Quote(blocks=head) if head else None), ((Quote(blocks=tail),) if tail else ())
        case Rule():
            return None, (block,)


def _cut_inside(blocks: tuple[Block, ...], fits: _FitsBlocks, most: int) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    """Return what fits of the blocks within another, possibly nothing, and the rest."""
    return take(blocks, fits, most, forced=False)


def _cut_list(block: ItemList, fits: Callable[[Block], bool], most: int) -> _Piece:
    if not block.items:
        return None, (block,)
    sizes = (_size(item.blocks, most) for item in block.items)
    count = _largest(_room_of(sizes, most), lambda items: fits(replace(block, items=block.items[:items])), least=1)
    if count == len(block.items):
        return block, ()
    items, item = block.items[:count], block.items[count]
    number = None if block.start is None else block.start + count
    rest = replace(block, items=block.items[count:], start=number)
    if items and _size(item.blocks, most) <= most:
        return replace(block, items=items), (rest,)
    head, tail = _cut_inside(
        item.blocks, lambda inner: fits(replace(block, items=(*items, ListItem(blocks=inner)))), most
    )
    if not head:
        return (replace(block, items=items), (rest,)) if items else (None, (block,))
    after = block.items[count + 1 :]
    later = (replace(block, items=after, start=None if number is None else number + 1),) if after else ()
    return replace(block, items=(*items, ListItem(blocks=head))), (*tail, *later)


def _cut_fence(block: Fence, fits: Callable[[Block], bool], most: int) -> _Piece:
    if not block.text:
        return None, (block,)  # its marks alone are too much
    room = min(len(block.text), most)
    count = _largest(room, lambda length: fits(replace(block, text=block.text[:length])), least=1)
    if count == len(block.text):
        return block, ()
    # An empty line is the better place: what follows it is mostly not indented.
    blank = block.text.rfind("\n\n", count // 2, count + 1)
    line_end = block.text.rfind("\n", 0, count + 1)
    if blank > 0:
        head, tail = block.text[:blank], block.text[blank + 2 :]
    elif line_end > 0:
        head, tail = block.text[:line_end], block.text[line_end + 1 :]
    elif count < most // 8:
        return None, (block,)  # the start of a line at the end of a part: better whole in the next
    else:
        space = block.text.rfind(" ", count // 2, count)
        count = space if space > 0 else edge_before(block.text, count)
        head, tail = block.text[:count], block.text[count:].lstrip(" ")
    if not head.strip():
        return None, (block,)
    return replace(block, text=head), ((replace(block, text=tail),) if tail.strip() else ())


def _plainer(block: Block) -> tuple[Block, ...] | None:
    """Return a block of which nothing fits in a plainer form; None when it has none."""
    match block:
        case Table() if block.rows:
            # Neither its header nor its first row fits a message beside the other.
            (card,) = cards(block.header, block.rows[:1]).items
            later = (replace(block, rows=block.rows[1:]),) if block.rows[1:] else ()
            return (*card.blocks, *later)
        case Table():
            return (Paragraph(children=between(block.header)),) if any(block.header) else ()
        case Quote():
            return block.blocks
        case ItemList():
            start = None if block.start is None else block.start + 1
            later_items = (replace(block, items=block.items[1:], start=start),) if block.items[1:] else ()
            return (*_unlisted(block.items[0].blocks, block.start), *later_items) if block.items else ()
        case _:
            return None


def _unlisted(blocks: tuple[Block, ...], number: int | None) -> tuple[Block, ...]:
    """Return the blocks of an item without its list, behind its number where it has one."""
    if number is None:
        return blocks
    marker, first = Text(text=f"{number}. "), blocks[0] if blocks else None
    if isinstance(first, Paragraph | Heading):
        return (replace(first, children=(marker, *first.children)), *blocks[1:])
    plainer = None if first is None else _plainer(first)
    return _unlisted((*plainer, *blocks[1:]), number) if plainer else (Paragraph(children=(marker,)), *blocks)


def _least(block: Block, fits: Callable[[Block], bool], most: int) -> tuple[Block, tuple[Block, ...]]:
    """Return what fits of a block that has no good place to be cut, or its smallest piece, whether it fits or not."""
    match block:
        case Fence() if len(block.text) > 1:
            room = min(len(block.text) - 1, most)
            count = _largest(room, lambda length: fits(replace(block, text=block.text[:length])), least=1)
            count = edge_before(block.text, count) or edge_after(block.text, 1)
            tail = block.text[count:]
            return replace(block, text=block.text[:count]), ((replace(block, text=tail),) if tail.strip() else ())
        case Paragraph() | Heading():
            cutter = Cutter(block.children, most)
            start, end = cutter.cut(lambda some: fits(replace(block, children=some)), anywhere=True)
            if not start:
                start, end = Cutter(block.children, 1).least()
            return replace(block, children=start), ((Paragraph(children=end),) if end else ())
        case _:
            return block, ()


def _take_sources(rest: Document, fits: Fits) -> tuple[Document, Document]:
    count = _largest(len(rest.sources), lambda some: fits(Document(blocks=(), sources=rest.sources[:some])), least=1)
    if rest.sources:
        count = max(1, count)
        return Document(blocks=(), sources=rest.sources[:count]), replace(rest, sources=rest.sources[count:])
    return Document(blocks=(), notes=rest.notes[:1]), replace(rest, notes=rest.notes[1:])


def _with_short_notes(document: Document, most: int) -> Document:
    """Return the document with a note that is no longer a note as a paragraph."""
    long = tuple(note for note in document.notes if len(note) > most // 4)
    if not long:
        return document
    children: Iterator[tuple[Inline, ...]] = ((Text(text=note),) for note in long)
    paragraphs = tuple(Paragraph(children=some) for some in children)
    notes = tuple(note for note in document.notes if note not in long)
    return replace(document, blocks=(*document.blocks, *paragraphs), notes=notes)


def _largest(top: int, fits: Callable[[int], bool], *, least: int = 0) -> int:
    """Return the largest number from ``least`` to ``top`` that fits, 0 when none does; the top is tried first."""
    if top <= 0:
        return 0
    if fits(top):
        return top
    low, high = max(least, 1) - 1, top
    while high - low > 1:
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low


def _room(blocks: Sequence[Block], most: int) -> int:
    return _room_of((_size((block,), most) for block in blocks), most)


def _room_rows(table: Table, most: int) -> int:
    sizes = (_size((Table(header=row, rows=(), aligns=table.aligns),), most) for row in table.rows)
    return _room_of(sizes, most)


def _room_of(sizes: Iterator[int], most: int) -> int:
    """Return how many pieces, of these sizes, can fit by their text alone."""
    total = count = 0
    for size in sizes:
        total += size
        if total > most or count > most:
            break
        count += 1
    return count


def _is_short(document: Document, most: int) -> bool:
    return _size(document.blocks, most) <= most


def _size(blocks: Sequence[Block], stop: int = 1 << 60) -> int:
    """Return the characters of text in the blocks, counted no further than beyond ``stop``."""
    total = 0
    for piece in plain_pieces(blocks):
        total += len(piece)
        if total > stop:
            break
    return total
