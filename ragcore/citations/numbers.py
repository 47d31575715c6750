"""Numbers as two writers of any language may write them: 1,000 and 1.000 and 一千, 3 PM and 15:00, 5 percent and 5 %.

Lenient on purpose: a number counts as stated when any way to read it is. What is told apart is 12 from 25.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from ragcore.citations.languages import told_by_itself
from ragcore.citations.number_words import Claimed, claimed, han_value, stated

NEARLY = 0.1
"""``about 98,000`` may stand for what differs by no more than this share of it."""

_SCALES = {
    **{"thousand": 1e3, "k": 1e3, "million": 1e6, "m": 1e6, "mio": 1e6, "billion": 1e9, "bn": 1e9, "trillion": 1e12},
    **{"千": 1e3, "万": 1e4, "萬": 1e4, "百万": 1e6, "亿": 1e8, "億": 1e8, "만": 1e4, "억": 1e8},
}
_DATE = re.compile(
    r"(?<![\w.])\d{1,4}([./-])\d{1,2}\1\d{1,4}(?![\w/-])|(?<![\w.])\d+(?:\.\d+){2,5}(?!\w)"
    r"|(?<![\w.])(?:[0-2]?\d|3[01])\.(?:0?[1-9]|1[0-2])\.(?!\d)"
)
"""Also ``31.3.``, as much of Europe writes a day without its year."""
_TIME = re.compile(
    r"(?<![\w.:])(\d{1,2})(?:[:.h](\d{2}))?\s?(?:(?P<half>[ap])\.?\s?m\b\.?|(?<=\d\d[:h]\d\d)|(?=\s?(?:Uhr|uur|hod)\b))",
    re.IGNORECASE,
)
_HAN_TIME = re.compile(r"(?:下午|晚上|傍晚|午后|晚)\s?(\d{1,2}|[一二两三四五六七八九十]{1,2})\s?[点點时時:]")
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])[-−]?(?P<digits>\d{1,3}(?:[ ,.'’]\d{3})+(?:[.,]\d+)?(?![\d])|\d+(?:[.,]\d+)?)"
    r"(?P<scale>\s?(?:thousand|million|billion|trillion|mio|k|m|bn|万|萬|亿|億|千|百万|만|억)(?![a-z]))?",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|over|circa|ca\.|some|than|约|大约|大概|近|超过|约为)\s*[$€£¥]?\s*\Z",
    re.IGNORECASE,
)
_ENUMERATOR = re.compile(r"(?:^|(?<=[\s，。；;：:、,（(]))\d{1,2}(?=[、：:)）](?!\d)|[.．](?!\d))")
"""The numbers of a list counted inside a sentence: ``1、... 2、...``."""
_ENGLISH = frozenset(["", "en"])
_READ = _ENGLISH | {"zh", "ja"}
"""Languages whose number words are read beyond twelve."""


def missing_numbers(sentence: str, text: str) -> tuple[int, int]:
    """Return how many of the sentence's numbers the text lacks, and how many there are.

    Those in words count only where the text is in a language whose number words are known, too.
    """
    digits, words = _wanted(sentence)
    inside = values_of(text) if digits or words else frozenset()
    lacking = sum(1 for readings, nearly in digits if not _is_stated(readings, inside, nearly=nearly))
    absent = [one for one, nearly in words if not _is_stated(one.readings, inside, nearly=nearly)]
    if absent and _language(text) in _READ:
        folded = unicodedata.normalize("NFKC", text)
        lacking += sum(one.is_other_in(folded) for one in absent)
    return lacking, len(digits) + len(words)


def _is_stated(readings: frozenset[float], inside: frozenset[float], *, nearly: bool) -> bool:
    if readings & inside:
        return True
    return nearly and any(abs(one - other) <= NEARLY * abs(one) for one in readings for other in inside)


@lru_cache(maxsize=512)
def _language(text: str) -> str:
    return told_by_itself(text)


@lru_cache(maxsize=512)
def _wanted(sentence: str) -> tuple[tuple[tuple[frozenset[float], bool], ...], tuple[tuple[Claimed, bool], ...]]:
    """Return the numbers of a sentence in digits and in words: what they stand for, and whether roughly."""
    folded = unicodedata.normalize("NFKC", sentence)
    counting = {found.start() for found in _ENUMERATOR.finditer(folded)}
    digits = [(readings, start) for readings, start in _numbers(folded) if start not in counting]
    words = claimed(folded, english=_language(folded) in _ENGLISH)
    return (
        tuple((readings, _is_rough(folded, start)) for readings, start in digits),
        tuple((one, _is_rough(folded, one.start)) for one in words),
    )


def _is_rough(folded: str, start: int) -> bool:
    return _ABOUT.search(folded, max(0, start - 16), start) is not None


def _numbers(folded: str) -> Iterator[tuple[frozenset[float], int]]:
    """Yield what is written in digits, each as its readings and its place; dates and times in their parts."""
    for pattern in (_DATE, _TIME, _HAN_TIME):
        for found in pattern.finditer(folded):
            yield from ((readings, found.start()) for readings in _parts(found))
        folded = pattern.sub(lambda found: "\n" * len(found[0]), folded)
    for found in _NUMBER.finditer(folded):
        yield _readings(found), found.start("digits")


def _parts(found: re.Match[str]) -> Iterator[frozenset[float]]:
    """Read a date, or a time of day: the hour in both halves where the text tells the second, minutes unless 0."""
    if found.re is _DATE:
        yield from (frozenset({float(part)}) for part in re.findall(r"\d{1,15}", found[0]))
        return
    if found.re is _HAN_TIME:
        hour = float(found[1]) if found[1].isdigit() else han_value(found[1])
        yield frozenset({hour, hour + 12})
        return
    hour = float(found[1])
    yield frozenset({hour, hour + 12}) if (found["half"] or "").lower() == "p" else frozenset({hour})
    if found[2] and int(found[2]):
        yield frozenset({float(found[2])})


def _readings(found: re.Match[str]) -> frozenset[float]:
    """Read digits with either sign as the decimal one: 1.000 is 1000 or 1, 3,5 is 3.5."""
    digits = re.sub(r"['’ ]", "", found["digits"])
    signs = [c for c in digits if c in ".,"]
    values = set()
    if not signs:
        values.add(float(digits))
    elif len(set(signs)) == 2:
        whole, decimals = digits[: digits.rindex(signs[-1])], digits[digits.rindex(signs[-1]) + 1 :]
        values.add(float(f"{re.sub('[.,]', '', whole)}.{decimals}"))
    else:
        if all(len(part) == 3 for part in re.split("[.,]", digits)[1:]):
            values.add(float(re.sub("[.,]", "", digits)))
        if len(signs) == 1:
            values.add(float(digits.replace(",", ".")))
        if "," in signs:  # 1,2,3 may be a list
            values.add(float(digits.partition(",")[0]))
    scale = (found["scale"] or "").strip().lower()
    return frozenset(values | ({value * _SCALES[scale] for value in values} if scale else set()))


@lru_cache(maxsize=512)
def values_of(text: str) -> frozenset[float]:
    """Return every value that a text states, in digits, in words or in Chinese numerals, months by their number."""
    folded = unicodedata.normalize("NFKC", text)
    digits = {value for readings, _ in _numbers(folded) for value in readings}
    # Digits inside codes and dates, "2024-03-05", "MI6".
    digits |= {float(part) for part in re.findall(r"\d{1,15}(?:\.\d{1,6})?", folded)}
    digits |= {float(part) for part in re.findall(r"\d{1,15}", folded)}
    return frozenset(digits | set(stated(folded)))
