"""One and other small counts of what time and money are measured in: "one day" is not "ten days". Pure.

As a count "one" stands before a unit and behind a word, so that "one of them" and "One day, ..." are none.
"""

import re
from collections.abc import Mapping

from ragcore.citations.number_words import han_value
from ragcore.citations.numbers import values_of

_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ZAHLEN = ("ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf")
_VALUE_OF = {**{word: n for n, word in enumerate(_WORDS, 1)}, **{word: n for n, word in enumerate(_ZAHLEN, 1)}}
_UNITS: Mapping[str, tuple[str, str, frozenset[float]]] = {
    "second": ("seconds?|sekunden?", "秒", frozenset()),
    "minute": ("minutes?|minuten?", "分钟", frozenset({60})),
    "hour": ("hours?|stunden?", "个?小时", frozenset({60})),
    "day": ("days?|tag(?:en?)?", "天", frozenset({24})),
    "night": ("nights?|nächten?|nacht", "晚", frozenset()),
    "week": ("weeks?|wochen?", "周|个?星期", frozenset({5, 7, 14})),
    "month": ("months?|monat(?:en?|s)?", "个月", frozenset({4, 28, 30, 31})),
    "year": ("years?|jahr(?:en?|s)?", "年", frozenset({12, 52, 365})),
    "euro": ("euros?", "欧元", frozenset({100})),
    "dollar": ("dollars?", "美元", frozenset({100})),
    "pound": ("pounds?", "英镑", frozenset({100})),
    "cent": ("cents?", "分钱", frozenset({0.01})),
}
"""Each unit's names, Latin and Chinese, and the numbers of smaller ones that one of it is."""
_NAMES = {name: re.compile(rf"(?:{latin}|{han})\Z", re.IGNORECASE) for name, (latin, han, _) in _UNITS.items()}
_LATIN = "|".join(latin for latin, _, _ in _UNITS.values())
_HAN = "|".join(han for _, han, _ in _UNITS.values())
_KIND = r"(?:(?:working|business|calendar|full|whole|single)[ -])?"
_COUNT = re.compile(
    rf"(?<![\w.,'’-])(?P<n>{'|'.join((*_WORDS, *_ZAHLEN[1:]))}|eine?[mnrs]?|\d{{1,4}})[ -]{_KIND}(?P<unit>{_LATIN})\b"
    rf"|(?<![一二两三四五六七八九十百千几每同第某这那前后\d])(?P<han>[一二两三四五六七八九十]|十[一二])(?P<measure>{_HAN})",
    re.IGNORECASE,
)
_NO_COUNT = re.compile(r"(?:\A|[^\w\s]|\b(?:that|and|but|when|if|then|this|und|dass)\s)\s*\Z", re.IGNORECASE)
"""Behind these "one day" may tell when: One day, ..."""
_STATES_ONE = (
    r"\b(?:one|1|an?|the|single|each|every|per|first|next|same|following|another|half|this|that|whole|full|ein|eine[mnrs]?"
    r"|pro|jede[mnrs]?|de[mnrs]|die|das)[ -](?:[^\W\d_]+[ -])?(?:LATIN)\b|[一1每半当首次隔] ?(?:HAN)"
)
_ONE = {
    name: re.compile(_STATES_ONE.replace("LATIN", latin).replace("HAN", han), re.IGNORECASE)
    for name, (latin, han, _) in _UNITS.items()
}
_DAILY = re.compile(r"\bdaily\b|\btäglich", re.IGNORECASE)


def counted(text: str) -> list[tuple[str, int, tuple[int, int]]]:
    """Return each count of a unit in words or digits: the unit, how many, and the place of both together."""
    found = []
    for one in _COUNT.finditer(text):
        written = one["unit"] or one["measure"]
        unit = next((name for name, pattern in _NAMES.items() if pattern.match(written)), "")
        if one["han"]:
            number = int(han_value(one["han"]))
        else:
            said = one["n"].lower()
            number = int(said) if said.isdecimal() else _VALUE_OF.get(said) or 1
        if unit:
            found.append((unit, number, one.span()))
    return found


def claims_one(text: str) -> list[tuple[str, tuple[int, int]]]:
    """Return the units of which a sentence counts one in words, each with the place of both."""
    return [
        (unit, (start, end))
        for unit, number, (start, end) in counted(text)
        if number == 1 and not text[start].isdigit()
        and (text[start] == "一" or not _NO_COUNT.search(text, max(0, start - 8), start))
    ]  # fmt: skip


def may_state_one(text: str, unit: str) -> bool:
    """Whether a text may say one of a unit: "a day", "daily", "24 hours"."""
    named = _ONE[unit].search(text) or (unit == "day" and _DAILY.search(text))
    return bool(named) or bool(_UNITS[unit][2] & values_of(text))
