"""From a source's document to what is written: its hash, its row and its chunks.

A document is cut part by part, and its chunks are laid into a spool: however long it is, little of it is held.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from ragcore.chunking import Piece, chunk_sections, embedding_text, method_named
from ragcore.chunking.parents import Parents
from ragcore.chunking.row_values import RowSamples
from ragcore.errors import ParseError
from ragcore.ingest.events import IngestOptions, Stage, Underway
from ragcore.ingest.pictures import Described, Pictures
from ragcore.ingest.spool import Draft, Spool
from ragcore.parsing.worker import ParseWorker, Part, Step
from ragcore.stores.enrichment import INCOMPLETE
from ragcore.stores.lacking import HowRead, Readers, holds, how_read, is_hash_of, lacking_hash, model_mark
from ragcore.stores.rows import Document, StoredChunk, digest, generation, storable
from ragcore.terms import language_of
from ragcore.tokens import Tokenizer
from ragcore.types import Chunk, Location, Parent, ParsedDocument, Permalink, Section, SourceDocument

_DESCRIBE = "see that the model of llm.vision_model can be reached; it is tried again at the next sync"
_OTHER_MODEL = "name another model as llm.vision_model, or exclude it"

BIG = 1_000_000
"""Bytes from which on hashing goes to a thread: about a millisecond."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A document ready to be written: its row and its chunks.

    ``replaces``, where it was made of a live one, is that generation: if another is live by then, it isn't written.
    """

    document: Document
    chunks: Spool
    is_new: bool
    warnings: tuple[str, ...] = ()
    replaces: str = ""


async def document_hash(source: SourceDocument, *, pipeline: str) -> str:
    """Return the hash of all that decides whether work is due: content, what is said about it, and the pipeline."""

    def work() -> str:
        readers = ["-"] if source.readers is None else ["+", *sorted(source.readers)]
        metadata = [part for pair in sorted(source.metadata.items()) for part in pair]
        said = (source.name, source.media_type, source.title, source.url, source.author)
        links = [part for link in source.permalinks for part in (str(link.line), link.url)]
        return digest(pipeline, source.content, *said, str(len(readers)), *readers, *metadata, *links)

    return work() if len(source.content) < BIG else await asyncio.to_thread(work)


def is_as_read(live: Document, *, hashed: str, pipeline: str, readers: Readers) -> bool:
    """Tell whether what is live of a document is what reading it now would give.

    So is one that lacks the descriptions of pictures, until it is time to try again.
    """
    return is_hash_of(live.hash, hashed) and holds(live.pipeline, pipeline, readers, datetime.now(UTC))


async def prepare(
    source: SourceDocument,
    *,
    knowledge_base: str,
    hashed: str,
    pipeline: str,
    options: IngestOptions,
    tokenizer: Tokenizer,
    worker: ParseWorker,
    pictures: Pictures,
    folder: Path,
    live: Document | None,
) -> AsyncGenerator[Underway | Prepared, None]:
    """Parse and cut one document: yield how far it is, and last what is to be written.

    Args:
        source: the document.
        knowledge_base: where it belongs.
        hashed: its hash.
        pipeline: the part of the hash that is ours.
        options: how it is read and cut; its own, without patterns.
        tokenizer: counts.
        worker: reads it.
        pictures: puts its pictures into words.
        folder: where the chunks of a large document are laid down until they are written.
        live: what is live of it.

    Raises:
        ParseError: it cannot be read.
        ConfigError: there is no such chunk method.
        StoreError: there is no room for its chunks.
    """
    yield Underway(document_id=source.id, stage=Stage.READING)
    replies = worker.parse(
        source.content,
        name=source.name,
        media_type=source.media_type,
        options=replace(options.parse, images=bool(options.describe)),
        seconds=options.seconds_per_step,
    )
    warnings: tuple[str, ...] = ()
    pictured: list[Described] = []
    began = datetime.now(UTC)
    async with aclosing(replies):
        async for reply in replies:
            match reply:
                case Step():
                    yield Underway(document_id=source.id, stage=Stage.READING, done=reply.done, total=reply.total)
                case ParsedDocument():
                    read = HowRead(
                        pipeline=pipeline,
                        described=model_mark(options.describe) if reply.has_pictures else None,
                        lacks_ocr=reply.lacks_ocr,
                    )
                    row = document_of(source, reply, knowledge_base=knowledge_base, hashed=hashed, pipeline=str(read))
                    if live is not None and live.extracted and live.knowledge_base == knowledge_base:
                        # Until a model has read the new version, filters go by what it read in the one before.
                        row = replace(row, extracted=live.extracted, enriched=INCOMPLETE)
                    if live is not None and is_hash_of(live.hash, hashed):
                        # Its pictures were read otherwise then: what it becomes now must not be mixed with that.
                        again = digest(hashed, live.hash, live.generation)
                        row = replace(row, generation=generation(source.id, knowledge_base, again))
                    cutter = cutter_of(row, source, reply, options, tokenizer, folder)
                    warnings = reply.warnings
                case Part():
                    described = await pictures.described(reply.sections, cutter.document.title, source.id)
                    pictured.append(replace(described, sections=()))
                    await asyncio.to_thread(cutter.cut, replace(reply, sections=described.sections))
                    if not reply.is_last:
                        yield Underway(document_id=source.id, stage=Stage.CUTTING, done=reply.done, total=reply.total)
    if live is not None and not any(one.failure for one in pictured):
        await pictures.settled(source.id, began)
    document, remarks = _judged(cutter.document, pictured, live)
    yield Prepared(document=document, chunks=cutter.spool, is_new=live is None, warnings=(*warnings, *remarks))


class Cutter:
    """Cuts one document part by part, as it would be cut whole.

    Where its method must see all of it at once, its sections are held until the last one is there.
    """

    def __init__(
        self,
        document: Document,
        title: str,
        options: IngestOptions,
        tokenizer: Tokenizer,
        spool: Spool,
        permalinks: Sequence[Permalink],
    ) -> None:
        """Begin; ``title`` is what is embedded with each chunk. ``document`` still counts none."""
        self.document = document
        self._permalinks = permalinks
        self.spool = spool
        self._title = title
        self._options = options
        self._tokenizer = tokenizer
        self._method = method_named(options.chunk.method)
        self._parents = Parents(options.chunk.parent_tokens, tokenizer)
        self._samples = RowSamples()
        self._held: list[Section] = []

    def cut(self, part: Part) -> None:
        """Cut the next part; its last section waits for the one that follows. Blocks."""
        self._held.extend(map(_clean, part.sections))
        if self._method.is_whole and not part.is_last:
            return
        if self._method.is_whole and self._method.authors is not None and not self.document.author:
            # What the source or the file itself tells of its author counts before.
            self.document = replace(self.document, author=storable(self._method.authors(self._held)))
        ready = self._held if part.is_last else self._held[:-1]
        self._held = [] if part.is_last else self._held[-1:]
        following = self._held[0] if self._held else None
        pieces = chunk_sections(ready, self._options.chunk, self._tokenizer, following=following)
        placed = [replace(piece, location=_linked(piece.location, self._permalinks)) for piece in pieces]
        self._lay_down(self._parents.add(ready, placed))
        if part.is_last:
            self._lay_down(self._parents.close())

    def _lay_down(self, pieces: Sequence[tuple[Piece, Parent | None]]) -> None:
        """Make chunks of the next pieces, and lay them into the spool."""
        first = self.document.chunk_count
        self.spool.extend(_drafts(self.document, self._title, pieces, first))
        self._samples.add(piece.rows for piece, _ in pieces if piece.rows)
        self.document = replace(
            self.document,
            row_fields=self._samples.by_field(),
            chunk_count=first + len(pieces),
            token_count=self.document.token_count + sum(piece.token_count for piece, _ in pieces),
        )


def cutter_of(
    row: Document,
    source: SourceDocument,
    parsed: ParsedDocument,
    options: IngestOptions,
    tokenizer: Tokenizer,
    folder: Path,
) -> Cutter:
    """Return what cuts the document of a row, with its own options; its chunks are laid down in ``folder``."""
    # A file's name isn't embedded with its text: who renames a file doesn't change what it says.
    title = row.title if source.title or parsed.titled else ""
    return Cutter(row, title, options, tokenizer, Spool(folder), source.permalinks)


def _judged(document: Document, pictured: Sequence[Described], live: Document | None) -> tuple[Document, list[str]]:
    """Return a document as it counts with what its pictures came to, and what is to be said of that."""
    failure = next((one.failure for one in pictured if one.failure), "")
    without = sum(one.without for one in pictured)
    if not document.chunk_count and (failure or without):
        why = failure or "the model gave no description"
        raise ParseError(
            f"OCR read no words in it, and it was not described: {why}", mend=_DESCRIBE if failure else _OTHER_MODEL
        )
    remarks: list[str] = []
    if failure:
        document = _due_again(document, [text for one in pictured for text in one.descriptions], live)
        remarks.append(f"a picture was not described: {failure} It is tried again later")
    if without:
        remarks.append(f"pictures that the model did not describe: {without}; another one is asked anew")
    return document, remarks


def _due_again(document: Document, had: Sequence[str], live: Document | None) -> Document:
    """Return a document that is read again after a while: it was not read as its pipeline would have it."""
    is_again = live is not None and is_hash_of(live.hash, document.hash)
    attempts = how_read(live.pipeline).attempts + 1 if live is not None and is_again else 1
    read = how_read(document.pipeline).trying_again(attempts, datetime.now(UTC))
    return replace(document, hash=lacking_hash(document.hash, had), pipeline=str(read))


def _linked(place: Location, permalinks: Sequence[Permalink]) -> Location:
    """Return the place with the addresses of what stands on its lines."""
    if not (permalinks and place.first_line):
        return place
    begun = [link for link in permalinks if link.line <= place.first_line][-1:]
    return replace(
        place,
        permalinks=(*begun, *(link for link in permalinks if place.first_line < link.line <= place.last_line)),
    )


def _clean(section: Section) -> Section:
    """Drop what no database takes, before chunks count their characters."""
    text, header = storable(section.text), storable(section.header)
    path = tuple(map(storable, section.heading_path))
    if (text, header, path) == (section.text, section.header, section.heading_path):
        return section
    lines = section.lines if text == section.text else ()  # its offsets hold no more
    return replace(section, text=text, header=header, heading_path=path, lines=lines)


def document_of(
    source: SourceDocument, parsed: ParsedDocument, *, knowledge_base: str, hashed: str, pipeline: str
) -> Document:
    """Return the row of a document that is not cut yet."""
    return Document(
        id=source.id,
        knowledge_base=knowledge_base,
        source=source.source,
        title=storable(source.title or parsed.title),
        url=storable(source.url),
        name=storable(source.name),
        media_type=parsed.media_type,
        author=storable(source.author or parsed.author),
        version=storable(source.version),
        hash=hashed,
        pipeline=pipeline,
        generation=generation(source.id, knowledge_base, hashed),
        readers=source.readers,
        metadata={storable(name): storable(value) for name, value in source.metadata.items()},
        updated_at=source.updated_at or parsed.updated_at,
    )


def _drafts(document: Document, title: str, pieces: Sequence[tuple[Piece, Parent | None]], first: int) -> list[Draft]:
    """Make chunks of pieces with their parents, the first of them number ``first`` of its document."""
    drafts: list[Draft] = []
    for ordinal, (piece, parent) in enumerate(pieces, start=first):
        text = embedding_text(title, piece.heading_path, piece.text, piece.embedded)
        chunk = Chunk(
            id=f"{document.generation}-{ordinal}",
            document_id=document.id,
            knowledge_base=document.knowledge_base,
            ordinal=ordinal,
            text=piece.text,
            title=document.title,
            token_count=piece.token_count,
            url=document.url,
            media_type=document.media_type,
            kind=piece.kind,
            heading_path=piece.heading_path,
            location=piece.location,
            overlap=piece.overlap,
            updated_at=document.updated_at,
            tags=piece.tags,
            reader_set=document.reader_set,
            parent=parent,
        )
        stored = StoredChunk(
            chunk=chunk,
            vector_key=digest(text),
            language=language_of(piece.text),
            embedded=piece.embedded,
            rows=piece.rows,
        )
        drafts.append(Draft(stored=stored, text=text))
    return drafts
