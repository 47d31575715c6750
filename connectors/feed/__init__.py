"""Source type ``feed``: the entries of RSS, Atom and JSON feeds."""

from connectors.base import SourceType
from connectors.feed.connector import FeedConnector
from connectors.feed.options import FeedOptions

FEED = SourceType(options=FeedOptions, create=FeedConnector)

__all__ = ["FEED", "FeedConnector", "FeedOptions"]
