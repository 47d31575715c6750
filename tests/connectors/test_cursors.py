"""Cursors: times, never back and never by this machine's clock; what they were reached under; what is packed."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.cursors import OVERLAP, basis_of, packed, reached, reached_under, since, under, unpacked

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


@given(st.binary(max_size=200), st.text(max_size=50))
def test_what_is_packed_comes_back_and_what_is_not_is_refused(content: bytes, text: str) -> None:
    assert unpacked(packed(content)) == content
    try:
        unpacked(text)
    except ValueError:
        return
    assert text.isascii(), "base 85"


def test_a_damaged_cursor_is_refused() -> None:
    whole = packed(b"content " * 50)
    with pytest.raises(ValueError, match="damaged"):
        unpacked(whole[5:] + whole[:5])


@given(st.text(), st.text())
def test_a_time_counts_under_the_settings_it_was_reached_under(one: str, other: str) -> None:
    cursor = under(basis_of(one, 1), "2026-01-01 token")
    assert reached_under(basis_of(one, 1), cursor) == "2026-01-01 token"
    assert (reached_under(basis_of(other, 1), cursor) is None) == (one != other)
    assert reached_under(basis_of(one), None) is None
    assert under(basis_of(one), None) is None
