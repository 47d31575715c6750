"""Issues and merge requests, with their comments.

A list of few is read whole, under the condition that it has changed. Of a longer one, what changed is asked for by time
(``updated_after``), and how many there are: when that isn't what is known with what is new, one is gone, and the list
of all is read. So it is every hour besides: a comment that is deleted leaves the time of its issue as it was, and
lists of more than 10,000 aren't counted (https://docs.gitlab.com/user/gitlab_com/).
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from connectors.base import Estimate, Failure, SourceDocument, Tombstone
from connectors.cursors import reached, since
from connectors.forge.rounds import Step
from connectors.forge.stamps import Stamp, told_exactly
from connectors.gitlab.api import PER_PAGE
from connectors.gitlab.conversation import Kind, discussions, document
from connectors.gitlab.replies import ISSUE, ISSUES, Issue
from connectors.gitlab.scope import Scope
from connectors.gitlab.state import ListMemory
from ragcore.errors import SourceError, SourceGone

_WALK_AGAIN = timedelta(hours=1)
_SETTLED = timedelta(minutes=2)
"""GitLab moves the time of an issue for its comments no more than once a minute: one that is edited soon after another
change leaves time and count as they were. What was read so soon is read once more."""
_SOON = " soon"
"""What stands behind the version of what was read so soon."""


@dataclass(slots=True)
class Threads:
    """Reads one project's issues, or its merge requests."""

    scope: Scope
    kind: Kind
    numbers: dict[int, bool] = field(default_factory=dict)
    """All that there are, and whether they are wanted."""
    _newest: datetime | None = None
    _condition: tuple[str, str] = ("", "")
    """An address whose answer told all that changed, and its ETag."""
    _is_unchanged: bool = False
    """Whether the list of all is what is remembered."""
    _is_soon: bool = False
    """Whether something was read that may change without a list telling so."""
    _tried: dict[str, Stamp] = field(default_factory=dict)
    """What this run has read or failed to, by id."""

    @property
    def ids(self) -> list[str]:
        """The ids of all that there are and are wanted."""
        return [self._identity(number) for number, is_wanted in self.numbers.items() if is_wanted]

    async def changes(self, memory: ListMemory, known: Mapping[str, str]) -> AsyncGenerator[Step, None]:
        """Yield every thread that is new or has changed; None after each batch. Fills ``numbers``."""
        is_short, is_whole = len(memory.numbers) < PER_PAGE, False
        start = None if is_short else since(memory.time)
        if start is not None:
            self.numbers = _unsigned(memory.numbers)
            async for issues in self._told("updated", start, memory):
                async for step in self._due(issues, known):
                    yield step
            is_whole = await self._is_whole(memory)
        if not is_whole:
            self.numbers = {}
            async for issues in self._told("created", memory=memory if is_short else None):
                async for step in self._due(issues, known):
                    yield step
            if self._is_unchanged:
                self.numbers = _unsigned(memory.numbers)
            # Of a list of few it isn't asked, and a cursor that stays as it was shows that nothing was new.
            memory.walked = self.scope.date if len(self.numbers) >= PER_PAGE else None
        # What is changed while it is read, before the newest change that was told, must lie behind the cursor.
        newest, date = self._newest, self.scope.date
        memory.url, memory.etag = ("", "") if self._is_soon else self._condition
        memory.time = reached(memory.time, min(newest, date) if newest and date else newest)
        memory.numbers = [number if is_wanted else -number for number, is_wanted in self.numbers.items()]

    async def list_ids(self) -> None:
        """Fill ``numbers`` alone."""
        async for issues in self._told("created"):
            self._note(issues)

    async def fetch(self, places: Sequence[str]) -> AsyncGenerator[SourceDocument | Failure | Tombstone, None]:
        """Yield these threads as they are now."""
        for place in dict.fromkeys(places):
            identity = self.scope.identity(place)
            change: SourceDocument | Failure | None
            try:
                issue = await self._asked(place.removeprefix(self.kind.place))
                change = None if issue is None else await self._document(issue)
            except SourceError as error:
                change = await self.scope.mishaps.failure(identity, error)
            yield change or Tombstone(id=identity)

    async def _told(
        self, key: str, start: datetime | None = None, memory: ListMemory | None = None
    ) -> AsyncGenerator[list[Issue], None]:
        """Yield what a list tells since a time, oldest first.

        A page is followed by asking again from its last time on: what changes meanwhile moves to the end, and what is
        deleted lets the pages by number shift and leave something out. GitLab also refuses pages too far from the
        first.
        """
        page, seen, is_first = 1, set[tuple[int, datetime]](), True
        while True:
            after = f"&{key}_after={told_exactly(start)}" if start else ""
            url = f"{self._list}&order_by={key}_at&sort=asc&per_page={PER_PAGE}&page={page}{after}"
            is_known = is_first and memory is not None and memory.url == url
            got = await self.scope.api.get(ISSUES, url, etag=memory.etag if memory and is_known else "")
            if is_first and memory is not None and (got.value is None or len(got.value) < PER_PAGE) and not got.next:
                self._condition = (url, got.etag)  # of all that there is, so that nothing new stands behind it
            if got.value is None:
                self._is_unchanged = key == "created"
                return
            items = [item for item in got.value if (item.iid, item.updated_at) not in seen]
            seen |= {(item.iid, item.updated_at) for item in items}
            yield items
            if not got.next:
                return
            last = max((_time(item, key) for item in got.value), default=start)
            is_further = last is not None and (start is None or last > start)
            start, page = (last, 1) if is_further else (start, page + 1)
            is_first = False

    async def _due(self, issues: Sequence[Issue], known: Mapping[str, str]) -> AsyncGenerator[Step, None]:
        """Yield of some threads those that aren't known so."""
        due = [issue for issue in self._note(issues) if self._is_due(issue, known)]
        for issue in issues:
            if not self._is_wanted(issue) and self._identity(issue.iid) in known:
                yield Tombstone(id=self._identity(issue.iid))
        if due:
            yield Estimate(documents=len(due))
        for issue in due:
            change = await self._attempt(issue)
            if change is not None:
                yield change
        if due:
            yield None

    async def _is_whole(self, memory: ListMemory) -> bool:
        """Tell whether ``numbers`` are all that there are."""
        total = (await self.scope.api.get(ISSUES, f"{self._list}&per_page=1")).total
        walked, now = memory.walked, self.scope.date
        is_recent = walked is not None and now is not None and timedelta(0) <= now - walked < _WALK_AGAIN
        return is_recent and total in {None, len(self.numbers)}

    async def _asked(self, number: str) -> Issue | None:
        """Return a thread, None when it is gone or not wanted."""
        if not (number.isascii() and number.isdigit()):
            return None
        got = await self.scope.api.get(
            ISSUE, f"{self.scope.path}/{self.kind.name}/{number}", passing=frozenset({404, 410})
        )
        return got.value if got.value is not None and self._is_wanted(got.value) else None

    async def _attempt(self, issue: Issue) -> SourceDocument | Failure | None:
        try:
            return await self._document(issue)
        except SourceError as error:
            stamp, identity = self._stamp(issue), self._identity(issue.iid)
            self._tried[identity] = stamp
            failure = await self.scope.mishaps.failure(identity, error, stamp.version)
            return self.scope.known(failure, confidential=issue.confidential)

    async def _document(self, issue: Issue) -> SourceDocument | None:
        """Return a thread as a document, None when it vanished since it was told of."""
        try:
            threads = await discussions(self.scope, self.kind, issue)
        except SourceGone:
            # Its comments may be missing for another reason than that it is gone, and then it must not be passed over.
            if await self._asked(str(issue.iid)) is None:
                self.numbers.pop(issue.iid, None)
                return None
            raise
        self.scope.mishaps.passed()
        stamp = self._stamp(issue)
        is_issue = self.kind.name == "issues"
        if is_issue and any(note.created_at > issue.updated_at for told in threads for note in told.notes):
            # What was said since the list told of it may have been said in confidence.
            now = await self._asked(str(issue.iid))
            if now is None:
                self.numbers.pop(issue.iid, None)
                return None
            issue = issue.model_copy(update={"confidential": issue.confidential or now.confidential})
        self._tried[self._identity(issue.iid)] = stamp
        date = self.scope.date
        is_soon = date is not None and issue.updated_at > date - _SETTLED
        self._is_soon = self._is_soon or is_soon
        version = stamp.version + _SOON * is_soon
        # A long comment takes a third of a second to look through.
        return await asyncio.to_thread(document, self.scope, self.kind, issue, threads, version=version)

    def _note(self, issues: Sequence[Issue]) -> list[Issue]:
        """Take note of what a list told, and return what of it is wanted."""
        wanted = [issue for issue in issues if self._is_wanted(issue)]
        self.numbers |= {issue.iid: self._is_wanted(issue) for issue in issues}
        for issue in issues:
            self._newest = issue.updated_at if self._newest is None else max(self._newest, issue.updated_at)
        return wanted

    def _is_wanted(self, issue: Issue) -> bool:
        return not issue.confidential or self.scope.options.confidential

    def _is_due(self, issue: Issue, known: Mapping[str, str]) -> bool:
        identity = self._identity(issue.iid)
        version = known.get(identity, "")
        held = self._tried.get(identity) or Stamp.from_version("" if version.endswith(_SOON) else version)
        return not held.tells_of(self._stamp(issue))

    def _stamp(self, issue: Issue) -> Stamp:
        return Stamp.of(salt=self.scope.salt, updated=issue.updated_at, comments=issue.user_notes_count, exact=True)

    @property
    def _list(self) -> str:
        return f"{self.scope.path}/{self.kind.name}?scope=all&state=all"

    def _identity(self, number: int) -> str:
        return self.scope.identity(f"{self.kind.place}{number}")


def _unsigned(numbers: Sequence[int]) -> dict[int, bool]:
    """Return numbers as they are remembered, where those that aren't wanted are negative."""
    return {abs(number): number > 0 for number in numbers}


def _time(issue: Issue, key: str) -> datetime:
    return issue.updated_at if key == "updated" else issue.created_at
