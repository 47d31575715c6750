"""Questions to Drive and the directory through Google's own client, each in a thread, with replies of a checked form.

The descriptions of the interfaces come with the client: nothing is asked to find them. A request is sent once: whether
and when to try again is the sync's to decide.
"""

import threading
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ValidationError

from connectors.google_drive.credentials import scopes_of
from connectors.google_drive.faults import FileRefused, Forbidden, Unexplained, expected_errors, fault_of
from connectors.google_drive.options import GoogleDriveOptions
from connectors.google_drive.replies import (
    FILE_FIELDS,
    PERMISSION_FIELDS,
    ChangePage,
    DrivePage,
    File,
    FilePage,
    Member,
    MemberPage,
    Permission,
    PermissionPage,
    SharedDrive,
    StartToken,
)
from connectors.google_drive.session import Session, opened
from connectors.threads import Pulse, Threads
from ragcore.errors import SourceBadReply, SourceError, SourceGone

AT_ONCE = 4
"""Requests under way at a time; Drive lets an account make some 200 a second."""
PAGE = 1000
"""Entries of one page, the most that Drive gives; with permissions it gives fewer."""
_GROUP_PAGE = 200
_PIECE = 4 * 1024 * 1024  # bytes of one request of a download
_PATIENCE = 150.0  # seconds for a request, and for each piece of a download

T = TypeVar("T")
Reply = TypeVar("Reply", bound=BaseModel)


