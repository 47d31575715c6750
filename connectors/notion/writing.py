"""A page's blocks as Markdown, in which each block is found by its line. Pure.

What holds others without a mark of its own (columns, synced blocks, toggles) is written as if they stood there by
themselves: a heading, table or piece of code inside is then one to whatever reads the Markdown.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from connectors.base import Permalink
from connectors.markdown import harmless_words
from connectors.notion.ids import id_of, undashed
from connectors.notion.replies import Block
from connectors.notion.rich import link, markdown, one_line

_ITEMS = frozenset({"bulleted_list_item", "numbered_list_item", "to_do"})
_HEADINGS = {"heading_1": "##", "heading_2": "###", "heading_3": "####", "heading_4": "#####"}
"""One level below the page's title, which is the first heading."""
_MEDIA = frozenset({"image", "video", "audio", "pdf", "file"})
_LINKS = frozenset({"bookmark", "embed", "link_preview"})
_QUOTES = frozenset({"quote", "callout"})
_PLACES = frozenset({"child_page", "child_database", "link_to_page"})
_NOTION = "https://www.notion.so/"


@dataclass(frozen=True, slots=True)
class Node:
    """A block with those that stand in it."""

    block: Block
    children: tuple["Node", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The text, and where each block is found."""

    content: bytes
    permalinks: tuple[Permalink, ...]


@dataclass(slots=True, kw_only=True)
class Writer:
    """Writes one document below its title; ``url`` is the page's, ``titles`` are those of other pages, by id."""

    url: str
    titles: Mapping[str, str]
    _lines: list[str] = field(default_factory=list)
    _links: list[Permalink] = field(default_factory=list)

    def begin(self, title: str, about: Sequence[str] = ()) -> None:
        """Write the title, and lines that tell of the page as a whole."""
        self.block(self.url, f"# {harmless_words(title)}")
        self.block(self.url, "\n".join(about))

    def block(self, url: str, text: str, prefix: str = "") -> None:
        """Write a paragraph of its own, found at this address; none has two lines of nothing before it."""
        if text:
            self._gap(prefix)
            self._put(url, text.split("\n"), prefix)

    def nodes(self, nodes: Sequence[Node], prefix: str = "", *, is_tight: bool = False) -> None:
        """Write blocks that stand side by side; ``is_tight``: right below the list item that they stand in."""
        number, was_item = 0, is_tight
        for node in nodes:
            kind = node.block.type
            number = (node.block.body.list_start_index or number + 1) if kind == "numbered_list_item" else 0
            if kind in _ITEMS:
                if not was_item:
                    self._gap(prefix)
                self._item(node, prefix, number)
            else:
                self._one(node, prefix)
            was_item = kind in _ITEMS

    def written(self) -> Written:
        """Return what was written."""
        content = "\n".join(self._lines).rstrip("\n") + "\n"
        return Written(content=content.encode("utf-8", "replace"), permalinks=tuple(self._links))

    def _item(self, node: Node, prefix: str, number: int) -> None:
        body = node.block.body
        marks = {"numbered_list_item": f"{number}. ", "to_do": f"- [{'x' if body.checked else ' '}] "}
        mark = marks.get(node.block.type, "- ")
        inner = prefix + " " * (len(mark) if node.block.type == "numbered_list_item" else 2)
        text = markdown(body.rich_text)
        if text or node.children:
            first, *rest = text.split("\n")
            self._put(self._place(node), [f"{prefix}{mark}{first}".rstrip(), *(f"{inner}{line}" for line in rest)], "")
        self.nodes(node.children, inner, is_tight=True)

    def _one(self, node: Node, prefix: str) -> None:
        """Write a block that is no item of a list."""
        block, place = node.block, self._place(node)
        kind, text = block.type, markdown(block.body.rich_text)
        if kind in _HEADINGS:
            heading = one_line(block.body.rich_text)
            self.block(place, f"{_HEADINGS[kind]} {heading}" if heading else "", prefix)
        elif kind in _QUOTES:
            self._gap(prefix)  # one of its own, not the last one going on
            icon = str((block.body.icon or {}).get("emoji") or "")
            self.block(place, f"{icon} {text}".strip(), f"{prefix}> ")
            self.nodes(node.children, f"{prefix}> ")
            return
        elif kind == "toggle":
            self.block(place, f"**{text}**" if text and not re.search(r"[*\n\\]", text) else text, prefix)
        elif kind == "code":
            self._code(node, prefix)
        elif kind == "equation":
            self.block(place, f"$$\n{block.body.expression}\n$$" if block.body.expression.strip() else "", prefix)
        elif kind == "table":
            self._table(node, prefix)
            return
        elif kind == "divider":
            self.block(place, "---", prefix)
        elif kind in _MEDIA | _LINKS | _PLACES:
            self.block(place, self._led(block, place), prefix)
        else:  # paragraphs, and whatever Notion may have besides that has words
            self.block(place, text or self._titled(block), prefix)
        self.nodes(node.children, prefix)

    def _code(self, node: Node, prefix: str) -> None:
        body = node.block.body
        code = "".join(span.plain_text for span in body.rich_text).replace("\r\n", "\n").replace("\r", "\n").strip("\n")
        if code.strip():
            longest = max((len(run) for run in re.findall(r"^[^\S\n]*(`{3,})", code, re.MULTILINE)), default=2)
            fence = "`" * (longest + 1)
            language = "" if body.language == "plain text" else body.language.replace(" ", "-").replace("`", "")
            self.block(self._place(node), f"{fence}{language}\n{code}\n{fence}", prefix)
        self.block(self._place(node), markdown(body.caption), prefix)

    def _table(self, node: Node, prefix: str) -> None:
        rows = [
            [one_line(cell).replace("\\|", "|").replace("|", "\\|") for cell in row.block.body.cells]
            for row in node.children
        ]
        width = max(map(len, rows), default=0)
        if not width:
            return
        head = rows.pop(0) if node.block.body.has_column_header else []
        lines = [_row(head, width), f"|{' --- |' * width}", *(_row(row, width) for row in rows)]
        self.block(self._place(node), "\n".join(lines), prefix)

    def _led(self, block: Block, place: str) -> str:
        """Return a link to what stands elsewhere: a file, a picture, a page, an address."""
        body = block.body
        if block.type in _PLACES:
            target = id_of(body.page_id) or id_of(body.database_id) or id_of(block.id)
            title = body.title if isinstance(body.title, str) and body.title else self.titles.get(target, "")
            return link(_words(title), f"{_NOTION}{undashed(target)}") if title else ""
        caption = one_line(body.caption)
        address = body.external.url if body.external else body.url
        if block.type in _LINKS:
            return link(caption or _words(address), address) if address else ""
        name = caption or _words(body.name)
        if block.type == "image":
            return f"Picture: {name}" if name else ""
        named = name or _words(_file_name(address or (body.file.url if body.file else "")))
        # A file that Notion keeps has an address that holds a key: the block is where a reader finds it.
        return link(named, address or place) if named else ""

    def _titled(self, block: Block) -> str:
        """Return the title of a block that has one in place of text, such as the notes of a meeting."""
        title = block.body.title
        words = _words(title) if isinstance(title, str) else one_line(title)
        return f"**{words}**" if words and "*" not in words else words

    def _place(self, node: Node) -> str:
        return f"{self.url}#{undashed(node.block.id)}"

    def _gap(self, prefix: str) -> None:
        """Leave a line empty, within what ``prefix`` marks, so that what follows begins a block of its own."""
        if self._lines and self._lines[-1].strip("> "):
            self._lines.append(prefix.rstrip() if self._lines[-1].startswith(prefix.rstrip() or "\0") else "")

    def _put(self, url: str, lines: Sequence[str], prefix: str) -> None:
        if not self._links or self._links[-1].url != url:
            self._links.append(Permalink(line=len(self._lines) + 1, url=url))
        self._lines += [f"{prefix}{line}".rstrip() for line in lines]


def _row(cells: Sequence[str], width: int) -> str:
    return f"| {' | '.join([*cells, *[''] * (width - len(cells))])} |"


def _words(text: str) -> str:
    return harmless_words(" ".join(text.split())).replace("[", "\\[").replace("]", "\\]")


def _file_name(address: str) -> str:
    try:
        return unquote(urlsplit(address).path.rpartition("/")[2])
    except ValueError:
        return ""
