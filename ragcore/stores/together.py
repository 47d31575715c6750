"""What becomes true in the one commit that makes documents live, besides them."""

from dataclasses import dataclass

from ragcore.stores.failures import Failure
from ragcore.stores.rows import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """How far a source has been read, in its connector's own words; None: from the beginning."""

    source: str
    value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """No document is named twice in it, nor among those that are switched by the same commit, but for one exception.

    ``refreshed`` are documents of which only version, time of change and a mark in their pipeline are new, ``read``
    those whose last failure is over, ``failed`` those that can't be read, ``gone`` those to be deleted; ``cursors``
    tell how far sources are read. What failed and has other readers now is gone, too: what is indexed of it is open to
    those that it had.
    """

    refreshed: tuple[Document, ...] = ()
    read: tuple[str, ...] = ()
    failed: tuple[Failure, ...] = ()
    gone: tuple[str, ...] = ()
    cursors: tuple[Cursor, ...] = ()

    def __bool__(self) -> bool:
        """Tell whether there is anything to write."""
        return bool(self.refreshed or self.read or self.failed or self.gone or self.cursors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Switched:
    """What a commit came to: its revision (0: no document was switched or deleted), and which of ``gone`` were live."""

    revision: int = 0
    gone: frozenset[str] = frozenset()
