"""The first half of an ingest: a source's documents become prepared ones, in order, ahead of what is written."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

from ragcore.enrich.asking import AT_ONCE
from ragcore.errors import (
    CitebotError,
    EmptyDocument,
    ModelAuthError,
    ModelRateLimited,
    ModelUnreachable,
    ParseError,
    StoreError,
)
from ragcore.ingest.events import Asked, Change, Failed, Indexed, IngestOptions, Mark, Underway, pipeline_of
from ragcore.ingest.in_order import InOrder
from ragcore.ingest.items import Item, Same, Unread, ids_of
from ragcore.ingest.pictures import Pictures
from ragcore.ingest.prepare import Prepared, document_hash, is_as_read, prepare
from ragcore.library import Library
from ragcore.parsing.worker import ParseWorker
from ragcore.stores.failures import Failure
from ragcore.stores.lacking import how_read
from ragcore.stores.rows import Document
from ragcore.tokens import Tokenizer
from ragcore.types import SourceDocument

READ_AHEAD = 16
"""Documents that are prepared while a batch is embedded."""

# The document is not to blame, so trying the next one makes no sense.
FATAL = (StoreError, ModelUnreachable, ModelAuthError, ModelRateLimited)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class End:
    """The source has no more documents, or broke with an error."""

    error: BaseException | None = None


class Inbox:
    """What the reader hands over: documents in their order, a few at a time, and the newest word of the one it reads.

    News wait in a place of their own, where the next word replaces them: nobody who is busy writing is flooded, and
    the reader never waits for somebody to hear them.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self._items: asyncio.Queue[Item | End | None] = asyncio.Queue(READ_AHEAD)
        self._news: Underway | None = None
        self._undecided: Counter[str] = Counter()

    def tell(self, news: Underway) -> None:
        """Replace the news."""
        if self._news is None and not self._items.full():
            self._items.put_nowait(None)  # where the news will be taken
            self._news = news
        elif self._news is not None:
            self._news = news

    async def put(self, item: Item | End) -> None:
        """Hand over a document, when there is room."""
        if not isinstance(item, End):
            self._undecided.update(ids_of(item))
        await self._items.put(item)

    def is_undecided(self, document_id: str) -> bool:
        """Tell whether something was handed over that decides about a document, and is not written yet."""
        return document_id in self._undecided

    def written(self, items: Sequence[Item]) -> None:
        """Note that what these items say holds now, or will never."""
        for identity in (identity for item in items for identity in ids_of(item)):
            self._undecided[identity] -= 1
            if not self._undecided[identity]:
                del self._undecided[identity]

    async def take(self, until: float | None) -> Item | End | Underway | None:
        """Return what comes next, waiting until this time of the loop's clock; None when nothing has come."""
        try:
            async with asyncio.timeout_at(until):
                item = await self._items.get()
        except TimeoutError:
            return None
        if item is not None:
            return item
        news, self._news = self._news, None
        return news


