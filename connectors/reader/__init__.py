"""Source type ``reader``: what a reader of LlamaIndex or a loader of LangChain yields."""

from connectors.base import SourceType
from connectors.reader.connector import ReaderConnector
from connectors.reader.options import ReaderOptions

READER = SourceType(options=ReaderOptions, create=ReaderConnector)

__all__ = ["READER", "ReaderConnector", "ReaderOptions"]
