"""When a source is due; the cron lines against a slow reading of the rule, minute by minute."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.settings.grammar import normal_schedule
from connectors.schedule import due, next_run
from ragcore.stores.sources import SourceState

NOW = datetime(2026, 3, 3, 12, 0, 30, tzinfo=UTC)  # a Tuesday


@pytest.mark.parametrize(
    ("schedule", "last", "expected"),
    [
        ("15m", NOW - timedelta(minutes=5), NOW + timedelta(minutes=10)),
        ("2h", NOW - timedelta(minutes=5), NOW + timedelta(minutes=115)),
        ("1d", NOW - timedelta(days=4), NOW),
        ("15m", None, NOW),
        ("0 6 * * * Europe/Berlin", None, NOW),
        ("0 6 * * * Europe/Berlin", NOW - timedelta(hours=1), datetime(2026, 3, 4, 5, 0, tzinfo=UTC)),
        ("0 6 * * * Europe/Berlin", NOW - timedelta(days=1), NOW),
        ("0 6 * * 0 UTC", NOW, datetime(2026, 3, 8, 6, 0, tzinfo=UTC)),
        ("0 6 * * 7 UTC", NOW, datetime(2026, 3, 8, 6, 0, tzinfo=UTC)),
        ("0 6 * * fri-sun UTC", NOW, datetime(2026, 3, 6, 6, 0, tzinfo=UTC)),
        ("0 6 10 * mon UTC", NOW, datetime(2026, 3, 9, 6, 0, tzinfo=UTC)),
        ("*/15 * * * * UTC", NOW, datetime(2026, 3, 3, 12, 15, tzinfo=UTC)),
        ("0 0 31 feb * UTC", NOW, NOW + timedelta(days=366)),
    ],
)
def test_due(schedule: str, last: datetime | None, expected: datetime) -> None:
    assert due(normal_schedule(schedule), last, NOW) == expected


def test_without_a_zone_the_time_is_this_machines() -> None:
    moment = due("30 6 * * *", NOW, NOW).astimezone()
    assert (moment.hour, moment.minute) == (6, 30)


numbers = st.one_of(
    st.just("*"),
    st.integers(1, 20).map(lambda step: f"*/{step}"),
    st.lists(st.integers(1, 6), min_size=1, max_size=3).map(lambda some: ",".join(map(str, some))),
    st.tuples(st.integers(1, 3), st.integers(3, 6)).map(lambda ends: f"{ends[0]}-{ends[1]}"),
    st.tuples(st.integers(1, 3), st.integers(3, 6), st.integers(1, 3)).map(lambda s: f"{s[0]}-{s[1]}/{s[2]}"),
)


def allows(field: str, value: int, lowest: int) -> bool:
    """A field's plain reading: each part is a span, of which every so-manieth value counts."""
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        low = lowest if first == "*" else int(first)
        high = 10**6 if first == "*" else int(last or (first if not step else 10**6))
        if low <= value <= high and (value - low) % int(step or 1) == 0:
            return True
    return False


@given(fields=st.tuples(*[numbers] * 5), start=st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 1)))
def test_a_cron_line_means_what_cron_means(fields: tuple[str, ...], start: datetime) -> None:
    minute, hour, day, month, weekday = fields
    last = start.replace(tzinfo=ZoneInfo("UTC"))
    found = due(normal_schedule(" ".join(fields) + " UTC"), last, last)

    def fits(moment: datetime) -> bool:
        by_day = allows(day, moment.day, 1)
        by_weekday = allows(weekday, moment.isoweekday() % 7, 0) or (moment.isoweekday() == 7 and allows(weekday, 7, 0))
        both = day.startswith("*") or weekday.startswith("*")
        today = (by_day and by_weekday) if both else (by_day or by_weekday)
        return (
            allows(minute, moment.minute, 0)
            and allows(hour, moment.hour, 0)
            and allows(month, moment.month, 1)
            and today
        )

    assert fits(found)
    assert found.second == 0
    moment = last.replace(second=0, microsecond=0) + timedelta(minutes=1)
    for _ in range(3000):  # two days, minute by minute: nothing that fits was passed over
        if moment >= found:
            break
        assert not fits(moment)
        moment += timedelta(minutes=1)


