"""How each source stands: what is indexed of it, its last runs, what of it failed, and when it runs next."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from bots.access import Audience
from bots.app.syncing import credential_of
from bots.requests import SourceState
from bots.settings import Settings, SourceSettings
from connectors.schedule import is_stale, next_run
from ragcore.errors import ConfigError
from ragcore.library import Library
from ragcore.reports import FailedDocument
from ragcore.stores import sources as stored
from ragcore.types import Answer


async def source_states(settings: Settings, library: Library, audience: Audience) -> list[SourceState]:
    """Return how each configured source stands, and each that has documents but no settings any more.

    Counted are the documents that the audience may read, so that nobody learns how many others there are; what failed
    is named for the operator alone.
    """
    states = await stored.SourceStates(library.database).all()
    counts = await library.registry.counts_by_source(audience)
    configured = {source.name: source for source in settings.sources}
    found, now = [], datetime.now(UTC)
    for name in [*configured, *(name for name in counts if name not in configured)]:
        source, count = configured.get(name), counts.get(name)
        state = SourceState(
            name=name,
            type=source.type if source else "",
            knowledge_base=source.knowledge_base if source else "",
            documents=count.documents if count else 0,
            chunks=count.chunks if count else 0,
            last_error="" if source else "it has no settings any more",
        )
        if source is not None:
            state = _with_runs(state, settings, source, states.get(name, stored.SourceState(name=name)), now)
        if source is not None and audience is None:
            state = replace(state, failed=await _failed(library, name))
        found.append(state)
    return found


def _with_runs(
    state: SourceState, settings: Settings, source: SourceSettings, runs: stored.SourceState, now: datetime
) -> SourceState:
    moment = (
        next_run(source.schedule, runs, now, credential=_credential(settings, source, runs))
        if source.schedule
        else None
    )
    return replace(
        state,
        last_success=runs.last_success_at,
        last_error=runs.last_error,
        fault=runs.fault,
        next_run=moment,
        is_paused=bool(source.schedule and runs.refused and moment is None),
        is_stale=source.schedule is not None and is_stale(source.schedule, runs.last_success_at, now),
    )


def _credential(settings: Settings, source: SourceSettings, runs: stored.SourceState) -> str:
    if not runs.refused:
        return ""
    try:
        return credential_of(settings, source)
    except ConfigError:
        return ""  # settings that are wrong are told by whoever runs it


async def _failed(library: Library, name: str) -> tuple[FailedDocument, ...]:
    failures = await library.failures.of_source(name)
    return tuple(
        FailedDocument(id=one.document_id, reason=one.reason, mend=one.mend, next_try_at=one.next_try_at)
        for one in failures.values()
    )


async def with_ages(settings: Settings, library: Library, answer: Answer) -> Answer:
    """Tell of each citation when its source was last read, where that has missed three of its runs."""
    schedules: Mapping[str, str] = {source.name: source.schedule for source in settings.sources if source.schedule}
    cited = {citation.document_id.partition(":")[0] for citation in answer.citations} & schedules.keys()
    if not cited:
        return answer
    states, now = await stored.SourceStates(library.database).all(), datetime.now(UTC)
    read = {name: states[name].last_success_at for name in cited if name in states}
    old = {name: at for name, at in read.items() if is_stale(schedules[name], at, now)}
    if not old:
        return answer
    citations = (replace(one, read_at=old.get(one.document_id.partition(":")[0])) for one in answer.citations)
    return replace(answer, citations=tuple(citations))
