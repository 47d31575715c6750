"""A site of Confluence: its spaces, pages, comments, attachments and people, whichever interface tells of them.

Cloud: https://developer.atlassian.com/cloud/confluence/rest/v1/intro/ and .../v2/intro/; Data Center:
https://developer.atlassian.com/server/confluence/rest/. Pages are listed and read by what each has for it (``cloud``,
``server``). Comments, attachments and restrictions are told by the search that both have, for it alone tells those of a
whole space at once; on Cloud nothing that is used here of the first interface is among what Atlassian takes away
(https://developer.atlassian.com/changelog/#CHANGE-2520).
"""

import abc
from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from connectors.atlassian import Api, Refused
from connectors.atlassian.people import Person
from connectors.confluence.options import ConfluenceOptions
from connectors.confluence.replies import (
    CONTENTS,
    MEMBERS,
    MYSELF,
    PERSON,
    RESTRICTION,
    Content,
    Restriction,
    Space,
)
from ragcore.errors import SourceAuthError, SourceError, SourceGone

PER_PAGE = 100
"""Entries of one page of a list: the search gives at most 200 with what is asked of it here."""
_PER_BODIES = 50
"""The same with texts (https://support.atlassian.com/confluence/kb/
searching-for-content-with-the-rest-api-and-cql-always-limits-results-to-50)."""
RESTRICTED = "restrictions.read.restrictions.user,restrictions.read.restrictions.group"
HIDDEN = frozenset({403, 404})
"""Statuses of what isn't there, or not for the account."""

Kind = str
"""``page`` or ``blogpost``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What a list tells of a page or blog post.

    ``parents`` are the ids of what it stands below, None where only ``parent`` is told, of a kind and with an id.
    ``author`` is a name, or on Cloud the id of an account.
    """

    kind: Kind
    id: str
    title: str
    number: int
    space: str
    url: str
    at: datetime | None = None
    author: str = ""
    parents: tuple[str, ...] | None = None
    parent: tuple[str, str] | None = None
    restriction: Restriction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """An attachment; ``holder`` is the id of the page that it belongs to."""

    id: str
    name: str
    number: int
    holder: str
    media_type: str
    size: int | None
    url: str
    download: str
    at: datetime | None = None
    author: str = ""


