"""What the tests of the source type ``gitlab`` use: a connector to a server, and its runs."""

from pydantic import SecretStr

from connectors.base import Origin
from connectors.gitlab import GitlabConnector, GitlabOptions
from tests.connectors.rounds import Rounds
from tests.servers.gitlab import GitlabServer


def connector(server: GitlabServer, origin: Origin, **changes: object) -> GitlabConnector:
    defaults = {"url": server.url or "http://127.0.0.1:9", "token": SecretStr("t1")}
    if "groups" not in changes:
        defaults["projects"] = ("acme/docs",)
    return GitlabConnector(origin, GitlabOptions.model_validate(defaults | changes))


class Runs(Rounds):
    """Runs of a source of GitLab."""

    make = staticmethod(connector)
