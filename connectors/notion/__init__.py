"""Source type ``notion``: pages, databases and their rows of a Notion workspace."""

from connectors.base import SourceType
from connectors.notion.connector import NotionConnector
from connectors.notion.options import NotionOptions

NOTION = SourceType(options=NotionOptions, create=NotionConnector)

__all__ = ["NOTION", "NotionConnector", "NotionOptions"]