class Reader:
    """Turns a source's documents into prepared ones, in order."""

    def __init__(self, library: Library, knowledge_base: str, options: IngestOptions, tokenizer: Tokenizer) -> None:
        """Start nothing yet."""
        self._library = library
        self._knowledge_base = knowledge_base
        self._options = options
        self._tokenizer = tokenizer
        self.worker = ParseWorker()
        self._pictures = Pictures(library.describer if options.describe else None)

    def asked(self) -> Asked | None:
        """Return what a model was asked about pictures; None where it was nothing."""
        spent = self._pictures.spent
        return Asked(usage=spent.usage, cached=spent.cached) if spent.usage.calls or spent.cached else None

    async def read(self, documents: AsyncIterable[SourceDocument | Mark], inbox: Inbox) -> None:
        """Fill the inbox; whatever the source raises goes through it, behind the documents before it."""
        error: BaseException | None = None
        # Where a model describes pictures, most documents wait for it; elsewhere the parser takes one at a time anyway.
        most = AT_ONCE if self._pictures.are_wanted else 1
        under_way: set[str] = set()

        async def hand_over(item: Item) -> None:
            await inbox.put(item)
            under_way.difference_update(ids_of(item))

        try:
            async with aclosing(InOrder(most, hand_over)) as line:
                async for source in documents:
                    if isinstance(source, Mark) or source.id in under_way:
                        await line.all()  # what comes now says something of what came before
                    if isinstance(source, Mark):
                        await inbox.put(source)
                        continue
                    under_way.add(source.id)
                    await line.begin(partial(self._one, source, inbox))
                    if most == 1:
                        await line.all()
                await line.all()
        except Exception as broken:  # noqa: BLE001 - handed over, not swallowed: ingest raises it
            error = broken
        await inbox.put(End(error))

    async def _one(self, source: SourceDocument, inbox: Inbox) -> Item:
        try:
            async with aclosing(self._steps(source, inbox)) as steps:
                async for step in steps:
                    if isinstance(step, Underway):
                        inbox.tell(step)
                    else:
                        return step
            raise AssertionError("a document that is read ends as something")
        except FATAL:
            raise
        except Exception as error:  # noqa: BLE001 - one document
            return unread(source.id, source.source, source.version, error, readers=source.readers)

    async def _steps(self, source: SourceDocument, inbox: Inbox) -> AsyncGenerator[Underway | Item, None]:
        known = await self._library.registry.document(source.id)
        options = self._options.for_document(source.id, source.name)
        pipeline = pipeline_of(options, tokenizer=self._tokenizer.name)
        hashed = await document_hash(source, pipeline=pipeline)
        live = known if known is not None and not known.deleted else None
        # What is live may be about to be replaced by what came before this.
        is_settled = live is not None and not inbox.is_undecided(source.id)
        is_here = is_settled and live is not None and live.knowledge_base == self._knowledge_base
        if live and is_here and is_as_read(live, hashed=hashed, pipeline=pipeline, readers=options.readers):
            yield _same(source, live)
            return
        steps = prepare(
            source,
            knowledge_base=self._knowledge_base,
            hashed=hashed,
            pipeline=pipeline,
            options=options,
            tokenizer=self._tokenizer,
            worker=self.worker,
            pictures=self._pictures,
            folder=self._library.data_dir,
            live=live,
        )
        async with aclosing(steps):
            async for step in steps:
                if live and is_here and isinstance(step, Prepared) and _lacks_the_same(step.document, live):
                    yield _same(source, live, pipeline=step.document.pipeline, warnings=step.warnings)
                else:
                    yield step


def _same(source: SourceDocument, live: Document, *, pipeline: str = "", warnings: tuple[str, ...] = ()) -> Same:
    told = Indexed(document_id=source.id, change=Change.UNCHANGED, chunks=live.chunk_count, warnings=warnings)
    fresh = replace(
        live,
        version=source.version,
        updated_at=source.updated_at or live.updated_at,
        pipeline=pipeline or live.pipeline,
    )
    return Same(told=told, refreshed=fresh if fresh != live else None)


def _lacks_the_same(document: Document, live: Document) -> bool:
    """Tell whether a document some pictures of which could not be described is live with the same descriptions."""
    return bool(how_read(document.pipeline).attempts) and document.hash == live.hash


def unread(document_id: str, source: str, version: str, error: Exception, *, readers: frozenset[str] | None) -> Unread:
    """Say in words why a document can't be indexed; what nobody expected goes to the log with its trace."""
    match error:
        case ParseError():
            reason, mend = error.reason, error.mend
        case CitebotError():
            reason, mend = error.user_message, "see the log; it is tried again at a later sync"
            log.warning("document %s failed: %s", document_id, error)
        case _:
            reason, mend = f"unexpected {type(error).__name__}", "see the log; please report it with the file"
            log.error("document %s failed", document_id, exc_info=error)
    return Unread(
        told=Failed(document_id=document_id, reason=reason, mend=mend, is_empty=isinstance(error, EmptyDocument)),
        failure=Failure(
            document_id=document_id, source=source, version=version, reason=reason, mend=mend, readers=readers
        ),
    )
