"""Telegram's HTML: a handful of tags, three entities, and code that neither holds nor stands in anything else."""

import html
import re
from collections.abc import Iterator, Sequence

from bots.rendering.direction import directed
from bots.rendering.markup import Line, Markup, Place, safe_url
from bots.rendering.plain import plain_inlines, soft_break
from bots.rendering.quiet import quiet
from bots.rendering.tables import without_table
from bots.rendering.tree import Break, Cite, Code, Inline, Link, Styled, Table, Text

TABLE_COLUMNS = 48
"""The widest table shown as code: what a phone shows without a break."""
_TAGS = {"emphasis": "i", "strong": "b", "strike": "s"}
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,40}")
_TAG = re.compile(r"<[^>]*>")
_OPENING = re.compile(r"<[a-z]")
_HREF = re.compile(r'<a href="([^"]*)"')


def shown(markup: str) -> str:
    """Return the text that is left of our HTML when the server has read its tags and entities."""
    return html.unescape(_TAG.sub("", markup))


def entities(markup: str) -> int:
    """Return how many formatting entities our HTML makes."""
    return len(_OPENING.findall(markup))


def address_bytes(markup: str) -> int:
    """Return how long the addresses of the links are together."""
    return sum(len(url) for url in _HREF.findall(markup))


class TelegramHtml(Markup):
    """Writes Telegram's HTML."""

    def words(self, text: str) -> str:
        """Return plain words."""
        return html.escape(text, quote=False)

    def code(self, text: str) -> str:
        """Return a code span."""
        return f"<code>{self.words(text)}</code>"

    def style(self, style: str, inside: str) -> str:
        """Return a styled run."""
        return f"<{_TAGS[style]}>{inside}</{_TAGS[style]}>"

    def link(self, url: str, children: Sequence[Inline]) -> str:
        """Return a link; code in its words is plain, for code can't stand in one."""
        label = "".join(self._run(leaf, styles) for leaf, styles in _leaves(_without_code(children), ()))
        return f'<a href="{html.escape(safe_url(url))}">{label}</a>'

    def heading(self, level: int, children: Sequence[Inline]) -> str:
        """Return the heading as a strong line."""
        return self.inlines((Styled(style="strong", children=tuple(children)),))

    def fence(self, text: str, language: str) -> str:
        """Return a block of code, with its language where that is a name."""
        code = self.words(text)
        if not _LANGUAGE.fullmatch(language):
            return f"<pre>{code}</pre>"
        return f'<pre><code class="language-{language}">{code}</code></pre>'

    def quote(self, lines: list[Line]) -> list[Line]:
        """Return the lines within a quote, which holds no other, and which a client begins at the margin."""
        texts = [line.text for line in lines]
        texts[0] = "<blockquote>" + texts[0]
        texts[-1] += "</blockquote>"
        return [Line(text, fixed=True) for text in texts]

    def table(self, table: Table, place: Place) -> list[Line]:
        """Return aligned code, or a list."""
        return self.block(without_table(table, TABLE_COLUMNS), place)

    def inlines(self, children: Sequence[Inline], styles: frozenset[str] = frozenset()) -> str:
        """Return the inlines, quiet and in their direction."""
        written = ""
        ready = directed(quiet(children))
        for index, child in enumerate(ready):
            if isinstance(child, Break):
                written += "\n" if child.hard else soft_break(written, ready[index + 1 : index + 2])
            else:
                written += "".join(self._run(leaf, within) for leaf, within in _leaves((child,), ()))
        return written

    def _run(self, leaf: Inline, styles: tuple[str, ...]) -> str:
        """Return one leaf within its styles; a style ends before code and goes on behind it."""
        match leaf:
            case Text():
                inside = self.words(leaf.text)
            case Code():
                return self.code(leaf.text)
            case Cite():
                inside = self.cite(leaf)
            case Link():
                inside = self.link(leaf.url, leaf.children)
            case _:
                inside = "\n" if isinstance(leaf, Break) and leaf.hard else " "
        if not inside.strip():
            return inside
        for style in reversed(styles):
            inside = self.style(style, inside)
        return inside


def _leaves(children: Sequence[Inline], styles: tuple[str, ...]) -> Iterator[tuple[Inline, tuple[str, ...]]]:
    """Yield what can't be taken apart, with the styles around it."""
    for child in children:
        if isinstance(child, Styled):
            inner = styles if child.style in styles else (*styles, child.style)
            yield from _leaves(child.children, inner)
        else:
            yield child, styles


def _without_code(children: Sequence[Inline]) -> tuple[Inline, ...]:
    if not any(isinstance(child, Code | Styled) for child in children):
        return tuple(children)
    return (Text(text=plain_inlines(children)),)
