"""What documents that are not indexed yet are going to take: each is cut as a sync cuts it, and nothing of it kept."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from functools import partial
from itertools import islice, product

from ragcore.enrich.asking import Asker
from ragcore.enrich.options import EnrichOptions
from ragcore.enrich.steps import document_steps_of, steps_of
from ragcore.ingest.spool import SLICE, Draft, Spool
from ragcore.library import Library
from ragcore.stores.rows import Document, StoredChunk

USUAL_PROMPT = 400
"""Tokens of a prompt about a chunk that nobody has seen: the rules, and a chunk of the usual size."""


class Coming:
    """The documents that a sync would bring to one knowledge base, and what a model would be asked about them.

    Which chunks a tag set leaves to the model is known once they are embedded: ``most_tag_calls`` counts all.
    """

    def __init__(self, library: Library, options: EnrichOptions, asker: Asker) -> None:
        """Begin with none."""
        self._steps = steps_of(options)
        self._whole = document_steps_of(options, library)
        self._asker = asker
        self._has_tags = bool(options.tags_from)
        self.documents = 0
        self.chunks = 0
        self.sizes: dict[str, tuple[int, int]] = {}
        """By the key of each call the tokens of its prompt and of its reply."""
        self.further: list[tuple[int, int]] = []
        """These of calls of which is known only about what they are."""

    @property
    def most_tag_calls(self) -> int:
        """How many calls their tags take at most."""
        return self.chunks if self._has_tags else 0

    async def add(self, document: Document, chunks: Spool) -> None:
        """Count a document that was cut; one of which nothing could be read here (a scan, a picture) as one chunk."""
        if not len(chunks):
            self.add_unread(1)
            return
        self.documents += 1
        self.chunks += len(chunks)
        pages = partial(_pages, chunks)
        if self._steps:
            async for page in pages():
                for stored, step in product(page, self._steps):
                    if call := await step.call(stored):
                        size = await asyncio.to_thread(self._asker.tokens_of, call), step.count * step.reply_tokens
                        self.sizes[self._asker.key_of(call)] = size
        for whole in self._whole:
            if whole.part == "summaries":  # which chunks are alike is told by vectors, which are not there yet
                self.further += whole.calls_coming(1, len(chunks))
                continue
            async for call, reply in whole.calls(document, pages, self._asker):
                self.sizes[self._asker.key_of(call)] = (self._asker.tokens_of(call), reply)

    def add_unread(self, chunks: int) -> None:
        """Count a document of which is known only about how many chunks it has."""
        self.documents += 1
        self.chunks += chunks
        self.further += [(USUAL_PROMPT, step.count * step.reply_tokens) for step in self._steps] * chunks
        for whole in self._whole:
            self.further += whole.calls_coming(1, chunks)


async def _pages(chunks: Spool) -> AsyncGenerator[list[StoredChunk], None]:
    drafts = iter(chunks)
    while page := await asyncio.to_thread(_next, drafts):
        yield page


def _next(drafts: Iterator[Draft]) -> list[StoredChunk]:
    return [draft.stored for draft in islice(drafts, SLICE)]
