"""A file of Drive as a document, or why it couldn't be read."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from connectors.base import Failure, Origin, SourceDocument, Tombstone
from connectors.google_drive.faults import FileForbidden, FileRefused, ReadersUntold
from connectors.google_drive.options import GoogleDriveOptions
from connectors.google_drive.replies import EXPORTS, File
from connectors.google_drive.service import Google, too_large
from connectors.google_drive.sharing import NOBODY, Sharing, Sharings
from connectors.mishaps import Mishaps
from ragcore.errors import (
    SourceAuthError,
    SourceBadReply,
    SourceError,
    SourceGone,
    SourceRateLimited,
    SourceUnreachable,
)

_FORM = "1"
"""Raised when documents are written in another way, so that they are read again."""
_TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A file whose version isn't the known one. ``refused``: why nobody can be let read it."""

    file: File
    version: str
    sharing: Sharing = NOBODY
    refused: ReadersUntold | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """What came of reading a file, which may have changed since it was due: a document, or why there is none."""

    due: Due
    document: SourceDocument | None = None
    error: SourceError | None = None


@dataclass(slots=True)
class Reader:
    """Reads the files of one run."""

    origin: Origin
    options: GoogleDriveOptions
    google: Google
    sharings: Sharings
    mishaps: Mishaps = field(init=False)

    def __post_init__(self) -> None:
        """Let Drive be asked for something small where one document after the other fails."""
        self.mishaps = Mishaps(probe=self.google.top)

    async def due(self, file: File, folders: Mapping[str, File], *, is_fresh: bool = False) -> Due:
        """Return a file with its readers and its version; SourceError as ``Sharings.of``, but for one file alone."""
        try:
            sharing = await self.sharings.of(file, folders, is_fresh=is_fresh)
        except ReadersUntold as refused:
            return Due(file=file, version=_version(file, "untold"), refused=refused)
        return Due(file=file, version=_version(file, sharing.stamp), sharing=sharing)

    async def read(self, due: Due, folders: Mapping[str, File]) -> Got:
        """Return a file's content as it stood at one moment, with those who might read it then.

        Raises:
            SourceError: Google asks to wait, refuses the credential, or can't be reached: none of it is the file's.
        """
        try:
            for _ in range(_TRIES):
                if due.refused:
                    raise due.refused
                content = await self._content(due.file)
                after = await self._after(due.file, content)
                if after is None:
                    return Got(due=due, document=self._document(due, content))
                is_same = after.content_stamp == due.file.content_stamp
                due = await self.due(after, folders, is_fresh=not is_same)
                if is_same and not due.refused:
                    return Got(due=due, document=self._document(due, content))
            raise FileRefused("it kept changing while it was read", mend="nothing: it is read again later")
        except (SourceAuthError, SourceRateLimited, SourceUnreachable):
            raise
        except SourceError as error:
            return Got(due=due, error=error)

    async def settled(self, got: Got) -> SourceDocument | Tombstone | Failure:
        """Return what a reading comes to; raises its error when that isn't the one file's.

        A failure names the file: its id says nothing to whoever has to mend it.
        """
        if got.document is not None:
            self.mishaps.passed()
            return got.document
        due, identity = got.due, self.origin.document_id(got.due.file.id)
        if isinstance(got.error, SourceGone):
            return Tombstone(id=identity)
        if isinstance(got.error, FileRefused) and not isinstance(got.error, FileForbidden):
            reason, mend = got.error.reason, got.error.mend
            failure = Failure(id=identity, reason=reason, mend=mend, version=due.version, readers=due.sharing.readers)
        else:
            assert got.error is not None
            failure = await self.mishaps.failure(identity, got.error, due.version, readers=due.sharing.readers)
        return replace(failure, reason=f'"{due.file.name}": {failure.reason}')

    async def _content(self, file: File) -> bytes:
        limit = int(self.options.max_megabytes * 1_000_000)
        if file.size is not None and file.size > limit and file.mime_type not in EXPORTS:
            raise too_large(file.size, limit)
        if not file.capabilities.can_download:
            raise FileRefused(
                "its owner lets this account not download it",
                mend="let viewers download it, in Drive's sharing settings, or exclude it",
            )
        export = EXPORTS.get(file.mime_type)
        return await self.google.content(file, export.media_type if export else "", limit)

    async def _after(self, file: File, content: bytes) -> File | None:
        """Return the file as it is now, None when the content is surely that of the version that was listed.

        Between listing and reading somebody may have shut others out and then written what they are not to see.
        """
        if file.md5_checksum:
            digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
            if digest == file.md5_checksum.lower():
                return None
        after = await self.google.file(file.id)
        if after.trashed:
            raise SourceGone("it was put into the trash")
        if after.md5_checksum and after.md5_checksum == file.md5_checksum:
            raise SourceBadReply("its content is not what its checksum tells", mend="check `api_url`, and any proxy")
        return after

    def _document(self, due: Due, content: bytes) -> SourceDocument:
        file, export = due.file, EXPORTS.get(due.file.mime_type)
        owner = file.owners[0].display_name if file.owners else ""
        return SourceDocument(
            id=self.origin.document_id(file.id),
            source=self.origin.source,
            content=content,
            name=file.name + export.extension if export else file.name,
            media_type=export.media_type if export else file.mime_type,
            title=file.name if export else "",
            url=file.web_view_link,
            author=file.last_modifying_user.display_name or owner,
            version=due.version,
            updated_at=file.modified_time,
            readers=due.sharing.readers,
        )


def _version(file: File, sharing: str) -> str:
    told = (_FORM, file.content_stamp, file.name, file.mime_type, file.web_view_link)
    return f"{hashlib.sha256(chr(10).join(told).encode('utf-8', 'replace')).hexdigest()[:16]}-{sharing}"


def has_other_readers(version: str, known: str | None) -> bool:
    """Tell whether other people may read a file than when its known version (None: there is none) was read."""
    return known is not None and known.rpartition("-")[2] != version.rpartition("-")[2]
