"""Jira's wiki markup, in which a Data Center tells texts, as Markdown. Pure.

https://jira.atlassian.com/secure/WikiRendererHelpAction.jspa?section=all
"""

import re
from collections.abc import Iterator

from connectors.atlassian.markup import code_span, fenced, link
from connectors.markdown import harmless_blocks, harmless_words

_FENCE = re.compile(r"\{(code|noformat)(?::([^{}]*))?\}")
_HEADING = re.compile(r"^\s*h([1-6])\.\s+(.*)$")
_LIST = re.compile(r"^\s*([*#-]+)\s+(.*)$")
_RULE = re.compile(r"^\s*-{4,5}\s*$")
_QUOTE = re.compile(r"^\s*bq\.\s+(.*)$")
_BLOCK_MACRO = re.compile(r"\{(quote|panel|info|note|warning|tip|expand)(?::([^{}]*))?\}")
_STYLE = re.compile(r"\{(?:color(?::[^{}]*)?|anchor:[^{}]*|align(?::[^{}]*)?)\}")
_LINK = re.compile(r"(?<!\\)\[([^\[\]\n]+)\]")
_IMAGE = re.compile(r"(?<![\w!])!([^\s!|][^!|\n]*?)(?:\|[^!\n]*)?!(?!\w)")
_MONO = re.compile(r"\{\{((?:(?!\{\{|\}\}).)+)\}\}")
_WORDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"(?<![\w\\{sign}]){re.escape(sign)}(?=\S)([^\n{sign}]*?\S){re.escape(sign)}(?![\w{sign}])"), mark)
    for sign, mark in (("*", "**"), ("_", "*"), ("+", ""))
)
_STRUCK = re.compile(r"(?<![\w\\-])-(?=[^\s-])([^\n-]*?[^\s-])-(?![\w-])")
_CITED = re.compile(r"(?<!\w)\?\?(.+?)\?\?(?!\w)")
BAR = r"\|"
_HELD = "\ue000{}\ue001"
_BACK = re.compile("\ue000(\\d+)\ue001")


def wiki_lines(text: object) -> list[str]:
    """Return a text as lines of Markdown; none for what is no text."""
    if not isinstance(text, str):
        return []
    plain = re.sub("[\ue000\ue001]", "", text.replace("\r\n", "\n").replace("\r", "\n"))
    lines: list[str] = []
    for piece, language in _pieces(plain):
        written = fenced(piece, language) if language is not None else list(_prose(piece))
        if lines and written and lines[-1]:
            lines.append("")
        lines += written
    return _trimmed(lines)


