"""Slack's own mrkdwn, for what a ``markdown`` block can't be: context lines, modals, the fallback text.

It has no escapes but for ``& < >``: a mark that should be shown stands behind a word joiner, since a mark behind a
letter or a joiner formats nothing, and a style stands between zero-width spaces, since beside letters it would do
nothing.
"""

import re
from collections.abc import Sequence

from bots.rendering.direction import directed
from bots.rendering.markup import JOINER, Line, Markup, Place, prefixed, safe_url
from bots.rendering.plain import plain_inlines
from bots.rendering.quiet import quiet, quiet_text
from bots.rendering.slack.markdown import escaped
from bots.rendering.tables import without_table
from bots.rendering.tree import Inline, Table

_SPACE = "\u200b"
_MARKS = re.compile(r"[*_~`]")
_QUOTED = re.compile(r"^(?=\s*&gt;)", re.MULTILINE)
_TABLE_COLUMNS = 64


class Mrkdwn(Markup):
    """Writes mrkdwn."""

    def words(self, text: str) -> str:
        """Return plain words."""
        return escaped(_MARKS.sub(rf"{JOINER}\g<0>", text))

    def code(self, text: str) -> str:
        """Return a code span; a back-tick within would end it and becomes its look-alike."""
        return f"{_SPACE}`{escaped(text.replace('`', 'ˋ'))}`{_SPACE}"

    def style(self, style: str, inside: str) -> str:
        """Return a styled run."""
        mark = {"emphasis": "_", "strong": "*", "strike": "~"}[style]
        return f"{_SPACE}{mark}{inside}{mark}{_SPACE}"

    def link(self, url: str, children: Sequence[Inline]) -> str:
        """Return ``<url|words>``; the words carry no style."""
        label = escaped(" ".join(plain_inlines(children).split()).replace("|", "¦"))
        return f"<{escaped(safe_url(url))}|{label}>"

    def heading(self, level: int, children: Sequence[Inline]) -> str:
        """Return the heading as a strong line."""
        return f"*{self.inlines(children, frozenset({'strong'}))}*"

    def fence(self, text: str, language: str) -> str:
        """Return a block of code, without its language, which mrkdwn would show."""
        return f"```\n{escaped(text.replace('`' * 3, f'`{JOINER}`{JOINER}`'))}\n```"

    def quote(self, lines: list[Line]) -> list[Line]:
        """Return the lines behind ``>``, but code, which can't stand in a quote."""
        return [line if line.fixed else quoted for line, quoted in zip(lines, prefixed(lines, "&gt; "), strict=True)]

    def table(self, table: Table, place: Place) -> list[Line]:
        """Return aligned code, or a list."""
        return self.block(without_table(table, _TABLE_COLUMNS), place)

    def paragraph(self, text: str) -> str:
        """Return the text so that no line of it starts a quote."""
        return _QUOTED.sub(JOINER, text)

    def inlines(self, children: Sequence[Inline], styles: frozenset[str] = frozenset()) -> str:
        """Return the inlines, quiet and in their direction."""
        return super().inlines(children if styles else directed(quiet(children)), styles)


def mrkdwn_words(text: str) -> str:
    """Return one line of plain words, quiet."""
    return Mrkdwn().words(quiet_text(text))
