"""Cursors made of a time: never back, never by this machine's clock, and looked back from."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from connectors.cursors import OVERLAP, reached, since

aware = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)).map(lambda at: at.replace(tzinfo=UTC))


@given(st.lists(aware, min_size=1))
def test_the_newest_time_told_is_kept_and_looked_back_from(told: list[datetime]) -> None:
    cursor = None
    for moment in told:
        cursor = reached(cursor, moment)
    assert since(cursor) == max(told) - OVERLAP


def test_no_time_is_from_the_beginning() -> None:
    assert since(None) is None
    assert since("") is None
    assert since("page-7") is None
    assert reached(None, None) is None
    assert reached("page-7", datetime(2026, 1, 1, tzinfo=UTC)) == "2026-01-01T00:00:00+00:00"


def test_zones_are_one_time() -> None:
    berlin = datetime(2026, 7, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    cursor = reached(None, berlin)
    assert cursor == "2026-07-01T10:00:00+00:00"
    assert reached(cursor, berlin - timedelta(seconds=1)) == cursor
