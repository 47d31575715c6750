"""Verifies what is cited and attributes what is bare, sentence by sentence; only markers ever change."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ragcore.citations import markers
from ragcore.citations.contrary import of_other_times
from ragcore.citations.evidence import Claim, Evidence, Source, Weights, weigh
from ragcore.citations.facts import contradicts
from ragcore.citations.gainsaying import gainsaid_by
from ragcore.citations.languages import LATIN, shared
from ragcore.citations.literals import Literals
from ragcore.citations.markers import Marker
from ragcore.citations.numbers import values_of
from ragcore.citations.phrasing import denies, negated
from ragcore.citations.polarity import says_opposite
from ragcore.citations.scoring import CitationPolicy, choose, own_odds, probability
from ragcore.citations.sentences import BlockKind, Sentence, split_sentences

NEGLIGIBLE = 0.15
"""Less than this share of a sentence in every chunk, in one's own language, is no support even to the blind."""
AKIN = 0.25
"""A claim whose small words don't tell its language shares this share of its plain words with a chunk of the same."""
SAME_WORDS = 0.75
"""A sentence of which two neighbouring sentences hold this share, by weight, says the same, or denies it."""
NEAREST = 2
"""How many sentences of a chunk are compared with a claim by their vectors."""
_STOPS = ".!?。！？…।॥።။។։؟۔"
_ENDS = re.compile(rf"[{_STOPS}|][*_~\"'”’»)）\]】」』》]*\Z")
_HALF_NUMBER = re.compile(r"\d\.\Z")
_ABBREVIATION = re.compile(r"(?:\b\w\.){2,}\Z|\b(?:etc|inc|ltd|co|corp|jr|sr|al|no)\.\Z", re.IGNORECASE)
_ASKS_OR_LEADS_IN = re.compile(r"[?？؟:：][*_~\"'”’»)）\]】」』》\s]*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A sentence of the answer with the markers in it; ``given``: the share of it that was said before it, 0 to 1."""

    sentence: Sentence
    claim: Claim
    cited: tuple[Marker, ...]
    given: float


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

    def __init__(self, sources: Sequence[Source], policy: CitationPolicy, question: str = "") -> None:
        """Take the chunks in prompt order, and what was asked, which may tell the language of a short answer."""
        self.sources = sources
        self.question = question
        self.policy = policy
        self.weights = Weights(sources)
        self.similarities: Mapping[tuple[str, int], float] = {}
        self._claims: dict[str, Claim] = {}
        self._evidence: dict[str, list[Evidence]] = {}

    def read(self, text: str) -> list[Statement]:
        """Split an answer; headings, code and layout state nothing."""
        found = markers.find(text)
        statements: list[Statement] = []
        around = (markers.remove(text, found), self.question)
        said: set[str] = set()
        first = 0
        for sentence in split_sentences(text):
            last = first
            while last < len(found) and found[last].start < sentence.end:
                last += 1
            # A heading states nothing of itself, but a marker in it claims to.
            if sentence.citable or (last > first and sentence.kind is not BlockKind.CODE):
                claim = self._claim(text[sentence.body : sentence.body_end], around)
                given = self.weights.share(claim, said)
                statements.append(
                    Statement(sentence=sentence, claim=claim, cited=tuple(found[first:last]), given=given)
                )
                said.update(claim.words)
            first = last
        return statements

    def evidence(self, claim: Claim) -> list[Evidence]:
        """Return what each chunk has to say for the claim, in prompt order."""
        if claim.text not in self._evidence:
            self._evidence[claim.text] = weigh(claim, self.sources, self.weights)
        return self._evidence[claim.text]

    def open_questions(self, text: str) -> list[OpenQuestion]:
        """Return what only an embedder could tell: whether a cited sentence that shares few words is a paraphrase."""
        statements = self.read(text)
        asked = {
            (claim.text, marker.id): claim
            for index, statement in enumerate(statements)
            if statement.cited
            for claims in [answered_for(text, statements, index)]
            for marker in statement.cited
            if not self.stands(claims, marker.id)
            for claim in claims
            if self.can_judge(claim, marker.id) and self.sources[marker.id].passages
        }
        return [
            OpenQuestion(claim=claim.text, chunk=chunk, passages=self._nearest(claim, chunk))
            for (_, chunk), claim in asked.items()
        ]

    def _nearest(self, claim: Claim, chunk: int) -> tuple[str, ...]:
        source = self.sources[chunk]
        worth = {word: self.weights.of(word) for word in claim.words}
        values = [sum(worth.get(term, 0.0) for term in set(passage.sequence)) for passage in source.passages]
        ranked = sorted(range(len(values)), key=lambda index: (-values[index], index))[:NEAREST]
        return tuple(source.chunk.text[source.passages[i].start : source.passages[i].end] for i in ranked)

    def can_judge(self, claim: Claim, chunk: int) -> bool:
        """Whether a lack of support means something: one language, which the embedder knows."""
        language = self._shared(claim, self.sources[chunk])
        return bool(language) and self.policy.knows(language)

    def _shared(self, claim: Claim, source: Source) -> str:
        """Return the language of both; of a claim that doesn't show its own only when it has words of the chunk."""
        plain = claim.plain_words
        if claim.language == LATIN and plain and len(plain & source.terms) < AKIN * len(plain):
            return ""
        return shared(claim.language, source.language)

    def supports(self, claim: Claim, chunk: int) -> bool:
        """Whether a marker of the model may stay."""
        if not claim.words or not self.can_judge(claim, chunk) or len(claim.words) < 2:
            return True
        alike = self.similarities.get((claim.text, chunk), -1.0) >= self.policy.similar_at
        return alike or probability(own_odds(self.evidence(claim)[chunk])) >= self.policy.keep_at

    def contradicted(self, claim: Claim, chunks: Collection[int]) -> bool:
        """Whether the claim names a number or code that none of these chunks has, or a name that it would have.

        Taken together, since a sentence may rest on two chunks, and each has its own numbers.
        """
        alike = all(self.can_judge(claim, chunk) for chunk in chunks)
        together = "\n".join(self.sources[chunk].full_text for chunk in sorted(chunks))
        return bool(chunks) and (contradicts(claim.said, together, alike=alike) or self._denies(claim, chunks))

    def gainsaid(self, claim: Claim, chunks: Collection[int]) -> set[int]:
        """Return those of the chunks that say in words the contrary of a claim which none of them bears out."""
        found = gainsaid_by(claim, [self.sources[chunk] for chunk in sorted(chunks)])
        return {chunk for chunk, wrong in zip(sorted(chunks), found, strict=True) if wrong}

    def outdone(self, claims: Sequence[Claim], chunks: Collection[int]) -> set[int]:
        """Return those of the chunks that say something else than the first claim, where another bears it out alone.

        Taken together they do bear it out, so that what contradicts it would stand beside what says it. What has words
        of any of the claims that the other lacks is left: the sentence may rest on both.
        """
        if len(chunks) < 2:
            return set()
        wrong = {one for one in chunks if self.gainsaid(claims[0], {one})}
        wrong |= {one for one in chunks if self.contradicted(claims[0], {one}) and self._says_otherwise(claims[0], one)}
        right = [one for one in chunks if one not in wrong and not self.contradicted(claims[0], {one})]
        return {
            one
            for one in wrong
            if any(all(self._adds(claim, one, other) < NEGLIGIBLE for claim in claims) for other in right)
        }

    def _says_otherwise(self, claim: Claim, chunk: int) -> bool:
        """Whether a chunk says what a claim says but for a number, or without its "not"."""
        source, best = self.sources[chunk], self.evidence(claim)[chunk].best
        words = {word for word in claim.words if not any(c.isdigit() for c in word)}
        around = source.context.union(*source.windows[best : best + 1])
        said = sum(self.weights.of(word) for word in words & around)
        if said < SAME_WORDS * sum(map(self.weights.of, words)):
            return False
        other = values_of(source.window_text(best)) - values_of(claim.said)
        return bool(other) or self._denies(claim, {chunk})

    def _adds(self, claim: Claim, chunk: int, other: int) -> float:
        """Return how much of a claim, by weight, one chunk has and the other lacks, 0 to 1."""
        return self.weights.share(claim, self.sources[chunk].terms - self.sources[other].terms)

    def _denies(self, claim: Claim, chunks: Collection[int]) -> bool:
        """Whether an English claim says with "not" what these chunks say in the same words without it."""
        if claim.language != "en" or not denies(claim.text):
            return False
        evidence = self.evidence(claim)
        passages = [self.sources[one].window_text(evidence[one].best) for one in chunks]
        nearest = max(evidence[one].passage for one in chunks)
        # "Not open on Sunday" is what "closed on Sunday" says, and what "open on Saturday" leaves open.
        return nearest >= SAME_WORDS and not any(
            negated(passage) or says_opposite(claim.text, passage) or of_other_times(claim.compared, passage)
            for passage in passages
        )

    def stands(self, claims: Sequence[Claim], chunk: int) -> bool:
        """Whether a marker may stay, given the claims it may stand for, its own sentence first.

        That sentence must not be wholly foreign to the chunk.
        """
        if self.supports(claims[0], chunk):
            return True
        related = self.evidence(claims[0])[chunk].cover >= NEGLIGIBLE
        return related and any(self.supports(claim, chunk) for claim in claims[1:])

    def judged_unsupported(self, claim: Claim) -> bool:
        """Whether a sentence without a citation is known to have no source, rather than merely not understood."""
        if not claim.says_something or len(claim.words) < 2 or _ASKS_OR_LEADS_IN.search(claim.text):
            return False
        if any(self.can_judge(claim, index) for index in range(len(self.sources))) or not self.sources:
            return True
        alike = [
            one.cover
            for one, source in zip(self.evidence(claim), self.sources, strict=True)
            if self._shared(claim, source)
        ]
        return bool(alike) and max(alike) < NEGLIGIBLE

    def _claim(self, written: str, around: Sequence[str]) -> Claim:
        if written not in self._claims:
            self._claims[written] = Claim(written, around)
        return self._claims[written]


def verify(text: str, judge: Judge) -> str:
    """Drop the markers whose chunk does not support their sentence, those said twice running, and all over the most."""
    statements = judge.read(text)
    dropped: list[Marker] = []
    for index, statement in enumerate(statements):
        if not statement.cited:
            continue
        claims = answered_for(text, statements, index)
        standing = {one.id for one in statement.cited}
        if judge.contradicted(statement.claim, standing):
            standing = set()
        standing -= judge.gainsaid(statement.claim, standing)
        standing = {one for one in standing if judge.stands(claims, one)}
        standing -= judge.outdone(claims, standing)
        standing = _best(statement.claim, standing, judge)
        said: set[int] = set()
        end = 0
        for marker in statement.cited:
            if text[end : marker.start].strip():
                said.clear()
            if marker.id not in standing or marker.id in said:
                dropped.append(marker)
            said.add(marker.id)
            end = marker.end
    return markers.remove(text, dropped)


def insert(text: str, judge: Judge, *, unfinished: bool = False) -> str:
    """Give each sentence without a marker those of the chunks that support it.

    Of a text that is ``unfinished`` half a sentence at its end gets none.
    """
    pieces: list[str] = []
    done = 0
    literals = Literals(text)
    for statement in judge.read(text):
        claim = statement.claim
        if statement.cited or not claim.says_something or _ASKS_OR_LEADS_IN.search(claim.text):
            continue
        if unfinished and breaks_off(text, statement):
            continue
        chosen = choose(judge.evidence(claim), statement.given, judge.policy)
        place = marker_place(text, statement.sentence)
        wrong = judge.gainsaid(claim, chosen)
        chosen = [chunk for chunk in chosen if chunk not in wrong]
        outdone = judge.outdone([claim], chosen)
        chosen = [chunk for chunk in chosen if chunk not in outdone]
        if chosen and not judge.contradicted(claim, chosen) and not literals.divided_at(place):
            written = "".join(markers.marker(chunk) for chunk in chosen)
            pieces += (text[done:place], markers.spaced(text, place, written))
            done = place
    return "".join((*pieces, text[done:]))


def breaks_off(text: str, statement: Statement) -> bool:
    """Return whether a statement stands at the end of a text without an end of its own; ``3.`` may be half of 3.5."""
    if text[statement.sentence.body_end :].strip():
        return False
    said = markers.strip(text[statement.sentence.body : statement.sentence.body_end]).rstrip()
    return not _ENDS.search(said) or _HALF_NUMBER.search(said) is not None


def marker_place(text: str, sentence: Sentence) -> int:
    """Return where a sentence's markers go: before its full stop, inside a row's last cell."""
    said = before = text[sentence.body : sentence.body_end]
    if sentence.kind is BlockKind.ROW:
        before = said[:-1] if said.endswith("|") and not said.endswith("\\|") else said
    elif not _ABBREVIATION.search(said[-20:]):
        before = said.rstrip(_STOPS)
    return sentence.body + len(before.rstrip() or said)


def answered_for(text: str, statements: Sequence[Statement], index: int) -> list[Claim]:
    """Return the claims that a marker of this statement may stand for.

    Its own, and the bare ones before it in its paragraph: a marker at a paragraph's end often answers for all of it.
    """
    claims = [statements[index].claim]
    while index and not statements[index - 1].cited:
        between = text[statements[index - 1].sentence.body_end : statements[index].sentence.body]
        if "\n" in between:
            break
        index -= 1
        claims.append(statements[index].claim)
    return claims


def _best(claim: Claim, chunks: set[int], judge: Judge) -> set[int]:
    if len(chunks) <= judge.policy.most:
        return chunks
    evidence = judge.evidence(claim)
    ranked = sorted(chunks, key=lambda chunk: (-own_odds(evidence[chunk]), chunk))
    return set(ranked[: judge.policy.most])
