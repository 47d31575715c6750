"""Source type ``rest``: the items that any JSON API lists."""

from connectors.base import SourceType
from connectors.rest.connector import RestConnector, credential
from connectors.rest.options import RestOptions

REST = SourceType(options=RestOptions, create=RestConnector, credential=credential)

__all__ = ["REST", "RestConnector", "RestOptions"]
