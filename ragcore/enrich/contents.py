"""The table of contents of a document that has too few headings for one: a model finds where its sections begin."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from ragcore.contents import Entry, of_headings, tells_apart
from ragcore.enrich.asking import FATAL, Asker, Call, together
from ragcore.enrich.contents_reply import sections_of
from ragcore.enrich.whole import Pages, Part
from ragcore.errors import ContextTooSmall, ModelError
from ragcore.prompts import Prompts
from ragcore.stores.rows import Document, StoredChunk
from ragcore.tokens import Tokenizer
from ragcore.types import SectionKind

STRETCH = 1_024
"""Tokens of a document that are asked about at once, as RAGFlow does: a model that reads more passes sections over."""
FEWEST_CHUNKS = 5
"""A document of fewer is short enough to be found whole."""
REPLY = 60
"""Tokens of a reply, about: a few sections begin in a stretch."""
SIDE_BY_SIDE = 8
"""Stretches of a document that are held, and asked about, at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Some chunks that follow each other: their ordinals, and what is shown of each."""

    ordinals: tuple[int, ...]
    texts: tuple[str, ...]

    def call(self, template: str) -> Call:
        """Return what is asked about it. Pieces count from 0 in each: what stands before does not change the call."""
        pieces = (f"[{number}]\n{text}" for number, text in enumerate(self.texts))
        return Call(template=template, text="\n\n".join(pieces))

    def entries(self, reply: str) -> tuple[Entry, ...]:
        """Return the sections that a reply finds in it.

        Raises:
            ModelBadOutput: It can't be used.
        """
        found = sections_of(reply, self.texts)
        return tuple(Entry(ordinal=self.ordinals[one.ordinal], level=one.level, title=one.title) for one in found)


@dataclass(frozen=True, slots=True)
class ContentsStep:
    """Gives a document the sections that a model finds, where its headings don't tell them."""

    template: str = "contents"
    part: Part = "contents"

    def told(self, prompts: Prompts) -> Sequence[str]:
        """Return the template."""
        return (self.template, prompts.render(self.template))

    async def calls(self, document: Document, pages: Pages, asker: Asker) -> AsyncGenerator[tuple[Call, int], None]:
        """Yield a call for each stretch, none where the headings do."""
        if await _needs_model(pages):
            async for stretch in stretches(pages, asker.tokenizer):
                yield stretch.call(self.template), REPLY

    def calls_coming(self, documents: int, chunks: int) -> Sequence[tuple[int, int]]:
        """Return a call for two chunks of the usual size: whether headings will do is not known."""
        return [(STRETCH, REPLY)] * (chunks // 2) if chunks >= FEWEST_CHUNKS * documents else []

    async def apply(self, document: Document, pages: Pages, asker: Asker) -> dict[int, tuple[Entry, ...]]:
        """Return the sections by the chunk with which they begin."""
        found: dict[int, tuple[Entry, ...]] = {}
        failed: list[Exception] = []
        if await _needs_model(pages):
            async for some in _grouped(stretches(pages, asker.tokenizer), SIDE_BY_SIDE):
                for answer in await together([self._asked(stretch, asker) for stretch in some]):
                    if isinstance(answer, Exception):
                        failed.append(answer)
                        continue
                    for entry in answer:
                        found[entry.ordinal] = (*found.get(entry.ordinal, ()), entry)
        if failed:
            raise failed[0]
        return found

    async def _asked(self, stretch: Stretch, asker: Asker) -> tuple[Entry, ...] | Exception:
        """Return the sections of a stretch, or why there are none: what is asked beside it goes on."""
        try:
            return await asker.ask(stretch.call(self.template), stretch.entries) or ()
        except FATAL:
            raise
        except (ModelError, ContextTooSmall) as error:
            return error


async def _needs_model(pages: Pages) -> bool:
    """Return whether a document is long enough for a table of contents, and has too few headings for one."""
    chunks = prose = entries = 0
    path: tuple[str, ...] = ()
    async for page in pages():
        chunks += len(page)
        prose += sum(_is_prose(stored) for stored in page)
        # The last path of the page before goes first, so that a section which goes on is not counted again.
        paths = ((stored.chunk.ordinal, stored.chunk.heading_path) for stored in page)
        entries += sum(1 for entry in of_headings([(-1, path), *paths]) if entry.ordinal >= 0)
        path = page[-1].chunk.heading_path
    return prose >= FEWEST_CHUNKS and not tells_apart(entries, chunks)


async def stretches(pages: Pages, tokenizer: Tokenizer) -> AsyncGenerator[Stretch, None]:
    """Yield the prose of a document in stretches of at most ``STRETCH`` tokens; of a larger chunk its beginning."""
    ordinals: list[int] = []
    texts: list[str] = []
    tokens = 0
    async for page in pages():
        for stored in filter(_is_prose, page):
            chunk = stored.chunk
            text = chunk.text[chunk.overlap :].strip()
            if chunk.token_count > STRETCH:
                text = tokenizer.head(text, STRETCH)
            if texts and tokens + chunk.token_count > STRETCH:
                yield Stretch(ordinals=tuple(ordinals), texts=tuple(texts))
                ordinals, texts, tokens = [], [], 0
            ordinals.append(chunk.ordinal)
            texts.append(text)
            tokens += chunk.token_count
    if texts:
        yield Stretch(ordinals=tuple(ordinals), texts=tuple(texts))


async def _grouped(found: AsyncGenerator[Stretch, None], size: int) -> AsyncGenerator[list[Stretch], None]:
    """Yield so many at a time; the last ones may be fewer."""
    group: list[Stretch] = []
    async for one in found:
        group.append(one)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def _is_prose(stored: StoredChunk) -> bool:
    """Return whether sections may begin in a chunk: rows of a table have none."""
    return stored.chunk.kind is not SectionKind.TABLE
