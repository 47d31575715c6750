"""Who may read a file, by what Drive tells of it: never more than may open it there."""

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from connectors.google_drive.faults import FileRefused, Forbidden, ReadersUntold, Unexplained
from connectors.google_drive.options import GoogleDriveOptions
from connectors.google_drive.replies import File, Member, Permission
from connectors.google_drive.service import Google
from ragcore.errors import SourceGone

_PUBLIC = ("*",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """Who may read a file; ``until``: when the first of them ends being one, in seconds since 1970, 0 for never."""

    readers: frozenset[str]
    until: int = 0

    @property
    def stamp(self) -> str:
        """What changes with it."""
        return hashlib.sha256("\n".join(sorted(self.readers)).encode()).hexdigest()[:16]


NOBODY = Sharing(readers=frozenset())


@dataclass(slots=True)
class Sharings:
    """Finds out who may read what, asking once for each group, and for each folder of a shared drive.

    ``groups`` maps a group's address to what stands for its members, for all groups that were met.
    """

    google: Google
    options: GoogleDriveOptions
    groups: dict[str, str] = field(default_factory=dict)
    _members: dict[str, frozenset[str]] = field(init=False, default_factory=dict)
    _listed: dict[str, Sharing] = field(init=False, default_factory=dict)
    _turns: dict[str, asyncio.Lock] = field(init=False, default_factory=dict)
    """Let the same thing be asked for once, by however many."""

    async def of(self, file: File, folders: Mapping[str, File], *, is_fresh: bool = False) -> Sharing:
        """Return who may read a file or folder.

        Args:
            file: As it was listed.
            folders: Those that were listed with it.
            is_fresh: Ask anew, whatever was found out before.

        Raises:
            ReadersUntold: Drive doesn't tell.
            SourceError: One of its kinds.
        """
        if self.options.readers is not None:
            return Sharing(readers=frozenset(self.options.readers))
        if file.permissions is not None and not file.drive_id:
            return await self._judged(file.permissions)
        if not file.drive_id:
            raise ReadersUntold
        if is_fresh:
            return await self.of_place(file.id)
        above = self._bearer(file, folders)
        async with self._turns.setdefault(above, asyncio.Lock()):
            if above not in self._listed:
                self._listed[above] = await self.of_place(above)
            return self._listed[above]

    async def of_place(self, identity: str) -> Sharing:
        """Return who may read what has this id, a shared drive among others, as it is now.

        Raises:
            ReadersUntold: Drive doesn't tell.
            SourceError: One of its kinds.
        """
        if self.options.readers is not None:
            return Sharing(readers=frozenset(self.options.readers))
        try:
            permissions = await self.google.permissions(identity)
        except (FileRefused, Forbidden, Unexplained, SourceGone):
            raise ReadersUntold from None
        return await self._judged(permissions)

    async def regrouped(self) -> bool:
        """Tell whether another one is in one of the groups than when they were met."""
        before = dict(self.groups)
        for group in before:
            await self._people(group)
        return before != self.groups

    def _bearer(self, file: File, folders: Mapping[str, File]) -> str:
        """Return the id of what carries a file's rights: one without its own in a shared drive has its folder's."""
        while file.has_augmented_permissions is False and not file.inherited_permissions_disabled and file.parent:
            above = folders.get(file.parent)
            if above is None:
                return file.parent if file.parent == file.drive_id else file.id
            file = above
        return file.id

    async def _judged(self, permissions: Iterable[Permission]) -> Sharing:
        now = datetime.now(UTC)
        readers: set[str] = set()
        ends: list[int] = []
        for permission in permissions:
            if permission.deleted or permission.view:
                continue  # of nobody any more, or to see something else than the file
            end = permission.expiration_time
            if end is not None and end <= now:
                continue
            found = await self._readers(permission)
            readers.update(found)
            if end is not None and found:
                ends.append(int(end.timestamp()))
        return Sharing(readers=frozenset(readers), until=min(ends, default=0))

    async def _readers(self, permission: Permission) -> Sequence[str]:
        address, named = permission.email_address.lower(), self.options.readers_of
        if permission.type == "user":
            return (f"email:{address}",) if address else ()
        if permission.type == "group":
            mapped = named.get(address, ())
            return (*mapped, *await self._people(address)) if self.options.expand_groups and address else mapped
        if permission.type == "domain":
            domain = permission.domain.lower()
            return named.get(domain if permission.allow_file_discovery else f"link:{domain}", ())
        if permission.type == "anyone":
            return named.get("public", _PUBLIC) if permission.allow_file_discovery else named.get("link", ())
        return ()

    async def _people(self, group: str) -> frozenset[str]:
        async with self._turns.setdefault(group, asyncio.Lock()):
            if group not in self._members:
                found = self._members[group] = _addresses(await self.google.members(group))
                self.groups[group] = Sharing(readers=found).stamp
            return self._members[group]


def _addresses(members: Iterable[Member]) -> frozenset[str]:
    """Return the people among a group's members; who is suspended is none."""
    return frozenset(
        f"email:{one.email.lower()}"
        for one in members
        if one.type == "USER" and one.email and one.status in {"ACTIVE", ""}  # "": of another organisation
    )
