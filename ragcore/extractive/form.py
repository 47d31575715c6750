"""The form of a question: which ones, how to, how much of what. Pure."""

import re
from collections.abc import Collection
from itertools import takewhile

from ragcore.terms import is_stop_word, terms

_HOW_TO = re.compile(
    r"\bhow (?:do|does|can|could|should|must|would|to)\b|\bwhat (?:do|should|must|shall) (?:i|we|you|one) do\b"
    r"|\bwhat happens\b|\bsteps?\b|\bprocedure\b|怎么|怎样|如何|步骤|流程",
    re.IGNORECASE,
)
_ANYTHING = re.compile(
    r"^\W*(?:what|who) (?:is|are|was|were)\W+(?:the |an? )?[\w.-]+\W*$|\bmeans?\b|\bmeaning of\b|\babout\b"
    r"|\bwhat (?:do|should|can|must|shall) (?:i|we|you|one) do\b|\bwhat (?:now|to do|next)\b"
    r"|怎么办|什么意思|是什么[？?]?$|含义",
    re.IGNORECASE,
)
_SELECTS = re.compile(
    r"\bwhich\b|\bwelche[nrs]?\b|\bquel(?:le)?s?\b|\bcuál(?:es)?\b|哪些|哪几|哪种|哪个", re.IGNORECASE
)
_WHETHER = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|can|may|must|should|shall|will|would|have|has|am"
    r"|ist|sind|war|hat|habe[nt]?|gibt|kann|können|darf|dürfen|muss|müssen|wird|werden"
    r"|y a-t-il|est-ce qu[e'’]|peut-on|hay|se puede)\b|[吗嗎][？?]?\W*$|有没有|是否|能否|可不可以|能不能",
    re.IGNORECASE,
)
_LISTS = re.compile(
    r"\b(?:what|which) (?:\w+ ){1,3}(?:are|is) there\b|\b(?:what|which) (?:kinds?|types?|sorts?) of\b"
    r"|\blist (?:of|all|the)\b"
    r"|\bwelche\w* (?:\w+ ){1,3}gibt es\b|\bquel(?:le)?s? (?:\w+ ){1,3}y a-t-il\b|有哪些|有哪几|有什么",
    re.IGNORECASE,
)
_NEXT_QUESTION = re.compile(
    r",? (?:and|und|et|y) (?=(?:which|what|when|where|who|whom|how|why|is|are|was|were|do|does|did|can|may|must"
    r"|wer|was|wann|wo|wie|warum|welche\w*)\b)|[，,](?=为什么|什么时候|何时|多少|怎么|谁|哪)",
    re.IGNORECASE,
)
_WANTS_A_NAME = re.compile(
    r"^\W*(?:who (?:is|are|was|were|leads?|heads?)|which (?:company|firm|supplier|manufacturer|city|country))\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[\w,:;–-] )[A-Z][a-z]+|@|[\u3400-\u9fff]{2,}")
_DENIES = re.compile(r"\b(?:not|no|never|without|nicht|kein\w*|ohne|pas|sans|sin)\b|n['’]t\b|不|没|无需", re.IGNORECASE)
_MEASURED = re.compile(
    r"\bhow (?P<count>(?:many|much) (?:of (?:all )?(?:my|your|our|their|the|these|those) )?)?", re.IGNORECASE
)
_NUMBER = re.compile(
    r"\d[\d.,]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|hundreds?|thousands?)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"(?<=\w )\b(?<!until )(?<!since )(?:before|after|when(?! (?:do|does|did|is|are|was|were|can|will|must|may)\b)"
    r"|while|during|if|unless|without|bevor|nachdem|wenn|falls|während|ohne|avant|après|pendant|antes|después|durante)\b"
    r"(?P<said>.*)",
    re.IGNORECASE | re.DOTALL,
)
_OPENING = re.compile(
    r"^\W*(?:while|before|until|although|because|since|bevor|während|obwohl|weil"
    r"|(?P<condition>when(?:ever)?|if|after|during|unless|once|as soon as|without|nachdem|wenn|falls|sobald|ohne))\b"
    r"[^,;:.]*,(?!\d)\s*",
    re.IGNORECASE,
)
_BESIDE_NUMBER = 24
"""Characters on either side of a number within which it is said what it counts."""


def is_how_to(question: str) -> bool:
    """Whether a question asks for what is done, or happens, one thing after the other."""
    return bool(_HOW_TO.search(question))


def takes_anything(question: str) -> bool:
    """Whether a question asks for whatever there is about the thing that it names."""
    return bool(_ANYTHING.search(question))


def selects(question: str) -> bool:
    """Whether a question asks which of several things are so."""
    return bool(_SELECTS.search(question))


def lists(question: str) -> bool:
    """Whether a question asks for all the things of a kind that there are."""
    return bool(_LISTS.search(question))


def questions(text: str) -> list[str]:
    """Return the questions that a question asks at once: "when is it, and why?" has two."""
    return _NEXT_QUESTION.split(text)


def names_nobody(question: str, text: str) -> bool:
    """Whether a question wants a person, a company or a place, and a text has no name that the question lacks."""
    return bool(_WANTS_A_NAME.search(question)) and all(name in question for name in _NAME.findall(text))


def action(question: str) -> str:
    """Return what follows "how do I", the action first; "" where the question isn't how to do a thing."""
    found = _HOW_TO.search(question)
    return question[found.end() :] if found else ""


def asks_whether(question: str) -> bool:
    """Whether a question asks if something is so, or there at all: what is only like it tells neither yes nor no."""
    return bool(_WHETHER.search(question))


def denies(question: str) -> bool:
    """Whether a question asks for what is not so."""
    return bool(_DENIES.search(question))


def measured(question: str, words: Collection[str]) -> tuple[str, bool] | None:
    """Return what a question asks the amount or degree of, as one of the written ``words``, and whether it is counted.

    It is the word behind "how", "how many" or "how much", or the next after it: *people* of "how many old people work
    there", *heavy* of "how heavy is it", of which people are counted. None where a verb or a preposition follows, as in
    "how much is it".
    """
    found = _MEASURED.search(question)
    if found is None:
        return None
    rest = question[found.end() :]
    for term in takewhile(lambda term: not is_stop_word(term), terms(rest)):
        written = rest[term.start : term.end].lower()
        if written in words:
            return written, bool(found["count"])
    return None


def circumstance(question: str) -> str:
    """Return the clause that tells when or under what condition something is asked, "" for none: *taking a week off*.

    Of "how much notice do I need before taking a week off?" it is what tells this notice from others.
    """
    found = _CLAUSE.search(question)
    return found["said"] if found else ""


def main_clause(sentence: str) -> str:
    """Return a sentence without the clause that it opens with: "while it is repaired, a loan meter is sent".

    What such a clause names is known to the reader already; the sentence says nothing of it.
    """
    return _OPENING.sub("", sentence)


def opens_with_condition(sentence: str) -> bool:
    """Whether the clause that a sentence opens with says for what its main clause holds: "if a card is lost, call"."""
    found = _OPENING.match(sentence)
    return found is not None and found["condition"] is not None


def beside_numbers(text: str) -> str:
    """Return the words that stand beside the numbers of a text, and so may say what these count."""
    around = (text[max(0, one.start() - _BESIDE_NUMBER) : one.end() + _BESIDE_NUMBER] for one in _NUMBER.finditer(text))
    return " ".join(around)
