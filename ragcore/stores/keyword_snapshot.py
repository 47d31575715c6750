"""One state of the keyword index, as a question sees it: statistics, search and scores, all of the same commit."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragcore.stores.hits import Alternative, Hit, KeywordQuery, TermStatistics
from ragcore.stores.keyword_document import scope

if TYPE_CHECKING:
    import tantivy


class TantivySnapshot:
    """A KeywordReader. Its calls block for a millisecond or so: use it within ``TantivyKeywords.read``."""

    def __init__(self, index: "tantivy.Index") -> None:
        """Take the state that the index's reader has now; later commits don't change it."""
        self._schema = index.schema
        self._searcher = index.searcher()

    def statistics(self, knowledge_base: str, terms: Sequence[str]) -> TermStatistics:
        """Return chunk and document frequencies; chunks removed lately may still count."""
        prefix = scope(knowledge_base)
        return TermStatistics(
            count=self._searcher.doc_freq("knowledge_base", knowledge_base),
            frequencies=tuple(self._searcher.doc_freq("body", prefix + term) for term in terms),
        )

    def search(self, knowledge_base: str, query: KeywordQuery, k: int, document_ids: Sequence[str] = ()) -> list[Hit]:
        """Return the k best chunks that meet at least one clause, best first; within the documents, if any given."""
        return self._search(knowledge_base, query, k, "document", document_ids)

    def scores(self, knowledge_base: str, query: KeywordQuery, chunk_ids: Sequence[str]) -> list[Hit]:
        """Return the query's score for those of the chunks that meet a clause."""
        return self._search(knowledge_base, query, len(chunk_ids), "id", chunk_ids)

    def _search(self, knowledge_base: str, query: KeywordQuery, k: int, field: str, only: Sequence[str]) -> list[Hit]:
        """Search; ``only`` narrows to chunks whose ``field`` has one of these values."""
        if not query.clauses or k < 1:
            return []
        wanted = _query(self._schema, scope(knowledge_base), query)
        if only:
            wanted = _narrowed(self._schema, wanted, field, only)
        found = self._searcher.search(wanted, limit=k, count=False).hits
        return [Hit(chunk_id=chunk_id(self._searcher, address), score=score) for score, address in found]


def chunk_id(searcher: "tantivy.Searcher", address: "tantivy.DocAddress") -> str:
    """Read the chunk id of a found document."""
    return str(searcher.doc(address)["id"][0])


def _query(schema: "tantivy.Schema", prefix: str, query: KeywordQuery) -> "tantivy.Query":
    """Build an OR over the clauses, each scored by its best alternative."""
    from tantivy import Occur, Query

    def one(alternative: Alternative) -> "tantivy.Query":
        places = [Query.term_query(schema, "body", prefix + term, "freq") for term in alternative.terms]
        together = places[0] if len(places) == 1 else Query.boolean_query([(Occur.Must, place) for place in places])
        return Query.boost_query(together, alternative.weight)

    clauses: list[Any] = []
    for clause in query.clauses:
        alternatives = [one(alternative) for alternative in clause]
        chosen = alternatives[0] if len(alternatives) == 1 else Query.disjunction_max_query(alternatives)
        clauses.append((Occur.Should, chosen))
    return Query.boolean_query(clauses)


def _narrowed(schema: "tantivy.Schema", wanted: "tantivy.Query", field: str, only: Sequence[str]) -> "tantivy.Query":
    """Keep to the chunks with one of these values. An OR of single terms: a term set walks the whole dictionary."""
    from tantivy import Occur, Query

    places = [(Occur.Should, Query.term_query(schema, field, value, "basic")) for value in only]
    kept = Query.const_score_query(Query.boolean_query(places), 0.0)
    return Query.boolean_query([(Occur.Must, kept), (Occur.Must, wanted)])
