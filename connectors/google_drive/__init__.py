"""Source type ``google_drive``: the documents of folders, of shared drives, or of all that an account sees."""

from connectors.base import SourceType
from connectors.google_drive.connector import GoogleDriveConnector
from connectors.google_drive.options import GoogleDriveOptions, credential

GOOGLE_DRIVE = SourceType(options=GoogleDriveOptions, create=GoogleDriveConnector, credential=credential)

__all__ = ["GOOGLE_DRIVE", "GoogleDriveConnector", "GoogleDriveOptions"]
