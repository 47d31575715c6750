"""Numbers in words, such as "two hundred and fifty" or 三万五千: what a text states, and what a sentence claims.

What a text states is read as leniently as can be: each word, and what the words add up to. What a sentence claims is
only what is surely a number, as a whole: "one of them", "second", 十分 and 一些 are words, and so are fractions.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragcore.citations.days import MONTHS

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety"
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
_CARDINALS = {
    **{word: value for value, word in enumerate(_ONES.split())},
    **{word: 10 * value for value, word in enumerate(_TENS.split(), start=1)},
}
_PLACES = {
    **{word: value for value, word in enumerate(_ORDINALS.split())},
    **{word[:-1] + "ieth": 10 * value for value, word in enumerate(_TENS.split()[1:], start=2)},
}
_SMALL = _CARDINALS | _PLACES
_LARGE = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_OTHERS = {
    **{word: value for words in _COUNTS for value, word in enumerate(words.split(), start=1)},
    **{word: value for words in MONTHS for value, word in enumerate(words.split(), start=1)},
    **{word[:3]: value for value, word in enumerate(MONTHS[0].split(), start=1)},
    **{"once": 1, "twice": 2, "half": 0.5, "noon": 12, "midnight": 0, "dozen": 12},
}
_WORD = re.compile(r"[^\W\d_]+")
_LINK = re.compile(r"[ \t\n\u00a0‐‑-]{1,3}")
"""What stands between the words of one number, as in "twenty-five"."""
_PARTS = frozenset(["half", "halves", "thirds", "quarter", "quarters", "point"]) | {f"{one}s" for one in _PLACES}
"""Beside one of these a number is part of a fraction: "two thirds", "five and a half", "two point five"."""
_COUNTED = 3
"""Up to here a number may be the writer's own count; and "second" is a time, "first" and "third" begin sentences."""
_HAN = "零〇一二两兩三四五六七八九十百千万萬亿億"
_HAN_NUMERAL = re.compile(f"[{_HAN}]{{1,12}}")
_HAN_MEASURES = (
    "[天日个個年月周秒名人位元块塊岁歲倍次种種项項条條章页頁家台间間层層级級期届屆号號克吨米]"
    "|小[时時]|分[钟鐘]|公[里斤尺]|英里"
)
_HAN_CLAIM = re.compile(
    rf"(?<![{_HAN}\d])(?:[一二两兩三四五六七八九][十百千万萬亿億][{_HAN}]{{0,10}}|[一二][〇零一二三四五六七八九]{{3}}(?=年))"
    rf"|(?<=百分之)[{_HAN}]{{1,6}}"
    r"|(?<=第)(?:[一二三四五六七八九]?十[一二三四五六七八九]?|[二三四五六七八九])(?=[条條款项項章节節页頁届屆期])"
    rf"|(?<![{_HAN}\d几幾数數第初老周])(?<!星期)(?<!礼拜)(?P<measured>十[一二三四五六七八九]?|[二两兩三四五六七八九])(?={_HAN_MEASURES})"
)
"""In a sentence only these are surely numbers: 十分, 万一, 一些, 三方, 第二天 and 周五 are words."""
_HAN_DIGITS = {
    c: value
    for value, group in enumerate(("零〇", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九"))
    for c in group
}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000}
_HAN_SCALES = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}


