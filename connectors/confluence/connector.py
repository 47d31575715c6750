"""The connector of the source type ``confluence``.

A document's id is ``page/ID``, ``blogpost/ID`` or ``attachment/ID``. Each run lists all that there is with versions,
restrictions and comments' versions: neither a deletion nor a changed restriction moves a page's own time, so that no
question by time would tell of it. What the list tells is the version, and what has the one that is known isn't read.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from connectors.atlassian import Api, client_of
from connectors.base import Change, Checkpoint, Estimate, Failure, Origin, SourceDocument, Tombstone
from connectors.confluence.cloud import CloudSite
from connectors.confluence.options import ConfluenceOptions
from connectors.confluence.reading import Reader
from connectors.confluence.server import ServerSite
from ragcore.errors import SourceAuthError, SourceError, SourceGone


@dataclass(slots=True)
class ConfluenceConnector:
    """Reads some spaces, one after the other."""

    origin: Origin
    options: ConfluenceOptions
    _listed: set[str] | None = field(init=False, default=None)
    """What the run has found that there is, once it has been through everything."""

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        """Yield what is new or has changed; a space that can't be read holds up none of the others."""
        self._listed, found, expected = None, set[str](), 0
        refusals: list[SourceError] = []
        async with self._opened() as reader:
            for space in await reader.site.known_spaces():
                try:
                    async for step in reader.changes(space, known, found):
                        if isinstance(step, Estimate):
                            expected += step.documents
                            yield Estimate(documents=expected)
                        else:
                            yield step
                except (SourceGone, SourceAuthError) as error:
                    refusals.append(error)
                yield Checkpoint()
            if refusals:
                raise refusals[0]
            async for change in reader.confirmed(known, found):
                yield change
        self._listed = found
        yield Checkpoint()

    async def list_ids(self) -> AsyncIterator[str | Failure]:
        """Yield the id of all that there is: what the run has found, else by lists of its own."""
        if self._listed is None:
            found = set[str]()
            async with self._opened() as reader:
                for space in await reader.site.known_spaces():
                    found |= {identity async for identity in reader.identities(space)}
            self._listed = found
        for identity in sorted(self._listed):
            yield identity

    async def fetch(self, ids: Sequence[str]) -> AsyncIterator[SourceDocument | Tombstone | Failure]:
        """Yield these documents as they are now."""
        async with self._opened() as reader:
            for identity in dict.fromkeys(ids):
                found = await reader.fetched(identity)
                if self._listed is not None and isinstance(found, Tombstone):
                    self._listed.discard(identity)
                yield found

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[Reader, None]:
        """Let the site be read, once it has said that it knows the account."""
        async with client_of(self.options, product="Confluence") as client:
            api, is_cloud = Api(self.options, client), self.options.is_cloud
            base = f"{self.options.site}/wiki" if is_cloud else self.options.site
            site = CloudSite(self.options, api, base) if is_cloud else ServerSite(self.options, api, base)
            await site.check()
            yield Reader(self.origin, site)
