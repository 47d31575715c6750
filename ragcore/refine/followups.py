"""Whether a question stands alone, and what of the conversation it leans on: by its small words, without a model. Pure.

A follow-up leans on what was said before: by a pronoun that nothing in it explains ("when did *she* leave?"), by a
noun that was named just now ("what does *the label* pay?"), by asking for others of the kind ("who *else*?"), or by
having hardly a word of its own ("why?"). Whatever names what it asks about stands alone, even late in a conversation:
only the others cost a call of a model, or take words of earlier turns along into the search.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragcore.citations.languages import LATIN, tongue
from ragcore.citations.markers import strip
from ragcore.refine import leaning
from ragcore.refine.leaning import LEANING, Leaning
from ragcore.refine.possessives import is_explained
from ragcore.terms import Kind, Term, is_stop_word, language_of, terms
from ragcore.types import Message

MOST_READ = 2_000
"""Characters of a question, and of each message, that are looked at: what leans stands at an end of it."""
MOST_TURNS = 6
"""Messages that are looked back at, beside the first question of all: of what a conversation was about before, people
speak by name."""
MOST_NAMES = 3
"""Names that are carried over: a question leans on one or two."""
FEW_WORDS = 2
"""Terms of its own from which a question says what it is about, where no small word leans."""

_OPENING = frozenset(
    word for one in LEANING.values() for word in one.opening if len(word) > 1 and word not in {"so", "also"}
)
"""What opens a question that goes on, in whatever language it was talked before. Of words of two languages "so" and
"also" open questions of their own in the other."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SMALL = "of|the|de|da|del|di|van|von|der|for|and|&"
_NAME = re.compile(
    r"(?:[A-ZÀ-ÖØ-ÞĀ-ž]|[А-ЯЁ])[\w’'.&-]*"
    rf"(?:[ ](?:{_SMALL}|[A-ZÀ-ÖØ-ÞА-ЯЁ0-9][\w’'.&-]*)){{0,6}}"
)
_SMALL_END = re.compile(rf"(?:[ ](?:{_SMALL}))+$")
_QUOTED = re.compile(r"[\"“„«「『《]([^\"”“»」』》\n]{2,80})[\"”“»」』》]")
_EMPTY_IT = re.compile(
    r"\b(?:is|was|be|isn't|would|will|makes?|does|did)\s+it\s+(?:\w+\s+)?"
    r"(?:to|that|if|possible|allowed|true|ok|okay|safe|necessary|required|legal|mean|take|matter|better|worth|rain|time)\b"
    r"|\bit\s+(?:takes?|is|was|would be)\s+\w+\s+(?:to|that)\b"
    r"|\b(?:il|y)\s+(?:a|faut|est)\b|-t-il\b|\bgibt\s+es\b|\bes\s+gibt\b|\bist\s+es\s+\w+,",
    re.IGNORECASE,
)
"""Where "it" stands for nothing: "is it possible", "gibt es"."""
_CLAUSE = re.compile(
    r"[,;:]|\b(?:if|when|while|after|before|because|since|and|or|but|unless|once|wenn|falls|nachdem|bevor|weil|und|oder|si|après"
    r"|avant|parce|et|ou|después|antes|porque|y|o|se|depois|e|если|после|потому|и|или)\b",
    re.IGNORECASE,
)
"""What divides a question: behind it, "it" may be what stood before, as in "if a laptop is lost, who pays for it"."""
_BEFORE_A_NOUN = frozenset(
    (
        *("after", "about", "of", "for", "with", "from", "by", "to", "at", "like", "before", "during", "on", "in"),
        *("was", "is", "does", "did", "do", "than", "why"),
    )
)
_RELATIVE = re.compile(r"^\s+(?:who|which|that|with|of|whose|in|from|you|we|i)\b", re.IGNORECASE)
_THE = re.compile(
    r"\b(?:the|der|die|das|dem|den|des|le|la|les|l'|el|los|las|o|a|os|as)\s+((?:[^\W\d_]+\s+){0,2}[^\W\d_]+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Followup:
    """What a question leans on: the names and the text that go along with it into a search, most telling first.

    ``before`` is the last question, and before it the last that stood alone, if that is another.
    """

    names: tuple[str, ...] = ()
    before: str = ""


def followup(question: str, history: Sequence[Message]) -> Followup | None:
    """Return what a question leans on; None when it stands alone, or nothing was said before.

    Args:
        question: As it was asked.
        history: What was said before, oldest first.
    """
    said = recent(history)
    asked = question[-MOST_READ:].strip()
    if not said or not asked or stands_alone(asked, history):
        return None
    return carried(question, history)


def carried(question: str, history: Sequence[Message]) -> Followup:
    """Return the names and the text of these messages that go along with a question that leans on what was said."""
    said, asked = recent(history), question[-MOST_READ:].strip()
    own = {term.text for term in terms(asked)}
    names = [name for name in _names(said) if not {term.text for term in terms(name)} <= own]
    return Followup(names=tuple(names[:MOST_NAMES]), before=_before(history))


def _before(history: Sequence[Message]) -> str:
    """Return the last question, behind the last that stands alone where it leans on that itself: there is the topic."""
    said = [message for message in history if message.role in {"user", "assistant"} and message.text.strip()]
    places = [place for place, message in enumerate(said) if message.role == "user"][-MOST_TURNS:]
    if not places:
        return ""
    last = whole = said[places[-1]].text[:MOST_READ]
    for place in reversed(places):
        whole = said[place].text[:MOST_READ]
        if stands_alone(whole, said[:place]):
            break
    return last if whole == last else f"{whole}\n{last}"


def stands_alone(question: str, history: Sequence[Message]) -> bool:
    """Tell whether a question says all that a search needs; True where nothing was said before."""
    said = recent(history)
    asked = question[-MOST_READ:].strip()
    if not said or not asked:
        return True
    own = [term for term in terms(asked) if term.kind is not Kind.CHARACTER and not is_stop_word(term)]
    match language_of(asked):
        case "zh":
            patterns = (leaning.CHINESE, leaning.CHINESE_FURTHER, leaning.CHINESE_OPENING, leaning.CHINESE_ENDING)
        case "ja":
            patterns = (leaning.JAPANESE, leaning.JAPANESE_FURTHER, leaning.JAPANESE_OPENING, "")
        case "ko":
            patterns = (leaning.KOREAN, leaning.KOREAN_FURTHER, leaning.KOREAN_OPENING, "")
        case _:
            return _spaced_alone(asked, said, own)
    return _unspaced_alone(asked, patterns, own)


def _unspaced_alone(asked: str, patterns: tuple[str, str, str, str], own: Sequence[Term]) -> bool:
    """Judge a question without spaces: it leans by a pronoun, by how it begins or ends, or has no word of its own."""
    pointing, further, opening, ending = patterns
    if re.search(opening, asked) or (ending and re.search(ending, asked) and len(asked) < 20):
        return False
    if re.search(pointing, asked):
        # What the question itself names before the pronoun explains it.
        before = asked[: next(iter(re.finditer(pointing, asked))).start()]
        return len([term for term in terms(before) if not is_stop_word(term)]) >= 2 * FEW_WORDS + 2
    told = {term.text for term in own}
    return len(told) > (2 * FEW_WORDS if re.search(further, asked) else FEW_WORDS // 2)


def _spaced_alone(asked: str, said: Sequence[Message], own: Sequence[Term]) -> bool:
    """Judge a question whose words stand apart."""
    words = list(_WORD.finditer(asked))
    lower = [word[0].lower().replace("’", "'") for word in words]
    small = _leaning(asked, said)
    telling = _telling(asked, words, small, own)
    has_name = any(_is_name(asked, term, words) for term in telling)
    # A number alone names nothing: "and 3 days ago?"
    named = any(_is_name(asked, term, words) for term in telling if not asked[term.start : term.end].isdecimal())
    if (
        lower
        and (lower[0] in small.opening or lower[0] in _OPENING)
        and len(telling) <= FEW_WORDS + 1
        and not (named and len(telling) > FEW_WORDS)
    ):
        return False
    if not telling:
        return False
    if _has_open_pronoun(asked, words, lower, small, telling, has_name=has_name):
        return False
    if has_name or len(telling) > 2 * FEW_WORDS:
        return True
    if small.further.intersection(lower) and not small.besides.intersection(lower):
        return False
    return not _names_again(asked, said)


def _has_open_pronoun(
    asked: str,
    words: Sequence[re.Match[str]],
    lower: Sequence[str],
    small: Leaning,
    telling: Sequence[Term],
    *,
    has_name: bool,
) -> bool:
    """Tell whether a pronoun stands in it that nothing before it explains."""
    empty = [range(*found.span()) for found in _EMPTY_IT.finditer(asked)]
    for at, (word, written) in enumerate(zip(words, lower, strict=True)):
        base = written.removesuffix("'s").removesuffix("'re").removesuffix("'d").removesuffix("'ll")
        if word[0][0].isupper() and at and base in {"sie", "ihr", "ihre", "ihren", "ihnen"}:
            continue  # the polite form
        if any(word.start() in span for span in empty):
            continue
        if is_explained(_of_sentence(asked, words, lower, at), written):
            continue
        before = [term for term in telling if term.end <= word.start()]
        named = any(_is_name(asked, term, words) for term in before)
        if base in small.persons and not named and not _someone(before, asked, word.start()):
            return True
        if base in small.things and not named and not (before and _CLAUSE.search(asked, before[0].end, word.start())):
            return True
        if base in small.pointing and _points(asked, word, at, lower, before):
            return True
    return False


def _of_sentence(asked: str, words: Sequence[re.Match[str]], lower: Sequence[str], at: int) -> list[str]:
    """Return the words before one that stand in its sentence."""
    begin = max(asked.rfind(mark, 0, words[at].start()) for mark in ".!?;\n")
    return [one for word, one in zip(words[:at], lower, strict=False) if word.start() > begin]


def _someone(before: Sequence[Term], asked: str, at: int) -> bool:
    """Tell whether a person may be meant that the question itself speaks of: "can an employee take her dog along"."""
    return bool(before) and bool(
        re.search(r"\b(?:an?|each|every|ein|eine|un|une|una|um|uma)\s+\w+", asked[:at], re.IGNORECASE)
    )


def _points(asked: str, word: re.Match[str], at: int, lower: Sequence[str], before: Sequence[Term]) -> bool:
    """Tell whether a pointing word points out of the question."""
    rest = asked[word.end() :]
    if _RELATIVE.match(rest):
        return False  # "those who", "that of"
    if lower[at] == "that":
        # A conjunction, or a relative pronoun, unless it stands where a noun would.
        ends = not rest.strip(" ?.!,")
        as_noun = ends or at == 0 or lower[at - 1] in _BEFORE_A_NOUN
        return as_noun and len(before) < 2 * FEW_WORDS
    if lower[at] == "such":
        return not rest.lstrip().startswith(("as", "a ")) and len(before) < FEW_WORDS
    if re.match(r"\s+(?:year|month|week|quarter|morning|evening|summer|winter|afternoon)\b", rest, re.IGNORECASE):
        return False  # "this year" is now
    return len(before) < 2 * FEW_WORDS


def _names_again(asked: str, said: Sequence[Message]) -> bool:
    """Tell whether a noun with an article is one of the last question and its answer."""
    before = {
        term.text for message in said[-2:] for term in terms(strip(message.text)[:MOST_READ]) if not is_stop_word(term)
    }
    found = (match[1] for match in _THE.finditer(asked))
    return any(term.text in before for phrase in found for term in terms(phrase) if not is_stop_word(term))


def _telling(asked: str, words: Sequence[re.Match[str]], small: Leaning, own: Sequence[Term]) -> list[Term]:
    """Return the terms of a question that say what it is about."""
    nothing = small.asking | small.further | small.persons | small.things | small.pointing | small.opening
    silent = {word.start() for word in words if word[0].lower() in nothing}
    return [term for term in own if term.start not in silent and term.kind is not Kind.PART]


def _is_name(asked: str, term: Term, words: Sequence[re.Match[str]]) -> bool:
    """Tell whether a term is a name, a number or a code by how it is written; the first capital says nothing."""
    if term.kind is Kind.IDENTIFIER:
        return True
    written = asked[term.start : term.end]
    first = bool(words) and words[0].start() == term.start
    return any(one.isdigit() for one in written) or (written[:1].isupper() and not first)


def _leaning(asked: str, said: Sequence[Message]) -> Leaning:
    language = tongue(asked, [message.text[:MOST_READ] for message in reversed(said)])
    return LEANING.get("en" if language == LATIN else language, LEANING["en"])


def recent(history: Sequence[Message]) -> list[Message]:
    """Return the messages that are looked at, oldest first: the last ones, and the question that it all began with."""
    spoken = [message for message in history if message.role in {"user", "assistant"} and message.text.strip()]
    first = [message for message in spoken[:-MOST_TURNS] if message.role == "user"][:1]
    return [*first, *spoken[-MOST_TURNS:]]


def _names(said: Sequence[Message]) -> list[str]:
    """Return the names that were said, the likeliest to be meant first: often, lately, and in questions."""
    counts: dict[str, float] = {}
    written: dict[str, str] = {}
    for back, message in enumerate(reversed(said)):
        weight = (1.5 if message.role == "user" else 1.0) / (1 + 0.25 * back)
        for name in dict.fromkeys(names_in(strip(message.text)[:MOST_READ])):
            key = name.lower()
            counts[key] = counts.get(key, 0.0) + weight
            written.setdefault(key, name)
    # A part of a longer name stands for it: "Lenglen" for "Suzanne Lenglen".
    for key in sorted(counts, key=len):
        longer = [other for other in counts if other != key and re.search(rf"\b{re.escape(key)}\b", other)]
        if longer:
            best = max(longer, key=lambda other: counts[other])
            counts[best] += counts.pop(key)
    return [written[key] for key in sorted(counts, key=lambda key: -counts[key])]


def names_in(text: str) -> Iterator[str]:
    """Yield the names in a text: capitalised runs, codes, and what stands in quotation marks."""
    for quoted in _QUOTED.finditer(text):
        yield quoted[1].strip()
    for term in terms(text):
        if term.kind is Kind.IDENTIFIER:
            yield text[term.start : term.end]
    for found in _NAME.finditer(text):
        name = _SMALL_END.sub("", found[0]).rstrip(".,'’")
        name = re.sub(r"['’]s$", "", name)
        start = found.start()
        begins = not text[:start].strip() or text[:start].rstrip()[-1:] in '.!?:\n"“'
        first, _, rest = name.partition(" ")
        if begins and _is_common(first, text):
            name = rest
            while name and not name[0].isupper():
                name = name.partition(" ")[2]
        if len(name) > 1 and not is_stop_word(name.lower()):
            yield name


def _is_common(word: str, text: str) -> bool:
    """Tell whether a word that begins a sentence has its capital from there alone."""
    lower = word.lower()
    if is_stop_word(lower) or any(
        lower in one.asking | one.opening | one.persons | one.things | one.pointing for one in LEANING.values()
    ):
        return True
    return bool(re.search(rf"\b{re.escape(lower)}\b", text))
