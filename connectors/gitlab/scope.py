"""One project as all that is read of it shares: its names, what documents of it carry, and how faults are borne."""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from connectors.base import Failure, Origin, SourceDocument
from connectors.gitlab.access import Access, Readers
from connectors.gitlab.api import Api
from connectors.gitlab.options import GitlabOptions
from connectors.gitlab.replies import PROJECT, Project
from connectors.gitlab.state import ProjectMemory
from connectors.mishaps import Mishaps
from ragcore.errors import SourceBadReply

OPEN = "o"
"""What a salt begins with where whoever reads the knowledge base reads the documents."""
Told = TypeVar("Told", bound=SourceDocument | Failure)
_TEXT_FORM = "1"
"""Raised when documents are written in another way, so that they are read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A project, as documents of one kind share it.

    ``name`` is what it is called in ids, ``about`` what GitLab tells of it, ``date`` GitLab's own time. ``readers`` may
    read its documents, ``inner_readers`` what is confidential.
    """

    origin: Origin
    options: GitlabOptions
    api: Api
    name: str
    about: Project
    date: datetime | None
    mishaps: Mishaps
    readers: Readers = None
    inner_readers: Readers = None

    @property
    def path(self) -> str:
        """Where the API has it, whatever it is called."""
        return f"/projects/{self.about.id}"

    @property
    def salt(self) -> str:
        """What stands in each version for all that documents carry besides their text.

        So does the project itself: another one may have come under the path of one that is gone.
        """
        told = repr((_TEXT_FORM, self.about.id, *(sorted(who) if who is not None else who for who in self._circles)))
        circle = OPEN if self.readers is None else "m"
        return f"{circle}{hashlib.sha256(told.encode('utf-8', 'replace')).hexdigest()[:12]}"

    def identity(self, place: str) -> str:
        """Return the id of a document: the project's path and what stands behind it in GitLab's own addresses."""
        return self.origin.document_id(f"{self.name}/{place}")

    def known(self, told: Told, *, confidential: bool = False) -> Told:
        """Return a document, or why there is none, with its readers."""
        return replace(told, readers=self.inner_readers if confidential else self.readers)

    async def of(self, kind: str, access: Access) -> "Scope":
        """Return it as documents of a kind share it; ReadersUnknown when nobody is known to read them."""
        readers = await access.readers(self.about, kind, self.date)
        is_inner = kind == "issues" and self.options.confidential
        inner = await access.inner_readers(self.about, self.date) if is_inner else None
        return replace(self, readers=readers, inner_readers=inner)

    @property
    def _circles(self) -> tuple[Readers, Readers]:
        return self.readers, self.inner_readers


async def opened(
    origin: Origin,
    api: Api,
    name: str,
    *,
    told: tuple[Project, datetime | None] | None = None,
    memory: ProjectMemory | None = None,
) -> Scope:
    """Return a project, following it to where it was moved; SourceGone when it isn't there.

    Args:
        origin: Which source it is read for.
        api: The interface.
        name: Its path.
        told: What a group's list told of it and when, so that it needn't be asked for.
        memory: What is remembered of it.
    """
    about, date = told or (None, None)
    path = f"/projects/{name.replace('/', '%2F')}"
    if about is None:
        memory = memory or ProjectMemory()
        got = await api.get(PROJECT, path, etag=memory.etag if memory.about else "")
        if got.value is not None:
            memory.etag, memory.about = got.etag, got.value
        about, date = memory.about, got.date
    if about is None:
        raise SourceBadReply(f"GitLab told nothing of {name}", mend="try again later")
    address = f"/projects/{about.id}"
    mishaps = Mishaps(probe=lambda: api.get(PROJECT, address))
    return Scope(origin=origin, options=api.options, api=api, name=name, about=about, date=date, mishaps=mishaps)
