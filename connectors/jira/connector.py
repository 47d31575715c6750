"""The connector of the source type ``jira``.

A document's id is ``issue/ID``, or ``attachment/ISSUE/ID``. What was updated is asked for by time, from a little before
the newest time that Jira told; every so often all issues are gone through again, for what doesn't move their time.
"""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from connectors.atlassian import Api, client_of
from connectors.base import Change, Checkpoint, Failure, Origin, SourceDocument, Tombstone
from connectors.cursors import reached, since
from connectors.jira.options import JiraOptions
from connectors.jira.reading import Reader
from connectors.jira.search import Search
from connectors.jira.state import State


@dataclass(slots=True)
class JiraConnector:
    """Reads the issues that a question finds."""

    origin: Origin
    options: JiraOptions

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        """Yield the issues that are new or were updated, those first that were updated longest ago."""
        state, now = State.from_cursor(cursor, self.options.basis()), time.time()
        is_whole = state.walked is not None or not 0 <= now - state.whole < self.options.recheck_hours * 3_600
        if is_whole and state.walked is None:
            state.began, state.walked = now, ""
        start = since(state.walked if is_whole else state.reached)
        async with self._opened(known) as reader:
            async for issues in reader.search.changed(start):
                for issue in issues:
                    async for change in reader.due(issue):
                        yield change
                    state.reached = reached(state.reached, issue.fields.updated)
                    if is_whole:
                        state.walked = reached(state.walked, issue.fields.updated)
                yield Checkpoint(cursor=state.to_cursor())
        if is_whole:
            state.whole, state.walked = state.began, None
        yield Checkpoint(cursor=state.to_cursor())

    async def list_ids(self) -> AsyncIterator[str | Failure]:
        """Yield the id of every issue and attachment that is read."""
        async with self._opened({}) as reader:
            async for issues in reader.search.listed():
                for issue in issues:
                    for identity in reader.identities(issue):
                        yield identity

    async def fetch(self, ids: Sequence[str]) -> AsyncIterator[SourceDocument | Tombstone | Failure]:
        """Yield these documents as they are now."""
        async with self._opened({}) as reader:
            for identity in dict.fromkeys(ids):
                yield await reader.fetched(identity)

    @asynccontextmanager
    async def _opened(self, known: Mapping[str, str]) -> AsyncGenerator[Reader, None]:
        """Let the site be read, once it has said that it knows the account."""
        async with client_of(self.options, product="Jira") as client:
            search = Search(self.options, Api(self.options, client))
            await search.check()
            yield Reader(self.origin, search, known)
