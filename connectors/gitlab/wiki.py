"""The pages of a project's wiki: GitLab lists them with their content, and tells no version of them."""

import hashlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from connectors.base import Estimate, Failure, SourceDocument, Tombstone
from connectors.forge.rounds import Step
from connectors.forge.state import digest
from connectors.gitlab.replies import WIKI_PAGE, WIKI_PAGES, WikiPage
from connectors.gitlab.scope import Scope
from connectors.gitlab.state import WikiMemory
from ragcore.errors import SourceError

PLACE = "-/wikis/"
_SIDEBAR = "_sidebar"
"""What stands beside every page."""
_ENDINGS = {"markdown": "md", "asciidoc": "adoc", "rdoc": "rdoc", "org": "org"}


@dataclass(slots=True)
class Wiki:
    """Reads one project's wiki."""

    scope: Scope
    ids: list[str] = field(default_factory=list)

    async def changes(self, memory: WikiMemory, known: Mapping[str, str]) -> AsyncGenerator[Step, None]:
        """Yield every page whose version isn't the known one, and last None. Fills ``ids``."""
        begin = self.scope.identity(PLACE)
        held = {identity: version for identity, version in known.items() if identity.startswith(begin)}
        is_held = bool(memory.etag) and digest(held.items()) == memory.digest
        path = f"{self.scope.path}/wikis?with_content=1"
        got = await self.scope.api.get(WIKI_PAGES, path, etag=memory.etag if is_held else "")
        if got.value is None:
            self.ids = list(held)
            return
        documents = [self._document(page) for page in got.value if page.slug != _SIDEBAR]
        self.ids = [document.id for document in documents]
        due = [document for document in documents if known.get(document.id) != document.version]
        if due:
            yield Estimate(documents=len(due))
        for document in due:
            yield document
        memory.etag, memory.digest = got.etag, digest((document.id, document.version) for document in documents)
        yield None

    async def list_ids(self) -> None:
        """Fill ``ids`` alone."""
        path = f"{self.scope.path}/wikis"
        pages = (await self.scope.api.get(WIKI_PAGES, path)).value or []
        self.ids = [self._identity(page.slug) for page in pages if page.slug != _SIDEBAR]

    async def fetch(self, places: Sequence[str]) -> AsyncGenerator[SourceDocument | Failure | Tombstone, None]:
        """Yield these pages as they are now."""
        for place in dict.fromkeys(places):
            slug, identity = place.removeprefix(PLACE), self.scope.identity(place)
            try:
                page = await self._asked(slug) if slug else None
            except SourceError as error:
                yield self.scope.known(await self.scope.mishaps.failure(identity, error))
            else:
                self.scope.mishaps.passed()
                yield self._document(page) if page and page.slug == slug else Tombstone(id=identity)

    async def _asked(self, slug: str) -> WikiPage | None:
        path = f"{self.scope.path}/wikis/{quote(slug, safe='')}"
        return (await self.scope.api.get(WIKI_PAGE, path, passing=frozenset({404}))).value

    def _document(self, page: WikiPage) -> SourceDocument:
        scope, told = self.scope, repr((page.title, page.format, page.content))
        version = hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:32]
        return scope.known(
            SourceDocument(
                id=self._identity(page.slug),
                source=scope.origin.source,
                content=(page.content or "").encode("utf-8", "replace"),
                name=f"{page.slug.rpartition('/')[2]}.{_ENDINGS.get(page.format, 'txt')}",
                media_type="text/markdown" if page.format == "markdown" else "text/plain",
                title=page.title,
                url=f"{scope.about.web_url}/-/wikis/{quote(page.slug, safe='/')}",
                version=f"{version}-{scope.salt}",
                metadata={"project": scope.name},
            )
        )

    def _identity(self, slug: str) -> str:
        return self.scope.identity(PLACE + slug)
