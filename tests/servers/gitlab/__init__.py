"""GitLab on this machine, as far as it is read: its REST interface, version 4.

Written from the documentation: https://docs.gitlab.com/api/rest/.
"""

from tests.servers.gitlab.server import GitlabServer
from tests.servers.gitlab.world import Account, Issue, Note, Project

__all__ = ["Account", "GitlabServer", "Issue", "Note", "Project"]
