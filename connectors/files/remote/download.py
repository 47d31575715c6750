"""Copies of remote files on this machine's disk. Blocking; run it in a thread."""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from connectors.threads import Pulse


class TooMuch(Exception):
    """More bytes came than may be read."""


@dataclass(slots=True)
class Meter:
    """What a file system tells how far a download is, in the form that fsspec's callbacks have."""

    pulse: Pulse
    limit: int | None
    value: int = 0

    def set_size(self, size: int | None) -> None:
        """Take note of a size that may be told; what counts is what comes."""

    def absolute_update(self, value: int) -> None:
        """Take note that so many bytes have come."""
        self.value = value
        self.pulse.beat()
        if self.limit is not None and value > self.limit:
            raise TooMuch

    def relative_update(self, inc: int = 1) -> None:
        """Take note that so many more bytes have come."""
        self.absolute_update(self.value + inc)


def temporary_file() -> Path:
    """Return a new file that only this process's user may read; whoever asks for it removes it."""
    descriptor, name = tempfile.mkstemp(prefix="citebot-")
    os.close(descriptor)
    return Path(name)


def download(system: Any, name: str, target: Path, *, pulse: Pulse, limit: int | None) -> int:
    """Copy a file of a file system of fsspec to the disk, and return its size in bytes.

    Args:
        system: The file system.
        name: The file's name there.
        target: Where to; what stands there is overwritten.
        pulse: Beaten with every piece that comes.
        limit: The most bytes that may come, or TooMuch is raised; None for any number.
    """
    system.get_file(name, str(target), callback=Meter(pulse, limit))
    return target.stat().st_size
