"""How times of day, days and dates are told: the words of them, as patterns. Pure.

Each is a number of alternatives for a pattern that ignores case and takes whole words; what must keep its case says so.
"""

import re

from ragcore.citations.days import DAYS, SHORT_DAYS, SHORT_TAGE, ranges_of_days, short_days

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
_MONTHS = "(?-i:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Okt|Nov|Dec|Dez)"

CLOCK = "|".join((
    rf"(?:\d{{1,2}}(?:[.:]\d{{2}})?|{NUMBERS}) ?(?:am|pm|a\.m|p\.m|uhr|o['’]clock)",
    "noon|midday|midnight|dawn|dusk|sunrise|sunset|mittags?|mitternacht",
    rf"(?:half|quarter|\d{{1,2}}|{NUMBERS}|twenty)(?: minutes)? past {_HOUR}|quarter to {_HOUR}",
    rf"(?:halb|viertel(?: (?:vor|nach))?) (?:\d{{1,2}}|{ZAHLEN}|eins)",
    rf"(?:at|from|till|until|by|before|after|since|um|ab|bis|gegen)(?: about| around)? {_HOUR}{_NO_COUNT}",
    rf"(?:from|between) {_HOUR} ?(?:to|till|until|and|[-–]) ?{_HOUR}{_NO_COUNT}",
    rf"(?:{SHORT_DAYS}|{SHORT_TAGE}|days?|tags?):? {_HOUR} ?[-–] ?{_HOUR}",
))  # fmt: skip
"""A time of day: 5 pm, half past nine, "at 9", "Sat 9-13"; not "at 9 euros"."""
DAY = "|".join((
    rf"{SHORT_DAYS}|{SHORT_TAGE}\.? ?[-–] ?{SHORT_TAGE}",
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


_WEEKEND = re.compile(r"\b(?:saturday|sunday|samstag|sonntag)s?\b|周六|周日", re.IGNORECASE)
_BOTH = re.compile(r"\bweekends?\b|\bwochenenden?\b|周末", re.IGNORECASE)


def weekdays(text: str) -> frozenset[str]:
    """Return the days, by their English names, that a text says only by a short form or between two others.

    "Mon-Wed 9-18, Sat 9-13" says Monday to Wednesday, Saturday, and with it the weekend.
    """
    said = set(short_days(text) | ranges_of_days(text))
    if _BOTH.search(text):
        said |= {5, 6}
    days = {DAYS[day] for day in said}
    if said & {5, 6} or _WEEKEND.search(text):
        days.add("weekend")
    return frozenset(days | ({"weekday"} if said >= {0, 1, 2, 3, 4} else set()))
