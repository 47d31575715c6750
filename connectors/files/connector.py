"""The connector of the source type ``files``.

A document is a file, by its path relative to the folder, a line of a JSONL file, by ``<path>#<id>``, or what is
attached to a mail, by ``<path>#<number>``. What changed is told by each file's version, which is whatever its place has
(size and times, an ETag), and for lines by their content.
"""

import hashlib
import os
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import quote

from connectors.base import Change, Checkpoint, Estimate, Failure, Origin, SourceDocument, Tombstone
from connectors.batches import batches
from connectors.files.jsonl import LineDocument
from connectors.files.lines import ONE_DOCUMENT, LineFiles, is_line_file, remembered
from connectors.files.local import LocalPlace
from connectors.files.mails import MailFiles, is_mail_file
from connectors.files.options import FilesOptions
from connectors.files.place import Blocked, Found, Place, Unread, Whole
from connectors.files.remote import Address, RemotePlace, is_url, local_path
from connectors.patterns import Selection

_BATCH = 64  # files between two checkpoints
_BATCH_BYTES = 16_000_000
_SIGN = 10_000  # files between two signs of life
_UNTOLD = 4_000_000  # bytes that a file of unknown size is reckoned with

# A text that begins as a piece of a web page is one.
_MARKUP = re.compile(
    r"\s*<(?:!doctype html|html|body|article|section|main|div|p|h[1-6]|ul|ol|dl|table|blockquote)[\s>].*</", re.I | re.S
)


