"""Numbers, codes and names: what a chunk must hold for a sentence to rest on it, in whatever language both are."""

import re
import unicodedata
from functools import lru_cache

from ragcore.terms import language_of

_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])[-−]?(?P<digits>\d[\d,\u202f']*(?:\.\d+)?)(?P<scale>\s?(?:thousand|million|billion|trillion|k|m|bn|万|萬|亿|億|千|百万|만|억)(?![a-z]))?",
    re.IGNORECASE,
)
_ENUMERATOR = re.compile(r"(?:^|(?<=[\s，。；;：:、,（(]))\d{1,2}(?=[、：:)）]|[.．](?!\d))")
"""The numbers of a list counted inside a sentence: ``1、... 2、...``."""
_SCALES = {
    **{"thousand": 1e3, "k": 1e3, "million": 1e6, "m": 1e6, "billion": 1e9, "bn": 1e9, "trillion": 1e12},
    **{"千": 1e3, "万": 1e4, "萬": 1e4, "百万": 1e6, "亿": 1e8, "億": 1e8, "만": 1e4, "억": 1e8},
}
_UP_TO_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
_TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_MONTHS = "january february march april may june july august september october november december"
_SPELLED = {
    **{word: float(value) for value, word in enumerate(_UP_TO_TWENTY.split())},
    **{word: 10.0 * value for value, word in enumerate(_TENS.split(), start=1)},
    **{word: float(value) for value, word in enumerate(_ORDINALS.split(), start=1)},
    **{word: float(value) for value, word in enumerate(_MONTHS.split(), start=1)},
    **{word[:3]: float(value) for value, word in enumerate(_MONTHS.split(), start=1)},
    **{"once": 1.0, "twice": 2.0, "half": 0.5},
}
_LATIN_WORD = re.compile(r"[A-Za-z]+")
_HAN_NUMERAL = re.compile("[零〇一二两兩三四五六七八九十百千万萬亿億]{1,12}")
_HAN_DIGITS = {
    c: value
    for value, group in enumerate(("零〇", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九"))
    for c in group
}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000}
_HAN_SCALES = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}
_CODE = re.compile(r"[A-Za-z0-9]+(?:[._\-/:@+#][A-Za-z0-9]+)*")
_FILL = re.compile(r"[\s\-‐‑_'’`*\"“”]+")


def numbers_in(text: str) -> list[frozenset[float]]:
    """Return the numbers written in digits, each as the set of values that it may be read as (``3.5 million``)."""
    folded = unicodedata.normalize("NFKC", text)
    counting = {found.start() for found in _ENUMERATOR.finditer(folded)}
    return [_values(found) for found in _NUMBER.finditer(folded) if found.start("digits") not in counting]


def _values(found: re.Match[str]) -> frozenset[float]:
    value = float(re.sub(r"[^\d.]", "", found["digits"]))
    scale = (found["scale"] or "").strip().lower()
    return frozenset({value, value * _SCALES[scale]} if scale else {value})


@lru_cache(maxsize=512)
def values_of(text: str) -> frozenset[float]:
    """Return every value that a text states, in digits, in words or in Chinese numerals, months by their number."""
    folded = unicodedata.normalize("NFKC", text)
    digits = {value for number in numbers_in(folded) for value in number}
    # Digits inside codes and dates, "2024-03-05", "MI6".
    digits |= {float(part) for part in re.findall(r"\d{1,15}(?:\.\d{1,6})?", folded)}
    digits |= {float(part) for part in re.findall(r"\d{1,15}", folded)}
    spelled = {_SPELLED[word] for word in _LATIN_WORD.findall(folded.lower()) if word in _SPELLED}
    return frozenset(digits | spelled | {_han_value(found) for found in _HAN_NUMERAL.findall(folded)})


def _han_value(numeral: str) -> float:
    """Read 二十五 as 25, 三万五千 as 35,000, 二〇二四 as 2024."""
    if all(c in _HAN_DIGITS for c in numeral):
        return float("".join(str(_HAN_DIGITS[c]) for c in numeral))
    total = section = digit = 0
    for c in numeral:
        if c in _HAN_DIGITS:
            digit = _HAN_DIGITS[c]
        elif c in _HAN_UNITS:
            section += (digit or 1) * _HAN_UNITS[c]
            digit = 0
        else:
            total = (total + section + digit or 1) * _HAN_SCALES[c]
            section = digit = 0
    return float(total + section + digit)


def missing_numbers(sentence: str, text: str) -> tuple[int, int]:
    """Return how many of the sentence's numbers the text lacks, and how many there are."""
    stated = values_of(text)
    wanted = numbers_in(sentence)
    return sum(1 for number in wanted if not number & stated), len(wanted)


def contradicts(sentence: str, text: str) -> bool:
    """Whether a sentence names a number, code or name that the text lacks, as far as any language lets us see.

    Names can be compared only where both would write them alike: Latin names in a sentence of another script, and
    codes (a digit among letters, a joint inside) everywhere.
    """
    if missing_numbers(sentence, text)[0]:
        return True
    inside = squeezed(text)
    foreign = language_of(sentence) != "en"
    return any(squeezed(name) not in inside for name in _names(sentence, foreign))


def _names(sentence: str, foreign: bool) -> list[str]:
    found = []
    for match in _CODE.finditer(sentence):
        word = match[0]
        letters = any(c.isalpha() for c in word)
        digit = any(c.isdigit() for c in word)
        if letters and len(word) > 1 and (digit or "_" in word or (foreign and any(c.isupper() for c in word))):
            found.append(word)
    return found


@lru_cache(maxsize=512)
def squeezed(text: str) -> str:
    """Return the text as two writers would agree on it: width and case folded, without spaces, hyphens and quotes."""
    return _FILL.sub("", unicodedata.normalize("NFKC", text).casefold())
