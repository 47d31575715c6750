"""Read one file whole, as it stood at one moment. Blocking; run it in a thread."""

import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path

from connectors.files.place import Unread, too_large

_ATTEMPTS = 3
_PAUSE = 0.05  # seconds between attempts, while someone else is writing


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A file's content and its status, which was the same before and after."""

    content: bytes
    status: os.stat_result


def read_whole(path: Path, *, limit: int) -> Content | Unread:
    """Return a regular file's content, or why not.

    Args:
        path: The file; neither a link nor a special file is opened.
        limit: The most bytes that are read.
    """
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_PAUSE)
        try:
            # Not blocking: in place of the file there may be a fifo by now, on which an opening would wait for ever.
            descriptor = os.open(path, os.O_RDONLY | _flag("O_NONBLOCK") | _flag("O_NOFOLLOW") | _flag("O_BINARY"))
            with open(descriptor, "rb") as file:
                before = os.fstat(descriptor)
                if not stat.S_ISREG(before.st_mode):
                    return Unread(reason="it is no regular file any more", mend="remove it, or exclude it")
                if before.st_size > limit:
                    return too_large(before.st_size, limit)
                content = file.read(limit + 1)
                after = os.fstat(descriptor)
        except OSError as error:
            return unreadable(error)
        if len(content) == after.st_size and (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size):
            return Content(content=content, status=after)
    return Unread(reason="it kept changing while it was read", mend="sync again when it is complete")


def unreadable(error: OSError) -> Unread:
    """Return why a file couldn't be read, in words."""
    if isinstance(error, FileNotFoundError):
        reason, mend = "it vanished while it was read", "nothing, if it was deleted; else sync again"
        return Unread(reason=reason, mend=mend, is_gone=True)
    if isinstance(error, PermissionError):
        return Unread(
            reason=f"it cannot be read: {error.strerror}",
            mend="give the user that runs Citebot the right to read it, or exclude it",
        )
    return Unread(
        reason=f"it cannot be read: {error.strerror}", mend="check the disk or the network share, then sync again"
    )


def _flag(name: str) -> int:
    """Return a flag of ``os.open``, 0 where the system has no such flag."""
    return int(getattr(os, name, 0))
