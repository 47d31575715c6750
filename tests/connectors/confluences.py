"""What the tests of the source type ``confluence`` use: a connector to a server, and its runs."""

from connectors.base import Origin
from connectors.confluence import ConfluenceConnector, ConfluenceOptions
from tests.connectors import atlassians
from tests.servers.confluence import ConfluenceServer


def connector(server: ConfluenceServer, origin: Origin, **changes: object) -> ConfluenceConnector:
    return ConfluenceConnector(origin, ConfluenceOptions.model_validate(atlassians.settings(server, **changes)))


class Runs(atlassians.Runs):
    """Runs of a source of Confluence."""

    make = staticmethod(connector)
