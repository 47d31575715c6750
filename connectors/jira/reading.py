"""Reads issues and attachments."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass, field

from connectors.base import Failure, Origin, SourceDocument, Tombstone
from connectors.jira.documents import Writer, file_id, file_version, issue_id, issue_version, readers_of
from connectors.jira.replies import Attachment, Issue
from connectors.jira.search import Search
from connectors.mishaps import Mishaps
from connectors.patterns import Selection
from ragcore.errors import SourceBadReply, SourceError


@dataclass(slots=True)
class Reader:
    """Reads one site. ``known`` are the versions of the documents that are indexed, by id."""

    origin: Origin
    search: Search
    known: Mapping[str, str] = field(default_factory=dict)
    mishaps: Mishaps = field(init=False)
    _writer: Writer = field(init=False)
    _selection: Selection = field(init=False)
    _indexed_files: dict[str, list[str]] = field(init=False, default_factory=dict)
    """The ids of the attachments that are indexed, by that of their issue."""

    def __post_init__(self) -> None:
        """Make what it reads with."""
        options = self.search.options
        self.mishaps = Mishaps(probe=self.search.check)
        self._writer = Writer(origin=self.origin, search=self.search)
        self._selection = Selection.of(options.include, options.exclude, hidden=True)
        for identity in self.known:
            kind, *natives = self.origin.native_id(identity).split("/")
            if kind == "attachment":
                self._indexed_files.setdefault(natives[0], []).append(identity)

    async def due(self, issue: Issue) -> AsyncGenerator[SourceDocument | Failure | Tombstone, None]:
        """Yield of an issue and its attachments what isn't known so."""
        options = self.search.options
        identity = self.origin.document_id(issue_id(issue))
        if not readers_of(options, issue)[0]:
            for one in (identity, *self._indexed_files.get(issue.id, ())):
                if one in self.known:  # it had no such level before
                    yield Tombstone(id=one)
            return
        version = issue_version(options, issue)
        if self.known.get(identity) != version:
            change = await self._issue(issue)
            yield change
            if isinstance(change, Tombstone):  # it has gone, or has such a level by now
                for one in self._indexed_files.get(issue.id, ()):
                    yield Tombstone(id=one)
                return
        for file in self._files(issue):
            version = file_version(options, issue, file)
            if self.known.get(self.origin.document_id(file_id(issue, file))) != version:
                yield await self._file(issue, file)

    def identities(self, issue: Issue) -> Iterator[str]:
        """Yield the ids of an issue and its attachments, none when it isn't read."""
        if readers_of(self.search.options, issue)[0]:
            yield self.origin.document_id(issue_id(issue))
            for file in self._files(issue):
                yield self.origin.document_id(file_id(issue, file))

    async def fetched(self, identity: str) -> SourceDocument | Failure | Tombstone:
        """Return a document as it is now."""
        kind, *natives = self.origin.native_id(identity).split("/")
        gone = Tombstone(id=identity)
        are_numbers = all(native.isascii() and native.isdigit() for native in natives)
        if (kind, len(natives)) not in {("issue", 1), ("attachment", 2)} or not are_numbers:
            return gone
        try:
            issue = await self.search.one(natives[0])
        except SourceError as error:
            return await self.mishaps.failure(identity, error)
        if issue is None or not readers_of(self.search.options, issue)[0]:
            return gone
        if kind == "issue":
            return await self._issue(issue)
        file = next((one for one in self._files(issue) if one.id == natives[1]), None)
        return gone if file is None else await self._file(issue, file)

    async def _issue(self, issue: Issue) -> SourceDocument | Failure | Tombstone:
        identity = self.origin.document_id(issue_id(issue))
        try:
            comments = await self.search.comments(issue)
            now: Issue | None = issue
            if issue.fields.updated is None or any(one.at > issue.fields.updated for one in comments):
                # What was said since the issue was told of may be for fewer than who could see it then.
                now = await self.search.one(issue.id)
        except SourceError as error:
            told = issue_version(self.search.options, issue)
            readers = readers_of(self.search.options, issue)[1]
            return await self.mishaps.failure(identity, error, told, readers=readers)
        self.mishaps.passed()
        is_read, readers = readers_of(self.search.options, now) if now else (False, None)
        if now is None or not is_read:
            return Tombstone(id=identity)
        issue = issue.at_level_of(now)
        # Jira's own markup takes some two seconds a megabyte.
        return await asyncio.to_thread(self._writer.issue, issue, comments, readers=readers)

    async def _file(self, issue: Issue, file: Attachment) -> SourceDocument | Failure | Tombstone:
        options, identity = self.search.options, self.origin.document_id(file_id(issue, file))
        readers = readers_of(options, issue)[1]
        try:
            if file.size > options.limit:
                raise SourceBadReply(
                    f"{file.filename} has {file.size / 1e6:,.0f} MB, more than {options.limit / 1e6:,.0f}",
                    mend="raise `max_megabytes`, or name it in `exclude`",
                )
            content = await self.search.api.file(self.search.download(file.id, file.content), limit=options.limit)
        except SourceError as error:
            return await self.mishaps.failure(identity, error, file_version(options, issue, file), readers=readers)
        if content is None:
            return Tombstone(id=identity)
        self.mishaps.passed()
        return self._writer.file(issue, file, content, readers=readers)

    def _files(self, issue: Issue) -> list[Attachment]:
        if not self.search.options.attachments:
            return []
        return [one for one in issue.fields.attachment or () if self._selection.takes(one.filename)]
