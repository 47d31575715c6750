"""What people are shown of a question that goes to a person. Pure.

The question and a reply are other people's words: they link nowhere and mention nobody, as all that is rendered.
"""

from collections.abc import Sequence
from dataclasses import replace

from bots.platform import Button, View
from bots.rendering.clean import clean, clean_line, clean_url
from bots.rendering.parse import parse_answer, parse_markdown
from bots.rendering.tree import Block, Break, Document, Inline, ItemList, Link, ListItem, Paragraph, Quote, Styled, Text
from bots.requests import ReadChunk
from bots.turn.people.values import Ask, Reply
from bots.words.people import PeopleWord, people_word
from bots.words.sentences import word
from ragcore.types import Answer

MOST_PASSAGES = 5
"""Passages that are named beside a question."""
SHOWN_QUESTION = 600
"""Characters of a question that its owners are shown: one message holds it, on every platform."""
SHOWN_ANSWER = 600


def card_view(ask: Ask, answer: Answer | None, passages: Sequence[ReadChunk], language: str) -> View:
    """Return a question as its owners see it.

    Args:
        ask: The question.
        answer: What it was answered, None where they may not read what that rests on.
        passages: What the answer's prompt held, as far as they may read it.
        language: That of the words beside.
    """
    blocks: list[Block] = [_said("card", language, base=ask.knowledge_base), _quoted(ask.question, SHOWN_QUESTION)]
    if answer is None:
        blocks.append(_said("card_hidden", language))
    elif answer.raw_text.strip():
        shown = parse_answer(replace(answer, raw_text=_cut(answer.raw_text, SHOWN_ANSWER)))
        blocks += [_said("card_answer", language), Quote(blocks=shown.blocks)]
    if passages:
        named = {(chunk.title, chunk.url): chunk for chunk in passages}
        items = tuple(ListItem(blocks=(_named(chunk),)) for chunk in list(named.values())[:MOST_PASSAGES])
        blocks += [_said("card_passages", language), ItemList(items=items)]
    blocks.append(_strong("card_reply", language))
    notes = (word("reference", language, reference=ask.reference),)
    buttons = (Button.QUOTES,) if answer is not None and answer.citations else ()
    document = Document(blocks=tuple(blocks), notes=notes)
    return View(document=document, reference=ask.reference, buttons=buttons, language=language)


def reply_view(reply: Reply, language: str) -> View:
    """Return a reply as whoever asked sees it."""
    head = _said("reply", language, name=clean_line(reply.author), title=reply.title)
    blocks: list[Block] = [head, *parse_markdown(reply.text).blocks]
    if reply.incoming.attachments:
        blocks.append(_said("file_stays", language, name=clean_line(reply.author)))
    return View(document=Document(blocks=tuple(blocks)), reference=reply.reference, language=language)


def note_view(reply: Reply, language: str, *, sent: bool) -> View:
    """Return what became of a reply, as its owners see it, with the button that makes it a document, or none.

    ``sent``: whoever asked has it.
    """
    if reply.is_kept:
        key: PeopleWord = "kept"
    elif reply.accepted_at is not None:
        key = "dropped"
    else:
        key = "sent" if sent else "not_sent"
    blocks = [_said(key, language, base=reply.knowledge_base, title=reply.title)]
    if reply.incoming.attachments:
        blocks.append(_said("only_words", language))
    document = Document(blocks=tuple(blocks))
    buttons = (Button.DROP if reply.is_kept else Button.KEEP,)
    return View(document=document, reference=reply.id, buttons=buttons, language=language)


def sorry_view(ask: Ask, language: str) -> View:
    """Return what whoever asked is told where nobody could be reached."""
    blocks = (_said("not_reached", language), _quoted(ask.question, SHOWN_QUESTION))
    notes = (word("reference", language, reference=ask.reference),)
    return View(document=Document(blocks=blocks, notes=notes), reference=ask.reference, language=language)


def _said(key: PeopleWord, language: str, **values: str) -> Paragraph:
    return Paragraph(children=(Text(text=people_word(key, language, **values)),))


def _strong(key: PeopleWord, language: str) -> Paragraph:
    return Paragraph(children=(Styled(style="strong", children=_said(key, language).children),))


def _quoted(text: str, longest: int) -> Quote:
    children: list[Inline] = []
    for line in clean(_cut(text.strip(), longest)).split("\n"):
        children += [*([Break(hard=True)] if children else []), Text(text=line.strip() or " ")]
    return Quote(blocks=(Paragraph(children=tuple(children)),))


def _named(chunk: ReadChunk) -> Paragraph:
    name: Inline = Text(text=clean_line(chunk.title) or clean_line(chunk.document_id))
    url = clean_url(chunk.url)
    if url and not url.startswith("file:"):
        name = Link(url=url, children=(name,))
    return Paragraph(children=(name,))


def _cut(text: str, longest: int) -> str:
    """Return the text no longer than that, cut between words: a marker of a citation is one."""
    if len(text) <= longest:
        return text
    cut = text[: longest - 1]
    return f"{(cut.rpartition(' ')[0] or cut).rstrip()}…"
