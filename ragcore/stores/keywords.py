"""The keyword index: Tantivy over our own analysis, derived from the registry and refilled when lost.

Chunks go in as bags of terms that ``ragcore.terms`` made, and queries are built term by term: nothing that a person
types is ever parsed. One document of the index is no chunk: it carries the registry's revision and commits with them.
"""

import asyncio
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from ragcore.errors import BusyError, IndexDamaged, StoreError
from ragcore.stores.indexes import KeywordReader
from ragcore.stores.keyword_document import OPEN, bag, scope
from ragcore.stores.keyword_snapshot import MARKER, TantivySnapshot, chunk_id
from ragcore.types import Chunk

if TYPE_CHECKING:
    import tantivy

FORMAT = 6
"""Grows when schema or analysis change: an index of another format counts as damaged, and is refilled."""

_HEAP = 64_000_000  # bytes that the writer gathers before it writes a segment
_Result = TypeVar("_Result")


class TantivyKeywords:
    """A KeywordIndex in a folder of its own. Safe to call from any task; the work is done in threads."""

    def __init__(self, folder: Path) -> None:
        """Name the folder; it is made, and the index opened, at the first call."""
        self._folder = folder
        self._lock = Lock()
        self._index: tantivy.Index | None = None
        self._writer: tantivy.IndexWriter | None = None

    async def write(
        self, *, add: Sequence[Chunk] = (), remove_generations: Sequence[str] = (), revision: int | None = None
    ) -> None:
        """In one commit: remove generations, add chunks (an id already there is replaced), set the revision."""
        await self._run(lambda: self._write(add, remove_generations, revision))

    async def read(self, work: Callable[[KeywordReader], _Result]) -> _Result:
        """Run ``work``, which only reads, on one state of the index: one step of a thread, however much is asked."""
        return await self._run(lambda: work(TantivySnapshot(self._opened())))

    async def count(self, knowledge_base: str | None = None) -> int:
        """Return the number of chunks, of one knowledge base or of all."""
        return await self._run(lambda: self._count(knowledge_base))

    async def ids(self) -> set[str]:
        """Return the ids of all chunks."""
        return await self._run(self._ids)

    async def revision(self) -> int:
        """Return the revision last written, 0 for a new index."""
        return await self._run(self._revision)

    async def clear(self) -> None:
        """Drop everything, damaged files included, and start empty at revision 0."""
        await asyncio.to_thread(self._clear)

    async def close(self) -> None:
        """Release the files and the writer's lock; the next call opens them again."""
        await asyncio.to_thread(self._close)

    async def _run(self, work: Callable[[], _Result]) -> _Result:
        """Do the work in a thread, and say in our own words what Tantivy says when it fails."""
        return await asyncio.to_thread(_mapped, work)

    def _write(self, add: Sequence[Chunk], remove_generations: Sequence[str], revision: int | None) -> None:
        """Delete and add in one commit; on any failure roll back, so that nothing half done is ever seen."""
        documents = [_document(chunk) for chunk in add]
        with self._lock:
            writer = self._open_writer()
            try:
                for generation in remove_generations:
                    writer.delete_documents_by_term("generation", generation)
                for chunk, document in zip(add, documents, strict=True):
                    writer.delete_documents_by_term("id", chunk.id)
                    writer.add_document(document)
                if revision is not None:
                    writer.delete_documents_by_term("marker", MARKER)
                    writer.add_document(_marker(revision))
                writer.commit()
            except ValueError:
                self._writer = None
                raise
            self._open_index().reload()

    def _count(self, knowledge_base: str | None) -> int:
        """Count live chunks: the dictionary's own figure still holds the deleted."""
        import tantivy

        index = self._opened()
        if knowledge_base is None:
            query = tantivy.Query.term_query(index.schema, "kind", "chunk")
        else:
            query = tantivy.Query.term_query(index.schema, "knowledge_base", knowledge_base)
        result: Any = index.searcher().search(query, limit=1)
        return int(result.count)  # there, though the stub doesn't name it

    def _ids(self) -> set[str]:
        """Read the id of every chunk."""
        import tantivy

        index = self._opened()
        searcher = index.searcher()
        query = tantivy.Query.term_query(index.schema, "kind", "chunk")
        found = searcher.search(query, limit=max(1, searcher.num_docs), count=False).hits
        return {chunk_id(searcher, address) for _, address in found}

    def _revision(self) -> int:
        """Read the marker; an index of another format must be refilled."""
        import tantivy

        index = self._opened()
        searcher = index.searcher()
        query = tantivy.Query.term_query(index.schema, "marker", MARKER)
        for _, address in searcher.search(query, limit=1, count=False).hits:
            written = searcher.doc(address)
            if written.get_first("format") != FORMAT:
                raise IndexDamaged("the keyword index has an older format")
            return int(written["revision"][0])
        return 0

    def _opened(self) -> "tantivy.Index":
        """Return the open index; Tantivy's own snapshots make reading safe beside a write."""
        with self._lock:
            return self._open_index()

    def _open_index(self) -> "tantivy.Index":
        """Open or make the index. The lock is held."""
        if self._index is None:
            import tantivy

            self._folder.mkdir(parents=True, exist_ok=True)
            index = tantivy.Index(_schema(), path=str(self._folder))
            index.config_reader("manual")
            index.reload()
            self._index = index
        return self._index

    def _open_writer(self) -> "tantivy.IndexWriter":
        """Take the writer's lock. Our lock is held."""
        if self._writer is None:
            self._writer = self._open_index().writer(heap_size=_HEAP, num_threads=1)
        return self._writer

    def _close(self) -> None:
        """Let go of writer and index."""
        with self._lock:
            self._release()

    def _release(self) -> None:
        """Drop the writer after its merges, then the index. The lock is held."""
        writer, self._writer, self._index = self._writer, None, None
        if writer is not None:
            writer.wait_merging_threads()

    def _clear(self) -> None:
        """Remove the folder: it holds nothing but what the registry can write anew."""
        with self._lock:
            try:
                self._release()
            except ValueError:
                self._writer = None  # a damaged index cannot finish its merges, and need not
            shutil.rmtree(self._folder, ignore_errors=True)


