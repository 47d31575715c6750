"""Slack's ``markdown`` block and stream: standard Markdown with tables, translated by Slack.

``&``, ``<`` and ``>`` are written as entities, in code too: no mention, broadcast or tag of Slack's own begins without
one of them, whichever of the two languages a client reads the text in.
"""

import re
from collections.abc import Sequence

from bots.rendering.direction import directed
from bots.rendering.markup import JOINER, Line, Markup, Place, prefixed, safe_url, strip_markup_edges
from bots.rendering.quiet import quiet
from bots.rendering.tree import Cell, Cite, Inline, Table

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# What Markdown would read as markup within a line; an underscore only where it is no part of a word.
_SPECIAL = re.compile(r"[\\`*\[\]]|~(?=~)|(?<=~)~|(?<![^\W_])_|_(?![^\W_])|!(?=\[)")
_LINE_START = re.compile(r"^([^\S\n]*+)(#(?=[#\s]|$)|[-+](?=\s|$)|[-=:](?=(?:[-=:|]|[^\S\n])*+$)|~~~|\|)", re.MULTILINE)
_NUMBERED = re.compile(r"^[^\S\n]*+\d{1,9}(?=[.)](?:\s|$))", re.MULTILINE)
_QUOTED = re.compile(r"^(?=[^\S\n]*+&gt;)", re.MULTILINE)
_TICKS = re.compile(r"`+")
_FENCES = re.compile(r"^[^\S\n]*+(`{3,}|~{3,})", re.MULTILINE)


def escaped(text: str) -> str:
    """Return the text with Slack's three control characters as entities."""
    return re.sub(r"[&<>]", lambda found: _ENTITIES[found[0]], text)


class SlackMarkdown(Markup):
    """Writes standard Markdown as Slack reads it."""

    hard_break = "  \n"
    indents_code = True

    def words(self, text: str) -> str:
        """Return plain words."""
        return escaped(_SPECIAL.sub(r"\\\g<0>", text))

    def code(self, text: str) -> str:
        """Return a code span, its marks longer than any within."""
        longest = max((len(run) for run in _TICKS.findall(text)), default=0)
        ticks = "`" * (longest + 1)
        pad = " " if text.startswith("`") or text.endswith("`") else ""
        return f"{ticks}{pad}{escaped(text)}{pad}{ticks}"

    def style(self, style: str, inside: str) -> str:
        """Return a styled run."""
        mark = {"emphasis": "*", "strong": "**", "strike": "~~"}[style]
        return mark + strip_markup_edges(inside) + mark

    def link(self, url: str, children: Sequence[Inline]) -> str:
        """Return ``[words](url)``."""
        return f"[{super().inlines(children)}]({escaped(safe_url(url))})"

    def cite(self, cite: Cite) -> str:
        """Return ``[[1]](url)``."""
        label = f"\\[{cite.number}\\]"
        return f"[{label}]({escaped(safe_url(cite.url))})" if cite.url else label

    def heading(self, level: int, children: Sequence[Inline]) -> str:
        """Return a heading."""
        return f"{'#' * level} {self.inlines(children)}"

    def fence(self, text: str, language: str) -> str:
        """Return a fence longer than any within."""
        longest = max((len(run) for run in _FENCES.findall(text)), default=2)
        fence = "`" * max(3, longest + 1)
        return f"{fence}{escaped(language.replace('`', ''))}\n{escaped(text)}\n{fence}"

    def quote(self, lines: list[Line]) -> list[Line]:
        """Return the lines behind ``>``."""
        return list(prefixed(lines, "> "))

    def table(self, table: Table, place: Place) -> list[Line]:
        """Return a table: a row a line."""
        rules = {"": "---", "left": ":---", "center": ":---:", "right": "---:"}
        rule = "| " + " | ".join(rules[align] for align in table.aligns) + " |"
        return [Line(line) for line in (self.row(table.header), rule, *map(self.row, table.rows))]

    def row(self, cells: Sequence[Cell]) -> str:
        """Return one row of a table."""
        written = (self.inlines(cell).replace("  \n", " ").replace("|", "\\|") for cell in cells)
        return "| " + " | ".join(written) + " |"

    def between(self, before: str, piece: str) -> str:
        """Return a joiner where an exclamation mark would make a picture of a link."""
        return JOINER if before.endswith("!") and piece.startswith("[") else ""

    def rule(self) -> str:
        """Return a line across."""
        return "***"

    def marker(self, number: int | None, depth: int) -> str:
        """Return what stands before an item."""
        return "- " if number is None else f"{number}. "

    def paragraph(self, text: str) -> str:
        """Return the text so that no line of it starts a block."""
        text = _NUMBERED.sub(r"\g<0>\\", _LINE_START.sub(r"\1\\\2", text))
        return _QUOTED.sub(JOINER, text)

    def inlines(self, children: Sequence[Inline], styles: frozenset[str] = frozenset()) -> str:
        """Return the inlines, quiet and in their direction."""
        return super().inlines(children if styles else directed(quiet(children)), styles)
