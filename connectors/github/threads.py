"""Issues and pull requests, with their comments.

What changed is asked for by time (``since``), comments too, for one that is edited may leave its issue's time as it
was. Besides the list of all is walked, each page under the condition that it has changed: it shows what is gone, and
whatever the question by time has missed.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from connectors.base import Estimate, Failure, SourceDocument, Tombstone
from connectors.cursors import reached, since
from connectors.forge.rounds import Step
from connectors.forge.stamps import Stamp, told
from connectors.github.api import PER_PAGE
from connectors.github.conversation import Conversation, place_of
from connectors.github.replies import COMMENTS, ISSUE, ISSUES, Comment, Issue
from connectors.github.scope import Scope
from connectors.github.state import Page, ThreadsMemory
from ragcore.errors import SourceError, SourceGone

ISSUES_PLACE, PULLS_PLACE = "issues/", "pull/"
_ONE_SECOND = timedelta(seconds=1)
_CONFIRMED = 9
"""Threads missing from the list that are asked for one by one; more than that the run's own guard doubts."""


@dataclass(slots=True)
class Threads:
    """Reads one repository's issues and pull requests."""

    scope: Scope
    numbers: dict[int, None] = field(default_factory=dict)
    """All that there are, those of pull requests negative."""
    _newest: datetime | None = None
    _read: dict[str, Stamp] = field(default_factory=dict)
    """What this run has read, by id."""
    _failed: set[str] = field(default_factory=set)
    """What this run could not read, by id: one thread of many comments is one document that fails, and not many."""

    @property
    def ids(self) -> list[str]:
        """The ids of all that there are and are wanted."""
        places = (place_of(abs(number), is_pull=number < 0) for number in self.numbers)
        return [self.scope.identity(place) for place in places if self._is_wanted(place)]

    async def changes(self, memory: ThreadsMemory, known: Mapping[str, str]) -> AsyncGenerator[Step, None]:
        """Yield every thread that is new or has changed; None after each batch. Fills ``numbers``."""
        start, etags = since(memory.time), dict[str, str]()
        if start is not None and self._lists_issues:
            async for step in self._since(start, memory.etags, etags, known):
                yield step
        async for step in self._walk(memory, known):
            yield step
        # What is changed while it is read, before the newest change that was told, must lie behind the cursor.
        if self._newest and self.scope.date:
            self._newest = min(self._newest, self.scope.date)
        memory.time, memory.etags = reached(memory.time, self._newest), etags

    async def list_ids(self) -> None:
        """Fill ``numbers`` alone."""
        async for _, issues in self._pages(ThreadsMemory()):
            self.numbers |= dict.fromkeys(self._numbers(issues or []))

    async def fetch(self, places: Sequence[str]) -> AsyncGenerator[SourceDocument | Failure | Tombstone, None]:
        """Yield these threads as they are now."""
        for place in dict.fromkeys(places):
            identity = self.scope.identity(place)
            change: SourceDocument | Failure | None
            try:
                issue = await self._asked(place)
                change = None if issue is None else await self._document(issue)
            except SourceError as error:
                self._failed.add(identity)
                change = self.scope.known(await self.scope.mishaps.failure(identity, error))
            yield change or Tombstone(id=identity)

    @property
    def _lists_issues(self) -> bool:
        """Whether there are issues: a repository that has them switched off still has pull requests."""
        return self.scope.about.has_issues

    async def _since(
        self, start: datetime, earlier: Mapping[str, str], etags: dict[str, str], known: Mapping[str, str]
    ) -> AsyncGenerator[Step, None]:
        """Yield what has changed since a time, by its own time or by that of its comments."""
        async for issues in self._changed(ISSUES, "issues?state=all&", start, earlier, etags):
            async for step in self._due(issues, known):
                yield step
        kinds = ["issues", "pulls"] if "pulls" in self.scope.options.kinds else ["issues"]
        for kind in kinds:
            async for comments in self._changed(COMMENTS, f"{kind}/comments?", start, earlier, etags):
                async for step in self._commented(comments, known):
                    yield step

    async def _changed(
        self, kind: Any, path: str, start: datetime, earlier: Mapping[str, str], etags: dict[str, str]
    ) -> AsyncGenerator[list[Any], None]:
        """Yield what a list tells since a time, oldest first.

        A page is followed by asking again from its last time on: what changes meanwhile moves to the end, and the
        pages by number would shift and leave something out.
        """
        page, seen, is_first = 1, set[tuple[str, datetime]](), True
        while True:
            asked = f"{path}sort=updated&direction=asc&per_page={PER_PAGE}&since={told(start)}&page={page}"
            url = f"{self.scope.path}/{asked}"
            got = await self.scope.api.get(kind, url, etag=earlier.get(url, ""))
            if is_first and got.etag and not got.next:
                etags[url] = got.etag  # of all that there is, so that nothing new stands behind it
            items = [item for item in got.value or () if (item.html_url, item.updated_at) not in seen]
            seen |= {(item.html_url, item.updated_at) for item in items}
            for item in items:
                self._tell(item.updated_at)
            yield items
            if not got.next:
                return
            moved = max((item.updated_at for item in items), default=start) - _ONE_SECOND
            start, page = (moved, 1) if moved > start else (start, page + 1)
            is_first = False

    async def _due(self, issues: Sequence[Issue], known: Mapping[str, str]) -> AsyncGenerator[Step, None]:
        """Yield of some threads those that aren't known so."""
        due = [issue for issue in issues if self._is_due(issue, known)]
        if due:
            yield Estimate(documents=len(due))
        for issue in due:
            document = await self._tried(issue)
            if document is not None:
                yield document
        if due:
            yield None

    async def _commented(self, comments: Sequence[Comment], known: Mapping[str, str]) -> AsyncGenerator[Step, None]:
        """Yield the threads of comments that aren't known so, each at most once where it fails."""
        for comment in comments:
            place = place_of(comment.number, is_pull="/pull/" in comment.html_url)
            identity = self.scope.identity(place)
            is_known = identity in self._failed or self._known(identity, known).has(comment.updated_at)
            if comment.number and self._is_wanted(place) and not is_known:
                async for change in self.fetch([place]):
                    if not isinstance(change, Tombstone):
                        yield change

    async def _walk(self, memory: ThreadsMemory, known: Mapping[str, str]) -> AsyncGenerator[Step, None]:
        """Yield what differs from what is known, over the list of all."""
        count = 0
        async for page, issues in self._pages(memory):
            if issues is not None:
                for issue in issues:
                    self._tell(issue.updated_at)
                async for step in self._due(issues, known):
                    yield step
            memory.pages[count : count + 1] = [page]
            self.numbers |= dict.fromkeys(page.numbers)
            count += 1
            yield None
        del memory.pages[count:]
        await self._confirm(known)

    async def _pages(self, memory: ThreadsMemory) -> AsyncGenerator[tuple[Page, list[Issue] | None], None]:
        """Yield each page of the list of all, oldest first, and what stands on it; None: what it told before."""
        kind = "issues" if self._lists_issues else "pulls"
        begin = f"{self.scope.path}/{kind}?state=all&sort=created&direction=asc&per_page={PER_PAGE}"
        earlier, number = list(memory.pages), 0
        while True:
            held = earlier[number] if number < len(earlier) else Page(etag="", numbers=[])
            number += 1
            got = await self.scope.api.get(ISSUES, f"{begin}&page={number}", etag=held.etag)
            page = held
            if got.value is not None:
                page = Page(etag=got.etag, numbers=self._numbers(got.value), is_followed=bool(got.next))
            yield page, got.value
            # That a page has changed doesn't show when another begins behind it, and one that others follow may hold
            # fewer than it could: what spammers wrote is left out of it.
            if not (got.next or page.is_followed) and len(page.numbers) < PER_PAGE:
                return

    async def _confirm(self, known: Mapping[str, str]) -> None:
        """Ask for what is known and stands in no list: one that is deleted meanwhile lets the pages shift."""
        begins = tuple(self.scope.identity(place) for place in (ISSUES_PLACE, PULLS_PLACE))
        missing = {identity for identity in known if identity.startswith(begins)} - set(self.ids)
        for identity in sorted(missing) if len(missing) <= _CONFIRMED else ():
            issue = await self._asked(identity.removeprefix(self.scope.identity("")))
            self.numbers |= dict.fromkeys(self._numbers([issue] if issue else []))

    async def _asked(self, place: str) -> Issue | None:
        """Return a thread, None when it is gone, in another repository by now, or of another kind than its id says."""
        scope, number = self.scope, place.rpartition("/")[2]
        if not (number.isascii() and number.isdigit()):
            return None
        kind = "issues" if self._lists_issues else "pulls"
        got = await scope.api.get(ISSUE, f"{scope.path}/{kind}/{number}", passing=frozenset({404, 410}))
        issue = got.value
        if issue is None or not issue.html_url.lower().startswith(f"{scope.about.html_url}/".lower()):
            return None
        return issue if self._place(issue) == place else None

    async def _tried(self, issue: Issue) -> SourceDocument | Failure | None:
        try:
            return await self._document(issue)
        except SourceError as error:
            stamp, identity = self._stamp(issue), self.scope.identity(self._place(issue))
            self._read[identity] = stamp
            self._failed.add(identity)
            return self.scope.known(await self.scope.mishaps.failure(identity, error, stamp.version))

    async def _document(self, issue: Issue) -> SourceDocument | None:
        """Return a thread as a document, None when it vanished since it was told of."""
        scope, is_pull = self.scope, self._is_pull(issue)
        try:
            conversation = await Conversation.read(scope, issue, is_pull=is_pull)
        except SourceGone:
            # Its comments may be missing for another reason than that it is gone, and then it must not be passed over.
            if await self._asked(self._place(issue)) is None:
                return None
            raise
        scope.mishaps.passed()
        stamp = self._stamp(issue).with_newest(conversation.newest)
        # A long comment takes a third of a second to look through.
        document = await asyncio.to_thread(conversation.document, version=stamp.version)
        self._read[document.id] = stamp
        return scope.known(document)

    def _stamp(self, issue: Issue) -> Stamp:
        # The list of pull requests counts no comments, and what is asked for by its number does.
        comments = issue.comments if self._lists_issues else None
        return Stamp.of(salt=self.scope.salt, updated=issue.updated_at, comments=comments)

    def _known(self, identity: str, known: Mapping[str, str]) -> Stamp:
        return self._read.get(identity) or Stamp.from_version(known.get(identity, ""))

    def _is_due(self, issue: Issue, known: Mapping[str, str]) -> bool:
        place = self._place(issue)
        stamp = self._known(self.scope.identity(place), known)
        return self._is_wanted(place) and not stamp.tells_of(self._stamp(issue))

    def _is_wanted(self, place: str) -> bool:
        return ("pulls" if place.startswith(PULLS_PLACE) else "issues") in self.scope.options.kinds

    def _is_pull(self, issue: Issue) -> bool:
        return issue.pull_request is not None or not self._lists_issues

    def _place(self, issue: Issue) -> str:
        return place_of(issue.number, is_pull=self._is_pull(issue))

    def _numbers(self, issues: Sequence[Issue]) -> list[int]:
        return [-issue.number if self._is_pull(issue) else issue.number for issue in issues]

    def _tell(self, moment: datetime) -> None:
        self._newest = moment if self._newest is None else max(self._newest, moment)
