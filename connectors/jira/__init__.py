"""Source type ``jira``: issues with their comments, on Cloud and Data Center."""

from connectors.base import SourceType
from connectors.jira.connector import JiraConnector
from connectors.jira.options import JiraOptions

JIRA = SourceType(options=JiraOptions, create=JiraConnector)

__all__ = ["JIRA", "JiraConnector", "JiraOptions"]
