"""A tag set in memory: its rows by meaning and by words, and which of them a text resembles. Pure.

A row's relevance to a text is that of a chunk to a question (``ragcore.retrieval.scoring``), less what chance reaches:
the cosine of their vectors above the set's background, trusted as far as the embedder reads the language, and the
cosine of their words, each by its rarity in the set.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ragcore.retrieval.background import SAMPLE, Sample, summarise
from ragcore.retrieval.scoring import Floats, idf, relevance, relevance_of_words
from ragcore.stores.chunk_vectors import SampledChunk
from ragcore.stores.rows import digest
from ragcore.tagging.scores import TagScores, scores_of
from ragcore.terms import Kind, is_stop_word, language_of, terms

SIMILAR = 0.1
"""Relevance from which on a row is about the same. With half of the entries of faq-zoomcamp as a tag set of their
sections, the other half got tags at 0.1, 0.14, 0.18 and 0.3 in 78, 64, 45 and 16 of 100 cases, the right one among them
in 66, 64, 65 and 62 of 100; texts of another matter or language got none."""
SIMILAR_IN_WORDS = 0.18
"""The same where there are words alone: at 0.1 tags were right less often there (59 of 100, and 62 at 0.18)."""
NEIGHBOURS = 8
"""Rows that give a text its tags at most: with more, the tags of large subjects would drown those of small ones."""
WEIGHT = 0.45
"""The share of meaning beside words where the embedder reads the language, as in retrieval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TagRow:
    """One entry: a text, its tags, and the text's unit vector, float32 ``(dim,)``; None where it was never embedded."""

    text: str
    tags: tuple[str, ...]
    vector: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Similar:
    """A text's tags, none where no row is about the same, and the rows that come nearest to it, best first."""

    scores: TagScores = ()
    nearest: tuple[TagRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TagSet:
    """Rows of one or several tag knowledge bases; ``digest`` is of all texts and tags, and stands for them.

    ``tags`` are all there are, the most frequent first. ``known_languages`` are those that the embedder reads.
    """

    rows: tuple[TagRow, ...] = ()
    tags: tuple[str, ...] = ()
    digest: str = ""
    known_languages: frozenset[str] | None = None
    _usual: Mapping[str, float] = field(default_factory=dict, repr=False)
    _vectors: NDArray[np.float32] | None = field(default=None, repr=False)
    _sample: Sample | None = field(default=None, repr=False)
    _languages: NDArray[np.str_] = field(default_factory=lambda: np.zeros(0, dtype=np.str_), repr=False)
    _postings: Mapping[str, tuple[NDArray[np.int64], Floats]] = field(default_factory=dict, repr=False)
    _rarity: Mapping[str, float] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, rows: Sequence[TagRow], known_languages: frozenset[str] | None = None) -> "TagSet":
        """Prepare rows to be compared with; a tag that is written in several ways is the one written most often."""
        written = Counter(tag for row in rows for tag in row.tags)
        spelling: dict[str, str] = {}
        for tag in sorted(written, key=lambda tag: (-written[tag], tag)):
            spelling.setdefault(tag.casefold(), tag)
        entries = tuple(
            TagRow(
                text=row.text, tags=tuple(dict.fromkeys(spelling[t.casefold()] for t in row.tags)), vector=row.vector
            )
            for row in sorted(rows, key=lambda row: (row.text, row.tags))
        )
        counts = Counter(tag for row in entries for tag in row.tags)
        bags = [words_of(row.text) for row in entries]
        rarity = {term: idf(len(rows), n) for term, n in Counter(term for bag in bags for term in bag).items()}
        languages = [language_of(row.text) for row in entries]
        vectors = [row.vector for row in entries if row.vector is not None]
        whole = bool(vectors) and len(vectors) == len(entries)
        return cls(
            rows=entries,
            tags=tuple(sorted(counts, key=lambda tag: (-counts[tag], tag))),
            digest=digest(*(part for row in entries for part in (row.text, "\n".join(row.tags)))) if entries else "",
            known_languages=known_languages,
            _usual={tag: (count + 1) / (len(entries) + 2) for tag, count in counts.items()},
            _vectors=np.stack(vectors) if whole else None,
            _sample=_sampled(entries, languages) if whole else None,
            _languages=np.array(languages, dtype=np.str_),
            _postings=_posted(bags, rarity),
            _rarity=rarity,
        )

    def similar(self, text: str, vector: NDArray[np.float32] | None, most: int) -> Similar:
        """Compare a text with the rows.

        Args:
            text: What is to be tagged.
            vector: Its unit vector, float32 (dim,); None where there is none, so that words alone must do.
            most: How many tags at most.
        """
        if not self.rows:
            return Similar()
        has_meaning = vector is not None and self._vectors is not None
        least = SIMILAR if has_meaning else SIMILAR_IN_WORDS
        relevances = self._relevances(text, vector)
        order = np.argsort(-relevances, kind="stable")[:NEIGHBOURS]
        near = [(self.rows[place], float(relevances[place])) for place in order if relevances[place] > 0.0]
        found = [(row.tags, value) for row, value in near if value >= least]
        return Similar(scores=scores_of(found, self._usual, most), nearest=tuple(row for row, _ in near))

    def _relevances(self, text: str, vector: NDArray[np.float32] | None) -> Floats:
        """Return the relevance of each row, float64 (n,)."""
        shared = self._shared_words(words_of(text))
        if vector is None or self._vectors is None or self._sample is None:
            return relevance_of_words(shared)
        cosines = (self._vectors @ vector).astype(np.float64)
        asked, values = language_of(text), np.zeros(len(self.rows))
        for language in sorted(set(self._languages.tolist())):
            mine = self._languages == language
            background = self._sample.background(vector, asked, language, self.known_languages)
            values[mine] = relevance(cosines[mine], shared[mine], background, WEIGHT)
        return values

    def _shared_words(self, words: frozenset[str]) -> Floats:
        """Return the cosine of a text's words and those of each row, float64 (n,), 0..1."""
        unseen = idf(len(self.rows), 0)
        weights = {word: self._rarity.get(word, unseen) for word in words}
        length = float(np.sqrt(sum(weight * weight for weight in weights.values())))
        shared = np.zeros(len(self.rows))
        for word, weight in weights.items():
            if posting := self._postings.get(word):
                shared[posting[0]] += posting[1] * weight
        return np.minimum(shared / length, 1.0) if length else shared


