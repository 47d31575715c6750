"""WebDAV, through webdav4, with what its file system lacks: names with ``?``, ``#`` and ``%``, and one request a file.

Blocking; run it in a thread.
"""

import importlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from connectors.files.remote.address import Address

_ANSWERING = 60  # seconds


class WebdavFiles:
    """The part of fsspec's interface that is needed here."""

    def __init__(self, system: Any) -> None:
        """Keep webdav4's file system."""
        self.client = system.client
        self._system = system

    def ls(self, path: str, detail: bool = True) -> list[Mapping[str, object]]:
        """Return what a folder holds."""
        found: list[Mapping[str, object]] = self._system.ls(quote(path), detail=detail)
        return found

    def info(self, path: str) -> Mapping[str, object]:
        """Return what is told of a file or folder."""
        found: Mapping[str, object] = self._system.info(quote(path))
        return found

    def get_file(self, path: str, target: str, *, callback: Any) -> None:
        """Copy a file to the disk."""
        url = self.client.join_url(quote(path))
        plain = {"Accept-Encoding": "identity"}
        with self.client.http.stream("GET", url, headers=plain, follow_redirects=True) as answer:
            answer.raise_for_status()
            with open(target, "wb") as file:
                for piece in answer.iter_bytes():
                    file.write(piece)
                    callback.relative_update(len(piece))


def open_webdav(address: Address) -> tuple[WebdavFiles, str]:
    """Return the files of a server, and the path that the source begins at."""
    module = importlib.import_module("webdav4.fsspec")
    options: dict[str, Any] = {"timeout": _ANSWERING, "retry": False, **address.options}
    parts = address.parts
    user, password = options.pop("username", parts.username), options.pop("password", parts.password)
    token = options.pop("token", None)
    if token:
        options["headers"] = {**dict(options.get("headers") or {}), "Authorization": f"Bearer {token}"}
    elif user:
        options["auth"] = (str(user), str(password or ""))
    system = module.WebdavFileSystem(_base(address), **options, skip_instance_cache=True)
    return WebdavFiles(system), unquote(parts.path) or "/"


def close_webdav(files: WebdavFiles) -> None:
    """Close the connections."""
    files.client.http.close()


def webdav_url(address: Address, name: str) -> str:
    """Return where a browser finds a file."""
    return f"{_base(address)}/{quote(name.lstrip('/'))}"


def _base(address: Address) -> str:
    protocol = "http" if address.scheme == "webdav+http" else "https"
    return f"{protocol}://{address.parts.netloc.rpartition('@')[2]}"
