"""Source type ``files``: a folder of documents on this machine, or on a share that it mounts."""

from connectors.base import SourceType
from connectors.files.connector import FilesConnector, FilesOptions
from connectors.files.jsonl import BrokenLine, LineDocument, documents_from_jsonl

FILES = SourceType(options=FilesOptions, create=FilesConnector)

__all__ = ["FILES", "BrokenLine", "FilesConnector", "FilesOptions", "LineDocument", "documents_from_jsonl"]
