"""A view as blocks: the answer in a ``markdown`` block, its sources beside a button or in context lines, the buttons.

Limits are those of Slack's block reference; what only users report (a whole payload near 13,200) is kept too. Lengths
are the stricter of code points and UTF-16 units.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bots.pictures import Picture
from bots.platform import View
from bots.rendering.markup import safe_url
from bots.rendering.measure import units
from bots.rendering.plain import plain_pieces
from bots.rendering.presses import reasons, shown_page
from bots.rendering.slack.buttons import SlackBlock, SlackButtons, button, slack_buttons
from bots.rendering.slack.markdown import SlackMarkdown, escaped
from bots.rendering.slack.mrkdwn import Mrkdwn, mrkdwn_words
from bots.rendering.slack.stream import slack_stream_text
from bots.rendering.slack.tasks import MAX_TASKS, plan_block, task_chunks
from bots.rendering.sources import reachable, shortened, source_inlines
from bots.rendering.split import first_part, split
from bots.rendering.steps import folded, growing
from bots.rendering.tree import Document, SourceLine
from bots.words.captions import caption

MAX_MESSAGE = 12_000
"""All text of one message: what a ``markdown`` block takes, and below what a payload does."""
MAX_SECTION = 3_000
MAX_MODAL_BLOCKS = 100
MAX_URL = 1_500
MAX_TITLE = 24
_FALLBACK = 3_000
_CONTEXT_BLOCKS = 20
_TASK = 64
"""Characters of a payload that a task takes beside its words, and so does the plan that holds it."""
_MOST_STEPS = 2_500
"""Code points of the steps that are shown where there is no stream."""

_NO_BUTTONS = SlackButtons(rows=())


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackMessage:
    """One message; ``text`` is for notifications and screen readers. Sent with ``unfurl_*`` and ``link_names`` off.

    ``stream`` is what a stream shows of a message that is still being written; empty in a whole one.
    """

    text: str
    blocks: tuple[SlackBlock, ...]
    stream: str = ""
    tasks: tuple[SlackBlock, ...] = ()
    """The steps as chunks of a stream, of a message that is still being written; each stays one, whatever it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackModal:
    """A modal view to read: a title of at most 24 characters and sections."""

    title: str
    blocks: tuple[SlackBlock, ...]


def render_slack(view: View) -> tuple[SlackMessage, ...]:
    """Return the whole reply as one message, or as parts in order; sources, notes and buttons are on the last.

    Of a view with a page it is that page alone, with buttons on each.
    """
    markup = SlackMarkdown()
    document = _document(view)
    *before, end = split(replace(document, steps=None), lambda some: _fits(some, markup), MAX_MESSAGE)
    steps = None if view.simple else document.steps
    parts = (*before, folded(end, steps, lambda some: _fits(some, markup)))
    if view.page is not None:
        page = parts[shown_page(view, len(parts))]
        return (_message(page, markup, slack_buttons(view, has_sources=bool(page.sources), pages=len(parts))),)
    *first, last = parts
    messages = [_message(part, markup) for part in first]
    return (*messages, _message(last, markup, slack_buttons(view, has_sources=bool(last.sources))))


def render_slack_partial(view: View) -> SlackMessage:
    """Return what is written so far as one message, its end left out where it is too long."""
    markup = SlackMarkdown()
    document = _document(view)
    part, whole = first_part(growing(document, _MOST_STEPS), lambda some: _fits(some, markup, spare=2), MAX_MESSAGE)
    message = _message(part, markup, slack_buttons(view, has_sources=False), "" if whole else " …")
    return replace(message, stream=slack_stream_text(view), tasks=task_chunks(document.steps))


def render_slack_quotes(view: View) -> SlackModal:
    """Return the cited passages as a modal."""
    markup = Mrkdwn()
    parts = split(_document(view), lambda some: units(_mrkdwn(some, markup)) <= MAX_SECTION, MAX_SECTION)
    sections = [_section(_mrkdwn(part, markup)) for part in parts]
    if len(sections) > MAX_MODAL_BLOCKS:
        sections = [*sections[: MAX_MODAL_BLOCKS - 1], _context("…")]
    return SlackModal(title=shortened(caption("sources", view.language), MAX_TITLE), blocks=tuple(sections))


