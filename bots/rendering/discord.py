"""A view as Discord takes it: content in Discord's Markdown of at most 2,000, and rows of buttons. No I/O, no SDK.

Links are written ``[text](<url>)``, which keeps previews away on edits too, where the message's own switch gets lost.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bots.platform import View
from bots.rendering.actions import Press
from bots.rendering.direction import directed
from bots.rendering.markup import JOINER, Line, Markup, Place, prefixed, safe_url, strip_markup_edges
from bots.rendering.measure import units
from bots.rendering.plain import plain_inlines
from bots.rendering.presses import one_row, presses, prompts, reasons
from bots.rendering.quiet import quiet, quiet_text
from bots.rendering.sources import reachable, source_inlines
from bots.rendering.split import first_part, split
from bots.rendering.tables import without_table
from bots.rendering.tree import Cite, Document, Inline, SourceLine, Table

MAX_CONTENT = 2000
"""Of Discord's characters, counted as the stricter of code points and UTF-16 units."""
MAX_URL = 512
MAX_LABEL = 80
_TABLE_COLUMNS = 72
_SPECIAL = re.compile(r"[\\*_~`|\[]")
_LINE_START = re.compile(r"^(\s*)(#{1,3}(?=\s)|-#|>|[-*+](?=\s))", re.MULTILINE)
_NUMBERED = re.compile(r"^\s*\d+(?=[.)]\s)", re.MULTILINE)
_PINGS = re.compile(r"(?<=@)(?=everyone|here)|(?<=<)(?=[@#:/at]|id:)", re.IGNORECASE)
_LANGUAGE = re.compile(r"[a-z0-9_+\-.#]+", re.IGNORECASE)
_TICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordButton:
    """One button: ``custom_id`` of at most 100 characters, a ``label`` of at most 80 or an ``emoji``, or both."""

    custom_id: str
    label: str = ""
    emoji: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordMessage:
    """One message; always sent with embeds suppressed and no allowed mentions, on edits too.

    ``rows`` are at most five rows of at most five buttons.
    """

    content: str
    rows: tuple[tuple[DiscordButton, ...], ...] = ()


def render_discord(view: View) -> tuple[DiscordMessage, ...]:
    """Return the whole reply as one message, or as parts in order; sources, notes and buttons are on the last."""
    *first, last = split(_document(view), _fits, MAX_CONTENT)
    messages = [DiscordMessage(content=content_of(part)) for part in first]
    return (*messages, DiscordMessage(content=content_of(last), rows=discord_rows(view)))


def render_discord_partial(view: View) -> DiscordMessage:
    """Return what is written so far as one message, its end left out where it is too long."""
    document = _document(view)
    part, whole = first_part(document, lambda some: units(content_of(some)) <= MAX_CONTENT - 2, MAX_CONTENT)
    return DiscordMessage(content=content_of(part) + ("" if whole else " …"), rows=discord_rows(view))


def render_discord_quotes(view: View) -> tuple[DiscordMessage, ...]:
    """Return the cited passages (``bots.rendering.passages``), to be shown to the one who asked for them."""
    return render_discord(view)


def discord_rows(view: View, *, opened: bool = False) -> tuple[tuple[DiscordButton, ...], ...]:
    """Return one row of buttons, the rest behind "…" unless ``opened``, and a row of prompts."""
    rows = one_row(presses(view), 5, view, opened=opened)
    asked = prompts(view, MAX_LABEL, 5)
    return tuple(_row(row) for row in (*rows, asked) if row)


def discord_reasons(reference: str, language: str) -> tuple[tuple[DiscordButton, ...], ...]:
    """Return the row that asks why an answer did not help."""
    return (_row(reasons(reference, language)),)


def content_of(document: Document) -> str:
    """Return a document as Discord's Markdown; never nothing, which Discord refuses."""
    markup = _Markdown()
    parts = [markup.write(document.blocks)]
    if document.sources:
        parts.append("\n".join(f"-# {markup.source(source)}" for source in document.sources))
    if document.notes:
        parts.append("\n".join(f"-# {markup.words(quiet_text(note))}" for note in document.notes))
    return "\n\n".join(part for part in parts if part.strip()).strip() or "…"


def _document(view: View) -> Document:
    return reachable(view.document, lambda url: units(safe_url(url)) <= MAX_URL)


def _fits(document: Document) -> bool:
    return units(content_of(document)) <= MAX_CONTENT


def _row(row: Sequence[Press]) -> tuple[DiscordButton, ...]:
    return tuple(
        DiscordButton(custom_id=str(press.action), label="" if press.emoji else press.caption, emoji=press.emoji)
        for press in row
    )


class _Markdown(Markup):
    """Discord's Markdown: no tables, no nested quotes, every punctuation mark can be escaped."""

    def words(self, text: str) -> str:
        return _PINGS.sub(JOINER, _SPECIAL.sub(r"\\\g<0>", text))

    def code(self, text: str) -> str:
        # Three ticks in a row would be a block, so a run of them is broken up.
        text = _PINGS.sub(JOINER, _TICKS.sub(lambda run: JOINER.join(run[0]), text))
        return f"`` {text} ``" if "`" in text else f"`{text}`"

    def style(self, style: str, inside: str) -> str:
        mark = {"emphasis": "*", "strong": "**", "strike": "~~"}[style]
        return mark + strip_markup_edges(inside) + mark

    def link(self, url: str, children: Sequence[Inline]) -> str:
        target = safe_url(url)
        plain = plain_inlines(children)
        if "://" in plain and JOINER not in plain:
            return f"<{target}>"  # a label that is an address makes no link
        label = self.inlines(children) if plain.count("[") == plain.count("]") else self.words(_round(plain))
        return f"[{label.strip()}](<{target}>)"

    def cite(self, cite: Cite) -> str:
        return f"[[{cite.number}]](<{safe_url(cite.url)}>)" if cite.url else self.words(f"[{cite.number}]")

    def source(self, source: SourceLine) -> str:
        """Return one line of the source list, its age in the reader's words and time."""
        age = f" · <t:{int(source.updated_at.timestamp())}:R>" if source.updated_at else ""
        return self.inlines(source_inlines(source)) + age

    def heading(self, level: int, children: Sequence[Inline]) -> str:
        return f"{'#' * min(level + 1, 3)} {self.inlines(children)}"

    def fence(self, text: str, language: str) -> str:
        named = language if _LANGUAGE.fullmatch(language) else ""
        broken = _PINGS.sub(JOINER, text.replace("```", f"`{JOINER}`{JOINER}`"))
        return f"```{named}\n{broken}\n```"

    def quote(self, lines: list[Line]) -> list[Line]:
        return list(prefixed(lines, "> "))

    def table(self, table: Table, place: Place) -> list[Line]:
        return self.block(without_table(table, _TABLE_COLUMNS), place)

    def marker(self, number: int | None, depth: int) -> str:
        return "- " if number is None else f"{number}. "

    def paragraph(self, text: str) -> str:
        return _NUMBERED.sub(r"\g<0>\\", _LINE_START.sub(r"\1\\\2", text))

    def inlines(self, children: Sequence[Inline], styles: frozenset[str] = frozenset()) -> str:
        return super().inlines(children if styles else directed(quiet(children)), styles)


def _round(text: str) -> str:
    return text.replace("[", "(").replace("]", ")")
