"""Source type ``web``: the pages of a site, by its links or its sitemaps."""

from connectors.base import SourceType
from connectors.web.connector import WebConnector
from connectors.web.options import WebOptions

WEB = SourceType(options=WebOptions, create=WebConnector)

__all__ = ["WEB", "WebConnector", "WebOptions"]
