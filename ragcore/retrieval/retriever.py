"""From a question to the chunks that may answer it: both legs, united, fused, judged by an absolute gate."""

import asyncio
import copy
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from types import MappingProxyType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import ModelError, StoreError
from ragcore.models.embeddings import Embedder
from ragcore.models.rerankers import Reranker
from ragcore.phrases import Phrase
from ragcore.refine.followups import followup
from ragcore.retrieval.background import Backgrounds
from ragcore.retrieval.candidates import CandidateSearch, Within
from ragcore.retrieval.features import RankFeature, factors
from ragcore.retrieval.fusing import Reading, fused
from ragcore.retrieval.judging import Searched, judged
from ragcore.retrieval.matching import matched_words
from ragcore.retrieval.options import RetrievalOptions
from ragcore.retrieval.ordering import Placed, arranged, preferred
from ragcore.retrieval.parents import alone, parent_of, siblings_of, widened
from ragcore.retrieval.query import SearchQuery, analyse
from ragcore.retrieval.ranking import rank
from ragcore.retrieval.reranking import Reranking
from ragcore.retrieval.summaries import leaves_of, with_leaves
from ragcore.retrieval.synonyms import Synonyms
from ragcore.retrieval.telling import search_of
from ragcore.stores.chunk_vectors import ChunkVectors
from ragcore.stores.document_values import DocumentValues
from ragcore.stores.indexes import KeywordSearch, Permitted, VectorIndex
from ragcore.stores.registry import Registry
from ragcore.trace import current, degraded, step
from ragcore.types import Chunk, Question, ScoredChunk, Usage

log = logging.getLogger(__name__)

READ = 24
"""How many of the best candidates are read at least: some may not be live any more, and a phrase may lift others."""
READ_FOR_PHRASES = 60

QUOTE_ATTEMPTS = 4
"""How often is searched at most because a document was replaced before what belongs to its chunks was read."""

