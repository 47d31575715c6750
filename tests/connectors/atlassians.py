"""What the tests of Atlassian's products use: the settings of a server, and runs of one source."""

from collections.abc import Callable
from typing import Any

from connectors.base import Connector, Origin
from tests.connectors.helpers import collect, known_of, listed
from tests.servers.atlassian import Site


def settings(server: Site, **changes: object) -> dict[str, object]:
    """Return the settings by which a server is read."""
    told: dict[str, object] = {"url": server.url or "http://127.0.0.1:9", "token": "t1"}
    return told | ({"email": "ann@x.example"} if server.is_cloud else {}) | changes


class Runs:
    """Runs of one source, each with the cursor and the versions of those before it.

    ``make`` returns a connector to ``server`` for an origin, with options.
    """

    make: Callable[..., Connector]

    def __init__(self, server: Any, folder, **options: object) -> None:
        self.server, self.options = server, options
        self.origin = Origin(source="s", folder=folder)
        self.cursor: str | None = None
        self.known: dict[str, str] = {}

    def connect(self) -> Connector:
        return type(self).make(self.server, self.origin, **self.options)

    async def __call__(self) -> set[str]:
        """Run; return the native ids of what was yielded."""
        source, before = self.connect(), len(self.server.asked)
        told, self.failures, self.gone, self.cursor = await collect(source.changes(self.cursor, dict(self.known)))
        self.ids, _ = await listed(source)
        self.asked = self.server.asked[before:]
        self.told = {self.origin.native_id(identity): one for identity, one in told.items()}
        versions = {identity: version for identity, version in self.known.items() if identity in self.ids}
        self.known = versions | known_of(told)
        return set(self.told)

    def text(self, native: str) -> str:
        return self.told[native].content.decode()
