"""Source type ``confluence``: pages, blog posts, their comments and attachments, on Cloud and Data Center."""

from connectors.base import SourceType
from connectors.confluence.connector import ConfluenceConnector
from connectors.confluence.options import ConfluenceOptions

CONFLUENCE = SourceType(options=ConfluenceOptions, create=ConfluenceConnector)

__all__ = ["CONFLUENCE", "ConfluenceConnector", "ConfluenceOptions"]
