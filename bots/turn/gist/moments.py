"""When a span of messages begins and ends, as people write it in English, Chinese and German. Pure, without a model."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

_DAYS = (
    ("monday", "mon", "montag", "一"),
    ("tuesday", "tue", "tues", "dienstag", "二"),
    ("wednesday", "wed", "mittwoch", "三"),
    ("thursday", "thu", "thurs", "donnerstag", "四"),
    ("friday", "fri", "freitag", "五"),
    ("saturday", "sat", "samstag", "sonnabend", "六"),
    ("sunday", "sun", "sonntag", "日", "天"),
)
_DAY_OF = {name: number for number, names in enumerate(_DAYS) for name in names}
_MONTHS = (
    ("january", "jan", "januar", "jänner"),
    ("february", "feb", "februar"),
    ("march", "mar", "märz"),
    ("april", "apr"),
    ("may", "mai"),
    ("june", "jun", "juni"),
    ("july", "jul", "juli"),
    ("august", "aug"),
    ("september", "sep", "sept"),
    ("october", "oct", "oktober", "okt"),
    ("november", "nov"),
    ("december", "dec", "dezember", "dez"),
)
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names}
_UNITS = {
    "m": timedelta(minutes=1), "min": timedelta(minutes=1), "minut": timedelta(minutes=1), "分": timedelta(minutes=1),
    "h": timedelta(hours=1), "hour": timedelta(hours=1), "stunde": timedelta(hours=1), "小": timedelta(hours=1),
    "d": timedelta(days=1), "day": timedelta(days=1), "tag": timedelta(days=1), "天": timedelta(days=1),
    "日": timedelta(days=1), "w": timedelta(weeks=1), "week": timedelta(weeks=1), "woche": timedelta(weeks=1),
    "周": timedelta(weeks=1), "星": timedelta(weeks=1),
}  # fmt: skip
_LATIN_DAY = "|".join(name for name in sorted(_DAY_OF, key=len, reverse=True) if name.isascii())
_MONTH = "|".join(sorted(_MONTH_OF, key=len, reverse=True))
_END = r"(?!\w)"

POINT = rf"""(?:
    \d{{4}}-\d{{1,2}}-\d{{1,2}}(?:[\s]+(?:at\s|um\s)?\d{{1,2}}:\d{{2}})?{_END}
  | \d{{1,2}}\.\s?\d{{1,2}}(?:\.(?:\s?\d{{4}}{_END})?|{_END})
  | (?:\d{{4}}年)?\d{{1,2}}月\d{{1,2}}[日号]
  | \d{{1,2}}(?:st|nd|rd|th|\.)?\s(?:{_MONTH}){_END}(?:,?\s\d{{4}}{_END})?
  | (?:{_MONTH})\s\d{{1,2}}(?:st|nd|rd|th)?{_END}(?:,?\s\d{{4}}{_END})?
  | \d{{1,2}}:\d{{2}}(?:\suhr)?{_END} | \d{{1,2}}\s?(?:am|pm|uhr){_END} | \d{{1,2}}点
  | (?:the\s)?day\sbefore\syesterday{_END} | vorgestern{_END} | 前天
  | (?:this\smorning|today|heute(?:\sfrüh|\smorgen)?){_END} | 今早 | 今天(?:早上)? | 今日
  | (?:yesterday|gestern){_END} | 昨天 | 昨日
  | (?:(?:last|letzte[mn]?)\s)?(?:{_LATIN_DAY}){_END} | 上?(?:周|星期|礼拜)[一二三四五六日天]
)"""
"""A day or a time of day, as a piece of a regular expression (verbose, in lower case)."""
AMOUNT = rf"""(?:
    \d{{1,6}}\s?(?:minut(?:es?|en?)|min|hours?|stunden?|h|days?|tage?n?|d|weeks?|wochen?|w){_END}
  | \d{{1,6}}\s?(?:分钟|个?小时|天|日|个?星期|周)
)"""
"""So much time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """From ``start`` to ``end``, with a time zone; a moment has both alike."""

    start: datetime
    end: datetime


