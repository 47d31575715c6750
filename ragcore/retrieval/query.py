"""From what a person typed to the clauses that the keyword index is asked, each with its weight."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ragcore.retrieval.references import Reference, references
from ragcore.retrieval.synonyms import Synonyms, member_key
from ragcore.terms import Kind, Term, gap_of, is_stop_word, language_of, may_be_abbreviated, terms

CHARACTER_WEIGHT = 0.2
"""Of one character beside the pairs that hold it: it says little more, and stands everywhere."""
PARTICLE_WEIGHT = 0.3
"""Of a pair with a grammatical character in it: such pairs straddle words, and being rare they would count a lot."""
PART_WEIGHT = 0.5
"""Of a piece of an identifier whose whole is asked for too."""
CONTEXT_WEIGHT = 0.4
"""Of a word that only an earlier question of the conversation had: it may tell what "it" is."""
MAX_EXPANSIONS = 6
"""Synonyms that are embedded along with a question."""
MAX_TERMS = 400
"""Of a longer question only so many terms are read, half from its head and half from its tail: what is pasted stands
between, and the question itself before or after it."""
MAX_READ = 8_000
"""Characters that are looked at to find these terms."""
MAX_EMBEDDED = 1_200
"""Characters of a longer question that are embedded, half from its head and half from its tail: more would take
seconds, and the mean of many windows means nothing."""

PARTICLES = frozenset("的了吗嗎呢吧是在与與和有几幾个個多少什么麼怎哪谁誰何为為")
"""Chinese characters that mark grammar rather than name something."""
_HIRAGANA = re.compile("[\u3041-\u309f]")
"""In Japanese these write particles and endings, and seldom what is asked for."""
_QUOTED = re.compile(
    r"[\"“„«]([^\"“”„«»\n]{2,200})[\"”“»]|「([^「」\n]{2,200})」|『([^『』\n]{2,200})』|《([^《》\n]{2,200})》"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One thing asked for: a term, what else it may be called, and how much it counts.

    ``stand_in`` is looked up only where no chunk has the term itself. ``context`` marks what the question itself
    doesn't say: a chunk with it gains, and one without it loses nothing.
    """

    term: str
    weight: float
    kind: Kind
    synonyms: tuple[tuple[str, ...], ...] = ()
    stand_in: str = ""
    context: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """An analysed question.

    ``phrases`` holds what stood in quotation marks, as term texts in order; ``expansions`` what else its words are
    called, by the synonym file; ``references`` what it names to the letter.
    """

    text: str
    language: str
    clauses: tuple[Clause, ...]
    phrases: tuple[tuple[str, ...], ...] = ()
    expansions: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()

    @property
    def text_to_embed(self) -> str:
        """Return the question with the other names of its words: an embedder may know those, and not the jargon."""
        text = _ends(self.text, MAX_EMBEDDED)
        return f"{text} ({', '.join(self.expansions)})" if self.expansions else text

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """Return every term that a statistic is needed for, each once."""
        wanted = (
            term
            for clause in self.clauses
            for term in (clause.term, clause.stand_in, *(word for member in clause.synonyms for word in member))
        )
        names = (term for reference in self.references for name in reference.names for term in name)
        return tuple(dict.fromkeys(term for term in (*wanted, *names, *self.wholes) if term))

    @property
    def wholes(self) -> tuple[str, ...]:
        """Return the references that are one term each."""
        return tuple(reference.whole for reference in self.references if reference.whole)