@dataclass(slots=True)
class Google:
    """One account's view of Drive, which is asked within ``async with``, any number of times.

    ``folder`` is what the path of a key is relative to.
    """

    options: GoogleDriveOptions
    folder: Path
    _threads: Threads = field(init=False, default_factory=lambda: Threads(most=AT_ONCE))
    _session: Session | None = field(init=False, default=None)
    _opening: threading.Lock = field(init=False, default_factory=threading.Lock)

    async def __aenter__(self) -> Self:
        """Nothing is connected yet."""
        if self._session is not None:
            self._session.is_open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        if self._session is not None:
            self._session.close()

    async def basis(self) -> str:
        """Return what changes when other documents would come: with the settings, and with whose the credential is.

        Raises:
            SourceAuthError: there is no such key.
        """
        return await self._call("the account", lambda one, _: self.options.basis(one.account))

    async def file(self, identity: str) -> File:
        """Return a file or folder as it is now; SourceGone when the account sees none."""
        return await self._ask(
            File,
            f"file {identity}",
            lambda one: one.drive.files().get(fileId=identity, fields=FILE_FIELDS, supportsAllDrives=True),
            of_file=True,
        )

    async def top(self) -> File:
        """Return the folder My Drive, which every account has."""
        return await self._ask(File, "My Drive", lambda one: one.drive.files().get(fileId="root", fields=FILE_FIELDS))

    async def files(self, query: str, drive: str) -> AsyncGenerator[list[File], None]:
        """Yield the files that a query finds, page by page; in one shared drive, or with "" in the account's own view.

        Raises:
            SourceError: One of its kinds; also where Drive says that it couldn't look everywhere.
        """
        where = {"corpora": "drive", "driveId": drive} if drive else {"corpora": "user"}
        fields = f"kind,nextPageToken,incompleteSearch,files({FILE_FIELDS})"
        async for page in self._pages(
            FilePage,
            "the list of files",
            lambda one, token: one.drive.files().list(
                q=query,
                pageSize=PAGE,
                pageToken=token,
                fields=fields,
                spaces="drive",
                includeItemsFromAllDrives=True,
                supportsAllDrives=True,
                **where,
            ),
        ):
            if page.incomplete_search:
                raise SourceError("Google could not look through all of the files", mend="try again later")
            yield list(page.files)

    async def start_token(self, drive: str) -> str:
        """Return from where on changes are told that come after now."""
        which = {"driveId": drive} if drive else {}
        found = await self._ask(
            StartToken,
            "the changes",
            lambda one: one.drive.changes().getStartPageToken(supportsAllDrives=True, **which),
        )
        return found.start_page_token

    async def changes(self, token: str, drive: str) -> AsyncGenerator[ChangePage, None]:
        """Yield what has changed since a token, page by page; StaleToken when it isn't taken."""
        which = {"driveId": drive} if drive else {}
        fields = f"kind,nextPageToken,newStartPageToken,changes(fileId,removed,file({FILE_FIELDS}))"
        async for page in self._pages(
            ChangePage,
            "the changes",
            lambda one, following: one.drive.changes().list(
                pageToken=following or token,
                pageSize=PAGE,
                fields=fields,
                spaces="drive",
                includeRemoved=True,
                includeItemsFromAllDrives=True,
                supportsAllDrives=True,
                **which,
            ),
        ):
            yield page

    async def permissions(self, identity: str) -> tuple[Permission, ...]:
        """Return who may read a file, a folder or a shared drive, inherited rights among them."""
        fields = f"kind,nextPageToken,permissions({PERMISSION_FIELDS})"
        found: list[Permission] = []
        async for page in self._pages(
            PermissionPage,
            f"the readers of {identity}",
            lambda one, token: one.drive.permissions().list(
                fileId=identity, pageSize=100, pageToken=token, fields=fields, supportsAllDrives=True
            ),
        ):
            found += page.permissions
        return tuple(found)

    async def drives(self) -> list[SharedDrive]:
        """Return the shared drives that the account is a member of."""
        found: list[SharedDrive] = []
        async for page in self._pages(
            DrivePage,
            "the shared drives",
            lambda one, token: one.drive.drives().list(
                pageSize=100, pageToken=token, fields="kind,nextPageToken,drives(id,name)"
            ),
        ):
            found += page.drives
        return found

    async def drive(self, identity: str) -> SharedDrive:
        """Return a shared drive; SourceGone when the account is no member of it."""
        return await self._ask(
            SharedDrive,
            f"shared drive {identity}",
            lambda one: one.drive.drives().get(driveId=identity, fields="id,name"),
        )

    async def members(self, group: str) -> tuple[Member, ...]:
        """Return who is in a group, by itself or by another group; nobody when the directory has, or tells, no such."""
        found: list[Member] = []
        try:
            async for page in self._pages(
                MemberPage,
                f"group {group}",
                lambda one, token: one.directory.members().list(
                    groupKey=group, includeDerivedMembership=True, maxResults=_GROUP_PAGE, pageToken=token
                ),
            ):
                found += page.members
        except SourceGone:
            return ()
        except (Forbidden, Unexplained):
            # Of another organisation's group nobody may know; of one's own an administrator has to be allowed to.
            if group.rpartition("@")[2] == self.options.subject.lower().rpartition("@")[2]:
                raise
            return ()
        return tuple(found)

    async def content(self, file: File, media_type: str, limit: int) -> bytes:
        """Return a file's content: as it is, or of Google's own documents as another media type.

        Raises:
            FileRefused: Google doesn't give it, or it has more than ``limit`` bytes.
            SourceError: One of its kinds.
        """
        pulse = Pulse()

        def read(one: Session, http: Any) -> bytes:
            if media_type:
                asked = one.drive.files().export_media(fileId=file.id, mimeType=media_type)
                return bytes(asked.execute(http=http))
            if file.size == 0:
                return b""  # a request for a part of nothing is refused
            asked = one.drive.files().get_media(fileId=file.id, supportsAllDrives=True)
            return _downloaded(asked, http, limit, pulse)

        content = await self._call(f"file {file.id}", read, pulse, of_file=True)
        if len(content) > limit:
            raise too_large(len(content), limit)
        return content

    async def _ask(
        self, kind: type[Reply], what: str, make: Callable[[Session], Any], *, of_file: bool = False
    ) -> Reply:
        def read(one: Session, http: Any) -> Reply:
            said = make(one).execute(http=http)
            try:
                return kind.model_validate(said)  # in the thread, too: a page of a thousand files takes a while
            except ValidationError:
                told = f"Google did not answer for {what} in its own form"
                raise SourceBadReply(told, mend="check `api_url`") from None

        return await self._call(what, read, of_file=of_file)

    async def _pages(
        self, kind: type[Reply], what: str, make: Callable[[Session, str | None], Any]
    ) -> AsyncGenerator[Reply, None]:
        token, seen = "", set[str]()
        while token not in seen:
            seen.add(token)
            page = await self._ask(kind, what, partial(_at, make, token or None))
            yield page
            token = str(getattr(page, "next_page_token", ""))
            if not token:
                return
        raise SourceBadReply(f"Google's pages for {what} lead in a circle", mend="try again later")

    async def _call(
        self,
        what: str,
        function: Callable[[Session, Any], T],
        pulse: Pulse | None = None,
        *,
        of_file: bool = False,
    ) -> T:
        """Return what a blocking function returns that is given the session and a connection."""

        def call() -> T:
            session = self._opened()
            with session.http() as http:
                return function(session, http)

        try:
            return await self._threads.call(call, patience=_PATIENCE, pulse=pulse)
        except SourceError:
            raise
        except expected_errors() as error:
            # Its text may hold what it was asked with.
            raise fault_of(error, what, scopes_of(self.options), of_file=of_file) from None

    def _opened(self) -> Session:
        with self._opening:
            if self._session is None:
                self._session = opened(self.options, self.folder)
            return self._session


def _at(make: Callable[[Session, str | None], Any], token: str | None, session: Session) -> Any:
    """Return the request for the page at a token."""
    return make(session, token)


def too_large(size: int, limit: int) -> FileRefused:
    """Return that a file has more bytes than are to be read."""
    reason = f"it has {size / 1e6:,.1f} MB, more than the limit of {limit / 1e6:,.1f} MB"
    return FileRefused(reason, mend="exclude it, or raise `max_megabytes`")


def _downloaded(asked: Any, http: Any, limit: int, pulse: Pulse) -> bytes:
    from googleapiclient.http import MediaIoBaseDownload

    asked.http = http
    held = BytesIO()
    download = MediaIoBaseDownload(held, asked, chunksize=_PIECE)
    is_whole = False
    while not is_whole:
        _, is_whole = download.next_chunk(num_retries=0)
        pulse.beat()
        if pulse.is_left:
            raise TimeoutError  # nobody hears it: the run has ended, or is to wait
        if held.tell() > limit:
            raise too_large(held.tell(), limit)
    return held.getvalue()
