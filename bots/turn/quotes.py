"""The passages that an answer cites, and the answer shown to others: each with access checked anew."""

import re
from collections.abc import Sequence
from dataclasses import replace

from bots.given import with_given
from bots.platform import Button, View
from bots.rendering.clean import clean_line, clean_url
from bots.rendering.parse import parse_answer
from bots.rendering.passages import joined, passage_lines, strong
from bots.rendering.sources import shortened
from bots.rendering.tree import Block, Document, Inline, Link, Paragraph, Quote, Text, web_mark
from bots.requests import ReadChunk, Recall, Recalled
from bots.service import Backend
from bots.turn.beside import beside
from ragcore.citations.markers import find
from ragcore.links import host_of
from ragcore.on_web import is_web
from ragcore.phrases import LANGUAGES, phrase
from ragcore.terms import is_stop_word, spotted, terms
from ragcore.types import Answer, Citation, Support

_NEAREST = tuple(phrase("nearest", language) for language in LANGUAGES)
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")


async def quotes_view(backend: Backend, request: Recall, language: str) -> View | None:
    """Return the cited passages that may be read, with the words that support each sentence marked."""
    recalled = await recall(backend, request)
    if recalled is None or not recalled.citations:
        return None
    quoted = "".join(citation.quote for citation in recalled.citations)
    blocks = await beside(quoted, lambda: _passages(recalled))
    return View(document=Document(blocks=blocks), reference=request.reference, language=language)


async def shared_view(backend: Backend, request: Recall, prompt: Sequence[ReadChunk], language: str) -> View | None:
    """Return the answer, None unless all that it was written from may be read; ``prompt`` tells what may be linked."""
    recalled = await recall(backend, replace(request, chunks=tuple(chunk.chunk_id for chunk in prompt)))
    if recalled is None or recalled.withheld:
        return None
    buttons = (Button.FEEDBACK, Button.QUOTES) if recalled.citations else (Button.FEEDBACK,)
    answer = answer_of(recalled)
    document = await beside(answer.raw_text, lambda: parse_answer(answer))
    document = with_given(document, answer.citations, recalled.given, language)
    return View(document=document, reference=request.reference, buttons=buttons, language=language)


async def all_open(backend: Backend, request: Recall) -> bool:
    """Return whether all that an answer was written from may be read; also of a turn of which nothing is remembered."""
    recalled = await recall(backend, request)
    return recalled is None or not recalled.withheld


def answer_of(recalled: Recalled) -> Answer:
    """Return a remembered answer as it can be shown again."""
    support = Support.CITED if recalled.citations else Support.EXEMPT
    if recalled.answer.startswith(_NEAREST):
        support = Support.NEAREST
    return Answer(
        question=recalled.question,
        raw_text=recalled.answer,
        support=support,
        citations=recalled.citations,
        allowed_urls=recalled.allowed_urls,
    )


async def recall(backend: Backend, request: Recall) -> Recalled | None:
    """Return a turn as far as it may be read, None when it is gone."""
    found = [event async for event in backend.run(request) if isinstance(event, Recalled)]
    return found[0] if found else None


def label_of(citation: Citation, most: int | None = None) -> str:
    """Return the names of a citation's document and place, in at most so many characters."""
    mark = web_mark(clean_line(host_of(citation.url))) if is_web(citation.document_id) else ""
    label = ", ".join(part for part in (clean_line(citation.title), clean_line(citation.location), mark) if part)
    label = label or clean_line(citation.document_id)
    return label if most is None else shortened(label, most)


def _supported_by(answer: str, identifier: int) -> str:
    """Return the sentences of the answer that end in this citation."""
    before_stop = re.sub(r"([.!?。！？])\s*((?:\[ID:\d+\]\s*)+)", r" \2\1 ", answer)
    sentences = _SENTENCE_END.split(before_stop)
    return " ".join(one for one in sentences if any(marker.id == identifier for marker in find(one)))


def _passages(recalled: Recalled) -> tuple[Block, ...]:
    cited = sorted(recalled.citations, key=lambda one: one.number)
    return tuple(block for one in cited for block in _passage(one, _supported_by(recalled.answer, one.id)))


def _passage(citation: Citation, sentences: str) -> list[Block]:
    name: Inline = Text(text=label_of(citation))
    url = clean_url(citation.url)
    if url and not url.startswith("file:"):
        name = Link(url=url, children=(name,))
    wanted = {term.text for term in terms(sentences) if not is_stop_word(term)}
    lines = [
        Paragraph(children=strong(line, joined(line, [(term.start, term.end) for term in spotted(line, wanted)])))
        for line in passage_lines(citation.quote)
    ]
    return [Paragraph(children=(Text(text=f"[{citation.number}] "), name)), Quote(blocks=tuple(lines))]