def _mapped(work: Callable[[], _Result]) -> _Result:
    """Run, and map what Tantivy raises: ValueError for everything, told apart by its text."""
    try:
        return work()
    except UnicodeError as error:
        raise StoreError(f"a name cannot be written as UTF-8: {error}") from error
    except ValueError as error:
        text = str(error)
        if "LockBusy" in text:
            raise BusyError("another process writes to the keyword index") from error
        raise IndexDamaged(f"the keyword index cannot be used: {text[:200]}") from error
    except OSError as error:
        raise StoreError(f"the keyword index's folder cannot be used: {error}") from error


def _schema() -> "tantivy.Schema":
    """Describe the index; frequencies without positions, since phrases are checked in the text itself."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    for name in ("document", "generation", "knowledge_base", "kind", "marker", "reader_set"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("body", tokenizer_name="whitespace", index_option="freq")
    builder.add_unsigned_field("revision", stored=True)
    builder.add_unsigned_field("format", stored=True)
    return builder.build()


def _document(chunk: Chunk) -> "tantivy.Document":
    """Make the index's document of a chunk."""
    import tantivy

    prefix = scope(chunk.knowledge_base)
    document = tantivy.Document()
    document.add_text("id", chunk.id)
    document.add_text("document", chunk.document_id)
    document.add_text("generation", chunk.id.rpartition("-")[0])
    document.add_text("knowledge_base", chunk.knowledge_base)
    document.add_text("kind", "chunk")
    document.add_text("reader_set", chunk.reader_set or OPEN)
    document.add_text("body", " ".join(prefix + term for term in bag(chunk)))
    return document


def _marker(revision: int) -> "tantivy.Document":
    """Make the document that carries the registry's revision."""
    import tantivy

    document = tantivy.Document()
    document.add_text("marker", MARKER)
    document.add_unsigned("revision", revision)
    document.add_unsigned("format", FORMAT)
    return document
