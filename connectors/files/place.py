"""Where the files of a source stand, as the connector sees it: a list of files with their versions, and their bytes.

``LocalPlace`` is a folder of this machine, ``RemotePlace`` any other that fsspec has a file system for.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol

from connectors.patterns import Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A file that counts as a document.

    ``where`` is the place's own name of it, ``size`` in bytes or None where the place doesn't tell, ``modified`` in
    seconds since 1970. A file whose ``version`` is as it was is unchanged; "" means that only its content can tell.
    """

    native_id: str
    where: str
    size: int | None
    modified: float | None
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """A spot that can't be looked into: its id, why, what to do, and how the ids that may hide behind it begin."""

    native_id: str
    reason: str
    mend: str
    hides: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A file's content as it stood at one moment, with its version and its time of then."""

    content: bytes
    version: str
    modified: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Why a file wasn't read, and what to do; ``is_gone``: it isn't there any more."""

    reason: str
    mend: str
    is_gone: bool = False


class Place(Protocol):
    """A folder, wherever it is. Entered around its use; nothing of it holds the event loop.

    What concerns the whole place raises SourceError, or ConfigError where a package or an option is missing.
    """

    @property
    def lists_dearly(self) -> bool:
        """Whether a listing costs requests, so that one is enough for a run."""
        ...

    async def __aenter__(self) -> "Place":
        """Get ready; the first call connects."""
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of connections."""
        ...

    def files(self, selection: Selection) -> AsyncGenerator[Found | Blocked, None]:
        """Yield every file that the selection takes, each native id once."""
        ...

    async def read(self, files: Sequence[Found], *, limit: int) -> list[Whole | Unread]:
        """Return the content of each file, or why not.

        Args:
            files: Some files, in their order; together small enough to be held in memory.
            limit: The most bytes that are read of one.
        """
        ...

    def copied(self, file: Found) -> AbstractAsyncContextManager[Path | Unread]:
        """Return a context in which a file of any size can be read from this machine's disk, again and again."""
        ...

    async def is_unchanged(self, file: Found) -> bool:
        """Tell whether what stood in the copy of a file is what its version stands for."""
        ...

    def url(self, file: Found) -> str:
        """Return where a reader can open a file, "" where no such address is known."""
        ...


def misnamed(native_id: str, *, hides: str = "") -> Blocked:
    """Return the refusal of a name that no id can hold."""
    return Blocked(native_id=native_id, reason="its name is not valid UTF-8", mend="rename it", hides=hides)


def second(native_id: str) -> Blocked:
    """Return the refusal of a second file whose name is the same once it is composed (NFC)."""
    reason = "another file's name differs from its name only in the Unicode form"
    return Blocked(native_id=f"{native_id} (the second)", reason=reason, mend="rename one of them")


def too_large(size: int, limit: int) -> Unread:
    """Return the refusal of a file by its size, in bytes."""
    return Unread(
        reason=f"it has {_megabytes(size)}, more than the limit of {_megabytes(limit)}",
        mend="split it, exclude it, or raise max_megabytes",
    )


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:,.1f} MB" if size < 10_000_000 else f"{size / 1_000_000:,.0f} MB"
