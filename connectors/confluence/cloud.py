"""Confluence Cloud: pages by the second interface, which alone lists them by now."""

from collections.abc import AsyncGenerator, Mapping
from typing import ClassVar
from urllib.parse import quote

from connectors.confluence.replies import PAGE, PAGES, SPACES, Page, Space
from connectors.confluence.site import HIDDEN, File, Head, Kind, Site, forbidden
from ragcore.errors import SourceGone

_PER_PAGE = 250
"""The most that a list of the second interface gives."""
_PLACES = {
    "page": "pages",
    "blogpost": "blogposts",
    "folder": "folders",
    "whiteboard": "whiteboards",
    "database": "databases",
    "embed": "embeds",
}


class CloudSite(Site):
    """A site of Cloud, below ``/wiki``."""

    prefix: ClassVar[str] = "/wiki/rest/api"
    _v2: ClassVar[str] = "/wiki/api/v2"

    async def spaces(self) -> list[Space]:
        """Return the spaces that are read; archived ones only where they are named."""
        asked: dict[str, str | int] = {"limit": _PER_PAGE}
        if self.options.spaces:
            asked["keys"] = ",".join(self.options.spaces)
        else:
            asked["status"] = "current"
        found: list[Space] = []
        async for reply, _ in self.api.pages(SPACES, f"{self._v2}/spaces", asked):
            found += reply.results
        return self.named(found)

    async def heads(self, space: Space, kind: Kind) -> AsyncGenerator[list[Head], None]:
        """Yield the pages or blog posts of a space."""
        path = f"{self._v2}/spaces/{space.id}/{_PLACES[kind]}"
        async for reply, base in self.api.pages(PAGES, path, {"limit": _PER_PAGE, "status": "current", "sort": "id"}):
            yield [self._head(kind, page, space.key, base) for page in reply.results]

    async def read(self, kind: Kind, native: str) -> tuple[Head, str] | None:
        """Return a page or blog post and its text."""
        got = await self.api.get(
            PAGE, f"{self._v2}/{_PLACES[kind]}/{native}", {"body-format": "storage"}, passing=HIDDEN
        )
        if got.status == 403:
            raise forbidden(kind, native)
        page = got.value
        if page is None or page.status != "current":
            return None
        keys = {str(space.id): space.key for space in await self.known_spaces()}
        if page.space not in keys:
            return None
        return self._head(kind, page, keys[page.space], ""), page.body.storage.value

    async def above(self, kind: Kind, native: str) -> tuple[str, str] | None:
        """Return what stands directly above a page, folder or the like."""
        place = _PLACES.get(kind)
        got = await self.api.get(PAGE, f"{self._v2}/{place}/{native}", passing=HIDDEN) if place else None
        if got is None or got.value is None:
            raise SourceGone(f"{kind} {native} can't be seen")
        return _parent(got.value)

    async def file(self, native: str) -> tuple[File, Kind] | None:
        """Return an attachment and the kind of what it belongs to."""
        got = await self.api.get(PAGE, f"{self._v2}/attachments/{native}", passing=HIDDEN)
        if got.status == 403:
            raise forbidden("attachment", native)
        page = got.value
        holder = page and (page.page or page.blog_post)
        if page is None or not holder or page.status != "current":
            return None
        version = page.version
        found = File(
            id=page.id,
            name=page.title,
            number=version.number if version else 0,
            holder=holder,
            media_type=page.media_type,
            size=page.size,
            url=f"{self.base}{page.links.webui or page.links.download}",
            download=page.links.download,
            at=version.at if version else None,
        )
        return found, "page" if page.page else "blogpost"

    def download(self, file: File) -> str:
        """Return where an attachment is read; it leads on to another host, which is told no credential.

        It is the version that a list told of: a newer one may be for fewer readers.
        """
        place = f"{self.prefix}/content/{file.holder}/child/attachment/{file.id}/download"
        return self.api.address(place, {"version": file.number} if file.number else None)

    def members_path(self, group: str) -> str:
        """Return where the members of a group are told, by its id."""
        return f"{self.prefix}/group/{quote(group, safe='')}/membersByGroupId"

    def person_query(self, native: str) -> Mapping[str, str]:
        """Return by what a person is asked for."""
        return {"accountId": native}

    def _head(self, kind: Kind, page: Page, space: str, base: str) -> Head:
        self.base = (base or self.base).rstrip("/")
        return Head(
            kind=kind,
            id=page.id,
            title=page.title,
            number=page.version.number if page.version else 0,
            space=space,
            url=f"{self.base}{page.links.webui}",
            at=page.version.at if page.version else None,
            author=page.author or "",
            parents=() if kind == "blogpost" or page.parent is None else None,
            parent=_parent(page),
        )


def _parent(page: Page) -> tuple[str, str] | None:
    return (page.parent_type or "page", page.parent) if page.parent else None
