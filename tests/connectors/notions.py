"""What the tests of the source type ``notion`` use: a connector to a server, and runs that go on from each other."""

from pathlib import Path

from pydantic import SecretStr

from connectors.base import Origin
from connectors.notion import NotionConnector, NotionOptions
from tests.connectors.helpers import collect, listed
from tests.servers.notion import NotionServer


def connector(server: NotionServer, origin: Origin | None = None, **changes: object) -> NotionConnector:
    told = {"url": server.origin or "http://127.0.0.1:9", "token": SecretStr("ntn_t1")} | changes
    options = NotionOptions.model_validate(told).model_copy(update={"requests_per_second": 1e6})
    return NotionConnector(origin or Origin(source="s", folder=Path("/")), options)


class Runs:
    """Runs of one source, each with the cursor and the versions of those before it."""

    def __init__(self, server: NotionServer, **options: object) -> None:
        self.server, self.options = server, options
        self.cursor: str | None = None
        self.held: dict = {}

    @property
    def known(self) -> dict[str, str]:
        return {identity: one.version for identity, one in self.held.items()}

    async def __call__(self) -> set[str]:
        """Run; return the titles of what was yielded, and drop what is no longer there."""
        source, before = connector(self.server, **self.options), len(self.server.asked)
        told, self.failures, self.gone, self.cursor = await collect(source.changes(self.cursor, self.known))
        self.ids, _ = await listed(source)
        self.asked = self.server.paths()[before:]
        self.held = {identity: one for identity, one in (self.held | told).items() if identity in self.ids}
        return {one.title for one in told.values()}

    @property
    def titles(self) -> set[str]:
        return {one.title for one in self.held.values()}

    def document(self, title: str):
        return next(one for one in self.held.values() if one.title == title)

    def text(self, title: str) -> str:
        return self.document(title).content.decode()


async def text_of(*blocks, **options) -> str:
    """Return what a page with these blocks is written as, without its title."""
    async with NotionServer().serving() as server:
        server.space.page("P", *blocks)
        runs = Runs(server, **options)
        await runs()
        return runs.text("P").removeprefix("# P\n").strip("\n")
