"""Who may read a channel, worked out from roles and overwrites. Pure.

The order in which they count: discord.com/developers/docs/topics/permissions#permission-overwrites.
"""

from collections.abc import Iterable, Set
from dataclasses import dataclass

ADMINISTRATOR = 1 << 3
VIEW_CHANNEL = 1 << 10
READ_MESSAGE_HISTORY = 1 << 16
MANAGE_THREADS = 1 << 34
READS = VIEW_CHANNEL | READ_MESSAGE_HISTORY
_ALL = (1 << 64) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Overwrite:
    """What a channel allows and denies one role, or one member."""

    id: int
    is_member: bool
    allow: int
    deny: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Whose permissions are asked for: what the roles give on the whole server, and which roles these are.

    ``member`` of 0 is a member without any role but @everyone, whose id is that of the server.
    """

    server: int
    base: int
    roles: frozenset[int] = frozenset()
    member: int = 0


def permissions_in(overwrites: Iterable[Overwrite], holder: Holder) -> int:
    """Return the permissions that somebody has in a channel with these overwrites."""
    if holder.base & ADMINISTRATOR:
        return _ALL
    overwrites = tuple(overwrites)
    found = holder.base
    steps = (
        [one for one in overwrites if not one.is_member and one.id == holder.server],
        [one for one in overwrites if not one.is_member and one.id in holder.roles - {holder.server}],
        [one for one in overwrites if one.is_member and one.id == holder.member],
    )
    for step in steps:
        for one in step:
            found &= ~one.deny
        for one in step:
            found |= one.allow
    return found


def may_read(permissions: int) -> bool:
    """Tell whether these permissions let somebody see a channel and what was said in it before."""
    return permissions & READS == READS


def readers_of(server: int, channel: int, *, is_open: bool) -> frozenset[str]:
    """Return the readers of what stands in a channel: its server's members, too, where it is open to everyone."""
    here = f"discord:{server}/{channel}"
    return frozenset({here, f"discord:{server}"} if is_open else {here})


def everyone_of(server: int, permissions_by_role: Iterable[tuple[int, int]]) -> Holder:
    """Return the member whom only @everyone's permissions let in."""
    return member_of(server, permissions_by_role, frozenset())


def member_of(
    server: int, permissions_by_role: Iterable[tuple[int, int]], roles: Set[int], *, member: int = 0
) -> Holder:
    """Return somebody with these roles, whose permissions on the server they add up."""
    held = frozenset({*roles, server})
    base = 0
    for role, permissions in permissions_by_role:
        base |= permissions if role in held else 0
    return Holder(server=server, base=base, roles=held, member=member)
