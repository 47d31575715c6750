"""A view as Discord's messages: content of at most 2,000, and rows of buttons."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bots.platform import View
from bots.rendering.actions import Press
from bots.rendering.discord.markdown import TABLE_COLUMNS, DiscordMarkdown, discord_url
from bots.rendering.measure import units
from bots.rendering.presses import presses, prompts, reasons, shown_page, turning
from bots.rendering.quiet import quiet_text
from bots.rendering.sources import reachable
from bots.rendering.split import first_part, split
from bots.rendering.steps import folded, growing, step_line
from bots.rendering.tables import settled
from bots.rendering.tree import Document

MAX_CONTENT = 2000
"""Of Discord's characters, counted as the stricter of code points and UTF-16 units."""
MAX_URL = 512
MAX_LABEL = 80
IN_ROW = 5
_MOST_STEPS = 900
"""Code points of the steps that are shown while an answer is looked for; escaped they may be twice as long."""
_FOLDED = 700
"""Characters that they may take beneath it."""


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
    """Return the whole reply as one message, or as parts in order; sources, notes and buttons are on the last.

    Of a view with a page it is that page alone, with buttons on each.
    """
    markup = DiscordMarkdown()
    document = settled(_document(view), TABLE_COLUMNS)
    parts = _parts(document, markup)
    if view.page is not None:
        page = parts[shown_page(view, len(parts))]
        rows = (_row(turning(view, len(parts))), *discord_rows(view))
        return (DiscordMessage(content=content_of(page, markup), rows=tuple(row for row in rows if row)),)
    *first, last = parts
    messages = [DiscordMessage(content=content_of(part, markup)) for part in first]
    return (*messages, DiscordMessage(content=content_of(last, markup), rows=discord_rows(view)))


def render_discord_partial(view: View) -> DiscordMessage:
    """Return what is written so far as one message, its end left out where it is too long."""
    markup = DiscordMarkdown()
    document = settled(growing(_document(view), _MOST_STEPS), TABLE_COLUMNS)
    part, whole = first_part(document, lambda some: units(content_of(some, markup)) <= MAX_CONTENT - 2, MAX_CONTENT)
    return DiscordMessage(content=content_of(part, markup) + ("" if whole else " …"), rows=discord_rows(view))


def render_discord_quotes(view: View) -> tuple[DiscordMessage, ...]:
    """Return the cited passages, to be shown to the one who asked for them."""
    return render_discord(view)


def discord_rows(view: View) -> tuple[tuple[DiscordButton, ...], ...]:
    """Return the buttons in rows of five, which hold most that an answer has, and a row of prompts."""
    found = presses(view)
    rows = (*(found[at : at + IN_ROW] for at in range(0, len(found), IN_ROW)), prompts(view, MAX_LABEL, IN_ROW))
    return tuple(_row(row) for row in rows if row)


def discord_reasons(reference: str, language: str, *, person: bool = False) -> tuple[tuple[DiscordButton, ...], ...]:
    """Return the row that asks why an answer did not help."""
    return (_row(reasons(reference, language, person=person)),)


def content_of(document: Document, markup: DiscordMarkdown) -> str:
    """Return a document as Discord's Markdown; never nothing, which Discord refuses."""
    parts = [markup.write(document.blocks)]
    if document.sources:
        parts.append("\n".join(f"-# {markup.source(source)}" for source in document.sources))
    if document.notes:
        parts.append("\n".join(f"-# {markup.words(quiet_text(note))}" for note in document.notes))
    if document.steps:
        lines = (document.steps.title, *map(step_line, document.steps.lines))
        parts.append("\n".join(f"-# {markup.words(quiet_text(line))}" for line in lines))
    return "\n\n".join(part for part in parts if part.strip()).strip() or "…"


def _parts(document: Document, markup: DiscordMarkdown) -> tuple[Document, ...]:
    """Return the parts; the steps stand small beneath the last one, as far as it has room, for nothing folds here."""

    def length(some: Document) -> int:
        return units(content_of(some, markup))

    answer = replace(document, steps=None)
    *first, last = split(answer, lambda some: length(some) <= MAX_CONTENT, MAX_CONTENT)
    most = min(MAX_CONTENT, length(last) + _FOLDED)
    return (*first, folded(last, document.steps, lambda some: length(some) <= most))


def _document(view: View) -> Document:
    return reachable(view.document, lambda url: units(discord_url(url)) <= MAX_URL)


def _row(row: Sequence[Press]) -> tuple[DiscordButton, ...]:
    return tuple(
        DiscordButton(custom_id=str(press.action), label="" if press.emoji else press.caption, emoji=press.emoji)
        for press in row
    )
