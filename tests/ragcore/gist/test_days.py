"""The days that a message means by its words; it was said on a Sunday."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.gist.days import MOST, days_meant

SUNDAY = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Done by Tuesday, or tomorrow.", ("by tuesday = 2026-11-24", "tomorrow = 2026-11-23")),
        ("Guten Morgen! Ich mache es morgen, bis Freitag.", ("morgen = 2026-11-23", "bis freitag = 2026-11-27")),
        ("周五之前完成，明天开会", ("周五之前 = 2026-11-27", "明天 = 2026-11-23")),
        ("The day after tomorrow, not tomorrow", ("the day after tomorrow = 2026-11-24", "tomorrow = 2026-11-23")),
        ("Übermorgen oder by Sunday", ("übermorgen = 2026-11-24", "by sunday = 2026-11-22")),
        ("We met on Friday; mondays are hard, todayish, jeden Morgen.", ()),
    ],
)
def test_words_whose_day_is_certain_are_told(text: str, meant: tuple[str, ...]) -> None:
    assert days_meant(text, SUNDAY) == meant


@given(
    st.lists(st.sampled_from(["tomorrow", "heute", "by friday", "昨天", "bis Montag", "x", "."]), max_size=9),
    st.datetimes(datetime(2000, 1, 1), datetime(2099, 1, 1), timezones=st.just(UTC)),
)
def test_each_is_told_once_and_lies_near(words: list[str], sent_at: datetime) -> None:
    meant = days_meant(" ".join(words), sent_at)
    assert len(meant) == len(set(meant)) <= MOST
    for one in meant:
        day = datetime.strptime(one.rpartition(" = ")[2], "%Y-%m-%d").replace(tzinfo=UTC)
        assert timedelta(days=-2) <= day.date() - sent_at.date() <= timedelta(days=6)
