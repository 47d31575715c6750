"""What every source system's connector is: a settings model, and an object that tells what changed.

A connector knows its source system and nothing else: no index, no schedule, no retry policy. ``connectors/sync`` drives
it, stores what it yields, remembers its cursor and its failures, waits and tries again, and decides about deletions.
``connectors/README.md`` has a whole one, and ``tests/connectors/conformance.py`` says what each must do.

A document's id is ``<source name>:<native id>`` everywhere; ``Origin.document_id`` writes it.
"""

import hashlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, SecretBytes, SecretStr

from ragcore.types import Permalink, SourceDocument

__all__ = [
    "Change",
    "Checkpoint",
    "Connector",
    "Estimate",
    "Failure",
    "Options",
    "Origin",
    "Permalink",
    "SourceDocument",
    "SourceType",
    "TimeZoneName",
    "Tombstone",
    "all_settings",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """The source itself says that a document is gone."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One document could not be read: why, in one line, and what its owner can do about it.

    ``version`` is the source's, where it is known: the document is then not tried again in vain while it stays.
    ``readers`` are those who may read it now, where they are known, and some may not: what is indexed of it stays only
    if it is open to none but them.
    ``covers``, when given, begins the ids of documents that may be alive behind this failure though no listing shows
    them (a folder that can't be listed): none of these counts as deleted.
    """

    id: str
    reason: str
    mend: str
    version: str = ""
    readers: frozenset[str] | None = None
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

    What concerns one document is a ``Failure``. When the source as a whole can't be read, every method raises, at once
    and without trying again, one of ``ragcore.errors``, with what happened and, as ``mend``, what its owner can do:

    - ``SourceAuthError``: the credential is wrong, has expired or lacks a scope. The source pauses until it changes.
    - ``SourceRateLimited(retry_after=seconds)``: the source asked to wait. It is waited as long as that.
    - ``SourceGone``: the place itself (the folder, the site, the channel) isn't there. Nothing counts as deleted.
    - ``SourceError``: anything that may pass: no connection, TLS, 5xx, a page that isn't what was due.

    After any of them ``changes`` may be called again on the same object, with the cursor of the last Checkpoint.
    What blocks (disks, synchronous clients) runs in threads.
    """

    def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        """Yield what is new or changed since the cursor, with a Checkpoint after each batch and at the end.

        A document that is gone by the time it is to be read is a Tombstone, a Failure that says so, or isn't yielded.
        An id may be yielded twice, the later one counts.

        Args:
            cursor: The last Checkpoint's, opaque text of the connector's own; None means from the beginning. A time in
                it is the source's, and looked back from (``connectors.cursors``).
            known: The version of each document that is indexed and current, by id. What has the same version at the
                source need not be read and is not yielded; what is not among them is, as far as the source tells of it
                (what is listed and still lacks, the run fetches). So a version stands for all that a document tells:
                its readers, too.
        """
        ...

    def list_ids(self) -> AsyncIterator[str | Failure] | None:
        """Yield the id of every document there is now, or return None when the source can't list.

        A Failure says behind what documents may hide. A listing that can't be completed raises.
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
    """The base of a type's settings: frozen, closed to unknown keys, and silent about values in errors.

    A secret is a ``SecretStr``: people write ``${NAME}`` for it, and the environment fills it in.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, hide_input_in_errors=True)


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise ValueError(f'"{name}" is no time zone; write one such as "Europe/Berlin"') from None
    return name


TimeZoneName = Annotated[str, AfterValidator(_zone)]
"""A setting that names a zone of the time zone database."""


def all_settings(options: Options) -> str:
    """Return a fingerprint of all settings of a source, its secrets among them."""
    told = [f"{name}={_revealed(value)!r}" for name, value in sorted(options)]
    return hashlib.sha256("\n".join(told).encode("utf-8", "replace")).hexdigest()


def _revealed(value: object) -> object:
    """Return a setting with its secrets in the clear, also those in tables, lists and models within it."""
    if isinstance(value, SecretStr | SecretBytes):
        return value.get_secret_value()
    if isinstance(value, BaseModel | Mapping):
        pairs = value if isinstance(value, BaseModel) else value.items()
        return sorted((str(name), _revealed(inner)) for name, inner in pairs)
    if isinstance(value, list | tuple):
        return [_revealed(inner) for inner in value]
    return sorted(map(repr, map(_revealed, value))) if isinstance(value, set | frozenset) else value


def _of_settings(_: Origin, options: Options) -> str:
    return all_settings(options)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceType:
    """What a module offers under a type's name: its settings, and how to make a connector from them.

    ``credential`` returns a fingerprint of what the source may refuse: a source that pauses because its credential was
    refused goes on once that changes. All settings count unless a type says otherwise, for a credential may stand in
    an address as well, and what was refused may be taken out of the source. A type whose credential stands outside its
    settings (in a file that they name, in the environment) reads it there; a path of theirs is relative to
    ``Origin.folder``, as for the connector.

    ``touched``, of a type that has the name of a chat platform, returns from its settings and a raw event of that
    platform the native ids of the documents that the event concerns: they are fetched some seconds later. It reads the
    event and nothing else, and returns none for what doesn't concern the source. The event is as the platform tells it:
    of Slack the ``event`` of its Events API, with ``team`` the workspace that the app is told of it in; of Discord
    ``{"t": name, "d": payload}`` as the gateway has it.
    """

    options: type[Options]
    create: Callable[[Origin, Any], Connector]
    credential: Callable[[Origin, Any], str] = _of_settings
    touched: Callable[[Any, Mapping[str, Any]], Sequence[str]] | None = None
