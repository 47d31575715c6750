"""What tests of forges use: runs of one source that go on from each other."""

from collections.abc import Callable, Sequence

from connectors.base import Checkpoint, Connector, Origin, SourceDocument
from ragcore.links import deep_link
from tests.connectors.helpers import collect, listed, run
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import opened


class Rounds:
    """Runs of one source, each with the cursor and the versions of those before it.

    ``make`` returns a connector to ``server`` for an origin, with options.
    """

    make: Callable[..., Connector]

    def __init__(self, server, folder, **options: object) -> None:
        self.server, self.options = server, options
        self.origin = Origin(source="s", folder=folder)
        self.cursor: str | None = None
        self.held: dict[str, SourceDocument] = {}
        self.failures: dict[str, object] = {}
        self.known: dict[str, str] = {}
        self.asked: list = []

    def connect(self) -> Connector:
        return type(self).make(self.server, self.origin, **self.options)

    async def __call__(self) -> set[str]:
        """Run; return the native ids of what was yielded, and drop what is no longer listed."""
        source, before = self.connect(), len(self.server.asked)
        self.told: dict[str, SourceDocument] = {}
        async for change in source.changes(self.cursor, dict(self.known)):
            if isinstance(change, Checkpoint):
                self.cursor = change.cursor
            elif isinstance(change, SourceDocument):
                self.told[change.id] = change
        self.ids, _ = await listed(source)
        self.asked = self.server.asked[before:]
        self.held = {identity: one for identity, one in (self.held | self.told).items() if identity in self.ids}
        self.known = {identity: one.version for identity, one in self.held.items()}
        return {self.origin.native_id(identity) for identity in self.told}

    def keep(self) -> None:
        """Hold what a run told before it broke off."""
        self.held |= self.told
        self.known = {identity: one.version for identity, one in self.held.items()}

    async def fetch(self, ids: Sequence[str]) -> None:
        """Read what is listed and lacks."""
        documents, _, gone, _ = await collect(self.connect().fetch(ids))
        self.held = {identity: one for identity, one in (self.held | documents).items() if identity not in gone}
        self.known = {identity: one.version for identity, one in self.held.items()}

    async def failed(self) -> dict[str, object]:
        """Return what a run from the beginning can't read, by native id."""
        _, failures, _, _ = await collect(self.connect().changes(None, {}))
        return {self.origin.native_id(identity): failure for identity, failure in failures.items()}

    @property
    def names(self) -> set[str]:
        """What the source holds, by its listing."""
        return {self.origin.native_id(identity) for identity in self.ids}

    def text(self, native: str) -> str:
        return self.held[f"s:{native}"].content.decode()

    def document(self, native: str) -> SourceDocument:
        return self.held[f"s:{native}"]


async def links(folder, source, *passages):
    """Return where each passage is cited from, after a sync into an index."""
    async with opened(folder, HashEmbedder()) as library:
        report = await run(library, source)
        assert report.is_success, report
        chunks = await library.registry.chunks_of(await library.registry.document_ids("s"))
        return [next(deep_link(one, passage) for one in chunks if passage in one.text) for passage in passages]
