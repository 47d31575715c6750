"""One repository as all that is read of it shares: its names, what documents of it carry, and how faults are borne."""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from connectors.base import Failure, Origin, SourceDocument
from connectors.github.api import Api
from connectors.github.options import GithubOptions
from connectors.github.replies import REPOSITORY, Repository
from connectors.github.state import RepositoryMemory
from connectors.mishaps import Mishaps
from ragcore.errors import SourceBadReply

Told = TypeVar("Told", bound=SourceDocument | Failure)
_TEXT_FORM = "1"
"""Raised when documents are written in another way, so that they are read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A repository: ``name`` as the settings have it, ``about`` what GitHub tells of it, ``date`` GitHub's own time."""

    origin: Origin
    options: GithubOptions
    api: Api
    name: str
    about: Repository
    date: datetime | None
    mishaps: Mishaps

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

    def known(self, told: Told) -> Told:
        """Return a document, or why there is none, with its readers."""
        readers = self.options.readers
        return told if readers is None else replace(told, readers=frozenset(readers))


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
    mishaps = Mishaps(probe=lambda: api.get(REPOSITORY, f"/repos/{name}"))
    return Scope(origin=origin, options=options, api=api, name=name, about=memory.about, date=got.date, mishaps=mishaps)