def stated(folded: str) -> Iterator[float]:
    """Yield every value that a text may state in words, each word and what they add up to. Lenient."""
    yield from _spelled(folded.lower())
    yield from (han_value(part) for part in _HAN_NUMERAL.findall(folded))


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A number that a sentence states in words, at ``start``: the values it may stand for, and what it counts.

    ``counts`` is empty for all but the least numbers: "two" and "three" are often the writer's own count of what the
    text lists, so they are held against a text only where it says another number of the same.
    """

    readings: frozenset[float]
    start: int
    counts: str = ""

    def is_other_in(self, folded: str) -> bool:
        """Whether the text, which lacks the number, says another: of the same where that matters."""
        if not self.counts:
            return True
        before = re.finditer(
            rf"(\d{{1,12}}|[a-z]{{2,12}}|[{_HAN}]{{1,12}})[\s-]{{0,2}}{re.escape(self.counts)}", folded.lower()
        )
        return any(not one[1].isalpha() or one[1] in _CARDINALS or one[1][0] in _HAN for one in before)


def claimed(folded: str, *, english: bool) -> Iterator[Claimed]:
    """Yield each number above one that a sentence surely states in Chinese numerals, or in English words."""
    for found in _HAN_CLAIM.finditer(folded):
        value = han_value(found[0])
        few = found["measured"] and value <= _COUNTED
        behind = folded[found.end() : found.end() + 2] if few else ""
        yield Claimed(readings=frozenset({value}), start=found.start(), counts=behind)
    if english:
        yield from _claimed_in_english(folded.lower())


def _claimed_in_english(lowered: str) -> Iterator[Claimed]:
    words = list(_WORD.finditer(lowered))
    first = 0
    while first < len(words):
        last = first
        while last < len(words) and _goes_on(lowered, words, first, last):
            last += 1
        if last > first and _is_whole(lowered, words, first, last):
            behind = words[last][0] if last < len(words) else ""
            yield from _claims(words[first:last], behind[: max(3, len(behind) - 3)])
        first = max(last, first + 1)


def _goes_on(lowered: str, words: Sequence[re.Match[str]], first: int, index: int) -> bool:
    """Whether this word is part of the number that begins with the word ``first``."""
    word, before = words[index][0], words[index - 1][0] if index else ""
    if index == first:
        return word in _SMALL or (word in _LARGE and before in ("a", "an"))
    if not _LINK.fullmatch(lowered, words[index - 1].end(), words[index].start()):
        return False
    if word == "and":
        return before in _LARGE and index + 1 < len(words) and words[index + 1][0] in _SMALL
    return word in _SMALL or word in _LARGE


def _is_whole(lowered: str, words: Sequence[re.Match[str]], first: int, last: int) -> bool:
    """Whether it is no part of a fraction, nor the end of what digits before it began: "2.5 million"."""
    around = {word[0] for word in (*words[max(0, first - 2) : first], *words[last : last + 3])}
    return (
        not around & _PARTS and not lowered[max(0, words[first].start() - 2) : words[first].start()].strip().isdigit()
    )


def _claims(words: Sequence[re.Match[str]], behind: str) -> Iterator[Claimed]:
    """Take a run of number words apart: "five ten" are two numbers, "nineteen eighty-four" may be a year."""
    found = list(_apart([word[0] for word in words]))
    if len(found) == 2 and all(10 <= value <= 99 for value, _ in found):
        (century, first), (year, _) = found
        yield Claimed(readings=frozenset({100.0 * century + year, century, year}), start=words[first].start())
        return
    for value, first in found:
        begins = words[first]
        if value > _COUNTED:
            yield Claimed(readings=frozenset({float(value)}), start=begins.start())
        elif value > 1 and begins[0] not in _PLACES and behind:
            yield Claimed(readings=frozenset({float(value)}), start=begins.start(), counts=behind)


def _apart(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the value of each number in a run of number words, and at which of them it begins."""
    total = section = first = 0
    for index, word in enumerate(words):
        if index > first and word in _SMALL and not _adds(total, section, _SMALL[word]):
            yield total + section, first
            total, section, first = 0, 0, index
        if word in _SMALL:
            section += _SMALL[word]
        elif word in _LARGE and section < _LARGE[word]:
            section = (section or 1) * _LARGE[word]
            if _LARGE[word] > 100:
                total, section = total + section, 0
    yield total + section, first


def _adds(total: int, section: int, value: int) -> bool:
    """Whether a word goes on with the number before it: 5 behind 20 or 200, 50 behind 200 or 2,000."""
    if section % 100 == 0:
        return bool(section or total)
    return section % 10 == 0 and section % 100 >= 20 and 0 < value < 10


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


def han_value(numeral: str) -> float:
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
