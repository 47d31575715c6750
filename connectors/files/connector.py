"""The connector of the source type ``files``.

A document is a file, by its path relative to the folder, or a line of a JSONL file, by ``<path>#<id>``. What changed is
told by a file's size and times, and for lines by their content; a JSONL file that is as the cursor remembers it isn't
opened.
"""

import asyncio
import hashlib
import json
import re
from bisect import bisect_left
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from pydantic import Field, field_validator

from connectors.base import Change, Checkpoint, Estimate, Failure, Options, Origin, Tombstone
from connectors.files.jsonl import ENDINGS, BrokenLine, LineDocument, documents_from_jsonl, holds_documents
from connectors.files.patterns import Selection, compiled
from connectors.files.reading import Unread, read_whole, too_large, unreadable
from connectors.files.walk import Blocked, Found, Walk, version_of
from ragcore.types import SourceDocument

_BATCH = 64  # files, or lines, between two checkpoints
_BATCH_BYTES = 16_000_000
_PAGE = 1_000  # places or lines looked at in a thread before others may run

# A text that begins as a piece of a web page is one.
_MARKUP = re.compile(
    r"\s*<(?:!doctype html|html|body|article|section|main|div|p|h[1-6]|ul|ol|dl|table|blockquote)[\s>].*</", re.I | re.S
)

T = TypeVar("T")