BERLIN, LORD_HOWE = "Europe/Berlin", "Australia/Lord_Howe"


def runs(schedule: str, begin: datetime, end: datetime) -> list[datetime]:
    """When a source is run between two moments, each run on time."""
    found, last = [], begin
    while (last := due(normal_schedule(schedule), last, last)) < end:
        found.append(last)
        assert len(found) < 1_000, "it goes round in circles"
    return found


@pytest.mark.parametrize(
    ("schedule", "begin", "hours"),
    [
        ("30 2 * * *", datetime(2026, 10, 24, 12, tzinfo=UTC), [12.5, 37.5]),  # the first of two, then an hour later
        ("30 2 * * *", datetime(2026, 3, 28, 12, tzinfo=UTC), [13.5, 36.5]),  # left out: as if clocks were not set yet
        ("0 1,3 * * *", datetime(2026, 10, 24, 12, tzinfo=UTC), [11, 14, 36, 38]),
    ],
)
def test_a_line_that_names_hours_runs_once_where_clocks_are_changed(
    schedule: str, begin: datetime, hours: list[float]
) -> None:
    found = runs(f"{schedule} {BERLIN}", begin, begin + timedelta(hours=40))
    assert found == [begin + timedelta(hours=hour) for hour in hours]


@pytest.mark.parametrize("begin", [datetime(2026, 10, 24, 22, tzinfo=UTC), datetime(2026, 3, 28, 22, tzinfo=UTC)])
@pytest.mark.parametrize(("line", "minutes"), [("*/15 * * * *", 15), ("0 * * * *", 60)])
def test_a_line_for_all_hours_keeps_its_distance_where_clocks_are_changed(
    begin: datetime, line: str, minutes: int
) -> None:
    found = runs(f"{line} {BERLIN}", begin, begin + timedelta(hours=8))
    assert found == [begin + timedelta(minutes=minutes * count) for count in range(1, 8 * 60 // minutes)]


@given(
    fields=st.tuples(*[numbers] * 5),
    zone=st.sampled_from([BERLIN, LORD_HOWE, "America/St_Johns", "Antarctica/Troll", "Asia/Kolkata"]),
    day=st.sampled_from([datetime(2026, 3, 8), datetime(2026, 3, 29), datetime(2026, 4, 4), datetime(2026, 10, 24)]),
    minutes=st.integers(-600, 1800),
)
def test_the_next_time_is_later_and_as_the_line_says(
    fields: tuple[str, ...], zone: str, day: datetime, minutes: int
) -> None:
    last = day.replace(tzinfo=UTC) + timedelta(minutes=minutes, seconds=11)
    schedule = normal_schedule(" ".join(fields))
    found = due(f"{schedule} {zone}", last, last)
    assert found > last
    # The wall shows what the line says, or the clocks were just set forward over it.
    wall = found.astimezone(ZoneInfo(zone))
    before = (found - timedelta(hours=3)).astimezone(ZoneInfo(zone)).utcoffset()
    assert before is not None
    shown = (wall.replace(tzinfo=UTC), (found + before).replace(tzinfo=UTC))
    assert any(due(f"{schedule} UTC", one - timedelta(seconds=1), one - timedelta(seconds=1)) == one for one in shown)


@pytest.mark.parametrize("schedule", ["15m", "1d", "0 6 * * * UTC"])
def test_a_run_that_a_wrong_clock_noted_holds_no_other_back(schedule: str) -> None:
    ahead = SourceState(name="docs", last_run_at=NOW + timedelta(days=400), not_before=NOW + timedelta(days=400))
    assert due(schedule, ahead.last_run_at, NOW) == NOW
    assert next_run(schedule, ahead, NOW) == NOW
    assert next_run(schedule, replace(ahead, faults=3), NOW) == NOW
    assert next_run(schedule, replace(ahead, refused="x"), NOW, credential="x") is None
    near = NOW + timedelta(seconds=30)  # of another process, whose clock is a little ahead
    assert due("15m", near, NOW) == near + timedelta(minutes=15)
