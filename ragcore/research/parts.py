"""Plans a research without a model: from the question's own parts, and from what was found that it doesn't name. Pure.

A question that needs several searches shows it: it joins clauses, compares named things, or describes a thing instead
of naming it ("the state whose official sport is jousting"). What it describes is named by what is found, so the names
in there are what to ask for next.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragcore.citations.sentences import split_sentences
from ragcore.extractive.words import LIGHTEST, Word, content, question_words
from ragcore.refine.followups import followup, names_in
from ragcore.research.queries import distinct
from ragcore.research.values import Finding
from ragcore.types import Message

MOST_READ = 2_000
"""Characters of a question that are looked at, from its end: there it asks."""
FEW = 2
"""Telling words that make a part of a question worth a search of its own."""
MOST_NAMES = 4
BRIDGED_CHUNKS = 3
"""Of what one search found so many of the best chunks are looked at for names."""
BRIDGED_CHARACTERS = 4_000
LONGEST_NAME = 80
_IDENTIFIER = 2.0

_SENTENCE = re.compile(r"(?<=[?？!！。;；])\s*|\n+")
_JOINT = re.compile(
    r"\s*[,，]?\s+(?:and(?: then| also)?|or|as well as|versus|vs\.?|compared (?:to|with)|und|oder|sowie|et|ou"
    r"|ainsi que|y|o|así como|e|и|или|а также)\s+"
    r"|\s*(?:以及|还有|還有|和|与|與|及|或者|或|相比|それと|および|及び|または|그리고|및|와|과)\s*|[，、]\s*",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    r"\s*,?\s+(?:(?:and|or|und|oder|et|ou|y|o|e)\s+)?(?:(?:in|on|at|of|by|for|to|from|with)\s+)?(?:who|whom|whose|which|where|that|dessen|deren|dont|duquel|cuyo|cuya|cujo"
    r"|cuja|который|которая|которое|которые|которого|которой)\s+",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")
_ASKING = frozenset(
    """
    who whose whom what when where which why how do does did is are was were can could may must should will
    wer wessen wem wen was wann wo welche welcher welches welchen warum wieso wie kann darf muss soll ist sind wird
    qui que quoi quand où quel quelle quels quelles pourquoi comment combien
    quién quiénes qué cuándo dónde cuál cuáles cómo cuánto cuántos cuánta cuántas
    quem quando onde qual quais como quanto quantos quanta quantas
    кто что когда где какой какая какие почему зачем как сколько
    """.split()  # noqa: SIM905
)
"""Words with which a clause begins that asks by itself: "and who approves it", not "and released in 2001"."""
_ASKING_SIGNS = re.compile(
    "谁|誰|什么|什麼|多少|几|幾|哪|怎|如何|吗|嗎|何|いつ|だれ|どこ|どの|いくら|누구|언제|어디|무엇|얼마|몇|어떻게"
)
_BOTH = re.compile(r"\s+(?:and|&|or|vs\.?|und|oder|et|ou|y|o|e|и|или)\s+")


def parts_of(question: str, history: Sequence[Message] = ()) -> tuple[str, ...]:
    """Return what to search for beside the question itself, the likeliest to help first.

    A part that leans on the conversation takes along what it leans on.
    """
    asked = question[-MOST_READ:].strip()
    leaning = followup(asked, history)
    along = " ".join(leaning.names) if leaning else ""
    parts = [*_of_each_name(asked), *_clauses(asked), *_around_relatives(asked)]
    return distinct(f"{part} {along}".strip() for part in parts)


def asked_apart(question: str, history: Sequence[Message] = ()) -> tuple[str, ...]:
    """Return the parts of a question that each ask something by themselves, in its order; () where it asks one thing.

    They are words of ``parts_of``, so each of them is searched for by itself where no model plans.
    """
    asked = question[-MOST_READ:].strip()
    searched = frozenset(parts_of(question, history))
    sentences = _sentences_of(asked)
    whole = dict(zip(sentences, _told_apart(sentences), strict=True))
    found: list[str] = []
    for sentence in sentences:
        clauses = [one for one in _joined(sentence) if _asks(one)]
        found += clauses if len(clauses) > 1 else [one for one in (whole[sentence],) if _asks(one)]
    parts = tuple(one for one in dict.fromkeys(found) if one in searched)
    return parts if len(parts) > 1 else ()


def bridges(question: str, findings: Sequence[Finding], asked: Sequence[str], most: int) -> tuple[str, ...]:
    """Return what to search for next: names that were found, each with the words of the question that lack yet.

    Args:
        question: As it was asked.
        findings: All so far, the last ones last.
        asked: What was searched for: nothing of it is asked again.
        most: How many are returned at most.
    """
    words = [word for word in question_words(question[-MOST_READ:], identifier=_IDENTIFIER) if word.weight >= LIGHTEST]
    if not words:
        return ()
    best: dict[str, _Bridge] = {}
    for finding in findings:
        for bridge in _bridges(words, finding):
            known = best.get(bridge.key)
            if known is None or bridge.worth > known.worth:
                best[bridge.key] = bridge
    ranked = sorted(best.values(), key=lambda bridge: -bridge.worth)
    return distinct((bridge.query for bridge in ranked), asked)[:most]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bridge:
    """A name that was found, as a search; ``worth`` is how likely it leads on."""

    key: str
    query: str
    worth: float


def _bridges(words: Sequence[Word], finding: Finding) -> Iterator[_Bridge]:
    """Yield the names in what a search found, each by the sentence or the title in which it stands."""
    own = {word.term for word in words} | set(content(finding.question))
    total = sum(word.weight for word in words)
    for rank, scored in enumerate(finding.chunks[:BRIDGED_CHUNKS]):
        chunk = scored.chunk
        text = chunk.text[:BRIDGED_CHARACTERS]
        held = {*content(chunk.title), *content(text)}
        lacking = [word for word in words if word.term not in held]
        if not lacking:
            continue  # it has all that was asked for: nothing leads on from here
        rest = " ".join(word.written for word in lacking)
        # A title tells what the whole text is about, so it stands beside all of its words.
        places = [(chunk.title, held, True)]
        places += [(one, {*content(one)}, False) for one in _sentences(text)]
        for place, said, is_title in places:
            share = sum(word.weight for word in words if word.term in said) / total
            names = [place.strip()] if is_title else names_in(place)
            for name in names:
                key = " ".join(content(name))
                if share and key and len(name) <= LONGEST_NAME and not own.issuperset(key.split()):
                    yield _Bridge(key=key, query=f"{name} {rest}", worth=share / (1 + rank) * (1.5 if is_title else 1))


def _clauses(asked: str) -> Iterator[str]:
    """Yield the sentences of a question, and the clauses that it joins, where there are several that tell something."""
    sentences = _sentences_of(asked)
    if len(sentences) > 1:
        yield from _told_apart(sentences)
    for sentence in sentences:
        yield from _joined(sentence)


def _joined(sentence: str) -> Iterator[str]:
    """Yield the clauses that a sentence joins, where there are several that tell something."""
    clauses = [one for one in map(str.strip, _JOINT.split(sentence)) if _telling(one)]
    if len(clauses) > 1:
        yield from _told_apart(clauses)


def _asks(part: str) -> bool:
    """Tell whether a part of a question is one by itself, by the words with which it begins."""
    first = _WORD.findall(part.lower())[:2]
    return any(word in _ASKING for word in first) or bool(_ASKING_SIGNS.search(part))


def _told_apart(clauses: Sequence[str]) -> Iterator[str]:
    """Yield each clause; one that says little has with it what the fullest of the others says.

    "And who approves it": what that is about stands in another clause.
    """
    for clause in clauses:
        fullest = max((one for one in clauses if one is not clause), key=lambda one: len(_telling(one)), default="")
        yield clause if _tells(clause) else " ".join((clause, *_telling(fullest)))


def _sentences_of(asked: str) -> list[str]:
    return [one for one in map(str.strip, _SENTENCE.split(asked)) if _telling(one)]


def _of_each_name(asked: str) -> Iterator[str]:
    """Yield each of several names with the words that say what is asked of them; a single name alone."""
    found = list(dict.fromkeys(name for joint in names_in(asked) for name in _BOTH.split(joint) if content(name)))
    if len(found) > 1 and asked.startswith(found[0]):
        # "Compare TW-200 ...", "Besides Little Rock ...": the first word has its capital from there.
        found[0] = found[0].partition(" ")[2]
    names = [name for name in found if name][:MOST_NAMES]
    of_names = {term for name in names for term in content(name)}
    words = question_words(asked, identifier=_IDENTIFIER)
    rest = [word.written for word in words if word.term not in of_names and word.weight >= LIGHTEST]
    if len(names) == 1 and len(rest) > FEW:
        yield names[0]  # who or what it is stands where little of the rest does
    elif len(names) > 1:
        yield from (" ".join((name, *rest)) for name in names)


def _around_relatives(asked: str) -> Iterator[str]:
    """Yield what stands before and behind a relative pronoun: the thing that is asked about, and its description."""
    for sentence in _sentences_of(asked):
        sides = [one for one in map(str.strip, _RELATIVE.split(sentence)) if one]
        if len(sides) > 1:
            yield from (side for side in reversed(sides) if _tells(side))


def _tells(part: str) -> bool:
    return len(_telling(part)) >= FEW


def _telling(part: str) -> list[str]:
    return [word.written for word in question_words(part, identifier=_IDENTIFIER) if word.weight >= LIGHTEST]


def _sentences(text: str) -> Iterator[str]:
    return (text[one.body : one.body_end] for one in split_sentences(text))
