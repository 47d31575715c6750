"""What days a message means by "tomorrow" or "by Friday": told beside it, so that a summary can give dates. Pure.

Only words whose day is certain: "on Friday" may be the one before or the one to come. English, Chinese and German.
"""

import re
from datetime import datetime, timedelta

MOST = 4
"""So many are told of one message."""
_RELATIVE: dict[int, tuple[str, ...]] = {
    -2: ("the day before yesterday", "vorgestern", "前天"),
    -1: ("yesterday", "last night", "gestern", "昨天", "昨晚", "昨日"),
    0: ("today", "tonight", "this morning", "this afternoon", "heute", "今天", "今晚", "今早", "今日"),
    1: ("tomorrow", "morgen", "明天", "明日", "明早", "明晚"),
    2: ("the day after tomorrow", "übermorgen", "后天"),
}
_DAYS_FROM = {word: days for days, words in _RELATIVE.items() for word in words}
_WEEKDAYS = (
    ("monday", "montag", "一"), ("tuesday", "dienstag", "二"), ("wednesday", "mittwoch", "三"),
    ("thursday", "donnerstag", "四"), ("friday", "freitag", "五"), ("saturday", "samstag", "六"),
    ("sunday", "sonntag", "日"),
)  # fmt: skip
_WEEKDAY_OF = {name: number for number, names in enumerate(_WEEKDAYS) for name in names}
_NAMES = "|".join(name for name in _WEEKDAY_OF if name.isascii())
_WORD = re.compile(
    r"(?P<relative>"
    + "|".join(
        rf"(?<!\w)(?<!guten )(?<!jeden ){word}(?!\w)" if word.isascii() or word[0] == "ü" else word
        for word in sorted(_DAYS_FROM, key=len, reverse=True)
    )
    + rf")|(?<!\w)(?:by|until|till|bis)\s(?P<latin>{_NAMES})(?!\w)"
    + r"|(?:周|星期)(?P<chinese>[一二三四五六日])(?:之?前|截止)",
    re.IGNORECASE,
)


def days_meant(text: str, sent_at: datetime) -> tuple[str, ...]:
    """Return the words of a message that name a day, each with its date (``tomorrow = 2026-11-24``), in their order.

    Args:
        text: What was said.
        sent_at: When, in the time zone in which its date is told.
    """
    found: dict[str, str] = {}
    for match in _WORD.finditer(text):
        word = " ".join(match[0].casefold().split())
        if relative := match["relative"]:
            days = _DAYS_FROM[" ".join(relative.casefold().split())]
        else:
            day = _WEEKDAY_OF[(match["latin"] or match["chinese"]).casefold()]
            days = (day - sent_at.weekday()) % 7
        found.setdefault(word, f"{word} = {sent_at + timedelta(days=days):%Y-%m-%d}")
        if len(found) == MOST:
            break
    return tuple(found.values())
