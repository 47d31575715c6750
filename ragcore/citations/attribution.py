"""Verifies what is cited and attributes what is bare, sentence by sentence; only markers ever change."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ragcore.citations import markers
from ragcore.citations.evidence import Claim, Evidence, Source, Weights, weigh
from ragcore.citations.facts import contradicts
from ragcore.citations.markers import Marker
from ragcore.citations.scoring import CitationPolicy, choose, is_open, own_odds, probability
from ragcore.citations.sentences import BlockKind, Sentence, split_sentences

NEGLIGIBLE = 0.15
"""Less than this share of a sentence in every chunk, in one's own language, is no support even to the blind."""
NEAREST = 2
"""How many sentences of a chunk are compared with a claim by their vectors."""
_STOPS = re.compile(r"[.!?。！？…।॥።။។։؟۔]+\Z")
_ABBREVIATION = re.compile(r"(?:\b\w\.){2,}\Z|\b(?:etc|inc|ltd|co|corp|jr|sr|al|no)\.\Z", re.IGNORECASE)
_ROW_END = re.compile(r"[ \t]*\|?[ \t]*\Z")
_ASKS_OR_LEADS_IN = re.compile(r"[?？؟:：][*_~\"'”’»)）\]】」』》\s]*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A sentence of the answer with the markers in it."""

    sentence: Sentence
    claim: Claim
    cited: tuple[Marker, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """A claim and the passages of a chunk that come nearest to it, when terms alone don't decide."""

    claim: str
    chunk: int
    passages: tuple[str, ...]


class Judge:
    """Weighs the sentences of one answer against its chunks; what is weighed once is remembered.

    ``similarities`` holds cosines by (claim text, index of the chunk), as far as they were asked for.
    """

    def __init__(self, sources: Sequence[Source], policy: CitationPolicy) -> None:
        """Take the chunks in prompt order."""
        self.sources = sources
        self.policy = policy
        self.weights = Weights(sources)
        self.similarities: Mapping[tuple[str, int], float] = {}
        self._claims: dict[str, Claim] = {}
        self._evidence: dict[str, list[Evidence]] = {}

    def read(self, text: str) -> list[Statement]:
        """Split an answer; headings, code and layout state nothing."""
        found = markers.find(text)
        statements, first = [], 0
        for sentence in split_sentences(text):
            last = first
            while last < len(found) and found[last].start < sentence.end:
                last += 1
            if sentence.citable:
                claim = self._claim(text[sentence.body : sentence.body_end])
                statements.append(Statement(sentence=sentence, claim=claim, cited=tuple(found[first:last])))
            first = last
        return statements

    def evidence(self, claim: Claim) -> list[Evidence]:
        """Return what each chunk has to say for the claim, in prompt order."""
        if claim.text not in self._evidence:
            self._evidence[claim.text] = weigh(claim, self.sources, self.weights)
        return [
            replace(one, similarity=self.similarities.get((claim.text, index)))
            for index, one in enumerate(self._evidence[claim.text])
        ]

    def open_questions(self, text: str) -> list[OpenQuestion]:
        """Return what only an embedder could tell: paraphrases, in a language that it knows."""
        return [
            OpenQuestion(claim=claim.text, chunk=index, passages=self._nearest(claim, index))
            for claim in dict.fromkeys(statement.claim for statement in self.read(text))
            if claim.says_something
            for index, one in enumerate(self.evidence(claim))
            if self.can_judge(claim, index) and is_open(one) and self.sources[index].passages
        ]

    def _nearest(self, claim: Claim, chunk: int) -> tuple[str, ...]:
        source = self.sources[chunk]
        worth = {word.text: self.weights.of(word.text) for word in claim.words}
        values = [sum(worth.get(term, 0.0) for term in set(passage.sequence)) for passage in source.passages]
        ranked = sorted(range(len(values)), key=lambda index: (-values[index], index))[:NEAREST]
        return tuple(source.chunk.text[source.passages[i].start : source.passages[i].end] for i in ranked)

    def can_judge(self, claim: Claim, chunk: int) -> bool:
        """Whether a lack of support means something: one language, which the embedder knows."""
        return self.sources[chunk].language == claim.language and self.policy.knows(claim.language)

    def supports(self, claim: Claim, chunk: int) -> bool:
        """Whether a marker of the model may stay."""
        if not claim.says_something:
            return True
        if self.can_judge(claim, chunk) and len(claim.words) > 1:
            return probability(own_odds(self.evidence(claim)[chunk])) >= self.policy.keep_at
        return not contradicts(claim.said, self.sources[chunk].full_text)

    def judged_unsupported(self, claim: Claim) -> bool:
        """Whether a sentence without a citation is known to have no source, rather than merely not understood."""
        if not claim.says_something or len(claim.words) < 2 or _ASKS_OR_LEADS_IN.search(claim.text):
            return False
        if any(self.can_judge(claim, index) for index in range(len(self.sources))) or not self.sources:
            return True
        alike = [
            one.cover
            for one, source in zip(self.evidence(claim), self.sources, strict=True)
            if source.language == claim.language
        ]
        return bool(alike) and max(alike) < NEGLIGIBLE

    def _claim(self, written: str) -> Claim:
        if written not in self._claims:
            self._claims[written] = Claim(written)
        return self._claims[written]


def verify(text: str, judge: Judge) -> str:
    """Drop the markers whose chunk does not support their sentence, those said twice, and all beyond the most."""
    statements = judge.read(text)
    dropped: list[Marker] = []
    for index, statement in enumerate(statements):
        standing = {marker.id for marker in statement.cited if _stands(text, statements, index, marker.id, judge)}
        standing = _best(statement.claim, standing, judge)
        for place, marker in enumerate(statement.cited):
            before = statement.cited[place - 1] if place else None
            said = before is not None and before.id == marker.id and not text[before.end : marker.start].strip()
            if marker.id not in standing or said:
                dropped.append(marker)
    return markers.remove(text, dropped)


def insert(text: str, judge: Judge) -> str:
    """Give each sentence without a marker those of the chunks that support it."""
    pieces: list[str] = []
    done = 0
    for statement in judge.read(text):
        claim = statement.claim
        if statement.cited or not claim.says_something or _ASKS_OR_LEADS_IN.search(claim.text):
            continue
        chosen = choose(judge.evidence(claim), judge.policy)
        if chosen:
            place = marker_place(text, statement.sentence)
            written = "".join(markers.marker(chunk) for chunk in chosen)
            pieces += (text[done:place], markers.spaced(text, place, written))
            done = place
    return "".join((*pieces, text[done:]))


def marker_place(text: str, sentence: Sentence) -> int:
    """Return where a sentence's markers go: before its full stop, inside a row's last cell."""
    said = text[sentence.body : sentence.body_end]
    if sentence.kind is BlockKind.ROW:
        found = _ROW_END.search(said)
    else:
        found = None if _ABBREVIATION.search(said) else _STOPS.search(said)
    before = said[: found.start()].rstrip() if found else said
    return sentence.body + len(before) if before else sentence.body_end


def _stands(text: str, statements: Sequence[Statement], index: int, chunk: int, judge: Judge) -> bool:
    """Whether the chunk supports the sentence, or one of the bare ones before it in its paragraph.

    A marker at the end of a paragraph often answers for all of it.
    """
    while True:
        if judge.supports(statements[index].claim, chunk):
            return True
        index -= 1
        if index < 0 or statements[index].cited:
            return False
        between = text[statements[index].sentence.body_end : statements[index + 1].sentence.body]
        if "\n" in between:
            return False


def _best(claim: Claim, chunks: set[int], judge: Judge) -> set[int]:
    if len(chunks) <= judge.policy.most:
        return chunks
    evidence = judge.evidence(claim)
    ranked = sorted(chunks, key=lambda chunk: (-own_odds(evidence[chunk]), chunk))
    return set(ranked[: judge.policy.most])
