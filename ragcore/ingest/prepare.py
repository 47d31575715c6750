"""From a source's document to what is written: its hash, its row and its chunks."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from ragcore.chunking import Piece, chunk_sections, embedding_text
from ragcore.ingest.events import IngestOptions, Stage, Underway
from ragcore.parsing.worker import ParseWorker, Step
from ragcore.stores.rows import Document, StoredChunk, digest, generation, storable
from ragcore.terms import language_of
from ragcore.tokens import Tokenizer
from ragcore.types import Chunk, ParsedDocument, Section, SourceDocument

BIG = 1_000_000
"""Bytes from which on hashing goes to a thread: about a millisecond."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A document ready to be written: its row, its chunks, and the text of each that is to be embedded."""

    document: Document
    chunks: tuple[StoredChunk, ...]
    texts: tuple[str, ...]
    is_new: bool
    warnings: tuple[str, ...] = ()


async def document_hash(source: SourceDocument, *, pipeline: str) -> str:
    """Return the hash of all that decides whether work is due: content, what is said about it, and the pipeline."""

    def work() -> str:
        readers = ["-"] if source.readers is None else ["+", *sorted(source.readers)]
        metadata = [part for pair in sorted(source.metadata.items()) for part in pair]
        said = (source.name, source.media_type, source.title, source.url, source.author)
        return digest(pipeline, source.content, *said, str(len(readers)), *readers, *metadata)

    return work() if len(source.content) < BIG else await asyncio.to_thread(work)


async def prepare(
    source: SourceDocument,
    *,
    knowledge_base: str,
    hashed: str,
    pipeline: str,
    options: IngestOptions,
    tokenizer: Tokenizer,
    worker: ParseWorker,
    is_new: bool,
) -> AsyncGenerator[Underway | Prepared, None]:
    """Parse and cut one document: yield how far it is, and last what is to be written.

    Raises:
        ParseError: it cannot be read.
    """
    yield Underway(document_id=source.id, stage=Stage.READING)
    replies = worker.parse(
        source.content,
        name=source.name,
        media_type=source.media_type,
        options=options.parse,
        seconds=options.seconds_per_step,
    )
    async with aclosing(replies):
        async for reply in replies:
            if isinstance(reply, Step):
                yield Underway(document_id=source.id, stage=Stage.READING, done=reply.done, total=reply.total)
            else:
                parsed = reply
    parsed = replace(parsed, sections=tuple(_clean(section) for section in parsed.sections))
    pieces = await asyncio.to_thread(chunk_sections, parsed, options.chunk, tokenizer)
    document = _document(source, parsed, pieces, knowledge_base=knowledge_base, hashed=hashed, pipeline=pipeline)
    # A file's name isn't embedded with its text: who renames a file doesn't change what it says.
    title = document.title if source.title or parsed.titled else ""
    yield await asyncio.to_thread(_assembled, document, title, pieces, is_new, parsed.warnings)


def _clean(section: Section) -> Section:
    """Drop what no database takes, before chunks count their characters."""
    text, header = storable(section.text), storable(section.header)
    path = tuple(map(storable, section.heading_path))
    if (text, header, path) == (section.text, section.header, section.heading_path):
        return section
    return replace(section, text=text, header=header, heading_path=path)


def _document(
    source: SourceDocument,
    parsed: ParsedDocument,
    pieces: Sequence[Piece],
    *,
    knowledge_base: str,
    hashed: str,
    pipeline: str,
) -> Document:
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
        chunk_count=len(pieces),
        token_count=sum(piece.token_count for piece in pieces),
        readers=source.readers,
        metadata={storable(name): storable(value) for name, value in source.metadata.items()},
        updated_at=source.updated_at or parsed.updated_at,
    )


def _assembled(
    document: Document, title: str, pieces: Sequence[Piece], is_new: bool, warnings: tuple[str, ...]
) -> Prepared:
    """Make the chunks; ``title`` is what is embedded with each."""
    chunks: list[StoredChunk] = []
    texts: list[str] = []
    for ordinal, piece in enumerate(pieces):
        text = embedding_text(title, piece.heading_path, piece.text)
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
        )
        chunks.append(StoredChunk(chunk=chunk, vector_key=digest(text), language=language_of(piece.text)))
        texts.append(text)
    return Prepared(document=document, chunks=tuple(chunks), texts=tuple(texts), is_new=is_new, warnings=warnings)
