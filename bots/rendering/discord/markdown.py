"""Discord's Markdown: no tables, no nested quotes, every punctuation mark can be escaped.

Links are written ``[text](<url>)``, which keeps previews away on edits too, where the message's own switch gets lost.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from bots.rendering.direction import directed
from bots.rendering.markup import JOINER, Line, Markup, Place, safe_url, strip_markup_edges
from bots.rendering.plain import plain_inlines
from bots.rendering.quiet import quiet
from bots.rendering.sources import source_inlines
from bots.rendering.tables import without_table
from bots.rendering.tree import Cite, Code, Inline, SourceLine, Styled, Table

TABLE_COLUMNS = 72
_SPECIAL = re.compile(r"[\\*_~`|\[]")
_LINE_START = re.compile(r"^([^\S\n]*+)(#{1,3}(?=\s)|-#|>|[-*+](?=\s))", re.MULTILINE)
_NUMBERED = re.compile(r"^[^\S\n]*+\d++(?=[.)]\s)", re.MULTILINE)
_PINGS = re.compile(r"(?<=@)(?=everyone|here)|(?<=<)(?=[@#:/at]|id:)", re.IGNORECASE)
_LANGUAGE = re.compile(r"[a-z0-9_+\-.#]+", re.IGNORECASE)
_STYLE_MARKS = frozenset("*_~|")
_BRACKETS = frozenset("[]")
_TICKS = re.compile(r"`+")


class DiscordMarkdown(Markup):
    """Discord's Markdown: no tables, no nested quotes, every punctuation mark can be escaped."""

    def words(self, text: str) -> str:
        """Return plain words."""
        return _PINGS.sub(JOINER, _SPECIAL.sub(r"\\\g<0>", text))

    def code(self, text: str) -> str:
        """Return a code span."""
        # Three ticks in a row would be a block, so a run of them is broken up.
        text = _PINGS.sub(JOINER, _TICKS.sub(lambda run: JOINER.join(run[0]), text))
        return f"`` {text} ``" if "`" in text else f"`{text}`"

    def between(self, before: str, piece: str) -> str:
        """Return a joiner where the ticks of two code spans would be one run."""
        return JOINER if before.endswith("`") and piece.startswith("`") else ""

    def style(self, style: str, inside: str) -> str:
        """Return a styled run."""
        mark = {"emphasis": "*", "strong": "**", "strike": "~~"}[style]
        return mark + strip_markup_edges(inside) + mark

    def styled(self, child: Styled, styles: frozenset[str]) -> str:
        """Return a styled run; it ends before code with marks in it, where Discord would end it, and goes on behind."""
        written = ""
        for is_apart, run in groupby(child.children, _ends_styles):
            children = tuple(run)
            if is_apart:
                written += self.inlines(children, styles | {child.style})
            else:
                written += super().styled(replace(child, children=children), styles)
        return written

    def link(self, url: str, children: Sequence[Inline]) -> str:
        """Return ``[words](<url>)``, or the address alone where the words are one."""
        target = discord_url(url)
        plain = plain_inlines(children)
        if "://" in plain and JOINER not in plain:
            return f"<{target}>"  # a label that is an address makes no link
        has_brackets = not _BRACKETS.isdisjoint(plain)
        label = self.words(_round(plain)) if has_brackets else super().inlines(children)
        return f"[{label.strip()}](<{target}>)"

    def cite(self, cite: Cite) -> str:
        """Return ``[[1]](<url>)``."""
        return f"[[{cite.number}]](<{discord_url(cite.url)}>)" if cite.url else self.words(f"[{cite.number}]")

    def source(self, source: SourceLine) -> str:
        """Return one line of the source list, its age in the reader's words and time."""
        age = f" · <t:{int(source.updated_at.timestamp())}:R>" if source.updated_at else ""
        return self.inlines(source_inlines(source)) + age

    def heading(self, level: int, children: Sequence[Inline]) -> str:
        """Return a heading; Discord has three sizes."""
        return f"{'#' * min(level + 1, 3)} {self.inlines(children)}"

    def fence(self, text: str, language: str) -> str:
        """Return a fence; one within is broken up."""
        named = language if _LANGUAGE.fullmatch(language) else ""
        broken = _PINGS.sub(JOINER, text.replace("```", f"`{JOINER}`{JOINER}`"))
        return f"```{named}\n{broken}\n```"

    def quote(self, lines: list[Line]) -> list[Line]:
        """Return the lines behind ``>`` and its space, without which an empty one would end the quote."""
        return [Line("> " + line.text, line.fixed) for line in lines]

    def table(self, table: Table, place: Place) -> list[Line]:
        """Return aligned code, or a list."""
        return self.block(without_table(table, TABLE_COLUMNS), place)

    def marker(self, number: int | None, depth: int) -> str:
        """Return what stands before an item."""
        return "- " if number is None else f"{number}. "

    def paragraph(self, text: str) -> str:
        """Return the text so that no line of it starts a block."""
        return _NUMBERED.sub(r"\g<0>\\", _LINE_START.sub(r"\1\\\2", text))

    def inlines(self, children: Sequence[Inline], styles: frozenset[str] = frozenset()) -> str:
        """Return the inlines, quiet and in their direction."""
        return super().inlines(children if styles else directed(quiet(children)), styles)


def discord_url(url: str) -> str:
    """Return the address for a link; emphasis around a link would end at a mark in it."""
    return safe_url(url, "*").replace("~~", "~%7E")


def _ends_styles(child: Inline) -> bool:
    if isinstance(child, Styled):
        return any(map(_ends_styles, child.children))
    return isinstance(child, Code) and not _STYLE_MARKS.isdisjoint(child.text)


def _round(text: str) -> str:
    return text.replace("[", "(").replace("]", ")")
