"""Source type ``sql``: the rows of a query, from whatever SQLAlchemy reads."""

from connectors.base import SourceType
from connectors.sql.connector import SqlConnector
from connectors.sql.options import SqlOptions

SQL = SourceType(options=SqlOptions, create=SqlConnector)

__all__ = ["SQL", "SqlConnector", "SqlOptions"]
