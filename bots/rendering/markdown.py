"""The tree as Markdown (CommonMark with tables): what ``ask --json`` calls ``text``."""

import re
from collections.abc import Sequence

from bots.rendering.parse import parse_answer
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
    SourceLine,
    Styled,
    Table,
    Text,
)
from ragcore.types import Answer

# What would be read as markup inside a line; an underscore only where it does not stand between letters or digits.
_INLINE = re.compile(
    r"[\\`*]|~(?=~)|(?<=~)~|(?<![^\W_])_|_(?![^\W_])|(?<=\])\(|<(?=[A-Za-z/!?])|&(?=#?[0-9A-Za-z]{1,40};)|!(?=\[)|!$|\[(?=ID:)"
)
# What would start a block at the beginning of a line.
_LINE_START = re.compile(r"^(\s*)([#>|]|[-+](?=\s|$)|[-=:](?=[-=:|\s]*$)|~~~|\d{1,9}(?=[.)](?:\s|$)))")
_RUNS = re.compile(r"`+")
_FENCES = re.compile(r"^[^\S\n]*+(`{3,}|~{3,})", re.MULTILINE)


def to_markdown(answer: Answer) -> str:
    """Return the answer as Markdown: citations as ``[[1]](url)``, then the numbered sources, then the notes."""
    return document_markdown(parse_answer(answer))


def document_markdown(document: Document) -> str:
    """Return a tree as Markdown."""
    parts = [_blocks(document.blocks)]
    if document.sources:
        parts.append("\n".join(_source(source) for source in document.sources))
    parts += [f"*{_escaped(note)}*" for note in document.notes]
    return "\n\n".join(part for part in parts if part)


def plain_document(document: Document) -> Document:
    """Return a tree without any form: its Markdown as plain lines."""
    lines = document_markdown(document).split("\n")
    return Document(blocks=tuple(Paragraph(children=(Text(text=line),)) for line in lines if line.strip()))


def _source(source: SourceLine) -> str:
    label = _line(source.label or source.file or source.url)
    remarks = "".join(f" · {_line(remark)}" for remark in source.remarks)
    return f"{source.number}. " + (f"[{_label(label)}]({_target(source.url)})" if source.url else label) + remarks


def _blocks(blocks: Sequence[Block], *, tight: bool = False) -> str:
    written = ""
    other = False
    for before, block in zip((None, *blocks), blocks, strict=False):
        # Two lists side by side would run together: a changed bullet starts a new one.
        other = isinstance(before, ItemList) and isinstance(block, ItemList) and not other
        gap = "" if before is None else "\n" if tight and isinstance(block, ItemList) else "\n\n"
        written += gap + _block(block, other=other)
    return written


def _block(block: Block, *, other: bool) -> str:  # noqa: PLR0911 (one return a kind of block)
    match block:
        case Paragraph():
            return _lines(block.children)
        case Heading():
            return f"{'#' * block.level} " + _inlines(block.children).replace("\\\n", " ").replace("\n", " ")
        case ItemList():
            return _list(block, other=other)
        case Quote():
            return _prefixed(_blocks(block.blocks), "> ", "> ")
        case Fence():
            longest = max((len(run) for run in _FENCES.findall(block.text)), default=2)
            fence = "`" * max(3, longest + 1)
            return f"{fence}{block.language.replace('`', '')}\n{block.text}\n{fence}"
        case Table():
            return _table(block)
        case Rule():
            return "***"


def _list(block: ItemList, *, other: bool) -> str:
    bullet, point = ("+", ")") if other else ("-", ".")
    items: list[str] = []
    for index, item in enumerate(block.items):
        marker = f"{bullet} " if block.start is None else f"{block.start + index}{point} "
        items.append(_prefixed(_blocks(item.blocks, tight=block.tight), marker, " " * len(marker)))
    return ("\n" if block.tight else "\n\n").join(items)


def _prefixed(text: str, first: str, rest: str) -> str:
    head, *tail = text.split("\n")
    return "\n".join([(first + head).rstrip(" "), *((rest + line).rstrip(" ") for line in tail)])


def _table(table: Table) -> str:
    rules = {"": "---", "left": ":---", "center": ":---:", "right": "---:"}
    rows = [_row(table.header), "| " + " | ".join(rules[align] for align in table.aligns) + " |"]
    return "\n".join([*rows, *(_row(row) for row in table.rows)])


def _row(cells: Sequence[Cell]) -> str:
    return (
        "| "
        + " | ".join(_inlines(cell).replace("|", "\\|").replace("\\\n", " ").replace("\n", " ") for cell in cells)
        + " |"
    )


def _lines(children: Sequence[Inline]) -> str:
    return "\n".join(_LINE_START.sub(r"\1\\\2", line.lstrip(" ")) for line in _inlines(children).split("\n"))


def _line(text: str) -> str:
    return _LINE_START.sub(r"\1\\\2", _escaped(text))


def _inlines(children: Sequence[Inline]) -> str:
    written = ""
    for child in children:
        piece = _inline(child)
        if written.endswith("!") and not written.endswith("\\!") and piece.startswith("["):
            written = written[:-1] + "\\!"
        written += piece
    return written


def _inline(inline: Inline) -> str:
    match inline:
        case Text():
            return _escaped(inline.text)
        case Code():
            return _code(inline.text)
        case Styled():
            mark = {"emphasis": "*", "strong": "**", "strike": "~~"}[inline.style]
            return f"{mark}{_inlines(inline.children)}{mark}"
        case Link():
            return f"[{_label(_inlines(inline.children))}]({_target(inline.url)})"
        case Cite():
            return f"[[{inline.number}]]({_target(inline.url)})" if inline.url else f"\\[{inline.number}\\]"
        case Break():
            return "\\\n" if inline.hard else "\n"


def _escaped(text: str) -> str:
    return _INLINE.sub(r"\\\g<0>", text)


def _label(text: str) -> str:
    return re.sub(r"(?<!\\)[\[\]]", r"\\\g<0>", text)


def _target(url: str) -> str:
    safe = url.replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C")
    return f"<{safe}>" if "(" in safe or ")" in safe else safe


def _code(text: str) -> str:
    longest = max((len(run) for run in _RUNS.findall(text)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"
