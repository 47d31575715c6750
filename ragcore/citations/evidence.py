"""How much of what a sentence claims stands in a chunk, counted in terms.

A term weighs by how rare it is among the sentences of all candidate chunks: what every chunk says tells none apart.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

from ragcore.citations import markers
from ragcore.citations.contrary import Said, words_of
from ragcore.citations.facts import squeezed
from ragcore.citations.languages import tongue
from ragcore.citations.numbers import missing_numbers
from ragcore.citations.phrasing import LEAD_IN, says_nothing
from ragcore.citations.sentences import split_sentences
from ragcore.terms import Kind, Term, is_stop_word, terms
from ragcore.types import Chunk

LONG_RUN = 8
"""A run of this many content words in the same order is a quotation; longer ones prove nothing more."""
PAIRS_A_WORD = 2
"""Of unspaced scripts the terms are overlapping pairs of characters, about two of which make a word."""
_UNSAID = re.compile(r"\[\^[\w-]{1,20}\]|\[\d{1,3}(?:[,\s\-–]+\d{1,3})*\]|(?<=\])\([^()\s]*\)|https?://[!#-;=?-_a-~]+")
"""Reference numbers, addresses and the targets of links: what a sentence writes without saying it."""
_MIN_VERBATIM = 12
"""A quotation is told by its characters from this length on; shorter ones by their terms."""


class Claim:
    """A sentence of an answer, analysed once."""

    def __init__(self, written: str, around: Sequence[str] = ()) -> None:
        """Analyse a sentence as written; markers and reference numbers in it say nothing.

        ``around`` are the answer and the question, which tell its language where its own words don't.
        """
        self.text = markers.strip(written).strip()
        said = _UNSAID.sub(lambda found: " " * len(found[0]), LEAD_IN.sub("", self.text))
        self.said = said
        self.language = tongue(said, around)
        found = content_terms(said)
        self.plain_words = frozenset(
            term.text for term in found if said[term.start].islower() and term.kind is not Kind.IDENTIFIER
        )
        self.sequence = [term.text for term in found]
        pairs = sum(1 for term in found if term.kind is Kind.PAIR)
        self.long_run = LONG_RUN * (PAIRS_A_WORD if 2 * pairs > len(found) else 1)
        self.words = tuple(dict.fromkeys(self.sequence))

    @property
    def says_something(self) -> bool:
        """Whether there is a word in it that could be looked for, and it is not that the sources do not tell."""
        return any(any(c.isalpha() for c in word) for word in self.words) and not says_nothing(self.text)

    @cached_property
    def compared(self) -> Said:
        """Return the sentence as it is compared with those of a source, word by word."""
        return Said(self.said)

    @cached_property
    def verbatim(self) -> str:
        """Return the sentence as ``squeezed`` has it, "" when it is too short to be told by it."""
        whole = squeezed(_bare(self.said)).strip(".。!！?？…|")
        return whole if len(whole) >= _MIN_VERBATIM else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A sentence of a chunk, ``chunk.text[start:end]``, with its content terms in order."""

    start: int
    end: int
    sequence: tuple[str, ...]


