"""Who may read a page: its own restriction, and those of all that it stands below, as e-mail addresses.

Confluence shows a page to those whom every one of these restrictions names
(https://support.atlassian.com/confluence-cloud/docs/manage-permissions-on-the-page-level/).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from connectors.atlassian import People
from connectors.confluence.replies import Restriction
from connectors.confluence.site import Head, Site
from ragcore.errors import SourceGone

_DEEPEST = 200
"""Pages above each other that are followed: nobody has that many, and a circle ends."""


@dataclass(frozen=True, slots=True)
class Access:
    """Who may read a page; ``readers`` of None: whoever reads the knowledge base."""

    readers: frozenset[str] | None
    is_restricted: bool


@dataclass(slots=True)
class Readers:
    """Tells who may read each page; what no list told is asked for, each page once a run."""

    site: Site
    people: People = field(init=False)
    _told: dict[str, Restriction] = field(init=False, default_factory=dict)
    _above: dict[str, tuple[str, str] | None] = field(init=False, default_factory=dict)
    _addresses: dict[str, frozenset[str] | None] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Know nobody yet."""
        self.people = People(self.site.options, self.site.members)

    def note(self, heads: Iterable[Head], restrictions: Mapping[str, Restriction]) -> None:
        """Take note of what lists have told of pages, and of restrictions by page."""
        self._told |= restrictions
        for head in heads:
            if head.restriction is not None:
                self._told[head.id] = head.restriction
            self._above[head.id] = head.parent

    async def anew(self, head: Head) -> Access:
        """Return who may read a page now, whatever lists have told before."""
        fresh = Readers(self.site)
        fresh.people = self.people
        fresh.note([head], {})
        return await fresh.of(head)

    async def of(self, head: Head) -> Access:
        """Return who may read a page."""
        chain = await self._chain(head)
        if chain is None:
            return Access(frozenset(), is_restricted=True)
        named = [found for native in (head.id, *chain) if (found := await self._own(native)) is not None]
        if named:
            addresses = frozenset.intersection(*named)
            return Access(frozenset(f"email:{address}" for address in addresses), is_restricted=True)
        readers = self.site.options.readers
        return Access(None if readers is None else frozenset(readers), is_restricted=False)

    async def _chain(self, head: Head) -> tuple[str, ...] | None:
        """Return the ids of all that a page stands below, None when some of it can't be seen."""
        if head.parents is not None:
            return head.parents
        chain, parent = list[str](), head.parent
        while parent is not None:
            kind, native = parent
            if native in chain or len(chain) > _DEEPEST:
                return None
            chain.append(native)
            if native not in self._above:
                try:
                    self._above[native] = await self.site.above(kind, native)
                except SourceGone:
                    return None
            parent = self._above[native]
        return tuple(chain)

    async def _own(self, native: str) -> frozenset[str] | None:
        """Return the addresses that a page's own restriction names, None when it has none."""
        if native not in self._addresses:
            told: Restriction | None = self._told.get(native)
            if told is None or not told.restrictions.is_whole:
                told = await self.site.restriction(native)
            self._addresses[native] = frozenset() if told is None else await self._named(told)
        return self._addresses[native]

    async def _named(self, told: Restriction) -> frozenset[str] | None:
        if not (told.users or told.groups):
            return frozenset() if told.restrictions.is_hidden else None
        found = {self.people.address(person) for person in told.users}
        for group in told.groups:
            found |= await self.people.members(group)
        return frozenset(found - {""})
