"""Source type ``imap``: the mails of a mailbox, its threads and what is attached."""

from connectors.base import SourceType
from connectors.imap.connector import ImapConnector
from connectors.imap.options import ImapOptions

IMAP = SourceType(options=ImapOptions, create=ImapConnector)

__all__ = ["IMAP", "ImapConnector", "ImapOptions"]
