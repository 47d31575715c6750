"""Facts of a document that a knowledge base names fields for: read by a model from its beginning and its headings."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from ragcore.enrich.asking import Asker, Call
from ragcore.enrich.metadata_reply import facts_of
from ragcore.enrich.options import MetadataField
from ragcore.enrich.whole import Pages, Part
from ragcore.prompts import Prompts
from ragcore.stores.rows import Document
from ragcore.tokens import Tokenizer

BEGINNING = 1_024
"""Tokens of the text that are shown: who wrote it, when and for whom stands on the first page or two."""
HEADINGS = 256
"""Tokens of headings that are shown."""
REPLY = 20
"""Tokens of a reply for each field, about."""
RULES = 300
"""Tokens of the rules, about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataStep:
    """Gives a document values for these fields, those that it tells."""

    fields: tuple[MetadataField, ...]
    template: str = "document_metadata"
    part: Part = "extracted"

    def told(self, prompts: Prompts) -> Sequence[str]:
        """Return the template with the fields."""
        return (self.template, prompts.render(self.template, fields=self._lines()))

    async def calls(self, document: Document, pages: Pages, asker: Asker) -> AsyncGenerator[tuple[Call, int], None]:
        """Yield the one call."""
        yield await self._call(document, pages, asker.tokenizer), REPLY * len(self.fields)

    def calls_coming(self, documents: int, chunks: int) -> Sequence[tuple[int, int]]:
        """Return a call for each document."""
        return [(RULES + BEGINNING, REPLY * len(self.fields))] * documents

    async def apply(self, document: Document, pages: Pages, asker: Asker) -> dict[str, str]:
        """Return the values by field; a field that the document does not tell is left out."""
        call = await self._call(document, pages, asker.tokenizer)
        return await asker.ask(call, lambda reply: facts_of(reply, self.fields)) or {}

    async def _call(self, document: Document, pages: Pages, tokenizer: Tokenizer) -> Call:
        text = await _material(document, pages, tokenizer)
        return Call(template=self.template, inputs={"fields": self._lines()}, text=text)

    def _lines(self) -> str:
        return "\n".join(f"- {field.name} ({field.type}): {field.description}" for field in self.fields)


async def _material(document: Document, pages: Pages, tokenizer: Tokenizer) -> str:
    """Return what is shown of a document: what it is called, its headings, and its beginning."""
    headings: dict[str, None] = {}
    texts: list[str] = []
    read = named = 0
    async with aclosing(pages()) as found:
        async for page in found:
            for chunk in (stored.chunk for stored in page):
                if read < BEGINNING:
                    texts.append(chunk.text[chunk.overlap :])
                    read += chunk.token_count
                if named < HEADINGS:
                    fresh = [title for title in chunk.heading_path if title not in headings]
                    headings |= dict.fromkeys(fresh)
                    named += sum(map(tokenizer.count, fresh))
            if read >= BEGINNING and named >= HEADINGS:
                break
    parts = [f"{name}: {said}" for name, said in _called(document) if said]
    if headings:
        parts.append("Headings:\n" + tokenizer.head("\n".join(headings), HEADINGS))
    parts.append("Beginning:\n" + tokenizer.head("\n".join(texts), BEGINNING))
    return "\n\n".join(parts)


def _called(document: Document) -> tuple[tuple[str, str], ...]:
    return ("Title", document.title), ("File", document.name), ("Author", document.author)
