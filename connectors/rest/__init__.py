"""Source type ``rest``: the items that any JSON API lists."""

from connectors.base import SourceType
from connectors.rest.connector import RestConnector
from connectors.rest.options import RestOptions

REST = SourceType(options=RestOptions, create=RestConnector)

__all__ = ["REST", "RestConnector", "RestOptions"]
