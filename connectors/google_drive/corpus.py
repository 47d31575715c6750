"""What there is in one shared drive, or in what the account sees besides, and what has changed in it.

Drive keeps a log of changes for each, which tells of a file what it is now. It is not relied on to tell of the files in
a folder that was moved, or shared with others: these are listed again
(https://developers.google.com/workspace/drive/api/guides/about-changes).
"""

import asyncio
import hashlib
import time
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from connectors.google_drive.faults import FileForbidden, FileRefused, ReadersUntold, StaleToken
from connectors.google_drive.memory import CorpusMemory, Folder
from connectors.google_drive.replies import File
from connectors.google_drive.service import Google
from connectors.google_drive.sharing import Sharings
from connectors.patterns import Selection
from connectors.together import together
from ragcore.errors import SourceGone

_BREATH = 500  # files that are placed before others get their turn
_TOGETHER = 25
"""Folders whose files are asked for at once."""


@dataclass(slots=True, kw_only=True)
class Corpus:
    """One log of changes and what it is about.

    ``drive`` is a shared drive's id, "" for what the account sees besides shared drives. ``roots`` are the folders that
    are read, by their stamps; of a whole shared drive itself alone, and none for all that the account sees. ``others``
    are shared drives that are read by themselves, ``top`` the folder My Drive. After ``follow`` or ``list_all``
    ``due`` is what is to be looked at, ``gone`` what isn't there any more, and ``reached`` the token that the next run
    goes on from once all that has been seen to.
    """

    google: Google
    sharings: Sharings
    selection: Selection
    memory: CorpusMemory
    drive: str
    roots: Mapping[str, str]
    others: Collection[str] = ()
    top: str = ""
    reached: str = ""
    due: dict[str, File] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    refused: dict[str, FileForbidden] = field(default_factory=dict)
    """Documents that had a reader whose time is over, and that Google doesn't show now, for no known reason."""
    _folders: dict[str, File] = field(init=False, default_factory=dict)
    """Folders as they were listed, by id."""

    @property
    def folders(self) -> Mapping[str, File]:
        """The folders that were met in this run."""
        return self._folders

    @property
    def is_whole(self) -> bool:
        """Whether it is read whole, and no folders alone."""
        return not self.roots or self.drive in self.roots

    async def follow(self) -> AsyncGenerator[None, None]:
        """Find out what has changed since the memory was made; None after each page that was asked for."""
        if not self.memory.token or dict(self.memory.roots) != dict(self.roots):
            async for _ in self.list_all():
                yield None
            return
        changed: dict[str, File | None] = {}
        token = self.memory.token
        try:
            async for page in self.google.changes(token, self.drive):
                for change in page.changes:
                    if change.file_id:
                        changed.pop(change.file_id, None)  # the later word counts
                        changed[change.file_id] = None if change.removed else change.file
                token = page.new_start_page_token or token
                yield None
            again = await self._follow_folders(changed)
        except StaleToken:
            again = None
        if again is None:
            async for _ in self.list_all():
                yield None
            return
        async for _ in self._walk(again):
            yield None
        await self._place_changed(changed)
        self.reached = token

    async def list_all(self) -> AsyncGenerator[None, None]:
        """List all that there is, and forget what was remembered; None after each page that was asked for."""
        memory = self.memory
        memory.token, memory.roots, memory.listed = "", dict(self.roots), int(time.time())
        memory.folders, memory.documents = {}, {}
        self.due, self.gone, self.refused, self._folders, self.reached = {}, set(), {}, {}, ""
        token = await self.google.start_token(self.drive)  # before the listing, so that nothing falls between
        if self.is_whole:
            files: list[File] = []
            async for page in self.google.files("trashed = false", self.drive):
                files += [file for file in page if self._is_ours(file)]
                yield None
            folders = [file for file in files if file.is_folder]
            self._folders |= {folder.id: folder for folder in folders}
            for start in range(0, len(folders), _TOGETHER):
                await self._keep_folders(folders[start : start + _TOGETHER])
                yield None
            for number, file in enumerate(files):
                if number % _BREATH == 0:
                    await asyncio.sleep(0)
                if not file.is_folder:
                    self._place(file.id, file)
        else:
            async for _ in self._walk(list(self.roots)):
                yield None
        self.reached = token

    async def locate(self, file: File) -> bool:
        """Tell whether a file belongs here, asking for the folders above it that aren't known."""
        if not self._is_ours(file) or file.trashed or file.is_folder:
            return False
        at = file.parent
        while at and at not in {*self.roots, self.top, *self.memory.folders, *self._folders}:
            try:
                folder = await self.google.file(at)
            except (FileRefused, SourceGone):
                break
            if folder.trashed:
                return False
            self._folders[at] = folder
            at = folder.parent
        known = dict(self.memory.folders)
        known |= {one.id: Folder(parent=one.parent, name=one.shown_name, stamp="") for one in self._folders.values()}
        return self._takes(file, known)

    async def _follow_folders(self, changed: Mapping[str, File | None]) -> list[str] | None:
        """Take note of changed folders; return those whose files have to be listed again, None for all there are."""
        known = self.memory.folders
        waiting: list[File] = []
        for identity, file in changed.items():
            if identity in self.roots:
                continue
            if file is not None and file.is_folder and not file.trashed and self._is_ours(file):
                waiting.append(file)
            elif identity in known:
                return None
        again: list[str] = []
        while waiting:
            placed = [folder for folder in waiting if self.is_whole or self._holds(folder.parent, known)]
            if not placed:
                break
            waiting = [folder for folder in waiting if folder not in placed]
            for folder in placed:
                before = known.get(folder.id)
                await self._keep_folders([folder])
                kept = known.get(folder.id)
                if kept is None and before is not None:
                    return None  # it was renamed to what is left out
                if kept is not None and (before is None or before.stamp != kept.stamp):
                    again.append(folder.id)
        return None if any(folder.id in known for folder in waiting) else again

    async def _place_changed(self, changed: Mapping[str, File | None]) -> None:
        """Take note of changed files, and of those of which somebody isn't a reader any more."""
        for identity, file in changed.items():
            if file is None or not file.is_folder:
                self._place(identity, file)
        for identity in self._ended():
            try:
                self._place(identity, await self.google.file(identity))
            except FileForbidden as error:
                self.refused[identity] = error  # asked for again by the next run
            except (FileRefused, SourceGone):
                self._place(identity, None)

    async def _walk(self, tops: Sequence[str]) -> AsyncGenerator[None, None]:
        """List what lies in these folders and in the folders in them."""
        due, seen = list(tops), set(tops)
        while due:
            some, due = due[:_TOGETHER], due[_TOGETHER:]
            query = " or ".join(f"'{folder}' in parents" for folder in some)
            async for page in self.google.files(f"({query}) and trashed = false", self.drive):
                folders = [file for file in page if file.is_folder and file.id not in seen]
                await self._keep_folders(folders)
                due += [folder.id for folder in folders if folder.id in self.memory.folders]
                seen.update(folder.id for folder in folders)
                for file in page:
                    if not file.is_folder:
                        self._place(file.id, file)
                yield None

    async def _keep_folders(self, folders: Sequence[File]) -> None:
        """Take note of folders, and of whoever may read them."""
        self._folders |= {folder.id: folder for folder in folders}
        sharings = await together(*map(self._sharing_stamp, folders))
        for folder, sharing in zip(folders, sharings, strict=True):
            told = "\n".join((folder.parent, folder.name, sharing))
            stamp = hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:12]
            kept = Folder(parent=folder.parent, name=folder.shown_name, stamp=stamp)
            path = self._path(folder.parent, kept.name, self.memory.folders)
            if self.is_whole or path is None or self.selection.reaches_folder(path):
                self.memory.folders[folder.id] = kept
            else:
                self.memory.folders.pop(folder.id, None)

    async def _sharing_stamp(self, folder: File) -> str:
        try:
            return (await self.sharings.of(folder, self._folders)).stamp
        except ReadersUntold:
            return "untold"

    def _place(self, identity: str, file: File | None) -> None:
        """Take note of a file as one of the documents, or as none of them."""
        memory = self.memory
        if file is not None and not file.trashed and self._is_ours(file) and self._takes(file, memory.folders):
            self.due[identity] = file
            self.gone.discard(identity)
            memory.documents.setdefault(identity, 0)
        elif identity in memory.documents:
            del memory.documents[identity]
            self.gone.add(identity)
            self.due.pop(identity, None)

    def _ended(self) -> list[str]:
        """Return the documents of which somebody isn't a reader any more because the time for that is over."""
        now, found = time.time(), self.memory.documents
        return [identity for identity, until in found.items() if 0 < until <= now and identity not in self.due]

    def _is_ours(self, file: File) -> bool:
        return file.drive_id == self.drive if self.drive else file.drive_id not in self.others

    def _takes(self, file: File, folders: Mapping[str, Folder]) -> bool:
        if not file.is_document or (file.is_media and self.selection.include is None):
            return False
        if not self.is_whole and not self._holds(file.parent, folders):
            return False
        path = self._path(file.parent, file.shown_name, folders)
        return path is not None and self.selection.reaches(path)

    def _holds(self, folder: str, folders: Mapping[str, Folder]) -> bool:
        """Tell whether a folder is one of those that are read, or lies in one."""
        return self._path(folder, "", folders) is not None

    def _path(self, parent: str, name: str, folders: Mapping[str, Folder]) -> str | None:
        """Return where something lies, below the folder that is read; None when it lies in none of them."""
        parts, seen = [name], set[str]()
        while parent and parent not in self.roots and parent != self.top:
            above = folders.get(parent)
            if above is None:
                return "/".join(parts) if self.is_whole else None
            if parent in seen:
                return None  # a circle, of folders that were moved since
            seen.add(parent)
            parts.insert(0, above.name)
            parent = above.parent
        return "/".join(parts) if parent or self.is_whole else None
