"""What the tests of the source type ``jira`` use: a connector to a server, and runs that go on from each other."""

from connectors.base import Origin
from connectors.jira import JiraConnector, JiraOptions
from tests.connectors.helpers import collect, known_of, listed
from tests.servers.jira import JiraServer


def connector(server: JiraServer, origin: Origin, **changes: object) -> JiraConnector:
    told: dict[str, object] = {"url": server.url or "http://127.0.0.1:9", "token": "t1", "projects": ("AB",)}
    if server.is_cloud:
        told["email"] = "ann@x.example"
    return JiraConnector(origin, JiraOptions.model_validate(told | changes))


class Runs:
    """Runs of one source, each with the cursor and the versions of those before it."""

    def __init__(self, server: JiraServer, folder, **options: object) -> None:
        self.server, self.options = server, options
        self.origin = Origin(source="s", folder=folder)
        self.cursor: str | None = None
        self.known: dict[str, str] = {}

    def connect(self) -> JiraConnector:
        return connector(self.server, self.origin, **self.options)

    async def __call__(self) -> set[str]:
        """Run; return the native ids of what was yielded."""
        source, before = self.connect(), len(self.server.asked)
        told, self.failures, self.gone, self.cursor = await collect(source.changes(self.cursor, dict(self.known)))
        self.searches = self.server.searches(before)
        self.ids, _ = await listed(source)
        self.told = {self.origin.native_id(identity): one for identity, one in told.items()}
        versions = {identity: version for identity, version in self.known.items() if identity in self.ids}
        self.known = versions | known_of(told)
        return set(self.told)

    def text(self, native: str) -> str:
        return self.told[native].content.decode()
