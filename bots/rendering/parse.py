"""Markdown with ``[ID:n]`` markers, as the core wrote it, becomes the tree."""

import re
from collections.abc import Mapping
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from bots.rendering.clean import clean, clean_line, clean_url
from bots.rendering.flanking import FlankedInline
from bots.rendering.inlines import INLINE_RULES, Reader, Reading, as_written, placeholder, without_placeholders
from bots.rendering.tree import (
    Align,
    Block,
    Cell,
    Cite,
    Document,
    Fence,
    Heading,
    ItemList,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    SourceLine,
    Table,
    Text,
)
from ragcore.citations.literals import fences_apart
from ragcore.citations.markers import find, remove, repair
from ragcore.links import host_of
from ragcore.on_web import is_web
from ragcore.types import Answer, Citation

# Deeper blocks than this are shown as plain lines: the parser drops what lies beyond its own limit.
_DEEPEST = 40
_BETWEEN_CELLS = re.compile(r"(?<!\\)\|")
_ATTRIBUTES = re.compile(r"[={}]|\w:\w")
"""What marks the words behind a fence's language as settings of whoever shows it, such as ``title="a.py"``."""
# How many passages a prompt is taken to have while its answer is being written; a higher number in brackets is no id.
_PASSAGES = 64


def parse_answer(answer: Answer) -> Document:
    """Return the tree of a finished answer, its sources numbered as the answer numbered them.

    A marker without a citation is left out, and so is a citation that no marker uses.
    """
    cites = {c.number: Cite(number=c.number, url=clean_url(c.url)) for c in answer.citations}
    allowed = answer.allowed_urls | {c.url for c in answer.citations if c.url}
    numbers = {c.id: c.number for c in answer.citations}
    reading = Reading(cites=cites, allowed=frozenset(clean_url(url) for url in allowed), ids=numbers)
    blocks = _blocks_of(_numbered(answer.raw_text, numbers), reading)
    sources = {citation.number: _source(citation) for citation in answer.citations}
    return Document(
        blocks=blocks,
        sources=tuple(sources[number] for number in sorted(sources) if number in reading.seen),
        notes=tuple(clean_line(note) for note in answer.notes),
    )


def _source(citation: Citation) -> SourceLine:
    url = clean_url(citation.url)
    is_local = not url or url.startswith("file:")
    return SourceLine(
        number=citation.number,
        title=clean_line(citation.title),
        place=clean_line(citation.location),
        url=url,
        # A document's id is "<source>:<native id>".
        file=clean_line(citation.document_id.partition(":")[2]) if is_local else "",
        updated_at=citation.updated_at,
        read_at=citation.read_at,
        web=clean_line(host_of(citation.url)) if is_web(citation.document_id) else "",
    )


def parse_partial(text: str) -> Document:
    """Return the tree of an answer still being written; its markers are numbered by first use and link nowhere.

    A marker that the model wrote wrong, such as ``[ID: 0]``, is shown as the finished answer will show it.
    """
    text = repair(text, _PASSAGES)
    numbers: dict[int, int] = {}
    for marker in find(text):
        numbers.setdefault(marker.id, len(numbers) + 1)
    cites = {number: Cite(number=number, url="") for number in numbers.values()}
    return Document(blocks=_blocks_of(_numbered(text, numbers), Reading(cites=cites, allowed=frozenset(), ids=numbers)))


def parse_markdown(text: str, allowed: frozenset[str] = frozenset()) -> Document:
    """Return the tree of any Markdown without citations; only ``allowed`` URLs become links."""
    reading = Reading(cites={}, allowed=allowed)
    return Document(blocks=_blocks_of(without_placeholders(clean(text)), reading))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    # "js-default" is CommonMark with tables and strikethrough, and HTML as the text that it is. Link definitions stay
    # text too: nothing a writer typed may vanish.
    parser = MarkdownIt("js-default", {"maxNesting": _DEEPEST * 2}).disable("reference")
    parser.inline = FlankedInline()
    for name, before, rule in INLINE_RULES:
        parser.inline.ruler.before(before, name, rule)
    parser.core.ruler.after("block", "long_rows", _keep_long_rows)
    # Which URL may be a link is decided on the tree, by the text as written.
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    # Its rules are put together at their first use, which two threads must not do at once.
    parser.parse("a")
    return parser


def _keep_long_rows(state: StateCore) -> None:
    r"""Put into the last cell of a row what stands behind it: the parser drops the cells that the header has none for.

    Models write ``| `a|b` | c |``, where Markdown wants ``a\|b``.
    """
    lines = state.src.split("\n")
    row, cells = 0, 0
    for token, last in zip(state.tokens, (None, None, *state.tokens), strict=False):
        if token.type == "tr_open" and token.map:
            row, cells = token.map[0], 0
        elif token.type == "td_open":
            cells += 1
        elif token.type == "tr_close" and cells and last is not None:
            written = lines[row].strip(" \t").lstrip("> \t").removeprefix("|").removesuffix("|")
            more = [cell.strip().replace("\\|", "|") for cell in _BETWEEN_CELLS.split(written)[cells:]]
            last.content = " | ".join((last.content, *(cell for cell in more if cell)))