class FilesOptions(Options):
    """A folder on this machine, or on a share that it mounts, with all that is in it; or a single file.

    Patterns are compared without regard to case: `*.md` with names at any depth, `docs/*.md` with paths relative to the
    folder, `drafts` means all that is in a folder of that name, `**` any number of folders. Left out without being
    asked: hidden files, what programs leave behind (`~$report.docx`, `*.tmp`, `Thumbs.db`, `node_modules`), and, unless
    `include` names them, pictures, sound, film and fonts. Links are followed to what lies inside the folder alone.

    A `.jsonl` or `.ndjson` file whose lines have `id` and `text` is a document a line, with `title`, `url`, `author`,
    `updated_at` where they stand; a broken line is told by its number, and the others are taken.
    """

    path: str = Field(min_length=1, description="the folder, or one file")
    include: tuple[str, ...] = Field(
        default=(),
        description='glob patterns of the files to take, such as `["**/*.md"]`; default: all but pictures and media',
    )
    exclude: tuple[str, ...] = Field(default=(), description="glob patterns of files and folders to leave out")
    hidden: bool = Field(
        default=False, description="whether files and folders whose name begins with a dot are taken too"
    )
    base_url: str = Field(
        default="",
        description="where a reader finds a file: `{path}` stands for its path; default: a `file://` address",
    )
    max_megabytes: float = Field(default=200, gt=0, description="larger files are reported instead of read")

    @field_validator("include", "exclude")
    @classmethod
    def _are_patterns(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            try:
                compiled(pattern)
            except re.error as error:
                raise ValueError(f'"{pattern}" is no pattern: {error}') from error
        return patterns

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        if url and not re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", url):
            raise ValueError('must be an address such as "https://wiki.example.org/{path}"')
        return url if not url or "{path}" in url else f"{url.rstrip('/')}/{{path}}"


@dataclass(frozen=True, slots=True)
class _Lines:
    """A JSONL file as it was read: its version, and the ids of its documents."""

    version: str
    ids: frozenset[str]


@dataclass(slots=True)
class FilesConnector:
    """Reads one folder. All that touches the disk runs in threads."""

    origin: Origin
    options: FilesOptions
    _whole: dict[str, _Lines] = field(init=False, default_factory=dict)
    """The JSONL files that were read without a fault in this run, or are known to be as they were."""
    _root: Path = field(init=False)
    _limit: int = field(init=False)
    _salt: str = field(init=False)

    def __post_init__(self) -> None:
        """Work out the folder, the limit in bytes, and what stands for all that every address depends on."""
        self._root = self.origin.folder / Path(self.options.path).expanduser()
        self._limit = int(self.options.max_megabytes * 1_000_000)
        base = self.options.base_url or str(self._root)
        self._salt = hashlib.sha256(base.encode("utf-8", "replace")).hexdigest()[:8]

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        """Yield every file, and every line of a JSONL file, whose version isn't the known one."""
        due: list[Found] = []
        line_files: list[Found] = []
        async for place in self._places():
            if isinstance(place, Blocked):
                yield self._blocked(place)
            elif await _is_line_file(place):
                line_files.append(place)
            elif not self._is_known(place, known):
                due.append(place)
        yield Estimate(documents=len(due))
        for batch in _batches(due):
            for change in await asyncio.to_thread(self._read_all, batch):
                yield change
            yield Checkpoint(cursor=cursor)
        remembered = _from_cursor(cursor)
        known_ids = sorted(known) if line_files else []
        for file in line_files:
            if not self._is_remembered(file, remembered, known_ids):
                async for line in self._line_changes(file, known):
                    yield line or Checkpoint(cursor=cursor)
        yield Checkpoint(cursor=_to_cursor(self._whole))

    async def list_ids(self) -> AsyncIterator[str | Failure]:
        """Yield the id of every file and line there is now."""
        async for place in self._places():
            if isinstance(place, Blocked):
                yield self._blocked(place)
            elif await _is_line_file(place):
                async for found in self._line_ids(place):
                    yield found
            else:
                yield self.origin.document_id(place.native_id)

    async def fetch(self, ids: Sequence[str]) -> AsyncIterator[SourceDocument | Tombstone | Failure]:
        """Yield these documents as they are now, by a walk, so that only what a sync would take is read."""
        wanted = dict.fromkeys(self.origin.native_id(document_id) for document_id in ids)
        async for place in self._places():
            if isinstance(place, Blocked):
                hidden = [native for native in wanted if native == place.native_id or _is_behind(native, place)]
                for native in hidden:
                    del wanted[native]
                    yield Failure(id=self.origin.document_id(native), reason=place.reason, mend=place.mend)
            elif await _is_line_file(place):
                async for found in self._wanted_lines(place, wanted):
                    yield found
            elif place.native_id in wanted:
                del wanted[place.native_id]
                yield await asyncio.to_thread(self._read, place)
        for native in wanted:
            yield Tombstone(id=self.origin.document_id(native))

    async def _places(self) -> AsyncIterator[Found | Blocked]:
        selection = Selection.of(self.options.include, self.options.exclude, hidden=self.options.hidden)
        async for page in _in_pages(iter(Walk(self._root, selection)), _PAGE):
            for place in page:
                yield place

    def _is_known(self, file: Found, known: Mapping[str, str]) -> bool:
        version = version_of(file.status, salt=self._salt)
        return bool(version) and known.get(self.origin.document_id(file.native_id)) == version

    def _read_all(self, files: Sequence[Found]) -> list[SourceDocument | Failure]:
        return [self._read(file) for file in files]

    def _read(self, file: Found) -> SourceDocument | Failure:
        """Return a file as a document, or why it could not be read."""
        identity = self.origin.document_id(file.native_id)
        # The size is known already: what is too large isn't even opened.
        size = file.status.st_size
        found = too_large(size, self._limit) if size > self._limit else read_whole(file.path, limit=self._limit)
        if isinstance(found, Unread):
            return Failure(id=identity, reason=found.reason, mend=found.mend)
        return SourceDocument(
            id=identity,
            source=self.origin.source,
            content=found.content,
            name=file.native_id.rpartition("/")[2],
            url=self._url(file),
            version=version_of(found.status, salt=self._salt),
            updated_at=_modified(found.status.st_mtime),
        )

    def _url(self, file: Found) -> str:
        if self.options.base_url:
            return self.options.base_url.replace("{path}", quote(file.native_id, safe="/"))
        return file.path.absolute().as_uri()

    def _blocked(self, place: Blocked) -> Failure:
        covers = self.origin.document_id(place.hides) if place.hides else ""
        return Failure(id=self.origin.document_id(place.native_id), reason=place.reason, mend=place.mend, covers=covers)

    def _is_remembered(self, file: Found, remembered: Mapping[str, "_Remembered"], known_ids: list[str]) -> bool:
        """Tell whether a JSONL file is as it was, with every line of it indexed."""
        prefix = self._line_prefix(file)
        version = version_of(file.status, salt=self._salt)
        first, last = bisect_left(known_ids, prefix), bisect_left(known_ids, f"{prefix}\U0010ffff")
        ids = frozenset(known_ids[first:last])
        if not version or remembered.get(file.native_id) != _Remembered(version, len(ids)):
            return False
        self._whole[file.native_id] = _Lines(version, ids)
        return True

    async def _line_changes(
        self, file: Found, known: Mapping[str, str]
    ) -> AsyncIterator[SourceDocument | Failure | None]:
        """Yield what is new on the lines of a file; None after each batch."""
        ids: set[str] = set()
        is_whole = True
        try:
            async for page in _in_pages(documents_from_jsonl(file.path), _BATCH):
                for found in page:
                    if isinstance(found, BrokenLine):
                        is_whole = False
                        yield self._broken(file, found)
                        continue
                    document = self._line_document(file, found)
                    ids.add(document.id)
                    if known.get(document.id) != document.version:
                        yield document
                yield None
            status = await asyncio.to_thread(file.path.stat)
        except OSError as error:
            yield self._unread_lines(file, error)
            return
        version = version_of(file.status, salt=self._salt)
        if is_whole and version and version == version_of(status, salt=self._salt):
            self._whole[file.native_id] = _Lines(version, frozenset(ids))

    async def _line_ids(self, file: Found) -> AsyncIterator[str | Failure]:
        """Yield the ids of the lines of a file; it is not read again when it is as this run read it."""
        lines = self._whole.get(file.native_id)
        if lines and lines.version == version_of(file.status, salt=self._salt):
            for identity in lines.ids:
                yield identity
            return
        try:
            async for page in _in_pages(documents_from_jsonl(file.path), _PAGE):
                for found in page:
                    if isinstance(found, BrokenLine):
                        yield self._broken(file, found)
                    else:
                        yield self._line_prefix(file) + found.id
        except OSError as error:
            yield self._unread_lines(file, error)

    async def _wanted_lines(
        self, file: Found, wanted: dict[str, None]
    ) -> AsyncIterator[SourceDocument | Tombstone | Failure]:
        """Yield those lines of a file that are wanted, and take them off the list."""
        prefix = f"{file.native_id}#"
        if not any(native.startswith(prefix) for native in wanted):
            return
        try:
            async for page in _in_pages(documents_from_jsonl(file.path), _PAGE):
                for found in page:
                    if isinstance(found, LineDocument) and prefix + found.id in wanted:
                        del wanted[prefix + found.id]
                        yield self._line_document(file, found)
                    elif isinstance(found, BrokenLine) and f"{prefix}L{found.line}" in wanted:
                        del wanted[f"{prefix}L{found.line}"]
                        yield self._broken(file, found)
        except OSError as error:
            for native in [native for native in wanted if native.startswith(prefix)]:
                del wanted[native]
                unread = unreadable(error)
                yield Failure(id=self.origin.document_id(native), reason=unread.reason, mend=unread.mend)

    def _line_prefix(self, file: Found) -> str:
        return self.origin.document_id(f"{file.native_id}#")

    def _line_document(self, file: Found, line: LineDocument) -> SourceDocument:
        return SourceDocument(
            id=self._line_prefix(file) + line.id,
            source=self.origin.source,
            content=line.text.encode("utf-8"),
            media_type="text/html" if _MARKUP.match(line.text) else "text/plain",
            title=line.title,
            url=line.url or self._url(file),
            author=line.author,
            version=f"{line.hash}-{self._salt}",
            updated_at=line.updated_at or _modified(file.status.st_mtime),
        )

    def _broken(self, file: Found, line: BrokenLine) -> Failure:
        # Which document the line held before it broke can't be told: none of this file counts as deleted.
        prefix = self._line_prefix(file)
        return Failure(id=f"{prefix}L{line.line}", reason=line.reason, mend=line.mend, covers=prefix)

    def _unread_lines(self, file: Found, error: OSError) -> Failure:
        unread = unreadable(error)
        return Failure(
            id=self.origin.document_id(file.native_id),
            reason=unread.reason,
            mend=unread.mend,
            covers=self._line_prefix(file),
        )


@dataclass(frozen=True, slots=True)
class _Remembered:
    """A JSONL file as the cursor remembers it: its version, and how many documents it held."""

    version: str
    documents: int


def _to_cursor(whole: Mapping[str, _Lines]) -> str | None:
    files = {native: [lines.version, len(lines.ids)] for native, lines in sorted(whole.items())}
    return json.dumps({"jsonl": files}, ensure_ascii=False) if files else None


def _from_cursor(cursor: str | None) -> dict[str, _Remembered]:
    """Return the JSONL files that a cursor remembers: none, if another version of this connector wrote it."""
    try:
        files = json.loads(cursor)["jsonl"] if cursor else {}
        return {native: _Remembered(version, documents) for native, (version, documents) in files.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


async def _is_line_file(file: Found) -> bool:
    """Tell whether a file has a document on each line."""
    if not file.native_id.lower().endswith(ENDINGS):
        return False
    try:
        return await asyncio.to_thread(holds_documents, file.path)
    except OSError:
        return True  # what can't be read now is told when its lines are read


def _is_behind(native: str, place: Blocked) -> bool:
    return bool(place.hides) and native.startswith(place.hides)


def _modified(timestamp: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(timestamp, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _batches(files: Sequence[Found]) -> Iterator[list[Found]]:
    """Yield the files in batches small enough to be held in memory at once."""
    batch: list[Found] = []
    size = 0
    for file in files:
        if batch and (len(batch) >= _BATCH or size + file.status.st_size > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += file.status.st_size
    if batch:
        yield batch


async def _in_pages(items: Iterator[T], size: int) -> AsyncIterator[list[T]]:
    """Yield what a blocking iterator yields, page by page, each gathered in a thread."""
    while page := await asyncio.to_thread(lambda: list(islice(items, size))):
        yield page
