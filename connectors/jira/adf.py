"""Atlassian's document format, in which Jira Cloud tells texts, as Markdown. Pure.

https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/. A node that isn't known keeps its text.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

_DEEPEST = 60
_SPACE = re.compile(r"[ \t\r\n\u00a0]+")
_LEADING = re.compile(r"^(?:#{1,6}(?= )|>|[-+*](?= )|={3,}$|-{3,}$|`{3}|~{3})")
_TAG_LIKE = re.compile(r"<(?=[A-Za-z/!])")
_MARKS = MappingProxyType({"strong": "**", "em": "*", "strike": "~~", "code": "`"})
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
        if _kind(child) in _INLINE and depth < _DEEPEST:
            loose.append(child)
            continue
        yield _paragraph("".join(map(_inline, loose)))
        loose = []
        yield from _block(child, depth + 1)
    yield _paragraph("".join(map(_inline, loose)))


def _block(node: Node, depth: int) -> Iterator[list[str]]:
    kind = _kind(node)
    if depth > _DEEPEST:
        yield _paragraph(_text(node))
    elif kind in _WRITERS:
        yield from _WRITERS[kind](node, depth)
    else:
        yield from _blocks(node, depth)


def _paragraph(text: str) -> list[str]:
    lines = (_SPACE.sub(" ", line).strip() for line in text.split("\n"))
    return [_LEADING.sub(r"\\\g<0>", line) for line in lines if line]


def _written(node: Node, depth: int) -> Iterator[list[str]]:
    yield _paragraph("".join(map(_inline, _content(node))))


def _heading(node: Node, depth: int) -> Iterator[list[str]]:
    level = _attrs(node).get("level")
    level = level if isinstance(level, int) and 1 <= level <= 6 else 1
    text = _SPACE.sub(" ", "".join(map(_inline, _content(node)))).strip()
    yield [f"{'#' * level} {text}"] if text else []


def _code(node: Node, depth: int) -> Iterator[list[str]]:
    lines = "".join(str(one.get("text") or "") for one in _content(node)).split("\n")
    longest = max((len(run) for line in lines for run in re.findall(r"`{3,}", line)), default=2)
    fence = "`" * max(3, longest + 1)
    language = str(_attrs(node).get("language") or "")
    yield [f"{fence}{language if re.fullmatch(r'[A-Za-z0-9+#_.-]+', language) else ''}", *lines, fence]


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
    rows = [[_cell(cell, depth) for cell in _content(row)] for row in _content(node)]
    width = max(map(len, rows), default=0)
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows if row]
    yield [*lines[:1], f"|{' --- |' * width}", *lines[1:]] if lines else []


def _cell(cell: Node, depth: int) -> str:
    lines = (line for block in _blocks(cell, depth + 1) for line in block if not line.startswith("```"))
    return "<br>".join(lines).replace("|", r"\|")


def _panel(node: Node, depth: int) -> Iterator[list[str]]:
    name = _PANELS.get(str(_attrs(node).get("panelType") or ""))
    yield [f"**{name}**"] if name else []
    yield from _blocks(node, depth)


def _expand(node: Node, depth: int) -> Iterator[list[str]]:
    title = _SPACE.sub(" ", str(_attrs(node).get("title") or "")).strip()
    yield [f"**{title}**"] if title else []
    yield from _blocks(node, depth)


def _quote(node: Node, depth: int) -> Iterator[list[str]]:
    yield [f"> {line}".rstrip() for line in _joined(_blocks(node, depth))]


def _rule(node: Node, depth: int) -> Iterator[list[str]]:
    yield ["---"]


def _card(node: Node, depth: int) -> Iterator[list[str]]:
    yield _paragraph(_inline(node))


def _extension(node: Node, depth: int) -> Iterator[list[str]]:
    yield _paragraph(str(_attrs(node).get("text") or ""))
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


def _inline(node: Node) -> str:
    """Return what a node within a line says."""
    kind, attrs = _kind(node), _attrs(node)
    if kind == "text":
        return _marked(node)
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
    return told or "".join(map(_inline, _content(node)))


def _marked(node: Node) -> str:
    text = _TAG_LIKE.sub(r"\\<", _SPACE.sub(" ", str(node.get("text") or "")))
    marks = node.get("marks")
    for mark in marks if isinstance(marks, list) else ():
        if not isinstance(mark, dict) or not text.strip():
            continue
        sign, inner = _MARKS.get(str(mark.get("type"))), text.strip()
        if sign and not (sign == "`" and "`" in inner):
            text = text.replace(inner, f"{sign}{inner}{sign}", 1)
        elif mark.get("type") == "link":
            text = text.replace(inner, _link(inner, str(_attrs(mark).get("href") or "")), 1)
    return text


def _link(text: str, url: str) -> str:
    if not url.startswith(("http://", "https://", "mailto:")):
        return text
    named = text.replace("[", r"\[").replace("]", r"\]")
    return f"[{named}](<{url}>)" if set(url) & set("() <>") else f"[{named}]({url})"


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
