"""A view as Telegram's messages: HTML of at most 4,096 characters once its tags are read, with an inline keyboard."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bots.platform import View
from bots.rendering.actions import Act, Press
from bots.rendering.markup import JOINER, safe_url
from bots.rendering.measure import units
from bots.rendering.presses import presses, prompts, reasons
from bots.rendering.quiet import quiet_text
from bots.rendering.sources import reachable, source_inlines
from bots.rendering.split import first_part, split
from bots.rendering.steps import folded, growing, step_line
from bots.rendering.tables import settled
from bots.rendering.telegram.html import TABLE_COLUMNS, TelegramHtml, address_bytes, entities, shown
from bots.rendering.telegram.rich import TelegramRich, has_table, rich_of
from bots.rendering.tree import Document, SourceLine

MAX_TEXT = 4096
"""Characters after tags and entities are read, the stricter of code points and UTF-16 units."""
MAX_BYTES = 32_768
"""Of the HTML."""
MAX_ENTITIES = 100
"""Formatting beyond this is lost without a word, and a lost link is a lost citation."""
MAX_WITH_ADDRESSES = 9_500
"""Characters and addresses together: beyond, messages are refused as too long, as users report."""
MAX_URL = 1_000
MAX_PROMPT = 60
_MOST_STEPS = 1_800
"""Code points of the steps that are shown while an answer is looked for."""
_OPEN_SOURCES = 3
"""With more sources than this, their list is folded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramButton:
    """One button of an inline keyboard; ``data`` comes back when it is pressed, at most 64 bytes."""

    text: str
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramMessage:
    """One message in parse mode HTML, always sent with previews off.

    With ``rich`` it can be sent as a rich message instead, and ``html`` is empty: whoever can't send it renders again
    without.
    """

    html: str
    keyboard: tuple[tuple[TelegramButton, ...], ...] = ()
    rich: TelegramRich | None = None


def render_telegram(view: View, *, rich: bool = False) -> tuple[TelegramMessage, ...]:
    """Return the whole reply as one message, or as parts in order; sources, notes and buttons are on the last.

    ``rich``: what has a table, or is too long for one message, becomes one rich message where it can.
    """
    document = _document(view)
    markup = TelegramHtml()
    answer = settled(replace(document, steps=None), TABLE_COLUMNS)
    *first, last = split(answer, lambda some: _fits(html_of(some, markup)), MAX_TEXT)
    parts = (*first, folded(last, document.steps, lambda some: _fits(html_of(some, markup))))
    keyboard = telegram_keyboard(view)
    if rich and (len(parts) > 1 or has_table(document.blocks)):
        content = rich_of(document) or rich_of(replace(document, steps=None))
        if content is not None:
            return (TelegramMessage(html="", keyboard=keyboard, rich=content),)
    messages = [TelegramMessage(html=html_of(part, markup)) for part in parts[:-1]]
    return (*messages, TelegramMessage(html=html_of(parts[-1], markup), keyboard=keyboard))


def render_telegram_partial(view: View) -> TelegramMessage:
    """Return what is written so far as one message, its end left out where it is too long."""
    markup = TelegramHtml()
    document = settled(growing(_document(view), _MOST_STEPS), TABLE_COLUMNS)
    part, whole = first_part(document, lambda some: _fits(html_of(some, markup), spare=2), MAX_TEXT)
    return TelegramMessage(html=html_of(part, markup) + ("" if whole else " …"), keyboard=telegram_keyboard(view))


def render_telegram_quotes(view: View) -> tuple[TelegramMessage, ...]:
    """Return the cited passages as messages."""
    return render_telegram(view)


def telegram_keyboard(view: View) -> tuple[tuple[TelegramButton, ...], ...]:
    """Return one row of buttons, and what to go on with, each in a row of its own.

    Nothing is to be shared here: no message is seen by one person alone in a chat that others see.
    """
    found = presses(view)
    row = [press for press in found if press.action.act not in (Act.SHARE, Act.RESEARCH)]
    offered = [press for press in found if press.action.act is Act.RESEARCH]
    return (*((_row(row),) if row else ()), *(_row((press,)) for press in (*offered, *prompts(view, MAX_PROMPT, 4))))


def telegram_reasons(reference: str, language: str, *, person: bool = False) -> tuple[tuple[TelegramButton, ...], ...]:
    """Return the keyboard that asks why an answer did not help."""
    return tuple(_row((press,)) for press in reasons(reference, language, person=person))


def html_of(document: Document, markup: TelegramHtml) -> str:
    """Return a document as Telegram's HTML; never nothing, which Telegram refuses."""
    parts = [markup.write(document.blocks)]
    if document.sources:
        lines = "\n".join(_source(markup, source) for source in document.sources)
        folded = len(document.sources) > _OPEN_SOURCES
        parts.append(f"<blockquote expandable>{lines}</blockquote>" if folded else lines)
    parts += [f"<i>{markup.words(quiet_text(note))}</i>" for note in document.notes]
    if document.steps:
        lines = "\n".join(markup.words(quiet_text(step_line(step))) for step in document.steps.lines)
        title = f"<b>{markup.words(quiet_text(document.steps.title))}</b>"
        parts.append(f"<blockquote expandable>{title}\n{lines}</blockquote>")
    written = "\n\n".join(part for part in parts if part.strip()).strip()
    # White space at the start is lost, and with it the indent of code that begins a part.
    return (JOINER + written if shown(written)[:1].isspace() else written) or "…"


def _source(markup: TelegramHtml, source: SourceLine) -> str:
    age = f" · {source.updated_at.date().isoformat()}" if source.updated_at else ""
    return markup.inlines(source_inlines(source)) + age


def _document(view: View) -> Document:
    return reachable(view.document, lambda url: len(safe_url(url).encode()) <= MAX_URL)


def _fits(markup: str, *, spare: int = 0) -> bool:
    length = units(shown(markup)) + spare
    return (
        length <= MAX_TEXT
        and len(markup.encode("utf-8", "surrogatepass")) + spare <= MAX_BYTES
        and entities(markup) <= MAX_ENTITIES
        and length + address_bytes(markup) <= MAX_WITH_ADDRESSES
    )


def _row(row: Sequence[Press]) -> tuple[TelegramButton, ...]:
    return tuple(TelegramButton(text=press.emoji or press.caption, data=str(press.action)) for press in row)
