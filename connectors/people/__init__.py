"""Answers that people gave where the documents did not know: a source that needs no settings of its own.

Every knowledge base with ``owners`` has one. It reads Citebot's own database, so it is made by whoever has that open,
and no settings can name its type.
"""

from connectors.people.connector import PeopleConnector

__all__ = ["PeopleConnector"]
