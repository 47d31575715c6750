"""What the tests of the source type ``github`` use: a connector to a server, and its runs."""

from pydantic import SecretStr

from connectors.base import Origin
from connectors.github import GithubConnector, GithubOptions
from tests.connectors.rounds import Rounds
from tests.servers.github import GithubServer


def connector(server: GithubServer, origin: Origin, **changes: object) -> GithubConnector:
    defaults = {"url": server.url or "http://127.0.0.1:9", "repositories": ("octo/docs",), "token": SecretStr("t1")}
    options = GithubOptions.model_validate(defaults | changes)
    # GitHub's own interface stands at the top of its host, and any other host's below a path.
    if not server.prefix and "url" not in changes:
        options = options.model_copy(update={"url": server.origin})
    return GithubConnector(origin, options)


class Runs(Rounds):
    """Runs of a source of GitHub."""

    make = staticmethod(connector)