def _numbered(text: str, numbers: Mapping[int, int]) -> str:
    """Return the cleaned text with a placeholder for each marker that has a number, and without the other markers."""
    cleaned = without_placeholders(clean(text))
    # Taking one out can make another of what stood around it.
    while unknown := [marker for marker in find(cleaned) if marker.id not in numbers]:
        cleaned = remove(cleaned, unknown)
    pieces: list[str] = []
    done = 0
    for marker in find(cleaned):
        pieces += (cleaned[done : marker.start], placeholder(numbers[marker.id]))
        done = marker.end
    return "".join((*pieces, cleaned[done:]))


def _blocks_of(text: str, reading: Reading) -> tuple[Block, ...]:
    tokens = _parser().parse(fences_apart(text))
    if any(token.level > _DEEPEST for token in tokens):
        return _plain_blocks(text)
    blocks, _ = _read_blocks(tokens, 0, Reader(reading))
    return blocks


def _plain_blocks(text: str) -> tuple[Block, ...]:
    lines = (as_written(line).strip() for line in text.split("\n"))
    return tuple(Paragraph(children=(Text(text=line),)) for line in lines if line)


def _read_blocks(tokens: list[Token], at: int, reader: Reader) -> tuple[tuple[Block, ...], int]:
    """Return the blocks from ``at`` to the end of the enclosing block, and the place after its closing token."""
    blocks: list[Block] = []
    while at < len(tokens):
        token = tokens[at]
        if token.nesting < 0:
            return tuple(blocks), at + 1
        block, at = _read_block(tokens, at, reader)
        if block is not None:
            blocks.append(block)
    return tuple(blocks), at


def _read_block(tokens: list[Token], at: int, reader: Reader) -> tuple[Block | None, int]:  # noqa: PLR0911 (one return a kind of block)
    token = tokens[at]
    match token.type:
        case "paragraph_open":
            children = reader.inlines(tokens[at + 1].children or [])
            return (Paragraph(children=children) if children else None), at + 3
        case "heading_open":
            children = reader.inlines(tokens[at + 1].children or [])
            return (Heading(level=int(token.tag[1]), children=children) if children else None), at + 3
        case "fence" | "code_block":
            return _fence(as_written(token.content).removesuffix("\n"), as_written(token.info).strip()), at + 1
        case "hr":
            return Rule(), at + 1
        case "blockquote_open":
            blocks, at = _read_blocks(tokens, at + 1, reader)
            return Quote(blocks=blocks), at
        case "bullet_list_open" | "ordered_list_open":
            return _read_list(tokens, at, reader)
        case "table_open":
            return _read_table(tokens, at, reader)
        case _:
            raise AssertionError(f"the parser is configured to give no {token.type}")


def _fence(text: str, info: str) -> Fence:
    """Return a fence; a sentence where its language should be is text, from a fence that was opened within a line."""
    if len(info.split()) > 1 and not _ATTRIBUTES.search(info):
        return Fence(text="\n".join(part for part in (info, text) if part), language="")
    return Fence(text=text, language=info)


def _read_list(tokens: list[Token], at: int, reader: Reader) -> tuple[Block, int]:
    opening = tokens[at]
    start = int(opening.attrs.get("start", 1)) if opening.type == "ordered_list_open" else None
    tight = True
    items: list[ListItem] = []
    at += 1
    while tokens[at].type == "list_item_open":
        first = tokens[at + 1]
        tight = tight and not (first.type == "paragraph_open" and not first.hidden)
        blocks, at = _read_blocks(tokens, at + 1, reader)
        items.append(ListItem(blocks=blocks))
    return ItemList(items=tuple(items), start=start, tight=tight), at + 1


def _read_table(tokens: list[Token], at: int, reader: Reader) -> tuple[Block, int]:
    rows: list[tuple[Cell, ...]] = []
    cells: list[Cell] = []
    aligns: list[Align] = []
    while tokens[at].type != "table_close":
        token = tokens[at]
        if token.type in {"th_open", "td_open"}:
            if token.type == "th_open":
                aligns.append(_align(str(token.attrs.get("style", ""))))
            cells.append(reader.inlines(tokens[at + 1].children or []))
        elif token.type == "tr_close":
            rows.append(tuple(cells))
            cells = []
        at += 1
    return Table(header=rows[0], rows=tuple(rows[1:]), aligns=tuple(aligns)), at + 1


def _align(style: str) -> Align:
    match style.removeprefix("text-align:"):
        case "left":
            return "left"
        case "center":
            return "center"
        case "right":
            return "right"
        case _:
            return ""
