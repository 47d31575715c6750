"""Source type ``github``: files of a branch, issues, pull requests and discussions of repositories."""

from connectors.base import SourceType
from connectors.github.connector import GithubConnector
from connectors.github.options import GithubOptions

GITHUB = SourceType(options=GithubOptions, create=GithubConnector)

__all__ = ["GITHUB", "GithubConnector", "GithubOptions"]
