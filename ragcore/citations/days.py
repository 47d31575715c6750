"""Days of the week and months as texts of English, German and Chinese say them: in full, in short, as a range. Pure.

Days count from 0, Monday, and months from 1. What a text may say is read leniently, with all between two ends; what it
plainly says is read strictly: "Sun" may be the star, "may" a verb and "Jan" a man.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY_NAMES = (
    "monday mondays mon montag montags mo 周一 星期一 礼拜一",
    "tuesday tuesdays tue tues dienstag dienstags di 周二 星期二 礼拜二",
    "wednesday wednesdays wed mittwoch mittwochs mi 周三 星期三 礼拜三",
    "thursday thursdays thu thur thurs donnerstag donnerstags do 周四 星期四 礼拜四",
    "friday fridays fri freitag freitags fr 周五 星期五 礼拜五",
    "saturday saturdays sat samstag samstags sonnabend sonnabends sa 周六 星期六 礼拜六",
    "sunday sundays sun sonntag sonntags so 周日 星期日 星期天 礼拜天 礼拜日",
)
MONTHS = (
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
)
"""The names of the months by language, from the first; of other languages they are read leniently alone."""
_SHORT_MONTHS = (
    "jan feb mar apr _ jun jul aug sep oct nov dec",
    "jan feb mär apr _ jun jul aug sept okt nov dez",
    "jan feb mrz apr _ jun jul aug sep okt nov dez",
)
_HAN_MONTHS = ("一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月",)


def _numbered(lists: Iterable[str], first: int) -> Mapping[str, int]:
    return {name: at for one in lists for at, name in enumerate(one.split(), start=first) if name != "_"}


_DAY_OF = {name: day for day, names in enumerate(_DAY_NAMES) for name in names.split()}
_MONTH_OF = {**_numbered(MONTHS, 1), **_numbered(_SHORT_MONTHS, 1), **_numbered(_HAN_MONTHS, 1)}
_FULL = "|".join(sorted((name for name in _DAY_OF if len(name) > 5 and name.isascii()), key=len, reverse=True))
SHORT_DAYS = "(?-i:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)"
SHORT_TAGE = "(?-i:Mo|Di|Mi|Do|Fr|Sa|So)"
_HAN_DAY = "(?:周|週|星期|礼拜)[一二三四五六日天]"
_NO_TIMES = "(?![次回个個天年期样边])"
"""每周一次 is once a week."""
_LONG = "|".join(sorted((name for name in _DAY_OF if len(name) > 2 or not name.isascii()), key=len, reverse=True))
_ONE_DAY = rf"(?:{_LONG}|{SHORT_TAGE})"
_DAY_RANGE = re.compile(
    rf"(?<![a-zäöü])(?P<first>{_ONE_DAY})\.?\s?(?:[-–—]|to|till|until|through|thru|bis|至|到)\s?(?P<last>{_ONE_DAY})(?![a-zäöü])",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    rf"\b(?:between|zwischen)\s(?P<first>{_ONE_DAY})\.?\s(?:and|und)\s(?P<last>{_ONE_DAY})\b", re.IGNORECASE
)
_SHORT_DAY = re.compile(rf"\b{SHORT_DAYS}\b")
_ENDS_SHORT = r"\b(?:Sa|So|Mo|Di|Mi|Do|Fr)\b(?=\.?\s?(?:[,;:)\]/–\d-]|\Z)|\.)"
_PLAIN_DAY = re.compile(
    rf"\b(?i:{_FULL})\b|\b(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri)\b"
    r"|(?:(?<=\bon )|(?<=\bevery )|(?<=\beach )|(?<=\buntil )|(?<=[-–] ?))(?:Sat|Sun)\b|\b(?:Sat|Sun)(?=\.?:? ?\d)"
    rf"|{_HAN_DAY}{_NO_TIMES}".replace("(?<=[-–] ?)", "(?<=[-–])")
)
_MAYBE_DAY = re.compile(rf"\b(?i:{_FULL})|\b(?i:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b|{_ENDS_SHORT}|{_HAN_DAY}")
_HAN_LIST = re.compile(r"(?:周|週|星期|礼拜)(?P<days>[一二三四五六日天](?:[、,，至到和及-]?[一二三四五六日天]){1,6})")
_SETS: tuple[tuple[frozenset[int], re.Pattern[str]], ...] = tuple(
    (frozenset(days), re.compile(pattern, re.IGNORECASE))
    for days, pattern in (
        (range(5), r"(?<!\d )\b(?:(?:week|work|working |business )days?|(?:wochen|arbeits)tags?)\b|工作日"),
        (range(6), r"\bwerktags?\b"),
        ((5, 6), r"\bweekends?\b|\bwochenenden?\b|周末|週末"),
    )
)
_DAILY = re.compile(
    r"\bdaily\b|\b(?:every|each|any|all|per) (?:single )?days?\b|\b(?:seven|7) days\b|\b24/7\b|\ball week\b|\btäglich"
    r"|\bjeden tag\b|\balle tage\b|每[天日]|天天",
    re.IGNORECASE,
)
_EXCEPT = re.compile(r"\bexcept|\bother than\b|\bapart from\b|\baußer|\bausgenommen\b|除", re.IGNORECASE)
"""Where some are excepted, all others are meant."""
_EN_MONTHS = "January|February|April|June|July|August|September|October|November|December"
_DE_MONTHS = "Januar|Februar|März|Juni|Juli|Oktober|Dezember"
_BEFORE_MONTH = "|".join(
    rf"(?<=\b{word} )"
    for word in (
        "in", "of", "by", "since", "until", "till", "from", "to", "through", "every", "each", "early", "late", "mid",
        "next", "last", "im", "ab", "bis", "seit", "Ende", "Anfang", "Mitte",
    )
)  # fmt: skip
_PLAIN_MONTH = re.compile(
    rf"\b(?:{_EN_MONTHS}|{_DE_MONTHS})\b"
    rf"|(?:{_BEFORE_MONTH}|(?<=\d )|(?<=\d\. )|(?<=\d(?:st|nd|rd|th) ))(?:May|March|Mai)\b"
    r"|\b(?:May|March|Mai)(?= \d)"
    r"|\b(?:Jan|Feb|Mar|Mär|Apr|Jun|Jul|Aug|Sept?|Oct|Okt|Nov|Dec|Dez)(?=\.? \d)"
    r"|(?:(?<=\d )|(?<=\d\. ))(?:Jan|Feb|Mar|Mär|Apr|Jun|Jul|Aug|Sept?|Oct|Okt|Nov|Dec|Dez)\b"
    r"|(?<![\d.])(?:1[0-2]|0?[1-9])月(?!份?[个個])|(?<![一二三四五六七八九十几幾个個\d])(?:十[一二]?|[一二三四五六七八九])月"
)
_WORD = re.compile(r"[^\W\d_]+")
_HAN_MONTH = re.compile(r"(?<!\d)(\d{1,2})\s?月|(十[一二]?|[一二三四五六七八九])月")
_HAN_DIGITS = {name.removesuffix("月"): month for month, name in enumerate(_HAN_MONTHS[0].split(), start=1)}
_IN_DATE = re.compile(r"(?<!\d)\d{1,4}[./-](\d{1,2})(?!\d)(?:[./-](\d{1,2})(?!\d))?|(?<!\d)(\d{1,2})[./-]\d{1,4}(?!\d)")
_MONTH_LINK = re.compile(r"[-–—至到]|\b(?:to|till|until|through|thru|bis|and|und)\b", re.IGNORECASE)
_NEAR = 24
"""Characters between the two months of a range: "from 1 March 2024 until 30 June"."""
_ANY_MONTH = re.compile(
    r"\bmonthly\b|\b(?:every|each|per|any) month\b|\bquarter|\bQ[1-4]\b|\bmonatlich|\bjeden monat\b|\bquartal"
    r"|每月|每个月|季度",
    re.IGNORECASE,
)


def ranges_of_days(text: str) -> frozenset[int]:
    """Return the days that a text says between two others, with both: "Mon-Wed" are the first three."""
    said = set[int]()
    for pattern in (_DAY_RANGE, _BETWEEN):
        for found in pattern.finditer(text):
            # A dotless i and a long s pass for letters where case is ignored, and name no day.
            first, last = (_DAY_OF.get(found[end].lower()) for end in ("first", "last"))
            if first is not None and last is not None:
                said |= {(first + day) % 7 for day in range((last - first) % 7 + 1)}
    return frozenset(said)


def short_days(text: str) -> frozenset[int]:
    """Return the days that a text says by an English short form."""
    return frozenset(_DAY_OF[found[0].lower()] for found in _SHORT_DAY.finditer(text))


@lru_cache(maxsize=512)
def days_of(text: str) -> frozenset[int]:
    """Return every day of the week that a text may say, also within a range, by "daily" or "weekdays"."""
    if _DAILY.search(text) or _EXCEPT.search(text):
        return frozenset(range(7))
    said = set(ranges_of_days(text))
    said |= {day for found in _MAYBE_DAY.finditer(text) if (day := _day(found[0])) is not None}
    for found in _HAN_LIST.finditer(text):
        listed = [day for c in found["days"] if (day := _day(f"周{c}")) is not None]
        said |= set(listed)
        if any(c in "至到-" for c in found["days"]):
            said |= {(listed[0] + day) % 7 for day in range((listed[-1] - listed[0]) % 7 + 1)}
    return frozenset(said.union(*(days for days, pattern in _SETS if pattern.search(text))))


def plain_days(text: str) -> list[tuple[frozenset[int], tuple[int, int]]]:
    """Return each day that a text plainly says and its place; of "weekdays" and "weekend" each day will do."""
    found = [(frozenset({day}), one.span()) for one in _PLAIN_DAY.finditer(text) if (day := _day(one[0])) is not None]
    for one in _DAY_RANGE.finditer(text):
        ends = ((_DAY_OF.get(one[end].lower()), one.span(end)) for end in ("first", "last"))
        found += [(frozenset({day}), span) for day, span in ends if day is not None]
    # "within five business days" names no day.
    sets = ((days, one) for days, pattern in _SETS for one in pattern.finditer(text) if " " not in one[0])
    return found + [(days, one.span()) for days, one in sets]


def _day(written: str) -> int | None:
    return _DAY_OF.get(written.lower().replace("週", "周").replace("周天", "周日"))


@lru_cache(maxsize=512)
def months_of(text: str) -> frozenset[int]:
    """Return every month that a text may say, by a name, a number in a date, within a range, or by "monthly"."""
    if _ANY_MONTH.search(text) or _EXCEPT.search(text):
        return frozenset(range(1, 13))
    named = [(_MONTH_OF[name], one.span()) for one in _WORD.finditer(text) if (name := one[0].lower()) in _MONTH_OF]
    named += [(int(one[1]) if one[1] else _HAN_DIGITS[one[2]], one.span()) for one in _HAN_MONTH.finditer(text)]
    named.sort(key=lambda it: it[1])
    said = {month for month, _ in named}
    for (first, (_, end)), (last, (start, _)) in pairwise(named):
        if start - end <= _NEAR and _MONTH_LINK.search(text, end, max(start, end)):
            said |= {(first - 1 + month) % 12 + 1 for month in range((last - first) % 12 + 1)}
    said |= {int(part) for one in _IN_DATE.finditer(text) for part in one.groups() if part}
    return frozenset(month for month in said if 1 <= month <= 12)


def plain_months(text: str) -> list[tuple[frozenset[int], tuple[int, int]]]:
    """Return each month that a text plainly says, and its place."""
    found = []
    for one in _PLAIN_MONTH.finditer(text):
        name = one[0].lower()
        number = name.removesuffix("月")
        month = int(number) if number.isdecimal() else _HAN_DIGITS.get(number) or _MONTH_OF.get(name)
        if month is not None:
            found.append((frozenset({month}), one.span()))
    return found
