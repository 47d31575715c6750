"""Source type ``notion``: pages, databases and their rows of a Notion workspace."""

from connectors.base import SourceType
from connectors.notion.connector import NotionConnector
from connectors.notion.options import NotionOptions, credential

NOTION = SourceType(options=NotionOptions, create=NotionConnector, credential=credential)

__all__ = ["NOTION", "NotionConnector", "NotionOptions"]
