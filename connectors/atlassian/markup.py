"""Pieces of Markdown that the formats of Atlassian's products are written with. Pure."""

import re
from collections.abc import Sequence

from connectors.markdown import harmless_blocks, harmless_words
from ragcore.errors import SourceBadReply

DEEPEST = 60
"""Parts within each other that are looked into; what lies deeper counts as text."""
_SPACE = re.compile(r"[ \t\r\n\f\v\u00a0]+")
_LANGUAGE = re.compile(r"[A-Za-z0-9+#_.-]+")
_WEB = ("http://", "https://", "mailto:")


def too_deep() -> SourceBadReply:
    """Return why a text isn't read whose parts stand in each other a thousand deep."""
    return SourceBadReply("its lists or other parts are nested too deep", mend="edit it")


def one_line(text: str) -> str:
    """Return text with each run of white space as one blank, none at its ends."""
    return _SPACE.sub(" ", text).strip()


def plain(text: str) -> str:
    """Return text that is no markup, on one line: what looks like a tag or a link stays what it is."""
    return harmless_words(_SPACE.sub(" ", text))


def paragraph(text: str) -> list[str]:
    """Return a paragraph's lines, none of them empty, or what Markdown takes for a heading or code."""
    lines = (one_line(line) for line in text.split("\n"))
    told = "\n".join(line for line in lines if line)
    return harmless_blocks(told).split("\n") if told else []


def marked(text: str, mark: str) -> str:
    """Return text between marks, with the blanks around it outside of them."""
    inner = text.strip()
    if not inner or "\n" in inner or inner.startswith(mark):
        return text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}{mark}{inner}{mark}{after}"


def code_span(text: str) -> str:
    """Return code within a line; as plain text where it holds the mark itself."""
    inner = one_line(text)
    return f"`{inner}`" if inner and "`" not in inner else plain(inner)


def fenced(code: str, language: str = "") -> list[str]:
    """Return the lines of a block of code, between fences that are longer than any in it."""
    lines = code.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
    longest = max((len(run) for line in lines for run in re.findall(r"`{3,}", line)), default=2)
    fence = "`" * max(3, longest + 1)
    told = language if _LANGUAGE.fullmatch(language) else ""
    return [f"{fence}{told}", *(line.rstrip() for line in lines), fence]


def link(text: str, url: str) -> str:
    """Return a link, or its text alone where it leads nowhere that a reader could follow."""
    text = text or url
    if not url.startswith(_WEB):
        return text
    return f"[{bracketed(text)}]{address(url)}"


def address(url: str) -> str:
    """Return an address as it stands behind the text of a link."""
    return f"(<{url}>)" if set(url) & set("() <>") else f"({url})"


def bracketed(text: str) -> str:
    """Return text that may stand between brackets."""
    return one_line(text).replace("[", r"\[").replace("]", r"\]")


def cell(lines: Sequence[str]) -> str:
    """Return lines as a cell of a table."""
    return "<br>".join(line for line in lines if line).replace("|", r"\|")


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of cells as the lines of a table: the first is its head, and all are as wide as the widest."""
    width = max(map(len, rows), default=0)
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
    return [*lines[:1], f"|{' --- |' * width}", *lines[1:]] if lines else []