@dataclass(slots=True)
class FilesConnector:
    """Reads one folder, wherever it is."""

    origin: Origin
    options: FilesOptions
    _place: Place = field(init=False)
    _lines: LineFiles = field(init=False)
    _mails: MailFiles = field(init=False)
    _limit: int = field(init=False)
    _salt: str = field(init=False)
    _walked: list[Found | Blocked] | None = field(init=False, default=None)
    """What the last walk of a place that lists dearly found, for the listing that follows it."""

    def __post_init__(self) -> None:
        """Work out the place, the limit in bytes, and what stands for all that every address depends on."""
        self._limit = int(self.options.max_megabytes * 1_000_000)
        self._place = self._made_place()
        self._lines = LineFiles(origin=self.origin, place=self._place, document=self._line_document)
        # What is attached belongs to a mail that was taken: only what is left out everywhere is left out there.
        names = Selection.of((), self.options.exclude, hidden=True)
        self._mails = MailFiles(origin=self.origin, place=self._place, selection=names, limit=self._limit)

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        """Yield every file, and every line of a JSONL file, whose version isn't the known one."""
        self._walked = None
        async with self._place, aclosing(self._changes(cursor, known)) as changes:
            async for change in changes:
                yield change

    async def _changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncGenerator[Change, None]:
        due: list[Found] = []
        walked: list[Found | Blocked] = []
        count = 0
        async for spot in self._place.files(self._selection()):
            if self._place.lists_dearly:
                walked.append(spot)
            if isinstance(spot, Blocked):
                yield self._blocked(spot)
            elif self._is_known(spot, known):
                self._lines.keep_single(spot)
            else:
                due.append(spot)
            count += 1
            if count % _SIGN == 0:
                yield Estimate(documents=len(due))  # a sign of life: a walk of millions of files takes long
        line_files = [file for file in due if is_line_file(file)]
        due = [file for file in due if not is_line_file(file)]
        yield Estimate(documents=len(due))
        for batch in batches(due, _expected, most_bytes=_BATCH_BYTES, most=_BATCH):
            for file, found in zip(batch, await self._place.read(batch, limit=self._limit), strict=True):
                async for document in self._documents(file, found):
                    yield document
            yield Checkpoint(cursor=cursor)
        async for change in self._changed_lines(line_files, cursor, known):
            yield change
        if self._place.lists_dearly:
            self._walked = walked
        yield Checkpoint(cursor=self._lines.to_cursor())

    async def _changed_lines(
        self, line_files: Sequence[Found], cursor: str | None, known: Mapping[str, str]
    ) -> AsyncGenerator[Change, None]:
        """Yield what is new in those JSONL files that aren't as the cursor remembers them."""
        earlier, known_ids = remembered(cursor), sorted(known) if line_files else []
        for file in line_files:
            if not self._lines.is_as_remembered(file, earlier, known_ids):
                async for change in self._line_changes(file, known):
                    yield change or Checkpoint(cursor=cursor)

    async def _line_changes(
        self, file: Found, known: Mapping[str, str]
    ) -> AsyncGenerator[SourceDocument | Failure | None, None]:
        """Yield what is new in a JSONL file; None after each batch."""
        async for line in self._lines.changes(file, known):
            if line != ONE_DOCUMENT:
                yield line
                continue
            (found,) = await self._place.read([file], limit=self._limit)
            yield self._read(file, found)
            yield None

    async def list_ids(self) -> AsyncIterator[str | Failure]:
        """Yield the id of every file and line there is now."""
        async with self._place, aclosing(self._spots()) as spots:
            async for spot in spots:
                if isinstance(spot, Blocked):
                    yield self._blocked(spot)
                elif is_line_file(spot):
                    async for found in self._lines.ids(spot):
                        yield found
                elif is_mail_file(spot):
                    async for found in self._mails.ids(spot):
                        yield found
                else:
                    yield self.origin.document_id(spot.native_id)

    async def fetch(self, ids: Sequence[str]) -> AsyncIterator[SourceDocument | Tombstone | Failure]:
        """Yield these documents as they are now, by a walk, so that only what a sync would take is read."""
        wanted = dict.fromkeys(self.origin.native_id(document_id) for document_id in ids)
        async with self._place, aclosing(self._place.files(self._selection())) as spots:
            async for spot in spots:
                async for found in self._wanted(spot, wanted):
                    yield found
        for native in wanted:
            yield Tombstone(id=self.origin.document_id(native))

    async def _wanted(self, spot: Found | Blocked, wanted: dict[str, None]) -> AsyncIterator[SourceDocument | Failure]:
        """Yield what is wanted of a spot, and take it off the list."""
        if isinstance(spot, Blocked):
            for native in [native for native in wanted if native == spot.native_id or _is_behind(native, spot)]:
                del wanted[native]
                yield Failure(id=self.origin.document_id(native), reason=spot.reason, mend=spot.mend)
            return
        if is_mail_file(spot):
            async for document in self._wanted_of_mail(spot, wanted):
                yield document
            return
        is_whole = not is_line_file(spot)
        if is_line_file(spot):
            async for line in self._lines.wanted(spot, wanted):
                if line == ONE_DOCUMENT:
                    is_whole = True
                else:
                    yield line
        if is_whole and spot.native_id in wanted:
            (found,) = await self._place.read([spot], limit=self._limit)
            if not (isinstance(found, Unread) and found.is_gone):
                del wanted[spot.native_id]
                yield self._read(spot, found)

    async def _wanted_of_mail(
        self, file: Found, wanted: dict[str, None]
    ) -> AsyncGenerator[SourceDocument | Failure, None]:
        """Yield what is wanted of a mail and what is attached to it, and take it off the list."""
        here = [native for native in wanted if native == file.native_id or native.startswith(f"{file.native_id}#")]
        if not here:
            return
        (found,) = await self._place.read([file], limit=self._limit)
        if isinstance(found, Unread):
            if not found.is_gone:
                for native in here:
                    del wanted[native]
                    yield Failure(id=self.origin.document_id(native), reason=found.reason, mend=found.mend)
            return
        async for document in self._documents(file, found):
            if self.origin.native_id(document.id) in wanted:
                del wanted[self.origin.native_id(document.id)]
                yield document

    async def _documents(self, file: Found, found: Whole | Unread) -> AsyncGenerator[SourceDocument | Failure, None]:
        """Yield a file that was read, with what is attached to it, or why it couldn't be read."""
        read = self._read(file, found)
        if is_mail_file(file):
            async for document in self._mails.documents(file, read):
                yield document
        else:
            yield read

    async def _spots(self) -> AsyncGenerator[Found | Blocked, None]:
        """Yield what is there: by a walk, but where listing is dear what this run's walk has found."""
        walked, self._walked = self._walked, None
        if walked is not None:
            for spot in walked:
                yield spot
            return
        async for spot in self._place.files(self._selection()):
            yield spot

    def _made_place(self) -> Place:
        path = self.options.path
        if is_url(path):
            address = Address.of(path, self.options.storage_options, folder=self.origin.folder)
            self._salt = _short_hash(self.options.base_url or address.shown())
            return RemotePlace(address=address, salt=self._salt)
        # It leaves "~nobody" as it is, which is then told as a folder that isn't there; Path.expanduser raises.
        root = self.origin.folder / os.path.expanduser(local_path(path))
        self._salt = _short_hash(self.options.base_url or str(root))
        return LocalPlace(root=root, salt=self._salt)

    def _selection(self) -> Selection:
        return Selection.of(self.options.include, self.options.exclude, hidden=self.options.hidden)

    def _is_known(self, file: Found, known: Mapping[str, str]) -> bool:
        if is_mail_file(file):
            return self._mails.is_known(file, known)
        return bool(file.version) and known.get(self.origin.document_id(file.native_id)) == file.version

    def _read(self, file: Found, found: Whole | Unread) -> SourceDocument | Failure:
        """Return a file that was read as a document, or why it couldn't be read."""
        identity = self.origin.document_id(file.native_id)
        if isinstance(found, Unread):
            return Failure(id=identity, reason=found.reason, mend=found.mend)
        return SourceDocument(
            id=identity,
            source=self.origin.source,
            content=found.content,
            name=file.native_id.rpartition("/")[2],
            url=self._url(file),
            version=found.version,
            updated_at=_moment(found.modified),
        )

    def _line_document(self, file: Found, line: LineDocument) -> SourceDocument:
        return SourceDocument(
            id=self._lines.prefix(file) + line.id,
            source=self.origin.source,
            content=line.text.encode("utf-8"),
            media_type="text/html" if _MARKUP.match(line.text) else "text/plain",
            title=line.title,
            url=line.url or self._url(file),
            author=line.author,
            version=f"{line.hash}-{self._salt}",
            updated_at=line.updated_at or _moment(file.modified),
        )

    def _url(self, file: Found) -> str:
        if self.options.base_url:
            return self.options.base_url.replace("{path}", quote(file.native_id, safe="/"))
        return self._place.url(file)

    def _blocked(self, spot: Blocked) -> Failure:
        covers = self.origin.document_id(spot.hides) if spot.hides else ""
        return Failure(id=self.origin.document_id(spot.native_id), reason=spot.reason, mend=spot.mend, covers=covers)


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]


def _is_behind(native: str, spot: Blocked) -> bool:
    return bool(spot.hides) and native.startswith(spot.hides)


def _moment(seconds: float | None) -> datetime | None:
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _expected(file: Found) -> int:
    return _UNTOLD if file.size is None else file.size
