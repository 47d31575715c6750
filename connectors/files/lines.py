"""The JSONL files of one run: the documents on their lines, what the cursor remembers of them, and what they held.

A JSONL file that is as the cursor remembers it, with every line of it indexed, isn't opened.
"""

import json
from bisect import bisect_left
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from connectors.base import Failure, Origin, SourceDocument
from connectors.files.jsonl import ENDINGS, BrokenLine, LineDocument, documents_from_jsonl, holds_documents
from connectors.files.pages import in_pages
from connectors.files.place import Found, Place, Unread
from connectors.files.reading import unreadable
from connectors.threads import in_thread

BATCH = 64  # lines between two checkpoints
_PAGE = 1_000  # lines looked at in a thread before others may run

ONE_DOCUMENT: Literal["one document"] = "one document"
"""Told in place of lines when a file has no document on each of its lines: it is one itself."""

Page = list[LineDocument | BrokenLine]


@dataclass(frozen=True, slots=True)
class _Lines:
    """A JSONL file as it was read: its version, the ids of its documents, and the lines that hold none."""

    version: str
    ids: frozenset[str]
    broken: tuple[BrokenLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Remembered:
    """A JSONL file as the cursor remembers it: its version, and how many documents it held."""

    version: str
    documents: int


@dataclass(slots=True, kw_only=True)
class LineFiles:
    """The JSONL files of a place. ``document`` makes a document of a file's line."""

    origin: Origin
    place: Place
    document: Callable[[Found, LineDocument], SourceDocument]
    _read: dict[str, _Lines] = field(init=False, default_factory=dict)
    """The files that were read in this run and stood still, or are known to be as they were."""
    _single: dict[str, str] = field(init=False, default_factory=dict)
    """The versions of those that turned out to be one document."""

    def prefix(self, file: Found) -> str:
        """Return how the ids of a file's lines begin."""
        return self.origin.document_id(f"{file.native_id}#")

    def keep_single(self, file: Found) -> None:
        """Remember for this run that a file, as it is, is one document."""
        self._single[file.native_id] = file.version

    def is_as_remembered(self, file: Found, earlier: Mapping[str, Remembered], known_ids: list[str]) -> bool:
        """Tell whether a file is as an earlier run has read it, and every line of it is indexed.

        Args:
            file: The file as it was found now.
            earlier: What the cursor remembers.
            known_ids: The ids of all documents that are indexed and current, sorted.
        """
        prefix = self.prefix(file)
        first, last = bisect_left(known_ids, prefix), bisect_left(known_ids, f"{prefix}\U0010ffff")
        ids = frozenset(known_ids[first:last])
        if not file.version or earlier.get(file.native_id) != Remembered(file.version, len(ids)):
            return False
        self._read[file.native_id] = _Lines(file.version, ids)
        return True

    async def changes(
        self, file: Found, known: Mapping[str, str]
    ) -> AsyncIterator[SourceDocument | Failure | Literal["one document"] | None]:
        """Yield what is new on the lines of a file, and None after each batch."""
        ids: set[str] = set()
        broken: list[BrokenLine] = []
        async with aclosing(self._pages(file, BATCH)) as pages:
            async for page in pages:
                if isinstance(page, Unread):
                    yield self._unread(file, page)
                    return
                if page == ONE_DOCUMENT:
                    self.keep_single(file)
                    yield page
                    return
                for found in page:
                    if isinstance(found, BrokenLine):
                        broken.append(found)
                        yield self._broken(file, found)
                        continue
                    document = self.document(file, found)
                    ids.add(document.id)
                    if known.get(document.id) != document.version:
                        yield document
                yield None
        try:
            is_settled = await self.place.is_unchanged(file)
        except OSError as error:
            yield self._unread(file, unreadable(error))
            return
        if is_settled:
            self._read[file.native_id] = _Lines(file.version, frozenset(ids), tuple(broken))

    async def ids(self, file: Found) -> AsyncIterator[str | Failure]:
        """Yield the ids of the documents of a file; it is not read again when it is as this run read it."""
        if file.version and self._single.get(file.native_id) == file.version:
            yield self.origin.document_id(file.native_id)
            return
        lines = self._read.get(file.native_id)
        if lines and lines.version == file.version:
            for identity in lines.ids:
                yield identity
            for line in lines.broken:
                yield self._broken(file, line)
            return
        async with aclosing(self._pages(file, _PAGE)) as pages:
            async for page in pages:
                if isinstance(page, Unread):
                    if not page.is_gone:
                        yield self._unread(file, page)
                elif page == ONE_DOCUMENT:
                    yield self.origin.document_id(file.native_id)
                else:
                    for found in page:
                        if isinstance(found, BrokenLine):
                            yield self._broken(file, found)
                        else:
                            yield self.prefix(file) + found.id

    async def wanted(
        self, file: Found, wanted: dict[str, None]
    ) -> AsyncIterator[SourceDocument | Failure | Literal["one document"]]:
        """Yield those lines of a file whose native ids are wanted, and take them off the list."""
        prefix = f"{file.native_id}#"
        if file.native_id not in wanted and not any(native.startswith(prefix) for native in wanted):
            return
        async with aclosing(self._pages(file, _PAGE)) as pages:
            async for page in pages:
                if isinstance(page, Unread):
                    for native in [one for one in wanted if one == file.native_id or one.startswith(prefix)]:
                        if not page.is_gone:
                            del wanted[native]
                            yield Failure(id=self.origin.document_id(native), reason=page.reason, mend=page.mend)
                elif page == ONE_DOCUMENT:
                    yield page
                else:
                    for found in page:
                        if isinstance(found, LineDocument) and prefix + found.id in wanted:
                            del wanted[prefix + found.id]
                            yield self.document(file, found)
                        elif isinstance(found, BrokenLine) and f"{prefix}L{found.line}" in wanted:
                            del wanted[f"{prefix}L{found.line}"]
                            yield self._broken(file, found)

    def to_cursor(self) -> str | None:
        """Return what to remember: the files without a fault."""
        whole = {native: lines for native, lines in sorted(self._read.items()) if lines.version and not lines.broken}
        files = {native: [lines.version, len(lines.ids)] for native, lines in whole.items()}
        return json.dumps({"jsonl": files}, ensure_ascii=False) if files else None

    async def _pages(self, file: Found, size: int) -> AsyncGenerator[Page | Unread | Literal["one document"], None]:
        async with self.place.copied(file) as copy:
            if isinstance(copy, Unread):
                yield copy
                return
            try:
                if not await in_thread(partial(holds_documents, copy)):
                    yield ONE_DOCUMENT
                    return
                async for page in in_pages(documents_from_jsonl(copy), size):
                    yield page
            except OSError as error:
                yield unreadable(error)

    def _broken(self, file: Found, line: BrokenLine) -> Failure:
        # Which document the line held before it broke can't be told: none of this file counts as deleted.
        prefix = self.prefix(file)
        return Failure(id=f"{prefix}L{line.line}", reason=line.reason, mend=line.mend, covers=prefix)

    def _unread(self, file: Found, unread: Unread) -> Failure:
        identity = self.origin.document_id(file.native_id)
        return Failure(id=identity, reason=unread.reason, mend=unread.mend, covers=self.prefix(file))


def is_line_file(file: Found) -> bool:
    """Tell by its name whether a file may have a document on each line."""
    return file.native_id.lower().endswith(ENDINGS)


def remembered(cursor: str | None) -> dict[str, Remembered]:
    """Return the JSONL files that a cursor remembers: none, if another version of this connector wrote it."""
    try:
        files = json.loads(cursor)["jsonl"] if cursor else {}
        return {native: Remembered(version, documents) for native, (version, documents) in files.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
