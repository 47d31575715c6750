"""What a run leaves of how its source stands, for the timetable: faults in a row, waits, refused credentials."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from connectors.base import Options, Origin, SourceType
from connectors.registry import credential
from connectors.schedule import next_run
from connectors.sync import SyncJob, sync
from ragcore.errors import (
    ModelUnreachable,
    SourceAuthError,
    SourceBadReply,
    SourceError,
    SourceGone,
    SourceRateLimited,
)
from ragcore.reports import Fault
from ragcore.stores.sources import SourceStates
from tests.connectors.helpers import at_once, memory_of
from tests.fakes.libraries import opened


@pytest.fixture
async def library(tmp_path):
    async with opened(tmp_path / "data") as found:
        yield found


async def ran(library, memory, *, key="k1", **how):
    job = SyncJob(source="s", type="t", knowledge_base="kb", connector=memory.connector(), credential=key)
    report = [event async for event in sync(library, job, sleep=at_once, **how)][-1]
    return report, await SourceStates(library.database).get("s")


async def test_faults_are_counted_until_a_run_ends_well(library):
    memory = memory_of(a="one")
    memory.breaks_after, memory.error = 0, SourceError("no connection")
    for count in (1, 2, 3):
        report, state = await ran(library, memory)
        assert (state.faults, state.fault, report.fault) == (count, Fault.UNREACHABLE, Fault.UNREACHABLE)
        assert (state.last_success_at, state.last_error) == (None, "no connection")
    memory.error = None
    _, state = await ran(library, memory)
    assert (state.faults, state.fault, state.last_error) == (0, Fault.NONE, "")


async def test_a_long_wait_is_kept_until_it_is_over(library):
    memory = memory_of(a="one")
    memory.breaks_after, memory.error = 0, SourceRateLimited("too many requests", retry_after=7_200)
    _, state = await ran(library, memory)
    assert abs(state.not_before - datetime.now(UTC) - timedelta(hours=2)) < timedelta(minutes=1)
    memory.error = None
    assert (await ran(library, memory))[1].not_before is None


async def test_the_credential_that_was_refused_is_known_by_its_fingerprint(library):
    memory = memory_of(a="one")
    memory.breaks_after, memory.error = 0, SourceAuthError("the token has expired", mend="renew it")
    report, state = await ran(library, memory)
    assert (state.refused, state.fault, report.error) == ("k1", Fault.AUTH, "the token has expired; renew it")
    _, state = await ran(library, memory, key="k2", dry_run=True)
    assert state.refused == "k1", "a dry run changes nothing"
    memory.error = SourceError("no connection")
    assert (await ran(library, memory))[1].refused == "k1", "nobody asked for it this time"
    memory.error = None
    assert (await ran(library, memory))[1].refused == ""


@pytest.mark.parametrize("error", [SourceRateLimited("wait", retry_after=7_200), SourceError("no connection")])
async def test_another_credential_that_meets_another_fault_waits_as_long_as_any_source(library, error):
    memory = memory_of(a="one")
    memory.breaks_after, memory.error = 0, SourceAuthError("no")
    await ran(library, memory)
    memory.error = error
    _, state = await ran(library, memory, key="k2")
    now = datetime.now(UTC)
    assert next_run("15m", state, now, credential="k2") > now + timedelta(minutes=4), "it was tried each minute"
    assert next_run("15m", state, now, credential="k2") >= (state.not_before or now)


def test_a_fingerprint_changes_with_the_secret_and_shows_none(monkeypatch):
    class Tokened(Options):
        token: SecretStr
        page: int = 1

    kind = SourceType(options=Tokened, create=lambda origin, options: None)
    monkeypatch.setattr("connectors.registry.source_type", lambda name: kind)
    origin = Origin(source="s", folder=Path())
    first = credential("t", origin, {"token": "hidden-1"})
    assert first == credential("t", origin, {"token": "hidden-1"})
    assert first != credential("t", origin, {"token": "hidden-2"})
    assert first != credential("t", Origin(source="other", folder=Path()), {"token": "hidden-1"})
    assert "hidden" not in first


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (SourceAuthError("no"), Fault.AUTH),
        (SourceRateLimited("no", retry_after=1), Fault.RATE_LIMITED),
        (SourceGone("no"), Fault.GONE),
        (SourceBadReply("no"), Fault.BAD_REPLY),
        (SourceError("no"), Fault.UNREACHABLE),
        (ModelUnreachable("no"), Fault.OTHER),
        (ZeroDivisionError("no"), Fault.OTHER),
    ],
)
async def test_each_fault_is_told_by_its_kind(library, error, fault):
    memory = memory_of(a="one")
    memory.breaks_after, memory.error = 0, error
    report, state = await ran(library, memory)
    assert (report.fault, state.fault) == (fault, fault)
