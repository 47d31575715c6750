"""Atlassian's document format, in which Jira Cloud tells texts, as Markdown. Pure.

https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/. A node that isn't known keeps its text.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from connectors.atlassian.markup import (
    DEEPEST,
    cell,
    code_span,
    fenced,
    link,
    marked,
    one_line,
    paragraph,
    plain,
    table,
)

_MARKS = MappingProxyType({"strong": "**", "em": "*", "strike": "~~"})
_PANELS = MappingProxyType(
    {"info": "Info", "note": "Note", "warning": "Warning", "success": "Success", "error": "Error", "tip": "Tip"}
)
_INLINE = frozenset(
    {"text", "hardBreak", "mention", "emoji", "date", "status", "inlineCard", "placeholder", "inlineExtension", "media"}
)

Node = Mapping[str, Any]


def adf_lines(document: object) -> list[str]:
    """Return a document as lines of Markdown; none when it is no document."""
    return list(_joined(_blocks(document, 0))) if isinstance(document, dict) else []


def _joined(blocks: Iterator[list[str]]) -> Iterator[str]:
    is_first = True
    for block in blocks:
        if not block:
            continue
        if not is_first:
            yield ""
        is_first = False
        yield from block


def _content(node: Node) -> list[Node]:
    inner = node.get("content")
    return [one for one in inner if isinstance(one, dict)] if isinstance(inner, list) else []


def _attrs(node: Node) -> Mapping[str, Any]:
    found = node.get("attrs")
    return found if isinstance(found, dict) else {}


def _kind(node: Node) -> str:
    return str(node.get("type") or "")


def _blocks(node: Node, depth: int) -> Iterator[list[str]]:
    """Yield the blocks within a node."""
    loose: list[Node] = []
    for child in _content(node):
        if _kind(child) in _INLINE and depth < DEEPEST:
            loose.append(child)
            continue
        yield paragraph("".join(map(_inline, loose)))
        loose = []
        yield from _block(child, depth + 1)
    yield paragraph("".join(map(_inline, loose)))


def _block(node: Node, depth: int) -> Iterator[list[str]]:
    kind = _kind(node)
    if depth > DEEPEST:
        yield paragraph(_text(node))
    elif kind in _WRITERS:
        yield from _WRITERS[kind](node, depth)
    else:
        yield from _blocks(node, depth)


def _written(node: Node, depth: int) -> Iterator[list[str]]:
    yield paragraph("".join(map(_inline, _content(node))))


def _heading(node: Node, depth: int) -> Iterator[list[str]]:
    level = _attrs(node).get("level")
    level = level if isinstance(level, int) and 1 <= level <= 6 else 1
    text = one_line("".join(map(_inline, _content(node))))
    yield [f"{'#' * level} {text}"] if text else []


def _code(node: Node, depth: int) -> Iterator[list[str]]:
    code = "".join(str(one.get("text") or "") for one in _content(node))
    yield fenced(code, str(_attrs(node).get("language") or ""))


def _list(node: Node, depth: int) -> Iterator[list[str]]:
    lines: list[str] = []
    for number, item in enumerate(_content(node), 1):
        kind = _kind(item)
        if kind in {"taskItem", "decisionItem"}:
            is_done = _attrs(item).get("state") in {"DONE", "DECIDED"}
            mark = f"- [{'x' if is_done else ' '}] " if kind == "taskItem" else "- "
        elif kind == "listItem":
            mark = f"{number}. " if _kind(node) == "orderedList" else "- "
        else:  # a list of tasks within one
            lines += (f"  {line}" for block in _block(item, depth + 1) for line in block)
            continue
        indent = " " * (2 if mark.startswith("-") else len(mark))
        inner = [line for block in _blocks(item, depth + 1) for line in block]
        lines += (f"{indent if at else mark}{line}".rstrip() for at, line in enumerate(inner))
    yield lines


def _table(node: Node, depth: int) -> Iterator[list[str]]:
    rows = [[_cell(one, depth) for one in _content(row)] for row in _content(node)]
    yield table([row for row in rows if row])


def _cell(node: Node, depth: int) -> str:
    return cell([line for block in _blocks(node, depth + 1) for line in block if not line.startswith("```")])


def _panel(node: Node, depth: int) -> Iterator[list[str]]:
    name = _PANELS.get(str(_attrs(node).get("panelType") or ""))
    yield [f"**{name}**"] if name else []
    yield from _blocks(node, depth)


def _expand(node: Node, depth: int) -> Iterator[list[str]]:
    title = one_line(str(_attrs(node).get("title") or ""))
    yield [f"**{title}**"] if title else []
    yield from _blocks(node, depth)


def _quote(node: Node, depth: int) -> Iterator[list[str]]:
    yield [f"> {line}".rstrip() for line in _joined(_blocks(node, depth))]


def _rule(node: Node, depth: int) -> Iterator[list[str]]:
    yield ["---"]


def _card(node: Node, depth: int) -> Iterator[list[str]]:
    yield paragraph(_inline(node))


def _extension(node: Node, depth: int) -> Iterator[list[str]]:
    yield paragraph(str(_attrs(node).get("text") or ""))
    yield from _blocks(node, depth)


_WRITERS: Mapping[str, Callable[[Node, int], Iterator[list[str]]]] = MappingProxyType(
    {
        "paragraph": _written,
        "caption": _written,
        "heading": _heading,
        "codeBlock": _code,
        "bulletList": _list,
        "orderedList": _list,
        "taskList": _list,
        "decisionList": _list,
        "table": _table,
        "panel": _panel,
        "expand": _expand,
        "nestedExpand": _expand,
        "blockquote": _quote,
        "rule": _rule,
        "blockCard": _card,
        "embedCard": _card,
        "extension": _extension,
    }
)


def _inline(node: Node, depth: int = 0) -> str:
    """Return what a node within a line says."""
    kind, attrs = _kind(node), _attrs(node)
    if kind == "text" or depth > DEEPEST:
        return _marked(node) if kind == "text" else plain(_text(node))
    if kind == "hardBreak":
        return "\n"
    if kind in {"inlineCard", "blockCard", "embedCard"}:
        return str(attrs.get("url") or "")
    if kind == "date":
        return _day(attrs.get("timestamp"))
    if kind == "mention":
        text = str(attrs.get("text") or "")
        return text if text.startswith("@") else f"@{text or 'somebody'}"
    told = next((str(attrs[name]) for name in ("text", "alt", "shortName") if attrs.get(name)), "")
    return told or "".join(_inline(one, depth + 1) for one in _content(node))


def _marked(node: Node) -> str:
    found = node.get("marks")
    marks = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    kinds = [str(one.get("type")) for one in marks]
    told = str(node.get("text") or "")
    text = code_span(told) if "code" in kinds else plain(told)
    for kind, mark in zip(kinds, marks, strict=True):
        if kind in _MARKS:
            text = marked(text, _MARKS[kind])
        elif kind == "link" and text.strip():
            text = text.replace(text.strip(), link(text.strip(), str(_attrs(mark).get("href") or "")), 1)
    return text


def _day(timestamp: object) -> str:
    """Return the day that a time in milliseconds since 1970 means."""
    try:
        return f"{datetime.fromtimestamp(int(str(timestamp)) / 1000, UTC):%Y-%m-%d}"
    except (ValueError, OverflowError, OSError):
        return ""


def _text(node: Node) -> str:
    """Return the text in a node that is nested too deep, without its form."""
    parts, waiting = list[str](), [node]
    while waiting:
        one = waiting.pop()
        parts.append(str(one.get("text") or ""))
        waiting += reversed(_content(one))
    return " ".join(filter(None, parts))
