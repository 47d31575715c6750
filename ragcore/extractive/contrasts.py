"""Words that exclude each other though they are used alike, so that vectors take them for one another. Pure.

What is done on Mondays tells nothing about Fridays, nor the previous release anything about the next. Only closed
classes are listed: the members of open ones, such as animals, can't be.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from ragcore.extractive.times import weekdays
from ragcore.terms.normal import fold, stem

_NAMED = """
monday montag|tuesday dienstag|wednesday mittwoch|thursday donnerstag|friday freitag|\
saturday samstag|sunday sonntag|weekend wochenende|weekday werktag
january januar|february februar|march|april|may|june juni|july juli|august|september|october oktober|november
spring|summer sommer|autumn herbst|winter
zero|one|two 2|three 3|four 4|five 5|six 6|seven 7|eight 8|nine 9|\
ten 10|eleven 11|twelve 12|twenty|thirty|forty|fifty|sixty|hundred|thousand
first 1st|second 2nd|third 3rd|fourth 4th|fifth 5th|sixth 6th|seventh 7th|eighth 8th|ninth 9th|tenth 10th
breakfast|lunch|dinner supper
red|orange|yellow|green|blue|purple violet|brown|black|white|grey gray|pink
north northern|south southern|east eastern|west western
dollar usd|euro eur|pound gbp sterling|yuan cny rmb renminbi|yen jpy|franc chf|rupee inr|krona sek|krone nok dkk
"""
"""A class a line: its members, each with what means the same. Nothing else stands for them: a price for no dollars."""
_OPPOSED = """
morning|afternoon|evening|night
next|previous|current
start begin|end finish
import|export
internal|external
incoming|outgoing
arrival arrive|departure depart
indoor|outdoor
inside|outside
domestic|international foreign
upload|download
install|uninstall
enable|disable
input|output
credit|debit
income|expense
increase|decrease
minimum|maximum
employee|employer
landlord|tenant
teacher|student
mother|father
maternity|paternity
son|daughter
brother|sister
husband|wife
man male|woman female
"""
"""The same for words that others may stand for, such as *launch* for *start*."""


def _members(classes: str, kind: str) -> Mapping[str, tuple[str, int, int]]:
    return {
        stem(fold(word)): (kind, line, member)
        for line, members in enumerate(classes.strip().splitlines())
        for member, words in enumerate(members.split("|"))
        for word in words.split()
    }


_MEMBER = {**_members(_OPPOSED, "opposed"), **_members(_NAMED, "named")}
_WORD = re.compile(r"(?<![\w.,:-])\d{1,2}(?:st|nd|rd|th)?(?![\w:-]|[.,]\d)|[^\W\d_]+")
_SIGNS = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yuan", "￥": "yuan"}


def may_stand_for(other: str, word: str) -> bool:
    """Whether a word of a text may mean what a word of a question does, as far as classes tell; both in lower case.

    *mondays* can't stand for *friday*, *previous* for *next*, nor *price* for *dollars*; *monday* may for *day*.
    """
    asked = _member(word)
    if asked is None:
        return True
    said = _member(other)
    return asked == said or (asked[0] != "named" and (said is None or asked[:2] != said[:2]))


def says_member(word: str, text: str) -> bool:
    """Whether a text says a member of a class otherwise: *dollars* by ``USD`` or ``$``, *tuesday* by ``Mon-Fri``."""
    asked = _member(word)
    if asked is None:
        return False
    signs = (name for sign, name in _SIGNS.items() if sign in text)
    return any(_member(one) == asked for one in (*signs, *weekdays(text), *_WORD.findall(text.lower())))


@lru_cache(maxsize=20_000)
def _member(word: str) -> tuple[str, int, int] | None:
    return _MEMBER.get(stem(fold(word)))
