"""What the tests of the source type ``jira`` use: a connector to a server, and its runs."""

from typing import Any

from connectors.base import Origin
from connectors.jira import JiraConnector, JiraOptions
from tests.connectors import atlassians
from tests.servers.jira import JiraServer


def connector(server: JiraServer, origin: Origin, **changes: object) -> JiraConnector:
    told = atlassians.settings(server, **{"projects": ("AB",)} | changes)
    return JiraConnector(origin, JiraOptions.model_validate(told))


class Runs(atlassians.Runs):
    """Runs of a source of Jira."""

    make = staticmethod(connector)

    @property
    def searches(self) -> list[dict[str, Any]]:
        """What the last run searched for."""
        return [body for path, body in self.asked if "/search" in path]
