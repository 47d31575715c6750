"""Walk a folder: which files are documents, and which places can't be looked into. Blocking; run it in a thread."""

import errno
import os
import stat
import time
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from connectors.files.place import Blocked, misnamed, second
from connectors.files.reading import unreadable
from connectors.patterns import Selection
from ragcore.errors import SourceError, SourceGone

# A file written so shortly before it was looked at could be written again within the same tick of its clock.
_TICK = 50_000_000  # nanoseconds, for file systems that keep fractions of a second
_COARSE_TICK = 2_000_000_000  # for those that keep whole seconds (FAT: two)
_NOT_THERE = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ELOOP))


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """A file that counts as a document: where it stands, its native id, and its status."""

    path: Path
    native_id: str
    status: os.stat_result


@dataclass(slots=True)
class Walk:
    """One walk through a folder (or a look at a single file), in the order of names.

    Links are followed only to what lies inside the folder and isn't reached by itself anyway, so that nothing is found
    twice and no link leads out or in circles. Fifos, sockets and devices are passed by.
    """

    root: Path
    selection: Selection
    _real_root: Path = field(init=False)
    _seen: set[str] = field(init=False, default_factory=set)

    def __iter__(self) -> Iterator[FileEntry | Blocked]:
        """Yield what is found; SourceError when the folder itself isn't there or can't be read."""
        try:
            status = self.root.stat()
            self._real_root = self.root.resolve()
            if stat.S_ISREG(status.st_mode):
                yield FileEntry(path=self._real_root, native_id=native_form(self.root.name), status=status)
                return
            if not stat.S_ISDIR(status.st_mode):
                raise SourceError(f"{self.root} is neither a folder nor a file", mend="mend `path`")
            top = _listed(self._real_root)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise SourceGone(f"{self.root} is not there", mend="mend `path`, or mount what belongs there") from error
        except OSError as error:
            raise SourceError(f"{self.root} cannot be read: {error.strerror}", mend="mend its permissions") from error
        self._seen.clear()
        yield from self._below(_Level(entries=top, relative="", above=(self._real_root,)))

    def _below(self, top: "_Level") -> Iterator[FileEntry | Blocked]:
        """Yield what is under the topmost folder; folders may be nested deeper than calls."""
        levels = [top]
        while levels:
            level = levels[-1]
            entry = next(level.entries, None)
            if entry is None:
                levels.pop()
                continue
            found = self._look(entry, f"{level.relative}{entry.name}", level.above)
            if isinstance(found, _Folder):
                try:
                    below = _listed(found.path)
                except FileNotFoundError:
                    continue  # gone since its parent was listed
                except OSError as error:
                    yield _unlistable(native_form(found.relative), error)
                    continue
                levels.append(_Level(entries=below, relative=f"{found.relative}/", above=(*level.above, found.path)))
            elif found is not None:
                yield found

    def _look(
        self, entry: "os.DirEntry[str]", raw: str, above: tuple[Path, ...]
    ) -> "FileEntry | Blocked | _Folder | None":
        """Return what an entry is; None for what is passed by. ``above`` are the real folders it lies in."""
        path, is_link = above[-1] / entry.name, False
        try:
            status = entry.stat(follow_symlinks=False)
            if is_link := stat.S_ISLNK(status.st_mode):
                path = path.resolve(strict=True)
                if not self._is_worth_following(path, above):
                    return None
                status = path.stat()
        except RuntimeError:
            return None  # a link to itself
        except OSError as error:
            leads_out = is_link and not path.resolve().is_relative_to(self._real_root)
            return None if leads_out else self._unseen(entry, native_form(raw), error)
        relative = native_form(raw)
        if stat.S_ISDIR(status.st_mode):
            folder = _Folder(path=path, relative=raw) if is_text(raw) else misnamed(relative, hides=f"{relative}/")
            return folder if self.selection.enters(relative) else None
        if not stat.S_ISREG(status.st_mode) or not self.selection.takes(relative):
            return None
        return self._file(path, relative, status) if is_text(raw) else misnamed(relative)

    def _unseen(self, entry: "os.DirEntry[str]", relative: str, error: OSError) -> Blocked | None:
        """Return what can't be looked at: its folder may be listed but not entered, or a share doesn't answer.

        It is there: taken for gone, it would be deleted. None for what is gone since its folder was listed, for a link
        to nowhere or in a circle, and for what isn't taken anyway.
        """
        try:
            is_file = entry.is_file(follow_symlinks=False)
        except OSError:
            is_file = False
        is_taken = self.selection.takes(relative) if is_file else self.selection.enters(relative)
        if error.errno in _NOT_THERE or not is_taken:
            return None
        found = unreadable(error)
        hides = "" if is_file else f"{relative}/"
        return Blocked(native_id=relative, reason=found.reason, mend=found.mend, hides=hides)

    def _file(self, path: Path, relative: str, status: os.stat_result) -> FileEntry | Blocked:
        if relative in self._seen:
            return second(relative)
        self._seen.add(relative)
        return FileEntry(path=path, native_id=relative, status=status)

    def _is_worth_following(self, target: Path, above: tuple[Path, ...]) -> bool:
        """Tell whether a link leads to something inside that the walk doesn't meet otherwise."""
        if not target.is_relative_to(self._real_root):
            return False
        within = native_form(target.relative_to(self._real_root).as_posix())
        if target.is_dir():
            in_circles = any(target == real or target in real.parents for real in above)
            return not in_circles and not self.selection.reaches_folder(within)
        return not self.selection.reaches(within)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Folder:
    """A folder to be entered: where it really is, and its path as it was found, with a link's name."""

    path: Path
    relative: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """A folder being gone through: what is left of it, how its entries' paths begin, and the real folders so far."""

    entries: "Iterator[os.DirEntry[str]]"
    relative: str
    above: tuple[Path, ...]


def _listed(folder: Path) -> "Iterator[os.DirEntry[str]]":
    with os.scandir(folder) as entries:
        return iter(sorted(entries, key=lambda entry: entry.name))


def _unlistable(relative: str, error: OSError) -> Blocked:
    return Blocked(
        native_id=f"{relative}/",
        reason=f"the folder cannot be listed: {error.strerror}",
        mend="give the user that runs Citebot the right to read it, or exclude it",
        hides=f"{relative}/",
    )


def native_form(relative: str) -> str:
    """Return a relative path as an id: composed Unicode (NFC), bytes that are no UTF-8 as their escapes."""
    if not is_text(relative):
        relative = os.fsencode(relative).decode("utf-8", "backslashreplace")
    return unicodedata.normalize("NFC", relative)


def version_of(status: os.stat_result, *, salt: str, now: int | None = None) -> str:
    """Return what tells that a file is unchanged, or "" when it is too fresh to be told by its times.

    Size, time of modification and time of change (which a copy with its old date, or a rename over it, can't keep).

    Args:
        status: The file's status.
        salt: Whatever else makes the document another one (settings of the source).
        now: The time of looking, in nanoseconds; None means now.
    """
    newest = max(status.st_mtime_ns, status.st_ctime_ns)
    tick = _TICK if newest % 1_000_000_000 else _COARSE_TICK
    if 0 <= (time.time_ns() if now is None else now) - newest < tick:
        return ""
    return f"{status.st_mtime_ns:x}-{status.st_ctime_ns:x}-{status.st_size:x}-{salt}"


def is_text(name: str) -> bool:
    """Tell whether a name can be written as UTF-8."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
