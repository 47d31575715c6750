"""HTML that stands in Markdown: its tables become tables, its tags and comments go as they do on the published page."""

import re
from collections.abc import Sequence

from ragcore.errors import ParseError
from ragcore.parsing.html.cleaning import clean
from ragcore.parsing.html.page import html_tree, write_html
from ragcore.parsing.outline import SectionWriter
from ragcore.types import Section, SectionKind

_NAMES = """
a abbr b big blockquote br caption center code col colgroup dd del details div dl dt em figcaption figure font h1 h2 h3
h4 h5 h6 hr i img ins kbd li mark ol p picture pre s samp small source span strike strong sub summary sup table tbody td
tfoot th thead tr tt u ul var video
"""
TAG = rf"</?(?:{'|'.join(_NAMES.split())})(?=[\s/>])(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>|<!--.*?-->"
"""A tag that HTML knows, or a comment: ``<your-name>`` is neither."""

_FAR = 2_000
"""Lines after which nobody looks any more for the end of a comment, lest many of them take for ever."""
_SPACING = re.compile(r"</?(?:br|td|th|dd|dt|li|tr|summary)\b", re.IGNORECASE)
_COMMENT = re.compile(r"^ {0,3}<!--")
_TABLE = re.compile(r"<(/?)table(?=[\s>])", re.IGNORECASE)


def shown(tag: str) -> str:
    """Return what a reader sees in the place of a tag: a space where it sets two words apart."""
    return " " if _SPACING.match(tag) else ""


def comment_end(lines: Sequence[str], start: int) -> int | None:
    """Return the line with the end of a comment that begins a line and goes on in the next ones; None for no such."""
    if not _COMMENT.match(lines[start]) or "-->" in lines[start]:
        return None
    return next((at for at in range(start + 1, min(len(lines), start + _FAR)) if "-->" in lines[at]), None)


def table_ends(lines: Sequence[str]) -> dict[int, int]:
    """Return for each line with a ``<table>`` that is closed the line after its ``</table>``.

    A blank line ends the HTML for Markdown, yet not the table that a reader sees.
    """
    ends: dict[int, int] = {}
    opened: list[int] = []
    for at, line in enumerate(lines):
        for closing in _TABLE.findall(line) if "<" in line else ():
            if not closing:
                opened.append(at)
            elif opened:
                ends[opened.pop()] = at + 1
    return ends


def table_sections(source: str) -> tuple[Section, ...]:
    """Return the tables of a piece of HTML and the text around them; nothing when it holds no table of data."""
    writer = SectionWriter()
    try:
        write_html(clean(html_tree(source)), writer)
    except ParseError:
        return ()
    sections = writer.sections()
    return sections if any(section.kind is SectionKind.TABLE for section in sections) else ()