class Source:
    """A chunk, analysed once."""

    def __init__(self, chunk: Chunk) -> None:
        """Analyse the chunk's sentences; its title and headings are known to whoever reads it."""
        self.chunk = chunk
        self._said: dict[int, Said] = {}
        self.language = tongue(chunk.text)
        self.passages = [
            Passage(
                start=s.body,
                end=s.body_end,
                sequence=tuple(t.text for t in content_terms(chunk.text[s.body : s.body_end])),
            )
            for s in split_sentences(chunk.text)
            if s.body_end > s.body
        ]
        self.sequence = [term for passage in self.passages for term in passage.sequence]
        self.context = frozenset(
            term.text for line in (chunk.title, *chunk.heading_path) for term in content_terms(line)
        )
        self.terms = frozenset(self.sequence) | self.context
        self.windows = [
            frozenset(passage.sequence).union(*(after.sequence for after in self.passages[index + 1 : index + 2]))
            for index, passage in enumerate(self.passages)
        ]

    @cached_property
    def full_text(self) -> str:
        """Return the text with the title and headings above it."""
        return "\n".join((self.chunk.title, *self.chunk.heading_path, self.chunk.text))

    @cached_property
    def verbatim(self) -> str:
        """Return the text as ``squeezed`` has it."""
        return squeezed(_bare(self.chunk.text))

    @cached_property
    def titles(self) -> frozenset[str]:
        """Return the words of the title and headings, as sentences are compared by them."""
        return frozenset[str]().union(*map(words_of, (self.chunk.title, *self.chunk.heading_path)))

    def said(self, index: int) -> Said:
        """Return passage number ``index`` as it is compared with a claim."""
        if index not in self._said:
            passage = self.passages[index]
            self._said[index] = Said(markers.strip(self.chunk.text[passage.start : passage.end]))
        return self._said[index]

    def window_text(self, index: int) -> str:
        """Return passage number ``index`` and the one behind it as they stand."""
        window = self.passages[index : index + 2]
        return self.chunk.text[window[0].start : window[-1].end] if window else ""

    @cached_property
    def places(self) -> Mapping[str, Sequence[int]]:
        """Return where in ``sequence`` each term stands."""
        places: dict[str, list[int]] = {}
        for index, term in enumerate(self.sequence):
            places.setdefault(term, []).append(index)
        return places


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What one chunk has to say for one sentence. All but ``lead`` are shares, 0 to 1.

    ``cover``: of the sentence's terms, by weight, those in the chunk, its title or headings. ``passage``: the same in
    its best two neighbouring sentences, whose first is number ``best``. ``run``: the longest run of terms in the same
    order, 1 from ``Claim.long_run`` on. ``missing_numbers``: of the sentence's numbers, those that are absent.
    ``verbatim``: the sentence stands in it to the letter, Markdown and punctuation aside.
    ``lead``: by how much ``passage`` falls short of the best candidate's, 0 or less.
    """

    cover: float
    passage: float
    best: int
    run: float
    missing_numbers: float
    verbatim: bool
    lead: float = 0.0


class Weights:
    """How much a term tells: log(1 + (sentences + 1) / (1 + sentences with it)), over all candidate chunks."""

    def __init__(self, sources: Sequence[Source]) -> None:
        """Count the terms of all chunks."""
        self._count = Counter(
            term for source in sources for passage in source.passages for term in set(passage.sequence)
        )
        self._sentences = sum(len(source.passages) for source in sources)

    def share(self, claim: Claim, terms: Set[str]) -> float:
        """Return how much of a claim, by weight, is among these terms, 0 to 1."""
        total = sum(self.of(word) for word in claim.words)
        return sum(self.of(word) for word in claim.words if word in terms) / total if total else 0.0

    def of(self, term: str) -> float:
        """Return the weight of a term, above 0; most for what no chunk holds."""
        return math.log(1 + (self._sentences + 1) / (1 + self._count[term]))


def weigh(claim: Claim, sources: Sequence[Source], weights: Weights) -> list[Evidence]:
    """Return the evidence of each source for one claim, in order."""
    found = [_weigh_one(claim, source, weights) for source in sources]
    top = max((evidence.passage for evidence in found), default=0.0)
    return [replace(evidence, lead=evidence.passage - top) for evidence in found]


def content_terms(text: str) -> list[Term]:
    """Return the terms that say what a text is about, in order: no stop words, unspaced scripts by pairs.

    Of a hyphenated word the parts count and not the whole; of a code both.
    """
    found = [term for term in terms(text) if term.kind is not Kind.CHARACTER and not is_stop_word(term)]
    return [term for index, term in enumerate(found) if _counts(term, found[index + 1 : index + 2])]


def _counts(term: Term, following: Sequence[Term]) -> bool:
    if len(term.text) == 1 and not term.text.isdigit():
        return False
    whole = any(part.end <= term.end for part in following)
    return term.kind is Kind.IDENTIFIER or not whole


def _weigh_one(claim: Claim, source: Source, weights: Weights) -> Evidence:
    by_term = {word: weights.of(word) for word in claim.words}
    total = sum(by_term.values()) or 1.0
    shares = [
        sum(w for term, w in by_term.items() if term in window or term in source.context) for window in source.windows
    ]
    best = max(range(len(shares)), key=shares.__getitem__, default=0)
    absent, numbers = missing_numbers(claim.said, source.full_text)
    return Evidence(
        cover=sum(weight for term, weight in by_term.items() if term in source.terms) / total,
        passage=shares[best] / total if shares else 0.0,
        best=best,
        run=_longest_run(claim, source) / claim.long_run,
        missing_numbers=absent / numbers if numbers else 0.0,
        verbatim=bool(claim.verbatim) and claim.verbatim in source.verbatim,
    )


def _longest_run(claim: Claim, source: Source) -> int:
    """Return the longest run of terms that both have in the same order; ``claim.long_run`` at most."""
    longest = 0
    sequence = claim.sequence
    for start, term in enumerate(sequence):
        for place in source.places.get(term, ()):
            length = 1
            while (
                length < claim.long_run
                and start + length < len(sequence)
                and place + length < len(source.sequence)
                and sequence[start + length] == source.sequence[place + length]
            ):
                length += 1
            longest = max(longest, length)
            if longest == claim.long_run:
                return longest
    return longest


def _bare(text: str) -> str:
    """Drop what Markdown adds to words, so that a quotation is one with and without it."""
    return re.sub(r"[*_`#>|]+", " ", text)
