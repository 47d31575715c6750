"""How times of day, days and dates are told: the words of them, as patterns. Pure.

Each is a number of alternatives for a pattern that ignores case and takes whole words; what must keep its case says so.
"""

import re

NUMBERS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
ZAHLEN = "eine[mnrs]?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf"

FIGURES = r"(?<![\d.,])\d[\d.,]*+"
"""A number in figures, taken whole: not from its middle on, and no part of it tried again."""

_HOUR = rf"(?:(?:[01]?\d|2[0-4])(?:[.:][0-5]\d)?(?![\d%€]|[.,:]\d)|{NUMBERS})"
_NO_COUNT = (
    r"(?=[\s.!?)'’”\"]*$|[.,;)](?!\d)"
    "| (?:in the|at night|sharp|and|or|on|every|each|daily|und|am|there|the|we|you|it|is|are)\\b)"
)
"""What comes behind an hour, where a number of things has their name."""
_DAYS = "(?-i:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)"
_TAGE = "(?-i:Mo|Di|Mi|Do|Fr|Sa|So)"
_MONTHS = "(?-i:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Okt|Nov|Dec|Dez)"

CLOCK = "|".join((
    rf"(?:\d{{1,2}}(?:[.:]\d{{2}})?|{NUMBERS}) ?(?:am|pm|a\.m|p\.m|uhr|o['’]clock)",
    "noon|midday|midnight|dawn|dusk|sunrise|sunset|mittags?|mitternacht",
    rf"(?:half|quarter|\d{{1,2}}|{NUMBERS}|twenty)(?: minutes)? past {_HOUR}|quarter to {_HOUR}",
    rf"(?:halb|viertel(?: (?:vor|nach))?) (?:\d{{1,2}}|{ZAHLEN}|eins)",
    rf"(?:at|from|till|until|by|before|after|since|um|ab|bis|gegen)(?: about| around)? {_HOUR}{_NO_COUNT}",
    rf"(?:from|between) {_HOUR} ?(?:to|till|until|and|[-–]) ?{_HOUR}{_NO_COUNT}",
    rf"(?:{_DAYS}|{_TAGE}|days?|tags?):? {_HOUR} ?[-–] ?{_HOUR}",
))  # fmt: skip
"""A time of day: 5 pm, half past nine, "at 9", "Sat 9-13"; not "at 9 euros"."""
DAY = "|".join((
    rf"{_DAYS}|{_TAGE}\.? ?[-–] ?{_TAGE}",
    "weekdays?|weekends?|today|tonight|tomorrow|wochenenden?|werktags?|heute|morgens?|abends?|nachts?",
    "(?:at|by|each|every|the) nights?|overnight|nightly|any ?time|afternoons?|lunchtime|24/7",
    r"the \d{1,2}(?:st|nd|rd|th)",
    rf"{_MONTHS}\.? ?(?:[-–]|to|bis) ?{_MONTHS}|{_MONTHS}\.? \d{{1,4}}|\d{{1,2}}(?:\.|st|nd|rd|th)? ?{_MONTHS}",
    r"(?!1/[234]\b|2/3\b|3/4\b)\d{1,2}/\d{1,2}(?:/\d{2,4})?",
    "(?:in|each|every|early|late|im)(?: the)? (?:spring|summer|autumn|winter|frühjahr|frühling|sommer|herbst)",
))  # fmt: skip
"""A day or a part of it, a date or a season."""
CHINESE_DAY = (
    "周[一二三四五六日末]|星期[一二三四五六日天]|每[天日晚早周月年]|早上|上午|中午|下午|晚上|凌晨|[春夏秋冬][季天]"
)
CHINESE_CLOCK = r"\d{1,2}:\d{2}|[\d一二两三四五六七八九十]\s?[点點时時](?!击|心|间|候)"

_SPAN_UNITS = "(?:work|week)?days?|nights?|seconds?|secs?|minutes?|mins?|hours?|hrs?|weeks?|months?|years?"
SHORT_SPAN = r"(?<!\d{3})\d\s?(?:ms|s|h|(?-i:d))\b"
"""A span by a unit's sign, which no plural and no other word hides in: no 1990s and no 3D."""


def spans(*counts: str) -> str:
    """Return the alternatives of a span of time, with these counts besides figures: "two working days"."""
    return rf"(?:{FIGURES}|{'|'.join(counts)}) ?(?:(?!(?:per|an?|each|every)\b)[a-z]+ )?(?:{_SPAN_UNITS})"


_ORDER = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NAMES = (
    "monday mondays mon montag montags mo 周一 星期一 礼拜一",
    "tuesday tuesdays tue tues dienstag dienstags di 周二 星期二 礼拜二",
    "wednesday wednesdays wed mittwoch mittwochs mi 周三 星期三 礼拜三",
    "thursday thursdays thu thur thurs donnerstag donnerstags do 周四 星期四 礼拜四",
    "friday fridays fri freitag freitags fr 周五 星期五 礼拜五",
    "saturday saturdays sat samstag samstags sa 周六 星期六 礼拜六",
    "sunday sundays sun sonntag sonntags so 周日 星期日 星期天 礼拜天",
)
_DAY_OF = {name: day for day, names in enumerate(_NAMES) for name in names.split()}
_LONG_NAMES = sorted((name for name in _DAY_OF if len(name) > 2 or not name.isascii()), key=len, reverse=True)
_ONE_DAY = rf"(?:{'|'.join(_LONG_NAMES)}|{_TAGE})"
_RANGE = re.compile(
    rf"(?<![a-zäöü])(?P<first>{_ONE_DAY})\.?\s?(?:[-–—]|to|till|until|through|bis|至|到)\s?(?P<last>{_ONE_DAY})(?![a-zäöü])",
    re.IGNORECASE,
)
_SHORT = re.compile(rf"\b{_DAYS}\b")
_WEEKEND = re.compile(r"\b(?:saturday|sunday|samstag|sonntag)s?\b|周六|周日", re.IGNORECASE)
_BOTH = re.compile(r"\bweekends?\b|\bwochenenden?\b|周末", re.IGNORECASE)


def weekdays(text: str) -> frozenset[str]:
    """Return the days, by their English names, that a text says only by a short form or between two others.

    "Mon-Wed 9-18, Sat 9-13" says Monday to Wednesday, Saturday, and with it the weekend.
    """
    said = {_DAY_OF[found[0].lower()] for found in _SHORT.finditer(text)}
    for found in _RANGE.finditer(text):
        # A dotless i and a long s pass for letters where case is ignored, and name no day.
        first, last = (_DAY_OF.get(found[end].lower()) for end in ("first", "last"))
        if first is not None and last is not None:
            said |= {(first + day) % 7 for day in range((last - first) % 7 + 1)}
    if _BOTH.search(text):
        said |= {5, 6}
    days = {_ORDER[day] for day in said}
    if said & {5, 6} or _WEEKEND.search(text):
        days.add("weekend")
    return frozenset(days | ({"weekday"} if said >= {0, 1, 2, 3, 4} else set()))
