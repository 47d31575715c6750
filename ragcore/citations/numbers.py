"""Numbers as two writers of any language may write them: 1,000 and 1.000 and 一千, 3 PM and 15:00, 5 percent and 5 %.

Lenient on purpose: a number counts as stated when any way to read it is. What is told apart is 12 from 25.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

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
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety"
_MONTHS = (
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
)
_COUNTS = (  # from one; what is also an English word ("due", "once") is left out
    "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "un deux trois quatre cinq six sept huit neuf dix onze douze",
    "uno dos tres cuatro cinco seis siete ocho nueve diez _ doce",
    "uno _ tre quattro cinque sei sette otto nove dieci undici dodici",
    "um dois três quatro cinco seis sete oito nove dez onze doze",
    "een twee drie vier vijf zes zeven acht negen tien elf twaalf",
    "en två tre fyra fem sex sju åtta nio tio elva tolv",
    "один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать",
)
_SMALL = {
    **{word: value for words in (_ONES, _ORDINALS) for value, word in enumerate(words.split())},
    **{word: 10 * value for value, word in enumerate(_TENS.split(), start=1)},
    **{word[:-1] + "ieth": 10 * value for value, word in enumerate(_TENS.split()[1:], start=2)},
}
_LARGE = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_OTHERS = {
    **{word: value for words in _COUNTS for value, word in enumerate(words.split(), start=1)},
    **{word: value for words in _MONTHS for value, word in enumerate(words.split(), start=1)},
    **{word[:3]: value for value, word in enumerate(_MONTHS[0].split(), start=1)},
    **{"once": 1, "twice": 2, "half": 0.5, "noon": 12, "midnight": 0, "dozen": 12},
}
_WORD = re.compile(r"[^\W\d_]+")
_HAN_NUMERAL = re.compile("[零〇一二两兩三四五六七八九十百千万萬亿億]{1,12}")
_HAN_COUNTED = re.compile("[一二两兩三四五六七八九][十百千万萬亿億][零〇一二两兩三四五六七八九十百千万萬亿億]{0,10}")
"""In a sentence only these are surely numbers: 十分, 万一 and 一些 are words."""
_HAN_DIGITS = {
    c: value
    for value, group in enumerate(("零〇", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九"))
    for c in group
}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000}
_HAN_SCALES = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}


def missing_numbers(sentence: str, text: str) -> tuple[int, int]:
    """Return how many of the sentence's numbers the text lacks, and how many there are."""
    stated = values_of(text)
    wanted = _wanted(sentence)
    return sum(1 for readings, nearly in wanted if not _is_stated(readings, stated, nearly=nearly)), len(wanted)


def _is_stated(readings: frozenset[float], stated: frozenset[float], *, nearly: bool) -> bool:
    if readings & stated:
        return True
    return nearly and any(abs(one - other) <= NEARLY * abs(one) for one in readings for other in stated)


@lru_cache(maxsize=512)
def _wanted(sentence: str) -> tuple[tuple[frozenset[float], bool], ...]:
    """Return each number of a sentence as the values that it may stand for, and whether it is said to be rough."""
    return tuple(_claimed(sentence))


def _claimed(sentence: str) -> Iterator[tuple[frozenset[float], bool]]:
    folded = unicodedata.normalize("NFKC", sentence)
    counting = {found.start() for found in _ENUMERATOR.finditer(folded)}
    for readings, start in _numbers(folded):
        if start not in counting:
            yield readings, _ABOUT.search(folded, max(0, start - 16), start) is not None
    for found in _HAN_COUNTED.finditer(folded):
        value = _han_value(found[0])
        # 3万5千: the digits before have been read with it.
        if not folded[max(0, found.start() - 1) : found.start()].isdigit():
            yield frozenset({value}), _ABOUT.search(folded, 0, found.start()) is not None


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
        hour = float(found[1]) if found[1].isdigit() else _han_value(found[1])
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
    han = {_han_value(part) for part in _HAN_NUMERAL.findall(folded)}
    return frozenset(digits | set(_spelled(folded.lower())) | han)


def _spelled(lowered: str) -> Iterator[float]:
    """Yield what English words state, each word and what it adds up to: ``two hundred and fifty thousand``."""
    total = section = 0.0
    for word in _WORD.findall(lowered):
        if word in _OTHERS:
            yield float(_OTHERS[word])
        if word in _SMALL:
            goes_on = (section >= 20 and _SMALL[word] < 10) or section >= 100
            section = section + _SMALL[word] if goes_on else _SMALL[word]
            yield float(_SMALL[word])
        elif word in _LARGE and section < _LARGE[word]:
            section = (section or 1) * _LARGE[word]
            if _LARGE[word] > 100:
                total, section = total + section, 0.0
        elif word != "and":
            total = section = 0.0
            continue
        yield from (section, total + section)


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
