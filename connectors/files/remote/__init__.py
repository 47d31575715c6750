"""Places that are no folder of this machine: whatever fsspec has a file system for, by URL."""

from connectors.files.remote.address import Address, is_url, local_path, texts_in
from connectors.files.remote.place import RemotePlace

__all__ = ["Address", "RemotePlace", "is_url", "local_path", "texts_in"]
