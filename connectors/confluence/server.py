"""Confluence Data Center and Server: everything by the first interface."""

from collections.abc import AsyncGenerator, Mapping
from typing import ClassVar
from urllib.parse import quote

from connectors.confluence.replies import CONTENT, CONTENTS, SPACES, Content, Space
from connectors.confluence.site import HIDDEN, PER_PAGE, RESTRICTED, File, Head, Kind, Site, forbidden
from ragcore.errors import SourceGone


class ServerSite(Site):
    """A server of one's own."""

    prefix: ClassVar[str] = "/rest/api"

    async def spaces(self) -> list[Space]:
        """Return the spaces that are read; archived ones only where they are named."""
        found: list[Space] = []
        async for reply, _ in self.api.pages(SPACES, f"{self.prefix}/space", {"start": 0, "limit": PER_PAGE}):
            found += (one for one in reply.results if self.options.spaces or one.status.lower() == "current")
        return self.named(found)

    async def heads(self, space: Space, kind: Kind) -> AsyncGenerator[list[Head], None]:
        """Yield the pages or blog posts of a space."""
        asked: Mapping[str, str | int] = {
            "spaceKey": space.key,
            "type": kind,
            "status": "current",
            "expand": f"version,ancestors,history,{RESTRICTED}",
            "start": 0,
            "limit": PER_PAGE,
        }
        async for reply, base in self.api.pages(CONTENTS, f"{self.prefix}/content", asked):
            yield [self._head(kind, one, space.key, base) for one in reply.results]

    async def read(self, kind: Kind, native: str) -> tuple[Head, str] | None:
        """Return a page or blog post and its text."""
        expand = f"body.storage,version,ancestors,history,space,{RESTRICTED}"
        got = await self.api.get(CONTENT, f"{self.prefix}/content/{native}", {"expand": expand}, passing=HIDDEN)
        if got.status == 403:
            raise forbidden(kind, native)
        told = got.value
        if told is None or told.status != "current" or told.type != kind or told.space is None:
            return None
        if told.space.key not in {space.key for space in await self.known_spaces()}:
            return None
        return self._head(kind, told, told.space.key, ""), told.body.storage.value

    async def above(self, kind: Kind, native: str) -> tuple[str, str] | None:
        """Raise SourceGone: all that stands above a page is told with it."""
        raise SourceGone(f"{kind} {native} can't be seen")

    async def file(self, native: str) -> tuple[File, Kind] | None:
        """Return an attachment and the kind of what it belongs to."""
        asked = {"expand": "version,container"}
        got = await self.api.get(CONTENT, f"{self.prefix}/content/{native}", asked, passing=HIDDEN)
        if got.status == 403:
            raise forbidden("attachment", native)
        told = got.value
        if told is None or told.container is None or told.status != "current" or told.type != "attachment":
            return None
        return self.file_of(told), told.container.type or "page"

    def download(self, file: File) -> str:
        """Return where an attachment is read."""
        return self.api.address(file.download)

    def members_path(self, group: str) -> str:
        """Return where the members of a group are told, by its name."""
        return f"{self.prefix}/group/{quote(group, safe='')}/member"

    def person_query(self, native: str) -> Mapping[str, str]:
        """Return by what a person is asked for: a key, as pages mention them."""
        return {"key": native}

    def _head(self, kind: Kind, told: Content, space: str, base: str) -> Head:
        self.base = (base or self.base).rstrip("/")
        version, began = told.version, told.history.created_by if told.history else None
        return Head(
            kind=kind,
            id=told.id,
            title=told.title,
            number=version.number if version else 0,
            space=space,
            url=f"{self.base}{told.links.webui}",
            at=version.at if version else None,
            author=began.shown if began else "",
            parents=None if told.ancestors is None else tuple(one.id for one in told.ancestors),
            parent=("unknown", "") if told.ancestors is None else None,
            restriction=told.restrictions.read if told.restrictions else None,
        )
