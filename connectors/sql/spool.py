"""What a query gave, put aside until it is indexed: in memory, from some megabytes on in a file that has no name.

Indexing takes a thousand times as long as reading. A cursor left open for that long would keep a SQLite file locked
for whoever writes it, and PostgreSQL from cleaning up.
"""

import pickle
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO

from connectors.base import Failure, SourceDocument
from ragcore.errors import SourceError

_IN_MEMORY = 8_000_000
_BATCH = 64
_BATCH_BYTES = 4_000_000


@dataclass(slots=True)
class Spool:
    """Takes changes, then gives them back in batches. Blocking; run it in threads. It ends with ``close``."""

    count: int = 0
    _file: IO[bytes] = field(default_factory=lambda: tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY))  # noqa: SIM115

    def put(self, change: SourceDocument | Failure) -> None:
        """Add one; SourceError when the disk is full."""
        try:
            pickle.dump(change, self._file, pickle.HIGHEST_PROTOCOL)
        except OSError as error:
            folder = tempfile.gettempdir()
            raise SourceError(
                f"{folder} takes no more: {error.strerror}", mend="make room there, or set TMPDIR"
            ) from error
        self.count += 1

    def batches(self) -> Iterator[list[SourceDocument | Failure]]:
        """Yield what was put, in order, in lists small enough to be held in memory."""
        self._file.seek(0)
        batch: list[SourceDocument | Failure] = []
        size = 0
        for _ in range(self.count):
            change = pickle.load(self._file)
            batch.append(change)
            size += len(change.content) if isinstance(change, SourceDocument) else 0
            if len(batch) >= _BATCH or size >= _BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def close(self) -> None:
        """Let go of it."""
        self._file.close()