SIDE_BY_SIDE = 16
"""Most searches under way: with more none would end sooner, and all else that the processor has to do would wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """The chunks that passed the gate, best first, at most ``top_n``; none when nothing is relevant.

    ``near`` are a few that came near to it, best first: worth a second look, and not to be believed without.
    ``without_vectors`` and ``without_keywords`` say that a leg could not be asked, in one knowledge base at least.
    ``relaxed`` says that they passed only the second, relaxed judgement. ``notes`` are phrases for the reader.
    ``usage`` is what a model took that put them in order.
    """

    chunks: tuple[ScoredChunk, ...] = ()
    near: tuple[ScoredChunk, ...] = ()
    without_vectors: bool = False
    without_keywords: bool = False
    relaxed: bool = False
    notes: tuple[Phrase, ...] = ()
    usage: Usage = Usage()

    @property
    def degraded(self) -> bool:
        """Return whether an index could not be searched, so that documents may be missing."""
        return self.without_vectors or self.without_keywords


class Retrieving(Protocol):
    """Finds the chunks for a question."""

    async def retrieve(self, question: Question) -> Retrieved:
        """Return the relevant chunks."""
        ...


class Retriever:
    """Searches the knowledge bases of one library; safe to share between conversations."""

    def __init__(
        self,
        *,
        registry: Registry,
        vectors: VectorIndex,
        keywords: KeywordSearch,
        embedder: Embedder,
        options: RetrievalOptions | None = None,
        known_languages: frozenset[str] | None = frozenset({"en"}),
        homes: Mapping[str, str] = MappingProxyType({}),
        reranker: Reranker | None = None,
        features: Sequence[RankFeature] = (),
    ) -> None:
        """Compose; the synonym file is read at the first question.

        ``known_languages`` are those that the embedder is said to read, None: all. What the documents show of it counts
        besides, the more of them there are. ``homes`` tells the knowledge base of each source: what was read into
        another one is not given out. ``reranker`` and ``features`` change the order of what passed the gate.
        """
        self._reranking = Reranking(reranker) if reranker else None
        self._features = tuple(features)
        self._homes = homes
        self._registry = registry
        self._embedder = embedder
        self._options = options or RetrievalOptions()
        self._synonyms: Synonyms | None = None
        self._room = asyncio.Semaphore(SIDE_BY_SIDE)
        self._values = DocumentValues(registry.database)
        chunk_vectors = ChunkVectors(registry.database, embedder=embedder.name)
        self._search = CandidateSearch(
            vectors=vectors,
            keywords=keywords,
            chunk_vectors=chunk_vectors,
            backgrounds=Backgrounds(chunk_vectors),
            known_languages=known_languages,
        )

    def with_options(self, options: RetrievalOptions) -> "Retriever":
        """Return one that judges by other options, and shares what this one has learnt of the knowledge bases."""
        other = copy.copy(self)
        other._options = options
        other._synonyms = self._synonyms if options.synonyms == self._options.synonyms else None
        return other

    def without_reranker(self) -> "Retriever":
        """Return one that asks no reranker, and shares what this one has learnt of the knowledge bases."""
        other = copy.copy(self)
        other._reranking = None
        return other

    @property
    def values(self) -> DocumentValues:
        """Return what reads the values that filters compare; it remembers rows of tables."""
        return self._values

    async def retrieve(self, question: Question) -> Retrieved:
        """Return the relevant chunks.

        Raises:
            ConfigError: The synonym file cannot be read.
            StoreError: Neither index could be searched, or the database could not.
        """
        if not question.knowledge_bases or not question.text.strip():
            return Retrieved()
        spent = Usage()
        for _ in range(QUOTE_ATTEMPTS):
            found, passed = await self._found(question)
            # Outside the room: a reranker that is slow keeps no other search waiting.
            chunks, usage = await self._arranged(question, passed)
            spent += usage
            quoted, is_whole = await self._quoted(question, chunks)
            if is_whole:
                break
        return replace(found, chunks=quoted, usage=spent)

    async def _found(self, question: Question) -> tuple[Retrieved, tuple[Placed, ...]]:
        """Search for the question, or side by side for each of its wordings; what these found is one ranking."""
        if not question.wordings:
            async with self._room:
                return await self._retrieve(question)
        found = await asyncio.gather(*(self._found(one) for one in _readings(question)))
        reading = fused([Reading(passed=passed, near=one.near, relaxed=one.relaxed) for one, passed in found])
        together = Retrieved(
            near=reading.near,
            without_vectors=any(one.without_vectors for one, _ in found),
            without_keywords=any(one.without_keywords for one, _ in found),
            relaxed=reading.relaxed,
            notes=tuple(dict.fromkeys(note for one, _ in found for note in one.notes)),
        )
        return together, reading.passed

    async def _retrieve(self, question: Question) -> tuple[Retrieved, tuple[Placed, ...]]:
        """Search and judge; the chunks that passed are yet to be put in order."""
        synonyms = await self._loaded_synonyms()
        beside = (*_earlier(question), *question.keywords)
        query = analyse(question.text, synonyms, earlier=beside)
        vector = await self._vector(query.text_to_embed)
        searched, live = await self._searched(question, query, vector)
        groups = searched.groups
        without_vectors = any(group.cosines is None for group in groups)
        without_keywords = any(group.bm25 is None for group in groups)
        if all(group.cosines is None and group.bm25 is None for group in groups):
            raise StoreError("neither the vectors nor the keywords can be searched")
        notes: list[Phrase] = ["index_rebuilding"] if without_vectors or without_keywords else []
        if searched.nothing_matches:
            notes.append("filter_without_match")
        # In a thread: sixty chunks are read for a quoted phrase, which would hold up the other conversations.
        outcome = await asyncio.to_thread(judged, query, searched, live, self._options, self._wanted)
        if outcome.crowded:
            # Copies took the places of others: every candidate is read, which costs something only then.
            searched, live = await self._searched(question, query, vector, read=len(searched.ranking.candidates))
            outcome = await asyncio.to_thread(judged, query, searched, live, self._options, self._wanted)
        if (recorder := current()) is not None:
            recorder.searched(search_of(question, (*beside, *query.expansions), searched, live, outcome))
        found = Retrieved(
            near=outcome.near,
            without_vectors=without_vectors,
            without_keywords=without_keywords,
            relaxed=searched.ranking.relaxed,
            notes=tuple(notes),
        )
        return found, outcome.passed

    async def _arranged(self, question: Question, passed: Sequence[Placed]) -> tuple[tuple[ScoredChunk, ...], Usage]:
        """Return the best of what passed, by the rank features and the reranker too, and what that took of a model."""
        options = self._options
        if not passed or not (self._reranking or self._features):
            return _of_parents([placed.scored for placed in passed], options.top_n), Usage()
        passed, counted = await self._weighed(replace(question, text=question.asked), passed)
        chunks = [placed.scored.chunk for placed in passed]
        shown = options.rerank_candidates
        verdict, usage = None, Usage()
        if self._reranking is not None:
            with step("rerank"):
                verdict, usage = await self._reranking.verdict(question.asked, chunks[:shown], options.rerank_seconds)
        ordered = arranged(passed, counted, verdict, shown=shown, threshold=options.rerank_threshold)
        return _of_parents(ordered, options.top_n), usage

    async def _weighed(self, question: Question, passed: Sequence[Placed]) -> tuple[list[Placed], list[float]]:
        """Return what each chunk that passed is multiplied by; of copies the one that counts most stands for all."""
        texts = [(placed.scored.chunk, *placed.scored.copies) for placed in passed]
        counted = iter(await factors(self._features, question, [chunk for same in texts for chunk in same]))
        found = [
            preferred(placed, list(islice(counted, len(same)))) for placed, same in zip(passed, texts, strict=True)
        ]
        return [placed for placed, _ in found], [factor for _, factor in found]

    async def _quoted(
        self, question: Question, passed: tuple[ScoredChunk, ...]
    ) -> tuple[tuple[ScoredChunk, ...], bool]:
        """Quote large what was found small, and give each summary the chunks that it rests on.

        Where neither was found, nothing is read. Besides returns whether all that was found is still live: what was
        replaced since the search has neither siblings nor leaves.
        """
        beside = [one.chunk for one in passed if one.chunk.parent is not None or one.chunk.is_summary]
        if not beside:
            return passed, True
        ids = dict.fromkeys((*(chunk.id for chunk in beside), *siblings_of(beside), *leaves_of(beside)))
        read = await self._registry.readable_chunks(
            list(ids), question.knowledge_bases, readers=question.readers, homes=self._homes
        )
        wide = widened(passed, read)
        matched = await self._matched(question, [read[leaf] for leaf in leaves_of(beside) if leaf in read])
        return with_leaves(wide, read, matched), all(chunk.id in read for chunk in beside)

    async def _matched(self, question: Question, leaves: Sequence[Chunk]) -> Mapping[str, tuple[str, ...]]:
        """Return the question's words in each of the leaves."""
        if not leaves:
            return {}
        synonyms = await self._loaded_synonyms()

        def work() -> Mapping[str, tuple[str, ...]]:
            queries = [analyse(one.text, synonyms, earlier=_earlier(one)) for one in _readings(question)]
            return {
                leaf.id: tuple(dict.fromkeys(word for query in queries for word in matched_words(query, leaf.text)))
                for leaf in leaves
            }

        # In a thread: hundreds of long leaves would hold up the other conversations.
        return await asyncio.to_thread(work)

    async def _loaded_synonyms(self) -> Synonyms:
        """Read the synonym file once."""
        if self._synonyms is None:
            path = self._options.synonyms
            self._synonyms = await asyncio.to_thread(Synonyms.load, path) if path else Synonyms.none()
        return self._synonyms

    @property
    def _wanted(self) -> int:
        """Return how many chunks that passed are looked at: more than are given out, where something reorders them."""
        most = self._options.top_n
        reorders = self._reranking or self._features or self._options.ranking != "fused"
        return max(most, self._options.rerank_candidates) if reorders else most

    async def _vector(self, text: str) -> NDArray[np.float32] | None:
        """Embed the question; None when the embedder cannot be reached, so that words alone must do."""
        try:
            with step("embed"):
                vector: NDArray[np.float32] = (await self._embedder.embed([text]))[0]
        except ModelError as error:
            log.warning("searching by words alone: the embedder failed: %s", error)
            degraded("searched by words alone: the embedder failed")
            return None
        return vector

    async def _searched(
        self, question: Question, query: SearchQuery, vector: NDArray[np.float32] | None, *, read: int = 0
    ) -> tuple[Searched, Mapping[str, Chunk]]:
        """Search every knowledge base at once, and read the best, seeing each document in one version.

        Args:
            question: Who asks, and where to look.
            query: The analysed question.
            vector: Its unit vector, None where it could not be embedded.
            read: How many of the best are read at least.
        """
        options = self._options
        least = READ_FOR_PHRASES if query.phrases or query.references else READ
        read = max(2 * options.top_n, least, self._wanted, read)

        async def search(extra: int, filters: Mapping[str, Permitted]) -> Searched:
            # Read after what it is compared with: where a switch came between, all of it is done anew.
            within = [await self._within(name, question, filters.get(name)) for name in question.knowledge_bases]
            asked = [self._search.search(each, query, vector, options.top_k, extra=extra) for each in within]
            groups = await asyncio.gather(*asked)
            ranking = rank(groups, weight=options.vector_similarity_weight, threshold=options.similarity_threshold)
            nothing = all(each.matching is not None and not each.matching.count for each in within)
            rows = frozenset[str]().union(*(each.matching.chunk_ids for each in within if each.matching is not None))
            return Searched(groups=groups, ranking=ranking, read=read + extra, nothing_matches=nothing, rows=rows)

        def ids_of(searched: Searched) -> list[str]:
            return [candidate.chunk_id for candidate in searched.best]

        searched, live = await self._registry.settled_search(
            question.knowledge_bases, search, ids_of, readers=question.readers, homes=self._homes
        )
        return searched, {chunk_id: alone(chunk, searched.rows) for chunk_id, chunk in live.items()}

    async def _within(self, name: str, question: Question, only: Permitted | None) -> Within:
        """Return where the question looks in a knowledge base: in what its readers, documents and filters all admit."""
        filters = question.filters.get(name, ())
        if not filters:
            return Within(knowledge_base=name, document_ids=question.document_ids, only=only)
        matching = await self._values.matching(name, filters, only, question.document_ids, self._homes)
        return Within(knowledge_base=name, document_ids=question.document_ids, only=only, matching=matching)


def _of_parents(ordered: Sequence[ScoredChunk], most: int) -> tuple[ScoredChunk, ...]:
    """Return the chunks of the first ``most`` parents."""
    quoted = set(list(dict.fromkeys(parent_of(scored.chunk) for scored in ordered))[:most])
    return tuple(scored for scored in ordered if parent_of(scored.chunk) in quoted)


def _readings(question: Question) -> tuple[Question, ...]:
    """Return the questions that are searched for: each wording by itself, or the question as it stands.

    Keywords are in the language of the first one. What was said before goes with the asker's own words alone: another
    wording says itself what they lean on.
    """
    if not question.wordings:
        return (question,)
    return tuple(
        replace(
            question,
            text=wording,
            wordings=(),
            keywords=() if number else question.keywords,
            history=question.history if wording == question.text else (),
        )
        for number, wording in enumerate(question.wordings)
    )


def _earlier(question: Question) -> tuple[str, ...]:
    """Return what was said before that the question leans on; nothing for one that stands alone."""
    found = followup(question.text, question.history)
    return (*found.names, found.before) if found else ()
