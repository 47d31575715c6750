"""What a search index gives back, and what both derived indexes look like to those who search them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragcore.types import Chunk

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One chunk that a leg found: a cosine (-1..1) of the dense leg, a BM25 score (>= 0) of the keyword leg."""

    chunk_id: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Permitted:
    """Of the reader sets in one knowledge base, those that meet an audience, and those that are closed to it.

    What has no reader set may be read by all who may read the knowledge base. Where nothing is closed there is no
    value of this class, and no filter.
    """

    sets: frozenset[str]
    closed: frozenset[str]

    def admits(self, reader_set: str) -> bool:
        """Return whether a chunk with this reader set may be read."""
        return not reader_set or reader_set in self.sets

    @property
    def values(self) -> int:
        """Return how many reader sets a filter must name at least: the shorter of the two lists will do."""
        return min(len(self.sets), len(self.closed))


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """What of one knowledge base meets the filters of a question: documents, by their live generations, and chunks.

    ``generations`` are met by all chunks of the document, ``chunk_ids`` are single ones: those with rows that meet the
    filters.
    """

    generations: frozenset[str] = frozenset()
    chunk_ids: frozenset[str] = frozenset()

    def admits(self, chunk_id: str) -> bool:
        """Return whether a chunk ``<generation>-<ordinal>`` meets them."""
        return chunk_id in self.chunk_ids or chunk_id.rpartition("-")[0] in self.generations

    @property
    def count(self) -> int:
        """Return how many documents and single chunks there are."""
        return len(self.generations) + len(self.chunk_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """One way to meet a clause: all of these terms, as ``ragcore.terms`` gives them, counted with ``weight`` (> 0)."""

    terms: tuple[str, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordQuery:
    """Clauses of which a chunk should meet as many as it can; each scores by its best alternative.

    Built by ``ragcore.retrieval.query`` from what a person typed, never parsed from a query language. ``rarity`` is the
    idf that terms are scored with, by term, where it is not to be the index's own: that counts what is closed, too.
    """

    clauses: tuple[tuple[Alternative, ...], ...] = ()
    rarity: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TermStatistics:
    """How many chunks a knowledge base has, and in how many of them each asked term stands, in the order asked.

    Where some are closed to the audience, only the others are counted, and ``indexed`` counts all; else it is None.
    """

    count: int
    frequencies: tuple[int, ...]
    indexed: int | None = None


class KeywordReader(Protocol):
    """One state of a keyword index. Its calls block: they are made within ``KeywordIndex.read``.

    ``only`` leaves out what is closed to an audience, as if it were not there; None: nothing is.
    """

    def statistics(self, knowledge_base: str, terms: Sequence[str], only: Permitted | None = None) -> TermStatistics:
        """Return chunk and document frequencies; chunks removed lately may still count."""
        ...

    def search(
        self,
        knowledge_base: str,
        query: KeywordQuery,
        k: int,
        document_ids: Sequence[str] = (),
        only: Permitted | None = None,
        matching: Matching | None = None,
    ) -> list[Hit]:
        """Return the k best chunks that meet at least one clause, best first; within the documents, if any given.

        ``matching`` keeps to what meets a filter; None: there is none.
        """
        ...

    def scores(
        self, knowledge_base: str, query: KeywordQuery, chunk_ids: Sequence[str], only: Permitted | None = None
    ) -> list[Hit]:
        """Return the query's score for those of the chunks that meet a clause."""
        ...


class KeywordSearch(Protocol):
    """What retrieval asks of the keyword index."""

    async def read(self, work: Callable[[KeywordReader], T]) -> T:
        """Run ``work``, which only reads, in a thread on one state of the index."""
        ...


class KeywordIndex(KeywordSearch, Protocol):
    """A derived index of words over the live chunks of all knowledge bases.

    Its methods raise IndexDamaged when the index must be cleared and refilled, BusyError when another process
    writes to it, StoreError for anything else.
    """

    async def write(
        self, *, add: Sequence[Chunk] = (), remove_generations: Sequence[str] = (), revision: int | None = None
    ) -> None:
        """In one commit: remove generations, add chunks (an id already there is replaced), set the revision.

        A generation is what stands before the last ``-`` of its chunks' ids. None keeps the revision.
        """
        ...

    async def count(self, knowledge_base: str | None = None) -> int:
        """Return the number of chunks, of one knowledge base or of all."""
        ...

    async def ids(self) -> set[str]:
        """Return the ids of all chunks."""
        ...

    async def revision(self) -> int:
        """Return the revision last written, 0 for a new index: what the registry compares with its own."""
        ...

    async def clear(self) -> None:
        """Drop everything, damaged files included, and start empty at revision 0."""
        ...

    async def close(self) -> None:
        """Release the files and the writer's lock."""
        ...


class VectorIndex(Protocol):
    """The derived index of vectors: what retrieval asks of it."""

    async def query(
        self, knowledge_base: str, vector: NDArray[np.float32], k: int, only: Permitted | None = None
    ) -> list[Hit]:
        """Return the k nearest chunks with their cosines, best first; IndexDamaged while it is being refilled.

        ``only`` leaves out what is closed to an audience; None: nothing is.
        """
        ...
