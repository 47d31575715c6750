"""Source type ``gitlab``: files of a branch, issues, merge requests and wiki pages of projects and groups."""

from connectors.base import SourceType
from connectors.gitlab.connector import GitlabConnector
from connectors.gitlab.options import GitlabOptions

GITLAB = SourceType(options=GitlabOptions, create=GitlabConnector)

__all__ = ["GITLAB", "GitlabConnector", "GitlabOptions"]
