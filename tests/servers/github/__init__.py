"""GitHub on this machine, as far as it is read: its REST interface and the GraphQL of discussions and histories.

Written from the documentation: https://docs.github.com/en/rest and https://docs.github.com/en/graphql.
"""

from tests.servers.git import Link, Submodule
from tests.servers.github.server import GithubServer
from tests.servers.github.world import Comment, Discussion, Issue, Repo, Review

__all__ = ["Comment", "Discussion", "GithubServer", "Issue", "Link", "Repo", "Review", "Submodule"]
