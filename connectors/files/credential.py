"""What a place may refuse, as a fingerprint: its settings, and what stands outside of them."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from connectors.base import Origin, all_settings
from connectors.files.options import FilesOptions
from connectors.files.remote import is_url, texts_in

_VARIABLES = ("AWS_", "GOOGLE_", "AZURE_")
"""How the names begin under which the clients of the clouds look for credentials in the environment."""
_FILES = ("~/.aws/credentials", "~/.aws/config", "~/.ssh/known_hosts", "~/.ssh/config")


def credential(_: Origin, options: FilesOptions) -> str:
    """Return a fingerprint that changes with anything by which a refused credential may be mended.

    Files that ``storage_options`` name are looked for where the clients look: from the working directory.
    """
    if not is_url(options.path):
        return all_settings(options)
    told = [all_settings(options), *_environment(), *_files(options)]
    return hashlib.sha256("\n".join(told).encode("utf-8", "replace")).hexdigest()


def _environment() -> Iterator[str]:
    yield from (f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(_VARIABLES))


def _files(options: FilesOptions) -> Iterator[str]:
    """Yield when each file was changed that may hold a credential, or a host's key."""
    for name in (*_FILES, *texts_in(options.storage_options)):
        try:
            status = Path(name).expanduser().stat()
        except (OSError, ValueError, RuntimeError):
            continue  # no file's name, or no such file
        yield f"{name} {status.st_mtime_ns} {status.st_size}"
