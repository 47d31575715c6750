"""The blocks of a page, read level by level."""

from dataclasses import dataclass, field

from connectors.notion.api import MISSING, Api
from connectors.notion.ids import id_of
from connectors.notion.replies import BLOCKS, Block, Body
from connectors.notion.rich import Span
from connectors.notion.writing import Node
from ragcore.errors import SourceBadReply

_CLOSED = frozenset({"child_page", "child_database", "link_to_page", "unsupported"})
"""Blocks whose contents are documents of their own, or that Notion doesn't tell."""
_DEEPEST = 40
_MOST = 50_000
_MOST_ASKED = 1_500
"""Requests for one page: at Notion's pace more of them take longer than a source may be silent."""
_PARTS = (("summary_block_id", "Summary"), ("notes_block_id", "Notes"), ("transcript_block_id", "Transcript"))


@dataclass(slots=True)
class Tree:
    """Reads the blocks of one page; ``pages`` and ``databases`` are those that stand on it, by id."""

    api: Api
    pages: list[str] = field(default_factory=list)
    databases: list[str] = field(default_factory=list)
    _count: int = 0
    _asked: int = 0

    async def read(self, page: str) -> list[Node]:
        """Return all blocks; SourceGone when the page isn't there, SourceBadReply when there are too many."""
        return await self._children(page, ())

    async def _children(self, parent: str, above: tuple[str, ...]) -> list[Node]:
        found: list[Block] = []
        # A block that is deleted while its page is read, or whose original isn't shared, hides no other.
        passing = MISSING if above else frozenset[int]()
        async for page in self.api.pages(BLOCKS, f"blocks/{parent}/children", passing=passing):
            found += [block for block in page.results if not block.in_trash]
            self._count += len(page.results)
            self._asked += 1
            if self._count > _MOST:
                raise SourceBadReply(f"it has more than {_MOST:,} blocks", mend="divide the page")
            if self._asked > _MOST_ASKED:
                told = f"it has more than {_MOST_ASKED:,} blocks that others stand in"
                raise SourceBadReply(told, mend="divide the page")
        return [await self._node(block, (*above, parent)) for block in found]

    async def _node(self, block: Block, above: tuple[str, ...]) -> Node:
        if block.type == "child_page":
            self.pages.append(block.id)
        elif block.type == "child_database":
            self.databases.append(block.id)
        if block.type in _CLOSED or len(above) > _DEEPEST:
            return Node(block)
        if block.type in {"meeting_notes", "transcription"}:
            return Node(block, await self._meeting(block, above))
        inner = _original(block)
        if not block.has_children or inner in above:
            return Node(block)
        children = await self._children(inner, above)
        if not children and inner != block.id:  # an original on a page that isn't shared: the copy may tell it
            children = await self._children(block.id, above)
        return Node(block, tuple(children))

    async def _meeting(self, block: Block, above: tuple[str, ...]) -> tuple[Node, ...]:
        """Return what the notes of a meeting hold, which Notion tells by the ids of its parts."""
        parts = []
        for key, label in _PARTS:
            part = id_of(str((block.body.children or {}).get(key) or ""))
            if part and part not in above:
                head = Block(id=part, type="toggle", body=Body(rich_text=[Span(plain_text=label)]))
                parts.append(Node(head, tuple(await self._children(part, (*above, block.id)))))
        return tuple(parts)


def _original(block: Block) -> str:
    """Return the id by which what stands in a block is asked for: a copy of a synced block has none of its own."""
    told = str((block.body.synced_from or {}).get("block_id") or "")
    return id_of(told) or block.id