def with_pictures(modal: SlackModal, files: Mapping[str, Picture]) -> SlackModal:
    """Return a modal with pictures below its sections; ``files`` are the ids under which Slack keeps them."""
    images: list[SlackBlock] = [
        {
            "type": "image",
            "slack_file": {"id": file},
            "alt_text": picture.caption,
            "title": {"type": "plain_text", "text": picture.caption, "emoji": False},
        }
        for file, picture in files.items()
    ]
    room = MAX_MODAL_BLOCKS - len(images)
    kept = modal.blocks if len(modal.blocks) <= room else (*modal.blocks[: room - 1], _context("…"))
    return replace(modal, blocks=(*kept, *images))


def slack_reasons(reference: str, language: str, *, person: bool = False) -> tuple[SlackBlock, ...]:
    """Return the blocks that ask why an answer did not help."""
    buttons = [button(press) for press in reasons(reference, language, person=person)]
    return (_section(mrkdwn_words(caption("why", language))), {"type": "actions", "elements": buttons})


def _document(view: View) -> Document:
    return reachable(view.document, lambda url: units(escaped(safe_url(url))) <= MAX_URL)


def _message(
    document: Document, markup: SlackMarkdown, buttons: SlackButtons = _NO_BUTTONS, more: str = ""
) -> SlackMessage:
    body = markup.write(document.blocks) + more
    blocks: list[SlackBlock] = [{"type": "markdown", "text": body}] if body.strip() else []
    if buttons.beside is None:
        blocks += [_context(text) for text in _context_texts(document)]
    else:
        first, *rest = _texts(map(_source, document.sources))
        blocks += [{**_section(first), "accessory": buttons.beside}, *map(_section, rest)]
        blocks += [_context(text) for text in _texts(map(_note, document.notes))]
    blocks += [plan_block(document.steps)] if document.steps else []
    blocks += buttons.rows
    return SlackMessage(text=_fallback(document), blocks=tuple(blocks or [{"type": "markdown", "text": "…"}]))


def _fallback(document: Document) -> str:
    words = "\n".join(piece for piece in plain_pieces(document.blocks) if piece.strip())
    if not words:
        words = "\n".join(source.label for source in document.sources) or "\n".join(document.notes) or "…"
    text = mrkdwn_words(shortened(words, _FALLBACK))
    # Entities and joiners may make it five times as long.
    return text if units(text) <= _FALLBACK else mrkdwn_words(shortened(words, _FALLBACK // 6))


def _fits(document: Document, markup: SlackMarkdown, *, spare: int = 0) -> bool:
    texts = _context_texts(document)
    length = units(markup.write(document.blocks)) + sum(map(units, texts))
    if document.steps:
        if len(document.steps.lines) > MAX_TASKS:
            return False
        length += sum(units(task["title"]) + units(task["task_id"]) for task in plan_block(document.steps)["tasks"])
        length += _TASK * (1 + len(document.steps.lines))
    return length + spare <= MAX_MESSAGE and len(texts) <= _CONTEXT_BLOCKS


def _context_texts(document: Document) -> list[str]:
    """Return the source list and the notes in pieces that a text object takes."""
    return _texts((*map(_source, document.sources), *map(_note, document.notes)))


def _texts(lines: Iterable[str]) -> list[str]:
    """Return the lines in pieces that a text object takes."""
    texts: list[str] = []
    for line in lines:
        if texts and units(texts[-1]) + 1 + units(line) <= MAX_SECTION:
            texts[-1] += "\n" + line
        else:
            texts.append(line)
    return texts


def _source(source: SourceLine) -> str:
    """Return one line of the source list; its age is told by the client, in the reader's words and time."""
    line = Mrkdwn().inlines(source_inlines(source))
    if source.updated_at is None:
        return line
    day = source.updated_at.date().isoformat()
    return f"{line} · <!date^{int(source.updated_at.timestamp())}^{{date_short_pretty}}|{day}>"


def _note(note: str) -> str:
    return f"_{mrkdwn_words(note)}_"


def _mrkdwn(document: Document, markup: Mrkdwn) -> str:
    return "\n\n".join(text for text in (markup.write(document.blocks), *_context_texts(document)) if text)


def _section(text: str) -> SlackBlock:
    return {"type": "section", "expand": True, "text": {"type": "mrkdwn", "text": text or "…", "verbatim": True}}


def _context(text: str) -> SlackBlock:
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": text, "verbatim": True}]}
