"""Who may read what of a project: whoever reads the knowledge base, or members by their e-mail addresses.

Never more than GitLab lets read (https://docs.gitlab.com/user/permissions/): a part of a public project may be for
members alone, and guests of a private one see no code.
"""

import re
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from connectors.gitlab.api import PER_PAGE, Api
from connectors.gitlab.faults import Forbidden
from connectors.gitlab.replies import MEMBERS, PERSON, Member, Person, Project
from connectors.gitlab.state import Acquaintance
from ragcore.errors import SourceError

_GUEST, _REPORTER = 10, 20
"""Roles, as GitLab counts them (https://docs.gitlab.com/api/project_members/)."""
_LEAST = {"files": _REPORTER, "issues": _GUEST, "merge_requests": _REPORTER, "wiki": _GUEST}
_PARTS = {
    "files": ("repository",),
    "issues": ("issues",),
    "merge_requests": ("repository", "merge_requests"),
    "wiki": ("wiki",),
}
_OPEN = frozenset({"enabled", "public"})
_ASKED_AGAIN = timedelta(days=1)
_EMAIL = re.compile(r"[^\s@]+@[^\s@]+")

Readers = frozenset[str] | None


class ReadersUnknown(SourceError):
    """Documents are for members, and no member's address is told."""


@dataclass(slots=True, kw_only=True)
class Access:
    """Tells readers; ``people`` are the addresses that are known, which is added to."""

    api: Api
    people: MutableMapping[int, Acquaintance]
    _members: dict[int, list[Member]] = field(default_factory=dict)

    def is_there(self, project: Project, kind: str) -> bool:
        """Tell whether a project has this kind of documents at all."""
        return all(getattr(project, f"{part}_access_level") != "disabled" for part in _PARTS[kind])

    async def readers(self, project: Project, kind: str, now: datetime | None) -> Readers:
        """Return who may read the documents of a kind, None: whoever reads the knowledge base.

        Raises:
            ReadersUnknown: They are for members, and no member's address is told.
        """
        named = self.api.options.readers
        if named is not None:
            return None if named == "knowledge_base" else frozenset(named)
        return None if self._is_open(project, kind) else await self._addresses(project, _LEAST[kind], now)

    async def inner_readers(self, project: Project, now: datetime | None) -> Readers:
        """Return who may read confidential issues; ReadersUnknown as ``readers``."""
        named = self.api.options.readers
        return frozenset(named) if isinstance(named, tuple) else await self._addresses(project, _REPORTER, now)

    def _is_open(self, project: Project, kind: str) -> bool:
        if not self.api.options.bearer:
            return True  # what is told to nobody in particular
        levels = [getattr(project, f"{part}_access_level") for part in _PARTS[kind]]
        return project.visibility == "public" and all(level in _OPEN for level in levels)

    async def _addresses(self, project: Project, least: int, now: datetime | None) -> frozenset[str]:
        now = now or datetime.now(UTC)
        found = set[str]()
        for member in await self._listed(project):
            is_over = bool(member.expires_at) and str(member.expires_at)[:10] <= now.date().isoformat()
            is_in = member.state == member.membership_state == "active" and not is_over
            if member.access_level >= least and is_in:
                email = member.email or await self._asked(member.id, now)
                if _EMAIL.fullmatch(email):
                    found.add(f"email:{email.lower()}")
        if not found:
            name = project.path_with_namespace
            mend = (
                'name `readers` (with "knowledge_base": whoever reads the knowledge base), '
                "or give the token of an administrator"
            )
            raise ReadersUnknown(f"GitLab tells no e-mail address of the members who may read {name}", mend=mend)
        return frozenset(found)

    async def _listed(self, project: Project) -> list[Member]:
        if project.id not in self._members:
            found: list[Member] = []
            try:
                async for page in self.api.pages(MEMBERS, f"/projects/{project.id}/members/all?per_page={PER_PAGE}"):
                    found += page
            except Forbidden:
                found = []  # then nobody is known to be one
            self._members[project.id] = found
        return self._members[project.id]

    async def _asked(self, user: int, now: datetime) -> str:
        """Return an account's address, "" where none is told."""
        known = self.people.get(user)
        if known and timedelta(0) <= now - known.asked < _ASKED_AGAIN:
            return known.email
        person = (await self.api.get(PERSON, f"/users/{user}", passing=frozenset({403, 404}))).value
        email = _address_of(person) if person else ""
        self.people[user] = Acquaintance(email=email, asked=now)
        return email


def _address_of(person: Person) -> str:
    """Return an address that GitLab has seen to be this person's; an unconfirmed one may be anybody's."""
    return (person.email if person.email and person.confirmed_at else "") or person.public_email or ""
