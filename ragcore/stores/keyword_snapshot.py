"""One state of the keyword index, as a question sees it: statistics, search and scores, all of the same commit."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragcore.stores.indexes import Alternative, Hit, KeywordQuery, Matching, Permitted, TermStatistics
from ragcore.stores.keyword_document import OPEN, scope

if TYPE_CHECKING:
    import tantivy

MARKER = "revision"
"""What marks the one document of the index that is no chunk."""
FEW = 500
"""Documents and chunks meeting a filter that are asked for by name: 3 ms, and more for each one more."""
OVERASKED = 4
"""Of more of them so many times the chunks are asked for, and what doesn't meet the filter is dropped; then again as
many times, until there are enough: 3 ms a thousand, where 25,000 names would take half a second."""


class TantivySnapshot:
    """A KeywordReader. Its calls block for a millisecond or so: use it within ``TantivyKeywords.read``."""

    def __init__(self, index: "tantivy.Index") -> None:
        """Take the state that the index's reader has now; later commits don't change it."""
        self._schema = index.schema
        self._searcher = index.searcher()

    def statistics(self, knowledge_base: str, terms: Sequence[str], only: Permitted | None = None) -> TermStatistics:
        """Return chunk and document frequencies; chunks removed lately may still count."""
        prefix = scope(knowledge_base)
        indexed = self._searcher.doc_freq("knowledge_base", knowledge_base)
        frequencies = tuple(self._searcher.doc_freq("body", prefix + term) for term in terms)
        if only is None:
            return TermStatistics(count=indexed, frequencies=frequencies)
        counted = zip(terms, frequencies, strict=True)
        return TermStatistics(
            count=self._count("knowledge_base", knowledge_base, only),
            frequencies=tuple(self._count("body", prefix + term, only) if every else 0 for term, every in counted),
            indexed=indexed,
        )

    def search(
        self,
        knowledge_base: str,
        query: KeywordQuery,
        k: int,
        document_ids: Sequence[str] = (),
        only: Permitted | None = None,
        matching: Matching | None = None,
    ) -> list[Hit]:
        """Return the k best chunks that meet at least one clause, best first; within the documents, if any given."""
        if matching is None:
            return self._search(knowledge_base, query, k, {"document": document_ids}, only)
        if not matching.count:
            return []
        if matching.count <= FEW:
            within = {"generation": sorted(matching.generations), "id": sorted(matching.chunk_ids)}
            return self._search(knowledge_base, query, k, within, only)
        limit = 0
        while True:
            limit = OVERASKED * (limit or k)
            found = self._search(knowledge_base, query, limit, {"document": document_ids}, only)
            kept = [hit for hit in found if matching.admits(hit.chunk_id)]
            if len(kept) >= k or len(found) < limit:
                return kept[:k]

    def scores(
        self, knowledge_base: str, query: KeywordQuery, chunk_ids: Sequence[str], only: Permitted | None = None
    ) -> list[Hit]:
        """Return the query's score for those of the chunks that meet a clause."""
        return self._search(knowledge_base, query, len(chunk_ids), {"id": chunk_ids}, only)

    def _search(
        self,
        knowledge_base: str,
        query: KeywordQuery,
        k: int,
        within: Mapping[str, Sequence[str]],
        only: Permitted | None,
    ) -> list[Hit]:
        """Search; where ``within`` names any values of a field, a chunk must have one of them."""
        if not query.clauses or k < 1:
            return []
        wanted = self._query(scope(knowledge_base), query)
        if any(within.values()):
            wanted = _narrowed(self._schema, wanted, within)
        if only is not None:
            wanted = _filtered(self._schema, wanted, only)
        found = self._searcher.search(wanted, limit=k, count=False).hits
        return [Hit(chunk_id=chunk_id(self._searcher, address), score=score) for score, address in found]

    def _query(self, prefix: str, query: KeywordQuery) -> "tantivy.Query":
        """Build an OR over the clauses, each scored by its best alternative."""
        from tantivy import Occur, Query

        def place(term: str) -> "tantivy.Query":
            asked = Query.term_query(self._schema, "body", prefix + term, "freq")
            rarity = query.rarity.get(term)
            return asked if rarity is None else Query.boost_query(asked, rarity / self._own_rarity(prefix + term))

        def one(alternative: Alternative) -> "tantivy.Query":
            places = [place(term) for term in alternative.terms]
            together = places[0] if len(places) == 1 else Query.boolean_query([(Occur.Must, one) for one in places])
            return Query.boost_query(together, alternative.weight)

        clauses: list[Any] = []
        for clause in query.clauses:
            alternatives = [one(alternative) for alternative in clause]
            chosen = alternatives[0] if len(alternatives) == 1 else Query.disjunction_max_query(alternatives)
            clauses.append((Occur.Should, chosen))
        return Query.boolean_query(clauses)

    def _own_rarity(self, term: str) -> float:
        """Return the idf that Tantivy scores a term with: over all documents, those that are being removed too."""
        every = self._searcher.doc_freq("kind", "chunk") + self._searcher.doc_freq("marker", MARKER)
        frequency = self._searcher.doc_freq("body", term)
        return math.log(1.0 + (every - frequency + 0.5) / (frequency + 0.5))

    def _count(self, field: str, value: str, only: Permitted) -> int:
        """Count the chunks that have a value in a field and may be read."""
        from tantivy import Query

        wanted = _filtered(self._schema, Query.term_query(self._schema, field, value, "basic"), only)
        result: Any = self._searcher.search(wanted, limit=1)
        return int(result.count)  # there, though the stub doesn't name it


def chunk_id(searcher: "tantivy.Searcher", address: "tantivy.DocAddress") -> str:
    """Read the chunk id of a found document."""
    return str(searcher.doc(address)["id"][0])


def _narrowed(
    schema: "tantivy.Schema", wanted: "tantivy.Query", within: Mapping[str, Sequence[str]]
) -> "tantivy.Query":
    """Keep to the chunks with one of these values in its field.

    An OR of single terms: a term set walks the whole dictionary.
    """
    from tantivy import Occur, Query

    places = [
        (Occur.Should, Query.term_query(schema, field, value, "basic"))
        for field, values in within.items()
        for value in values
    ]
    kept = Query.const_score_query(Query.boolean_query(places), 0.0)
    return Query.boolean_query([(Occur.Must, kept), (Occur.Must, wanted)])


def _filtered(schema: "tantivy.Schema", wanted: "tantivy.Query", only: Permitted) -> "tantivy.Query":
    """Leave out what is closed, by the shorter of the two lists.

    A term set here: of 10,000 reader sets, 5,000 take 5 ms in 50,000 chunks, and an OR of them 50.
    """
    from tantivy import Occur, Query

    def among(sets: Sequence[str]) -> "tantivy.Query":
        return Query.const_score_query(Query.term_set_query(schema, "reader_set", list(sets)), 0.0)

    if len(only.closed) <= len(only.sets):
        return Query.boolean_query([(Occur.Must, wanted), (Occur.MustNot, among(sorted(only.closed)))])
    return Query.boolean_query([(Occur.Must, among([OPEN, *sorted(only.sets)])), (Occur.Must, wanted)])
