"""Rates and bounds: per day isn't per year, nor is what comes after thirty days told by what holds up to them. Pure."""

import re

from ragcore.citations.numbers import values_of

_PER = (
    "second|minute|hour|day|night|week|month|quarter|year|person|head|member|kilo(?:gram|metre)?|litre|metre|mile|km|kg"
)
_ASKS_RATE = re.compile(
    rf"\bper (?P<per>{_PER})\b"
    rf"|\bhow (?:many|much)\b[^.,;?!]{{1,60}}?\b(?:(?:each|every) (?P<each>{_PER})\b"
    rf"|an? (?P<a>{_PER})\b(?! (?:off|of|in|before|after|ago|later|long|earlier|ahead))"
    r"|(?P<ly>dai|week|month|year|quarter|hour)ly\b)",
    re.IGNORECASE,
)
_ASKS_OF_ONE = re.compile(
    r"\bhow (?:many|much) [^.,;?!]{1,40}? (?:do|does|did|can|will) (?:one|each|every) (?P<one>\w+)", re.IGNORECASE
)
_HOW_OFTEN = re.compile(r"\bhow (?:often|frequently)\b|\bhow many times\b", re.IGNORECASE)
_ASKS_CHINESE_RATE = re.compile(
    r"多少[^，。？?]{0,4}[一每](?P<after>[晚夜天日周月年])|每(?P<before>[晚夜天日周月年])[^，。？?]{0,8}多少"
)
_CHINESE_FORMS = {"晚": "晚夜天日", "夜": "晚夜天日", "天": "天日", "日": "天日"}
_OTHER_FORMS = {"dai": "day|dai", "day": "day|dai", "year": "year|annual"}
_AFTER = r"after|beyond|over|above|past|exceed(?:s|ing)?|(?:more|longer|older|later|higher) than"
_UP_TO = (
    r"up to|at most|within|until|no (?:more|longer|later|older) than|not (?:more|longer) than|maximum(?: of)?|first"
)
_ASKS_AFTER = re.compile(rf"\b(?:{_AFTER}) (?:the |an? )?(?P<number>[\w.,-]+)", re.IGNORECASE)
_SAYS_UP_TO = re.compile(rf"\b(?:{_UP_TO}) (?:the |an? )?(?P<number>[\w.,-]+)", re.IGNORECASE)
_SAYS_AFTER = re.compile(rf"\b(?:{_AFTER}|from|then|afterwards|thereafter)\b", re.IGNORECASE)


def keeps_rate(question: str, text: str) -> bool:
    """Whether a text tells something by the unit by which a question wants it: hours *a week*, milk *per day*.

    True where the question names none, and where it asks how often something happens.
    """
    one = _ASKS_OF_ONE.search(question)
    if one and not re.search(rf"\b(?:per|an?|each|every|one)\b(?: \w+)? {one['one']}|\beach\b", text, re.IGNORECASE):
        return False
    chinese = _ASKS_CHINESE_RATE.search(question)
    if chinese:
        unit = chinese["after"] or chinese["before"]
        return bool(re.search(f"[一每/]个?[{_CHINESE_FORMS.get(unit, unit)}]", text))
    found = _ASKS_RATE.search(question)
    if found is None or _HOW_OFTEN.search(question):
        return True
    unit = next(one for one in found.groups() if one).lower()
    stems = _OTHER_FORMS.get(unit, unit)
    told = rf"\b(?:per|an?|each|every|any|one)\b(?: \w+)? (?:{stems})|\b(?:{stems})(?:ly)?\b|/ ?{unit[0]}\b"
    return bool(re.search(told, text, re.IGNORECASE))


def is_past_bound(question: str, text: str) -> bool:
    """Whether a question asks what is so beyond a number of which a text only tells what is so up to it."""
    asked = {value for found in _ASKS_AFTER.finditer(question) for value in values_of(found["number"])}
    if not asked or _SAYS_AFTER.search(text):
        return False
    return any(asked & values_of(found["number"]) for found in _SAYS_UP_TO.finditer(text))
