"""What can be known of an embedded Chroma's files without opening them.

Chroma overwrites its HNSW files in place, inside the very call that adds or deletes. A process that is killed just then
may leave them cut or mixed, and Chroma's native part does not always raise on such files: it may answer wrongly, or
crash the process, now or at some later search. So each collection has a note beside the folder while it is written
to; a note that is still there at the next start tells that this collection must not be touched, only dropped.

After an orderly end there is also a record of what the files looked like: if it still fits, nothing needs to be tried.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")


class ChromaFiles:
    """The notes beside one Chroma folder."""

    def __init__(self, folder: Path) -> None:
        """Take the folder of an embedded Chroma; the notes go into ``<folder>.state``."""
        self._folder = folder
        self._state = folder.with_name(f"{folder.name}.state")
        self._record = self._state / "closed.json"

    def opened(self) -> tuple[bool, set[str]]:
        """Note that the folder is in use.

        Returns:
            Whether its files are as they were left in order, and the collections that a write was cut short in.
        """
        self._state.mkdir(mode=0o700, parents=True, exist_ok=True)
        in_order = not (self._folder / "chroma.sqlite3").exists() or self._fits()
        self._record.unlink(missing_ok=True)
        dead = {note.stem for note in self._state.glob("*.writing")}
        boot = _boot()
        for note in self._state.glob("*.written"):
            # What the system had not yet put on the disk when it went down is lost, whole or in part.
            if note.read_text(encoding="ascii") != boot:
                dead.add(note.stem)
        return in_order, dead

    def closed(self) -> None:
        """Note an orderly end."""
        for note in self._state.glob("*.written"):
            note.unlink()
        self._record.write_text(json.dumps(self._look()), encoding="utf-8")

    @contextlib.contextmanager
    def writing(self, collection: str) -> Iterator[None]:
        """Note, for the length of the block, that a collection is being written to. One writer at a time."""
        written = self._state / f"{collection}.written"
        if not written.exists():
            written.write_text(_boot(), encoding="ascii")
        note = self._state / f"{collection}.writing"
        note.touch()
        yield  # an error leaves the note: what it did to the files is not known
        note.unlink(missing_ok=True)

    def forget(self, collection: str) -> None:
        """Drop the notes of a collection that is gone."""
        for suffix in ("writing", "written"):
            (self._state / f"{collection}.{suffix}").unlink(missing_ok=True)

    def _fits(self) -> bool:
        try:
            return bool(json.loads(self._record.read_text(encoding="utf-8")) == self._look())
        except (OSError, ValueError):
            return False

    def _look(self) -> dict[str, list[int]]:
        """Return size and time of every file."""
        found: dict[str, list[int]] = {}
        for folder, _, names in os.walk(self._folder):
            for name in names:
                path = Path(folder, name)
                stat = path.stat()
                found[path.relative_to(self._folder).as_posix()] = [stat.st_size, stat.st_mtime_ns]
        return found


def _boot() -> str:
    """Return what tells this run of the system from others, "" where it cannot be told."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