def words_of(text: str) -> frozenset[str]:
    """Return the terms by which texts are compared: no function words, and pairs of unspaced characters, not single."""
    found = [term for term in terms(text) if not is_stop_word(term)]
    whole = frozenset(term.text for term in found if term.kind is not Kind.CHARACTER)
    return whole or frozenset(term.text for term in found)


def _posted(bags: Sequence[frozenset[str]], rarity: Mapping[str, float]) -> dict[str, tuple[NDArray[np.int64], Floats]]:
    """Return by term the rows that have it, and its weight in each, where every row is of length 1."""
    places: dict[str, list[int]] = {}
    for place, bag in enumerate(bags):
        for term in bag:
            places.setdefault(term, []).append(place)
    lengths = np.array([max(sum(rarity[term] ** 2 for term in sorted(bag)) ** 0.5, 1e-9) for bag in bags])
    return {term: (np.array(found), rarity[term] / lengths[found]) for term, found in places.items()}


def _sampled(rows: Sequence[TagRow], languages: Sequence[str]) -> Sample:
    """Return what rows look like at random; each stands as a document of its own."""
    step = max(1, len(rows) // SAMPLE)
    drawn = [
        SampledChunk(document_id=str(place), text=rows[place].text, language=languages[place], vector=vector)
        for place in range(0, len(rows), step)[:SAMPLE]
        if (vector := rows[place].vector) is not None
    ]
    return summarise(drawn, len(rows))
