"""When a source that failed, was told to wait or was refused is run again, and when its documents count as old."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.settings.grammar import normal_schedule
from connectors.schedule import FIRST_BACKOFF, JITTER, LAST_BACKOFF, backoff, due, is_stale, next_run, spread
from ragcore.stores.sources import SourceState

NOW = datetime(2026, 3, 3, 12, tzinfo=UTC)
LAST = NOW - timedelta(seconds=1)
WELL = SourceState(name="docs", last_run_at=LAST, last_success_at=NOW)
schedules = st.sampled_from(["1m", "15m", "2h", "1d", "*/15 * * * * UTC", "0 6 * * mon-fri Europe/Berlin"]).map(
    normal_schedule
)


@given(schedule=schedules, faults=st.integers(1, 200))
def test_a_source_that_fails_waits_longer_each_time_and_always_comes_back(schedule: str, faults: int) -> None:
    state = replace(WELL, faults=faults)
    found = next_run(schedule, state, NOW)
    assert found is not None
    assert NOW <= found <= LAST + timedelta(days=1)
    assert backoff(schedule, faults) <= backoff(schedule, faults + 1) <= 2 * backoff(schedule, faults)


def test_the_first_wait_is_short_and_the_last_is_known() -> None:
    assert backoff("15m", 1) == FIRST_BACKOFF
    assert backoff("1m", 1) == timedelta(minutes=1)
    assert backoff("15m", 50) == LAST_BACKOFF
    assert backoff("1d", 50) == timedelta(days=1)
    assert backoff("0 6 * * *", 1) == FIRST_BACKOFF


@given(schedule=schedules, wait=st.integers(1, 10**6))
def test_it_is_waited_as_long_as_the_source_asked(schedule: str, wait: int) -> None:
    state = replace(WELL, faults=1, not_before=NOW + timedelta(seconds=wait))
    found = next_run(schedule, state, NOW)
    assert found is not None
    assert found >= NOW + timedelta(seconds=wait)
    assert found == max(NOW + timedelta(seconds=wait), LAST + backoff(schedule, 1))


@given(schedule=schedules)
def test_a_refused_source_pauses_until_its_credential_changes(schedule: str) -> None:
    state = replace(WELL, faults=1, refused="old")
    assert next_run(schedule, state, NOW, credential="old") is None
    assert next_run(schedule, state, NOW, credential="new") == NOW


@given(name=st.text(), schedule=schedules)
def test_the_spread_is_small_and_always_the_same(name: str, schedule: str) -> None:
    found = spread(name, schedule)
    assert timedelta() <= found <= JITTER
    assert found == spread(name, schedule)
    assert next_run(schedule, replace(WELL, name=name), NOW) == due(schedule, LAST, NOW, spread=found)
    if schedule == "1m":
        assert found <= timedelta(seconds=6)


def test_sources_of_one_schedule_do_not_all_begin_at_once() -> None:
    moments = {next_run("15m", replace(WELL, name=f"source {number}"), NOW) for number in range(30)}
    assert len(moments) == 30


@pytest.mark.parametrize(
    ("schedule", "ago", "stale"),
    [
        ("15m", timedelta(minutes=44), False),
        ("15m", timedelta(minutes=46), True),
        ("*/15 * * * * UTC", timedelta(minutes=40), False),
        ("*/15 * * * * UTC", timedelta(minutes=50), True),
        ("0 6 * * mon UTC", timedelta(days=9), False),
        ("0 6 * * mon UTC", timedelta(days=24), True),
        ("0 0 31 feb * UTC", timedelta(days=900), False),
    ],
)
def test_a_source_is_stale_after_three_of_its_runs(schedule: str, ago: timedelta, stale: bool) -> None:
    assert is_stale(normal_schedule(schedule), NOW - ago, NOW) is stale
    assert not is_stale(normal_schedule(schedule), None, NOW)
