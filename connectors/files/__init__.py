"""Source type ``files``: a folder of documents on this machine, or wherever fsspec has a file system for."""

from connectors.base import SourceType
from connectors.files.connector import FilesConnector
from connectors.files.credential import credential
from connectors.files.jsonl import BrokenLine, LineDocument, documents_from_jsonl
from connectors.files.options import FilesOptions

FILES = SourceType(options=FilesOptions, create=FilesConnector, credential=credential)

__all__ = ["FILES", "BrokenLine", "FilesConnector", "FilesOptions", "LineDocument", "documents_from_jsonl"]
