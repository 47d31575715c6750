"""The little languages inside settings: readers, channels, people, schedules.

Each function takes the text as written and returns it in its one normal form, or raises ValueError with a sentence
that says what is wrong and what right looks like. They judge form only: whether a workspace exists is for `doctor`.
"""

import re
from zoneinfo import available_timezones

from ragcore.errors import ConfigError
from ragcore.filter_grammar import parse_filter, print_filter

_SLACK = r"slack:[A-Z][A-Z0-9]*"
_PATTERNS = {
    "everyone": r"\*",
    "workspace": rf"{_SLACK}|discord:\d+",
    "channel": rf"{_SLACK}/[A-Z][A-Z0-9]*|discord:\d+/\d+|telegram:-?\d+",
    "person": rf"{_SLACK}/@[A-Z][A-Z0-9]*|discord:@\d+|telegram:@\d+",
    "email": r"email:[^@\s]+@[^@\s]+",
}
_FORMS = (
    'must be "*" (anyone), a workspace ("slack:T0123", "discord:1234"), a channel ("slack:T0123/C0456", '
    '"discord:1234/5678", "telegram:-1001234"), a person ("slack:T0123/@U0789", "discord:@1234", "telegram:@1234") '
    'or "email:ann@example.org"; ids, not names'
)

_PERIOD = re.compile(r"([1-9]\d*)\s*([smhd])")
_SHORTEST_PERIOD = 60  # seconds: more often only wears the source out
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
# Minute, hour, day of month, month, day of week: lowest, highest, names.
_CRON_FIELDS: tuple[tuple[int, int, list[str]], ...] = (
    (0, 59, []),
    (0, 23, []),
    (1, 31, []),
    (1, 12, _MONTHS),
    (0, 7, _DAYS),
)


def reader_kind(text: str) -> str:
    """Return "everyone", "workspace", "channel", "person" or "email", or "" when the text is no reader."""
    for kind, pattern in _PATTERNS.items():
        if re.fullmatch(pattern, text):
            return kind
    return ""


def normal_reader(text: str) -> str:
    """Return a reader in its normal form: no blanks around it, e-mail addresses in lower case."""
    reader = text.strip()
    if reader.lower().startswith("email:"):
        reader = reader.lower()
    if not reader_kind(reader):
        raise ValueError(f'"{text}" is no reader: it {_FORMS}')
    return reader


def normal_filter(text: str) -> str:
    """Return a filter in its normal form, such as ``status = active and year >= 2024``; "" for none."""
    if not text.strip():
        return ""
    try:
        return print_filter(parse_filter(text))
    except ConfigError as error:
        raise ValueError(f'is no filter such as "status = active and year >= 2024": {error}') from error


def normal_channel(text: str) -> str:
    """Return a channel's id, such as ``slack:T0123/C0456``."""
    channel = text.strip()
    if reader_kind(channel) != "channel":
        raise ValueError(
            f'"{text}" is no channel: it must be like "slack:T0123/C0456", "discord:1234/5678" or "telegram:-1001234"; '
            "ids, not names"
        )
    return channel


def normal_person(text: str) -> str:
    """Return a person's id on a platform, such as ``slack:T0123/@U0789``."""
    person = text.strip()
    if reader_kind(person) != "person":
        raise ValueError(
            f'"{text}" is no person: it must be like "slack:T0123/@U0789", "discord:@1234" or "telegram:@1234"; '
            "ids, not names"
        )
    return person


def one_channel(owners: tuple[str, ...]) -> tuple[str, ...]:
    """Return who looks after a knowledge base: nobody, or one channel first and people of its platform behind it."""
    channels = [one for one in owners if reader_kind(one) == "channel"]
    people = [one for one in owners if reader_kind(one) == "person"]
    if not owners:
        return ()
    if len(channels) != 1 or len(channels) + len(people) != len(owners):
        raise ValueError(
            "must be one channel, and people in it where not all there decide, such as "
            '["slack:T0123/C0456", "slack:T0123/@U0789"]'
        )
    platform = channels[0].partition(":")[0]
    for one in people:
        if one.partition(":")[0] != platform:
            raise ValueError(f'"{one}" cannot write in "{channels[0]}": name people of {platform}')
    return (channels[0], *dict.fromkeys(people))


def normal_schedule(text: str) -> str:
    """Return a schedule: a period (``15m``) or a cron line of five fields, at will with a time zone behind them."""
    schedule = " ".join(text.split())
    period = _PERIOD.fullmatch(schedule)
    if period:
        if int(period[1]) * _SECONDS[period[2]] < _SHORTEST_PERIOD:
            raise ValueError(f'"{text}" is too often: the shortest period is "1m"')
        return period[1] + period[2]
    fields = schedule.split(" ")
    if len(fields) == len(_CRON_FIELDS) + 1 and fields[-1] not in available_timezones():
        raise ValueError(f'"{fields[-1]}" is no time zone: write one such as "Europe/Berlin"')
    if len(fields) not in {len(_CRON_FIELDS), len(_CRON_FIELDS) + 1}:
        raise ValueError(
            f'"{text}" is no schedule: write a period ("15m", "2h", "1d") or a cron line ("*/15 * * * *", '
            '"0 6 * * mon-fri Europe/Berlin")'
        )
    for field, (lowest, highest, names) in zip(fields, _CRON_FIELDS, strict=False):
        if not all(_is_cron_part(part, lowest, highest, names) for part in field.split(",")):
            raise ValueError(
                f'"{field}" in the cron line "{text}" is wrong: it takes {lowest} to {highest}, *, -, / and ,'
            )
    return schedule


def _is_cron_part(part: str, lowest: int, highest: int, names: list[str]) -> bool:
    """Tell whether one comma-separated part of a cron field is well formed and in range."""
    span, slash, step = part.partition("/")
    if slash and not (step.isdecimal() and int(step) > 0):
        return False
    if span == "*":
        return True
    values = [_cron_value(end, lowest, names) for end in span.split("-")]
    if len(values) > 2 or not all(value is not None and lowest <= value <= highest for value in values):
        return False
    return len(values) == 1 or (values[0] or 0) <= (values[1] or 0)


def _cron_value(text: str, lowest: int, names: list[str]) -> int | None:
    """Return the number a field's value stands for, None when it is none."""
    if text.lower() in names:
        return names.index(text.lower()) + lowest
    return int(text) if text.isascii() and text.isdecimal() else None