def stretch_of(point: str, now: datetime) -> Stretch | None:  # noqa: PLR0911 (one return a form)
    """Return the day or the moment that a text fitting ``POINT`` means, None where the calendar has none such.

    A day without a year is the newest one that has begun; a time of day without a day is the newest one that was.

    Args:
        point: What was written.
        now: The time, in the zone of whoever wrote it.
    """
    point = point.strip().casefold()
    if found := re.fullmatch(r"(\d{4})-(\d+)-(\d+)(?:\s+(?:at |um )?(\d+):(\d+))?", point):
        return _date(now, found[1], found[2], found[3], found[4], found[5])
    if found := re.fullmatch(r"(\d+)\.\s?(\d+)(?:\.(?:\s?(\d{4}))?)?", point):
        return _date(now, found[3], found[2], found[1])
    if found := re.fullmatch(r"(?:(\d{4})年)?(\d+)月(\d+)[日号]", point):
        return _date(now, found[1], found[2], found[3])
    if found := re.fullmatch(rf"(\d+)(?:st|nd|rd|th|\.)?\s({_MONTH})(?:,?\s(\d{{4}}))?", point):
        return _date(now, found[3], str(_MONTH_OF[found[2]]), found[1])
    if found := re.fullmatch(rf"({_MONTH})\s(\d+)(?:st|nd|rd|th)?(?:,?\s(\d{{4}}))?", point):
        return _date(now, found[3], str(_MONTH_OF[found[1]]), found[2])
    if found := re.fullmatch(r"(\d+)(?::(\d+))?\s?(am|pm|uhr|点)?", point):
        return _clock(now, int(found[1]), int(found[2] or 0), found[3] or "")
    today = midnight(now)
    if re.search(r"before yesterday|vorgestern|前天", point):
        return _day(today - timedelta(days=2))
    if re.fullmatch(r"yesterday|gestern|昨[天日]", point):
        return _day(today - timedelta(days=1))
    if found := re.fullmatch(rf"(?:(?:last|letzte[mn]?)\s)?({_LATIN_DAY})|(上?)(?:周|星期|礼拜)(.)", point):
        return _day(_weekday(today, _DAY_OF[found[1] or found[3]], week_before=bool(found[2])))
    return _day(today)


def amount_of(amount: str) -> timedelta | None:
    """Return how much time a text fitting ``AMOUNT`` means, None where it is more than a calendar holds."""
    found = re.match(r"(\d+)\s?个?(\w+)", amount.strip().casefold())
    if found is None:
        return None
    unit = next(_UNITS[name] for name in sorted(_UNITS, key=len, reverse=True) if found[2].startswith(name))
    length = int(found[1]) * unit
    return length if length < timedelta(days=3_650) else None


def midnight(moment: datetime) -> datetime:
    """Return when the moment's day began."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def monday(moment: datetime) -> datetime:
    """Return when the moment's week began."""
    return midnight(moment) - timedelta(days=moment.weekday())


def _day(start: datetime) -> Stretch:
    return Stretch(start=start, end=start + timedelta(days=1))


def _weekday(today: datetime, day: int, *, week_before: bool) -> datetime:
    """Return the newest such day before today; on a Monday, Monday is a week ago. 上周一 is that of the week before."""
    if week_before:
        return monday(today) - timedelta(days=7 - day)
    return today - timedelta(days=(today.weekday() - day - 1) % 7 + 1)


def _date(
    now: datetime, year: str | None, month: str, day: str, hour: str | None = None, minute: str | None = None
) -> Stretch | None:
    try:
        start = midnight(now).replace(year=int(year or now.year), month=int(month), day=int(day))
        if not year and start > now:
            start = start.replace(year=start.year - 1)
        if hour is None:
            return _day(start)
        moment = start.replace(hour=int(hour), minute=int(minute or 0))
    except (ValueError, OverflowError):
        return None
    return Stretch(start=moment, end=moment)


def _clock(now: datetime, hour: int, minute: int, kind: str) -> Stretch | None:
    if kind in ("am", "pm"):
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if kind == "pm" else 0)
    try:
        moment = midnight(now).replace(hour=hour, minute=minute)
    except ValueError:
        return None
    moment = moment if moment <= now else moment - timedelta(days=1)
    return Stretch(start=moment, end=moment)
