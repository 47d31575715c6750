from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.sync.guard import WAIT, is_doubtful, judge

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
ids = st.frozensets(st.sampled_from([f"d{number}" for number in range(40)]))


@pytest.mark.parametrize(
    ("missing", "live", "doubtful"),
    [
        (0, 0, False),
        (0, 10, False),
        (1, 1, True),  # everything
        (1, 2, False),
        (9, 10, False),  # more than a third, but fewer than ten
        (10, 30, False),  # a third is not more than a third
        (10, 29, True),
        (11, 30, True),
        (100, 10_000, False),
        (3334, 10_000, True),
    ],
)
def test_what_is_doubted(missing, live, doubtful):
    assert is_doubtful(missing, live) is doubtful


def names(count, start=0):
    return {f"d{number}" for number in range(start, start + count)}


def test_a_second_listing_five_minutes_on_is_believed():
    first = judge(names(20), 20, now=NOW)
    assert (first.delete, first.doubted, first.since) == (frozenset(), names(20), NOW)
    early = judge(names(20), 20, doubted=first.doubted, since=first.since, now=NOW + timedelta(minutes=4, seconds=59))
    assert (early.delete, early.doubted, early.since) == (frozenset(), names(20), NOW)
    late = judge(names(20), 20, doubted=early.doubted, since=early.since, now=NOW + timedelta(minutes=5))
    assert (late.delete, late.doubted) == (names(20), frozenset())


def test_what_is_missed_for_the_first_time_is_doubted_anew():
    later = NOW + timedelta(hours=1)
    verdict = judge(names(30), 60, doubted=names(12), since=NOW, now=later)
    assert verdict.delete == names(12)
    assert verdict.doubted == names(18, 12)
    assert verdict.since == later
    few = judge(names(15), 60, doubted=names(12), since=NOW, now=later)
    assert few.delete == names(15)


def test_a_listing_that_shows_all_again_ends_the_doubt():
    verdict = judge(set(), 20, doubted=names(20), since=NOW, now=NOW + timedelta(hours=1))
    assert (verdict.delete, verdict.doubted, verdict.since) == (frozenset(), frozenset(), None)
    elsewhere = judge(names(12, 20), 32, doubted=names(20), since=NOW, now=NOW + timedelta(hours=1))
    assert (elsewhere.delete, elsewhere.doubted) == (frozenset(), names(12, 20)), "another fault, not the same twice"


@given(missing=ids, others=st.integers(0, 60), doubted=ids, minutes=st.none() | st.integers(-10, 60))
def test_the_guard_lets_nothing_pass_that_was_doubted_only_once(missing, others, doubted, minutes):
    since = None if minutes is None else NOW - timedelta(minutes=minutes)
    live = len(missing) + others
    verdict = judge(missing, live, doubted=doubted, since=since, now=NOW)
    assert verdict.delete | verdict.doubted <= missing
    assert not verdict.delete & verdict.doubted
    is_confirmed = since is not None and NOW - since >= WAIT
    confirmed = missing & doubted if is_confirmed else frozenset()
    unconfirmed = verdict.delete - confirmed
    assert not is_doubtful(len(unconfirmed), live - len(confirmed))
    assert bool(verdict.doubted) == (verdict.since is not None)
    if not is_doubtful(len(missing), live):
        assert verdict.delete == missing or is_confirmed
    if confirmed:
        assert confirmed <= verdict.delete


@given(missing=ids, others=st.integers(0, 60))
def test_two_listings_that_agree_delete_everything_missing(missing, others):
    live = len(missing) + others
    first = judge(missing, live, now=NOW)
    rest = missing - first.delete
    second = judge(rest, live - len(first.delete), doubted=first.doubted, since=first.since, now=NOW + WAIT)
    assert first.delete | second.delete == missing


def test_a_clock_that_was_ahead_holds_deletions_back_no_longer_than_any_other():
    ahead = NOW + timedelta(days=300)
    first = judge(names(20), 20, doubted=names(20), since=ahead, now=NOW)
    assert (first.delete, first.doubted, first.since) == (frozenset(), names(20), NOW)
    assert judge(names(20), 20, doubted=first.doubted, since=first.since, now=NOW + WAIT).delete == names(20)