@dataclass(slots=True)
class Site(abc.ABC):
    """What both editions have."""

    options: ConfluenceOptions
    api: Api
    base: str = ""
    """What addresses of pages begin with."""
    _names: dict[str, str] = field(default_factory=dict)
    _spaces: list[Space] = field(default_factory=list)

    prefix: ClassVar[str]
    """Where the first interface is."""

    async def check(self) -> None:
        """Raise SourceAuthError when the site takes the account for a stranger: such a one is told less, or nothing."""
        me = (await self.api.get(MYSELF, f"{self.prefix}/user/current")).value
        if me is None or me.type == "anonymous":
            raise SourceAuthError(
                "Confluence takes the account for a stranger", mend="check `token`, and `email` on Cloud"
            )
        self.base = (me.links.base or self.base).rstrip("/")

    @abc.abstractmethod
    async def spaces(self) -> list[Space]:
        """Return the spaces that are read, by key; SourceGone names one that the settings name and isn't there."""

    async def known_spaces(self) -> list[Space]:
        """Return the spaces that are read, asked for once."""
        if not self._spaces:
            self._spaces = await self.spaces()
        return self._spaces

    @abc.abstractmethod
    def heads(self, space: Space, kind: Kind) -> AsyncGenerator[list[Head], None]:
        """Yield the pages or blog posts of a space."""

    @abc.abstractmethod
    async def read(self, kind: Kind, native: str) -> tuple[Head, str] | None:
        """Return a page or blog post and its text in the storage format; None when it is gone or put away."""

    @abc.abstractmethod
    async def above(self, kind: Kind, native: str) -> tuple[str, str] | None:
        """Return what stands directly above something that no list told of; SourceGone when it can't be seen."""

    @abc.abstractmethod
    async def file(self, native: str) -> tuple[File, Kind] | None:
        """Return an attachment and the kind of what it belongs to; None when it is gone."""

    @abc.abstractmethod
    def download(self, file: File) -> str:
        """Return where an attachment is read."""

    async def restrictions(self, space: Space) -> dict[str, Restriction]:
        """Return the restrictions of pages where the list of pages doesn't tell them, as far as the search knows."""
        found: dict[str, Restriction] = {}
        asked = f'space = "{space.key}" and type in (page, blogpost)'
        async for batch in self.search(asked, RESTRICTED):
            found |= {one.id: one.restrictions.read for one in batch if one.restrictions and one.restrictions.read}
        return found

    async def restriction(self, native: str) -> Restriction | None:
        """Return who may read one page or the like; None when that can't be told."""
        whole: Restriction | None = None
        start = 0
        while True:
            got = await self.api.get(
                RESTRICTION,
                f"{self.prefix}/content/{native}/restriction/byOperation/read",
                {"expand": "restrictions.user,restrictions.group", "start": start, "limit": PER_PAGE},
                passing=HIDDEN,
            )
            if got.value is None or got.value.restrictions.user is None or got.value.restrictions.group is None:
                return None
            lists = (got.value.restrictions.user, got.value.restrictions.group)
            if whole is None:
                whole = got.value
            elif whole.restrictions.user and whole.restrictions.group:
                whole.restrictions.user.results += lists[0].results
                whole.restrictions.group.results += lists[1].results
            longest = max(len(one.results) for one in lists)
            start += longest
            if longest < PER_PAGE:
                return whole

    async def comments(self, space: Space) -> dict[str, list[tuple[str, int]]]:
        """Return the ids and versions of the comments of a space, by what they are on."""
        found: dict[str, list[tuple[str, int]]] = {}
        async for batch in self.search(f'space = "{space.key}" and type = comment', "version,container"):
            for one in batch:
                if one.container is not None:
                    found.setdefault(one.container.id, []).append((one.id, _number(one)))
        return found

    async def comments_on(self, native: str) -> list[Content]:
        """Return the comments on a page with their texts, oldest first."""
        expand = "version,history,body.storage,extensions.inlineProperties"
        asked = f"container = {native} and type = comment"
        found = [one async for batch in self.search(asked, expand, limit=_PER_BODIES) for one in batch]
        return sorted({one.id: one for one in found}.values(), key=lambda one: (_began(one), one.id))

    async def files(self, space: Space) -> AsyncGenerator[list[File], None]:
        """Yield the attachments of a space."""
        async for batch in self.search(f'space = "{space.key}" and type = attachment', "version,container"):
            yield [self.file_of(one) for one in batch if one.container is not None]

    def file_of(self, told: Content) -> File:
        """Return an attachment as the first interface tells it."""
        version = told.version
        return File(
            id=told.id,
            name=told.title,
            number=_number(told),
            holder=told.container.id if told.container else "",
            media_type=told.extensions.media_type,
            size=told.extensions.size,
            url=f"{self.base}{told.links.webui or told.links.download}",
            download=told.links.download,
            at=version.at if version else None,
            author=version.by.shown if version and version.by else "",
        )

    async def search(self, asked: str, expand: str, *, limit: int = 0) -> AsyncGenerator[list[Content], None]:
        """Yield what a question in Confluence's query language finds, page by page."""
        query: Mapping[str, str | int] = {"cql": asked, "expand": expand, "limit": limit or PER_PAGE}
        async for reply, _ in self.api.pages(CONTENTS, f"{self.prefix}/content/search", query):
            yield reply.results

    @abc.abstractmethod
    def members_path(self, group: str) -> str:
        """Return where the members of a group are told."""

    async def members(self, group: str) -> list[Person]:
        """Return the members of a group, none when the account may not see them."""
        found: list[Person] = []
        try:
            async for reply, _ in self.api.pages(MEMBERS, self.members_path(group), {"start": 0, "limit": PER_PAGE}):
                found += reply.results
        except (SourceGone, SourceAuthError):
            return []
        return found

    @abc.abstractmethod
    def person_query(self, native: str) -> Mapping[str, str]:
        """Return by what a person is asked for."""

    async def names(self, natives: Iterable[str]) -> Mapping[str, str]:
        """Return the names of accounts; of those that can't be seen none."""
        for native in natives:
            if native and native not in self._names:
                got = None
                try:
                    got = await self.api.get(
                        PERSON, f"{self.prefix}/user", self.person_query(native), passing=frozenset({400, 403, 404})
                    )
                except SourceError as error:
                    if not isinstance(error, SourceGone):
                        raise
                if got is not None and got.value is not None and got.value.shown:
                    self._names[native] = got.value.shown
                else:
                    self._names[native] = ""
        return {native: name for native, name in self._names.items() if name}

    def named(self, spaces: list[Space]) -> list[Space]:
        """Return those of the spaces that are read; SourceGone when one that is named isn't among them."""
        missing = set(self.options.spaces) - {space.key for space in spaces}
        if missing:
            raise SourceGone(
                f"there is no space {', '.join(sorted(missing))}",
                mend="check `spaces`: to an account that may not see a space it looks as if it weren't there",
            )
        return [one for one in spaces if self.options.takes_space(one.key, is_personal=one.type == "personal")]


def forbidden(kind: Kind, native: str) -> Refused:
    """Return why one page isn't read: it was listed, and may not be seen."""
    return Refused(f"{kind} {native} may not be read (403)", mend="let the account see it")


def _number(told: Content) -> int:
    return told.version.number if told.version else 0


def _began(told: Content) -> str:
    began = told.history.created_date if told.history else None
    began = began or (told.version.at if told.version else None)
    return began.isoformat() if began else ""
