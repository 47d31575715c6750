"""What a question asks the amount of, and what the numbers of a text count or measure. Pure."""

import re
from collections.abc import Collection
from itertools import takewhile

from ragcore.terms import is_stop_word, terms
from ragcore.terms.normal import stem

_MEASURED = re.compile(
    r"\bhow (?:(?P<count>many|much) (?:of (?:all )?(?:my|your|our|their|the|these|those) )?)?"
    r"|(?:^|\bthe |\btotal )(?P<number>number of) (?!(?:the|my|your|our)\b)",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?<![\w:.-])\d[\d.,]*(?![\d:]|-\w)"
    r"|\b(?:(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-)?(?:one|two|three|four|five|six|seven|eight|nine)\b"
    r"|\b(?:ten|eleven|twelve|dozens?|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|hundreds?|thousands?|none|no)\b",
    re.IGNORECASE,
)
"""A number that may count something: no code, no time of day."""
_PHRASE = re.compile(r" ?[%-]?[^\W\d_][^,;:.()!?\n\d]*")
_AMOUNT = re.compile(
    r"\s?(?:%|per ?cent|€|£|\$|°|(?:[a-z]+[ -]){0,2}(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|grams?"
    r"|kilo\w*|tonn?e?s?|lit(?:re|er)s?|gallons?|[km]?m|[ckm]?m²|k?g|mg|m?l|[kmg]?b|[kmg]ib|[kmgt]?[wv]h?|miles?|met(?:re|er)s?"
    r"|inch(?:es)?|feet|pence|cents?|euros?|pounds?|dollars?|yuan|francs?|points?|times|hectares?|acres?|jars?|bags?"
    r"|boxes|bottles?|crates?|loads?|bales?|cups?|drops?)\b)|\W*(?:$|[.;,)])",
    re.IGNORECASE,
)
"""What stands behind a number that is an amount: a unit, or nothing, as in a table."""
_NUMBER_OF = re.compile(r"\bnumber of (?P<what>[^,;:.()!?\n\d]{1,32})", re.IGNORECASE)
_SIGNS = """
second|s|secs?
minute|mins?
hour|h|hrs?
kilo kilogram|kg
gram|g|gr
tonne ton|t
litre liter|l
metre meter|m
kilometre kilometer|km
centimetre centimeter|cm
millimetre millimeter|mm
kilobyte|kb|kib
megabyte|mb|mib
gigabyte|gb|gib
percent|%
degree|°
"""
"""Units with the signs that stand for them behind a number."""
_SIGNS_OF = {
    stem(word): re.compile(rf"\d ?(?:{signs})(?![^\W_])", re.IGNORECASE)
    for words, _, signs in (line.partition("|") for line in _SIGNS.split("\n") if line)
    for word in words.split()
}
_CURRENCY = re.compile(r"(?:[£€$¥￥]|\b[A-Z]{3}) ?$")
_DO = frozenset(stem(form) for form in ("do", "does", "did"))
_BESIDE_NUMBER = 32
"""Characters behind a number, or before it, within which it is said what it counts."""


def measured(question: str, words: Collection[str]) -> tuple[str, str] | None:
    """Return what a question asks the amount or degree of, as one of the written ``words``, and by which word of these.

    It is the word behind "how", "how many" or "how much", or the next after it: *people* of "how many old people work
    there" and "the number of people", with *many*; *heavy* of "how heavy is it", with "". None where a verb or a
    preposition follows, as in "how much is it".
    """
    found = _MEASURED.search(question)
    if found is None:
        return None
    rest = question[found.end() :]
    for term in takewhile(lambda term: not is_stop_word(term) and term.text not in _DO, terms(rest)):
        written = rest[term.start : term.end].lower()
        if written in words:
            return written, "many" if found["number"] else (found["count"] or "").lower()
    return None


def counted_by_numbers(text: str) -> str:
    """Return the words that may say what the numbers of a text count: those behind each, or before one that ends.

    "27 days of leave", "readings: 5,000", "the number of visits is 80"; in "a password has 14 characters" no passwords
    are counted.
    """
    named = (found["what"] for found in _NUMBER_OF.finditer(text))
    return " ".join((*named, *(_counted_by(text, found) for found in _NUMBER.finditer(text))))


def _counted_by(text: str, number: re.Match[str]) -> str:
    behind = _PHRASE.match(text, number.end(), number.end() + _BESIDE_NUMBER)
    return behind[0] if behind else text[max(0, number.start() - _BESIDE_NUMBER) : number.start()]


def has_sign_of(word: str, text: str) -> bool:
    """Whether a text has a number with the sign of a unit that a word names: *kilos* by "25 kg"."""
    signs = _SIGNS_OF.get(stem(word))
    return signs is not None and bool(signs.search(text))


def beside_amounts(text: str) -> str:
    """Return the words around the numbers of a text that are amounts, not counts of things: "five paid days".

    They may say what there is so much of: "a close relative's leave is five days", "20 litres of water".
    """
    around = (
        text[max(0, one.start() - _BESIDE_NUMBER) : one.end() + _BESIDE_NUMBER]
        for one in _NUMBER.finditer(text)
        if _AMOUNT.match(text, one.end()) or _CURRENCY.search(text, 0, one.start())
    )
    return " ".join(around)
