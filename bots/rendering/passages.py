"""The cited passages of an answer, shown on demand: each with the words that support the sentence in strong letters."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bots.rendering.clean import clean, clean_line, clean_url
from bots.rendering.tree import (
    Block,
    Break,
    Document,
    Inline,
    Link,
    Paragraph,
    Quote,
    Styled,
    Text,
)
from ragcore.characters import edge_before
from ragcore.types import Answer

AROUND = 240
"""How much of the passage is shown before and after the supporting words, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One cited passage: where it stands, its text, and the part of it (``quote``) that supports the sentence."""

    number: int
    title: str
    place: str
    url: str
    text: str
    quote: str


def passages_of(answer: Answer) -> tuple[Passage, ...]:
    """Return the cited passages in the order of their numbers."""
    return tuple(
        Passage(
            number=citation.number,
            title=citation.title,
            place=citation.location,
            url=citation.url,
            text=answer.chunks[citation.id].chunk.text if citation.id < len(answer.chunks) else citation.quote,
            quote=citation.quote,
        )
        for citation in sorted(answer.citations, key=lambda one: one.number)
    )


def passages_document(passages: Sequence[Passage]) -> Document:
    """Return the tree that shows the passages: a line that names each, and the passage quoted under it."""
    return Document(blocks=tuple(block for passage in passages for block in _blocks(passage)))


def _blocks(passage: Passage) -> Iterator[Block]:
    label = ", ".join(part for part in (clean_line(passage.title), clean_line(passage.place)) if part)
    url = clean_url(passage.url)
    named: Inline = Text(text=label)
    if url and label:
        named = Link(url=url, children=(named,))
    yield Paragraph(
        children=(Text(text=f"[{passage.number}] "), named) if label else (Text(text=f"[{passage.number}]"),)
    )
    before, quote, after = _around(clean(passage.text), clean(passage.quote))
    children = (*_lines(before), *_strong(quote), *_lines(after))
    if any(not isinstance(child, Break) for child in children):
        yield Quote(blocks=(Paragraph(children=children),))


def _around(text: str, quote: str) -> tuple[str, str, str]:
    """Return what stands before the quote, the quote and what follows; the passage's start if it isn't there."""
    start = text.find(quote) if quote.strip() else -1
    if start < 0:
        head = text.strip()
        return (head if len(head) <= 2 * AROUND else _cut_end(head, 2 * AROUND)), "", ""
    before, after = text[:start].lstrip(), text[start + len(quote) :].rstrip()
    return _cut_start(before, AROUND), quote, _cut_end(after, AROUND)


def _cut_end(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    end = edge_before(text, most)
    space = max(text.rfind(" ", end // 2, end), text.rfind("\n", end // 2, end))
    return text[: space if space > 0 else end].rstrip() + " …"


def _cut_start(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    start = edge_before(text, len(text) - most)
    space = text.find(" ", start, start + most // 2)
    return "… " + text[space + 1 if space > 0 else start :].lstrip()


def _lines(text: str) -> Iterator[Inline]:
    """Yield the words with a hard end of line for every one or more in the text."""
    first, *rest = text.split("\n")
    if first.strip():
        yield Text(text=first)
    blank = not first.strip()
    for line in rest:
        if not blank:
            yield Break(hard=True)
        blank = not line.strip()
        if not blank:
            yield Text(text=line)


def _strong(quote: str) -> Iterator[Inline]:
    for child in _lines(quote):
        yield Styled(style="strong", children=(child,)) if isinstance(child, Text) else child
