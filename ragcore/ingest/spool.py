"""The chunks of one document between its reading and its writing: a few in memory, a large document's in a file."""

import pickle
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from ragcore.errors import StoreError
from ragcore.stores.rows import StoredChunk

SLICE = 256
"""Chunks that are held, embedded or written in one go: what bounds the memory that one large document takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A chunk that is to be written, and the text of it that is to be embedded."""

    stored: StoredChunk
    text: str


class Spool:
    """Drafts in their order, read as often as wanted, by one reader at a time. Blocks: call it in a thread.

    At most ``SLICE`` are in memory. The file has no name, so a crash leaves nothing behind; it goes with the spool.
    """

    def __init__(self, folder: Path) -> None:
        """Begin empty; ``folder`` is where a file may take room."""
        self._folder = folder
        self._newest: list[Draft] = []
        self._file: BinaryIO | None = None
        self._starts: list[int] = []

    def __len__(self) -> int:
        """Return how many there are."""
        return SLICE * len(self._starts) + len(self._newest)

    def __iter__(self) -> Iterator[Draft]:
        """Read them from the first on.

        Raises:
            StoreError: the file cannot be read.
        """
        for start in self._starts:
            yield from self._read(start)
        yield from self._newest

    def extend(self, drafts: Iterable[Draft]) -> None:
        """Add drafts at the end.

        Raises:
            StoreError: the file cannot be written.
        """
        for draft in drafts:
            if len(self._newest) == SLICE:
                self._spill()
            self._newest.append(draft)

    def _spill(self) -> None:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - lives as long as the spool
                weakref.finalize(self, self._file.close)
            start = self._file.seek(0, 2)
            pickle.dump(self._newest, self._file, pickle.HIGHEST_PROTOCOL)
        except OSError as error:
            raise _unusable(self._folder, error) from error
        self._starts.append(start)
        self._newest = []

    def _read(self, start: int) -> list[Draft]:
        assert self._file is not None
        try:
            self._file.seek(start)
            drafts: list[Draft] = pickle.load(self._file)
        except OSError as error:
            raise _unusable(self._folder, error) from error
        return drafts


def slices(spools: Sequence[Spool]) -> Iterator[list[Draft]]:
    """Yield the drafts of several documents, ``SLICE`` at a time, whatever document they are of."""
    drafts = chain.from_iterable(spools)
    while part := list(islice(drafts, SLICE)):
        yield part


def _unusable(folder: Path, error: OSError) -> StoreError:
    return StoreError(f"a large document cannot be laid down in {folder}: {error.strerror or error}")
