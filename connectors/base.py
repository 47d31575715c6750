"""What every source system's connector is: a settings model, and an object that tells what changed.

A connector knows its source system and nothing else: no index, no schedule, no retry policy. ``connectors/sync.py``
drives it, stores what it yields, remembers its cursor and its failures, and decides about deletions.

A document's id is ``<source name>:<native id>`` everywhere; ``Origin.document_id`` writes it.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from ragcore.types import SourceDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """The source itself says that a document is gone."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One document could not be read: why, in one line, and what its owner can do about it.

    ``version`` is the source's, where it is known: the document is then not tried again in vain while it stays.
    ``covers``, when given, begins the ids of documents that may be alive behind this failure though no listing shows
    them (a folder that can't be listed): none of these counts as deleted.
    """

    id: str
    reason: str
    mend: str
    version: str = ""
    covers: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """All that was yielded before this is complete; a run that is cut off later may begin again at ``cursor``."""

    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """About so many documents are going to be yielded; for the progress bar alone."""

    documents: int


Change = SourceDocument | Tombstone | Failure | Checkpoint | Estimate


class Connector(Protocol):
    """Tells what a source holds and what changed in it. One object serves one run of one source.

    Every method raises SourceError when the source as a whole can't be read; what concerns one document is a Failure.
    What blocks (disks, synchronous clients) runs in threads.
    """

    def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        """Yield what is new or changed since the cursor, with a Checkpoint after each batch and at the end.

        Args:
            cursor: The last Checkpoint's, opaque text of the connector's own; None means from the beginning.
            known: The version of each document that is indexed and current, by id. What has the same version at the
                source need not be read and is not yielded; what is not among them is, whatever the cursor says, as far
                as the source can tell.
        """
        ...

    def list_ids(self) -> AsyncIterator[str | Failure] | None:
        """Yield the id of every document there is now, or return None when the source can't list.

        A Failure says behind what documents may hide. A listing that can't be completed raises SourceError.
        """
        ...

    def fetch(self, ids: Sequence[str]) -> AsyncIterator[SourceDocument | Tombstone | Failure]:
        """Yield these documents, changed or not: each id once, as a document, as gone, or as failed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Which source a connector reads for. ``folder`` is what relative paths in its settings are relative to."""

    source: str
    folder: Path

    def document_id(self, native_id: str) -> str:
        """Return the id of a document of this source."""
        return f"{self.source}:{native_id}"

    def native_id(self, document_id: str) -> str:
        """Return the source's own id of one of its documents."""
        return document_id.removeprefix(f"{self.source}:")


class Options(BaseModel):
    """The base of a type's settings: frozen, closed to unknown keys, and silent about values in errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, hide_input_in_errors=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceType:
    """What a module offers under a type's name: its settings, and how to make a connector from them."""

    options: type[Options]
    create: Callable[[Origin, Any], Connector]