def _pieces(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield what stands outside of code, with None, and what is code, with its language."""
    at = 0
    while True:
        opening = _FENCE.search(text, at)
        if opening is None:
            yield text[at:], None
            return
        closing = f"{{{opening[1]}}}"
        end = text.find(closing, opening.end())
        if end < 0:
            yield text[at:], None
            return
        yield text[at : opening.start()], None
        first = (opening[2] or "").partition("|")[0]
        yield text[opening.end() : end], first if re.fullmatch(r"[A-Za-z0-9+#_.-]+", first) else ""
        at = end + len(closing)


def _prose(text: str) -> Iterator[str]:
    """Yield the lines of a text without code."""
    in_quote, previous = False, ""
    for line in text.split("\n"):
        parts = _BLOCK_MACRO.split(line)
        for at in range(0, len(parts), 3):
            if at:  # what stands before the text: a macro's name, and its settings
                title = re.search(r"title=([^|}]+)", parts[at - 1] or "")
                in_quote ^= parts[at - 2] == "quote"
                yield from ("", f"**{title[1].strip()}**", "") if title else ("",)
                previous = ""
            if len(parts) > 1 and not parts[at].strip():
                continue
            written, kind = _line(parts[at])
            if kind != previous and previous and kind and "table" in {kind, previous}:
                yield ""  # a table stands apart from what is beside it
            if kind == "table" and previous != "table" and len(written) == 1:
                written = [*written, _rule(written[0])]
            yield from (f"> {one}" if in_quote and one else one for one in written)
            previous = kind


def _line(line: str) -> tuple[list[str], str]:
    """Return the lines of Markdown for one line, and what kind of line it is."""
    text, found = line.strip(), (harmless_blocks(_inline(line).strip()), "text")
    if heading := _HEADING.match(line):
        return ["", f"{'#' * int(heading[1])} {_inline(heading[2])}", ""], "head"
    if _RULE.match(line):
        return ["", "---", ""], "rule"
    if text.startswith("|"):
        return _row(text), "table"
    item = _LIST.match(line)
    if item and not _is_struck(item):
        sign = "1." if item[1].endswith("#") else "-"
        found = (f"{'   ' * (len(item[1]) - 1)}{sign} {_inline(item[2])}", "list")
    elif quote := _QUOTE.match(line):
        found = (f"> {_inline(quote[1])}", "quote")
    return ([found[0]], found[1]) if text else ([""], "")


def _is_struck(item: re.Match[str]) -> bool:
    """Tell whether what looks like a list's sign is a run of dashes."""
    return len(item[1]) > 1 and set(item[1]) == {"-"}


def _row(line: str) -> list[str]:
    """Return a table's row; with the rule below it where it is the head."""
    held: list[str] = []

    def hold(found: re.Match[str]) -> str:  # the bars in links and pictures part no cells
        held.append(found[0])
        return _HELD.format(len(held) - 1)

    text = _IMAGE.sub(hold, _LINK.sub(hold, line))
    is_head = text.startswith("||")
    cells = text.strip("|").split("||" if is_head else "|")
    back = (_BACK.sub(lambda found: held[int(found[1])], cell) for cell in cells)
    row = f"| {' | '.join(_inline(cell).strip().replace('|', BAR) for cell in back)} |"
    return [row, _rule(row)] if is_head else [row]


def _rule(row: str) -> str:
    """Return what stands below the head of a table."""
    return f"|{' --- |' * (len(row.replace(BAR, '').split('|')) - 2)}"


def _inline(text: str) -> str:
    """Return what stands in a line."""
    held: list[str] = []

    def hold(shown: str) -> str:
        held.append(shown)
        return _HELD.format(len(held) - 1)

    text = _MONO.sub(lambda found: hold(code_span(found[1])), text)
    text = _LINK.sub(lambda found: hold(_link(found[1])), text)
    text = _IMAGE.sub(lambda found: hold(f"![{found[1]}]" if "://" not in found[1] else f"![]({found[1]})"), text)
    text = re.sub(r"https?://\S+", lambda found: hold(found[0]), text)
    text = harmless_words(_STYLE.sub("", text))
    for pattern, mark in _WORDS:
        text = pattern.sub(rf"{mark}\1{mark}", text) if mark != "*" else pattern.sub(r"*\1*", text)
    text = _CITED.sub(r"\1", _STRUCK.sub(r"~~\1~~", text))
    text = re.sub(r"\\\\\s*", " ", text)
    text = re.sub(r"\\([*_\-+\[\]{}!|#])", r"\1", text)
    while _BACK.search(text):
        text = _BACK.sub(lambda found: held[int(found[1])], text)
    return text


def _link(inner: str) -> str:
    if inner.startswith("~"):
        return f"@{inner[1:]}"
    if inner.startswith("^"):
        return inner[1:]
    text, _, url = inner.partition("|")
    url = (url or text).partition("|")[0].strip()
    text = text.strip()
    if not url.startswith(("http://", "https://", "mailto:")):
        return text if "|" in inner else f"[{inner}]"
    return url if text == url else link(text, url)


def _trimmed(lines: list[str]) -> list[str]:
    """Return lines without empty ones at the ends, and never two in a row."""
    found: list[str] = []
    for line in lines:
        if line.strip() or (found and found[-1]):
            found.append(line.rstrip())
    while found and not found[-1]:
        found.pop()
    return found
