"""One repository as all that is read of it shares: its names, what documents of it carry, and how faults are borne."""

import hashlib
from dataclasses import dataclass, field, replace
from datetime import datetime

from connectors.base import Failure, Origin, SourceDocument
from connectors.github.api import Api
from connectors.github.options import GithubOptions
from connectors.github.replies import REPOSITORY, Repository
from connectors.github.state import RepositoryMemory
from ragcore.errors import SourceAuthError, SourceBadReply, SourceError, SourceRateLimited, SourceUnreachable

_TEXT_FORM = "1"
"""Raised when documents are written in another way, so that they are read again."""
_IN_A_ROW = 5
"""Documents that may fail one after the other before it is the source that is at fault."""


@dataclass(slots=True)
class Mishaps:
    """Faults of single documents: GitHub fails for some for ever, and for all of them when it is down."""

    _row: int = 0

    def passed(self) -> None:
        """Take note that a document could be read."""
        self._row = 0

    def failure(self, identity: str, error: SourceError, version: str = "") -> Failure:
        """Return a fault as that of one document; raises it when it isn't."""
        self._row += 1
        everywhere = SourceAuthError | SourceRateLimited | SourceUnreachable
        if isinstance(error, everywhere) or self._row > _IN_A_ROW:
            raise error
        # What came in a form that can't be used comes so again; a fault of the server may pass.
        version = version if isinstance(error, SourceBadReply) else ""
        return Failure(id=identity, reason=error.reason, mend=error.mend or "try again later", version=version)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A repository: ``name`` as the settings have it, ``about`` what GitHub tells of it, ``date`` GitHub's own time."""

    origin: Origin
    options: GithubOptions
    api: Api
    name: str
    about: Repository
    date: datetime | None
    mishaps: Mishaps = field(default_factory=Mishaps)

    @property
    def path(self) -> str:
        """Where the API has it, by the name that it has now: the old one costs a redirect each time."""
        return f"/repos/{self.about.full_name}"

    @property
    def salt(self) -> str:
        """What stands in each version for all that documents carry besides their text."""
        told = repr((_TEXT_FORM, self.options.readers))
        return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:6]

    def identity(self, place: str) -> str:
        """Return the id of a document: ``owner/name/`` and what stands behind it in GitHub's own addresses."""
        return self.origin.document_id(f"{self.name}/{place}")

    def known(self, document: SourceDocument) -> SourceDocument:
        """Return a document with its readers."""
        readers = self.options.readers
        return document if readers is None else replace(document, readers=frozenset(readers))


async def opened(
    origin: Origin, options: GithubOptions, api: Api, name: str, memory: RepositoryMemory | None = None
) -> Scope:
    """Return a repository, following it to where it was renamed or moved; SourceGone when it isn't there."""
    memory = memory or RepositoryMemory()
    got = await api.get(REPOSITORY, f"/repos/{name}", etag=memory.etag if memory.about else "")
    if got.value is not None:
        memory.etag, memory.about = got.etag, got.value
    if memory.about is None:
        raise SourceBadReply(f"GitHub told nothing of {name}", mend="try again later")
    return Scope(origin=origin, options=options, api=api, name=name, about=memory.about, date=got.date)
