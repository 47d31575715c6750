"""reStructuredText as its reader sees it: directives, targets, comments and roles go, every line keeps its number."""

import re
from collections.abc import Sequence

from ragcore.parsing.markup.rst_tables import block_end

_EXPLICIT = re.compile(r"^(\s*)\.\.(?:\s+(.*))?$")
_DIRECTIVE = re.compile(r"^(?:\|[^|]+\|\s+)?([\w:+.-]+)::(?:\s+(.*))?$")
_FOOTNOTE = re.compile(r"^\[([^\]\s]+)\]\s+(.*)$")
_OPTION = re.compile(r"^\s+:[\w-]+:")
_CODE = frozenset(("code-block", "code", "sourcecode", "prompt", "console", "ipython", "parsed-literal"))
_UNSEEN = frozenset(
    ("contents", "toctree", "image", "raw", "index", "highlight", "meta", "include", "literalinclude", "currentmodule",
     "module", "py:module", "automodule", "autoclass", "autofunction", "tabularcolumns", "role", "default-role",
     "sectionauthor", "codeauthor", "unicode", "replace", "bibliography", "graphviz", "mermaid", "plot")
)  # fmt: skip
_LABELLED = frozenset(
    ("note", "warning", "tip", "important", "caution", "danger", "attention", "hint", "error", "seealso", "deprecated",
     "versionadded", "versionchanged", "todo")
)  # fmt: skip
_LABELS = {"seealso": "See also", "versionadded": "Added in version", "versionchanged": "Changed in version"}
_ROLE = re.compile(r"(?<!`)``(?P<literal>[^`].*?)``(?!`)|:[\w:.+-]+:`~?!?(?P<role>[^`<]*?)(?:\s*<[^>`]*>)?`")
_LINK = re.compile(r"(?<![`\w])`(?P<text>[^`<]+?)(?:\s*<[^>`]*>)?`__?(?!\w)")


def readable_rst(lines: Sequence[str]) -> list[str]:
    """Return the lines as they read when the document is published; their number stays."""
    kept = list(lines)
    at = 0
    while at < len(kept):
        explicit = _EXPLICIT.match(kept[at])
        if explicit:
            at = _explicit(kept, at, len(explicit.group(1)), (explicit.group(2) or "").strip())
        elif kept[at].rstrip().endswith("::") and not kept[at].lstrip().startswith((">>>", "* -")):
            at = _literal(kept, at)
        else:
            kept[at] = _inline(kept[at])
            at += 1
    return kept


def starts_code(line: str) -> bool:
    """Tell whether the block that follows a line is shown as it is written."""
    explicit = _EXPLICIT.match(line)
    directive = _DIRECTIVE.match((explicit.group(2) or "").strip()) if explicit else None
    return directive.group(1) in _CODE if directive else line.rstrip().endswith("::")


def _inline(line: str) -> str:
    if "`" not in line:
        return line
    plain = _ROLE.sub(lambda found: f"`{found['literal']}`" if found["literal"] else found["role"], line)
    return _LINK.sub(r"\g<text>", plain)


def _literal(lines: list[str], at: int) -> int:
    """Take the lines of a literal block as they are; the colons that announce it become one."""
    line = lines[at].rstrip()
    lines[at] = _inline(line.removesuffix("::").rstrip() if line.endswith(" ::") or line == "::" else line[:-1])
    return max(at + 1, block_end(lines, at + 1, len(line) - len(line.lstrip())))


def _explicit(lines: list[str], at: int, indent: int, text: str) -> int:
    """Rewrite what begins with two dots, and return the line after what was dealt with."""
    end = block_end(lines, at + 1, indent)
    footnote, directive = _FOOTNOTE.match(text), _DIRECTIVE.match(text)
    if footnote:
        lines[at] = _inline(f"{' ' * indent}[{footnote.group(1)}] {footnote.group(2)}")
        return at + 1
    name = directive.group(1) if directive else ""
    if not directive or name in _UNSEEN:  # a target, a comment, or what shows no text
        end = at + 1 if text.startswith("_") else max(end, at + 1)
        lines[at:end] = [""] * (end - at)
        return end
    argument = (directive.group(2) or "").strip()
    body = at + 1
    while body < end and _OPTION.match(lines[body]):
        lines[body] = ""
        body += 1
    if name in _CODE:
        return _fenced(lines, at, end, argument)
    label = _LABELS.get(name, name.capitalize()) if name in _LABELLED else ""
    lines[at] = " " * indent + _inline(
        f"{label}: {argument}" if label and argument else f"{label}:" if label else argument
    )
    return at + 1


def _fenced(lines: list[str], at: int, end: int, language: str) -> int:
    """Put a fence where the directive and the empty line after its code stand."""
    is_room = end < len(lines) and not lines[end].strip() and end > at + 1
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    lines[at] = f"{indent}```{language}" if is_room else ""
    if is_room:
        lines[end] = f"{indent}```"
    return end + 1 if is_room else max(end, at + 1)