def analyse(text: str, synonyms: Synonyms | None = None, *, earlier: Sequence[str] = ()) -> SearchQuery:
    """Analyse a question; function words drop out unless there is nothing else.

    Args:
        text: The question.
        synonyms: The table of words that mean the same.
        earlier: What the asker asked before in this conversation, as far as it may be meant too.
    """
    text = _ends(text, MAX_READ)
    found = _head_and_tail(terms(text))
    table = synonyms or Synonyms.none()
    others = _synonyms_by_term(found, table)
    own = _clauses(text, found, others)
    known = {clause.term for clause in own}
    before = _ends("\n".join(earlier), MAX_READ)
    context = tuple(
        replace(clause, weight=clause.weight * CONTEXT_WEIGHT, context=True)
        for clause in _clauses(before, _head_and_tail(terms(before)), {})
        if clause.term not in known
    )
    members = dict.fromkeys(member for found_members in others.values() for member in found_members)
    return SearchQuery(
        text=text,
        language=language_of(text),
        clauses=own + context,
        phrases=tuple(_phrases(text)),
        expansions=tuple(table.written[member] for member in members)[:MAX_EXPANSIONS],
        references=references(text, found),
    )


def _ends(text: str, length: int) -> str:
    """Return head and tail of a longer text, as lines of their own."""
    half = length // 2
    return text if len(text) <= length else f"{text[:half]}\n{text[-half:]}"


def _head_and_tail(found: Sequence[Term]) -> list[Term]:
    """Return at most ``MAX_TERMS`` of the terms, in order."""
    half = MAX_TERMS // 2
    return [*found[:half], *found[-half:]] if len(found) > MAX_TERMS else list(found)


def _clauses(text: str, found: Sequence[Term], others: dict[str, tuple[tuple[str, ...], ...]]) -> tuple[Clause, ...]:
    """Weigh each term; of equal terms the heaviest counts."""
    telling = [term for term in found if not _says_nothing(text, term)] or list(found)
    wholes = [(term.start, term.end) for term in telling if term.kind is Kind.IDENTIFIER]
    paired = {place for term in found if term.kind is Kind.PAIR for place in range(term.start, term.end)}
    best: dict[str, Clause] = {}
    for term in telling:
        weight = _weight(term, wholes, paired)
        known = best.get(term.text)
        if known is None or weight > known.weight:
            synonyms = others.get(term.text, ())
            stand_in = gap_of(term.text) if may_be_abbreviated(term.text) else ""
            best[term.text] = Clause(
                term=term.text, weight=weight, kind=term.kind, synonyms=synonyms, stand_in=stand_in
            )
    return tuple(best.values())


def _weight(term: Term, wholes: Sequence[tuple[int, int]], paired: set[int]) -> float:
    """Return how much a term counts beside the others of the same place."""
    if term.kind is Kind.CHARACTER and term.start in paired:
        return CHARACTER_WEIGHT
    if term.kind is Kind.PAIR and (any(one in PARTICLES for one in term.text) or _HIRAGANA.search(term.text)):
        return PARTICLE_WEIGHT
    if term.kind is Kind.PART and any(start <= term.start and term.end <= end for start, end in wholes):
        return PART_WEIGHT
    return 1.0


def _says_nothing(text: str, term: Term) -> bool:
    """Judge by the written word too: a stem may no longer look like the function word it comes from."""
    if is_stop_word(term):
        return True
    return term.kind is Kind.WORD and is_stop_word(re.sub("['’]", "", text[term.start : term.end].lower()))


def _synonyms_by_term(found: Sequence[Term], synonyms: Synonyms) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Find words and phrases of the table in the question; each of their terms gets the group's other members.

    A phrase of two terms may then be met by one synonym in both its clauses, and so counts like the phrase.
    """
    others: dict[str, tuple[tuple[str, ...], ...]] = {}
    words = member_key(found)
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + synonyms.longest) + 1):
            for term in words[start:end]:
                known = others.get(term, ())
                others[term] = tuple(dict.fromkeys((*known, *synonyms.of(words[start:end]))))
    return others


def _phrases(text: str) -> Iterator[tuple[str, ...]]:
    """Yield what stands in quotation marks, if it is more than one term."""
    for quoted in _QUOTED.finditer(text):
        inner = next(group for group in quoted.groups() if group is not None)
        phrase = member_key(terms(inner))
        if len(phrase) > 1:
            yield phrase
