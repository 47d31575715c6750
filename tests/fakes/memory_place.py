"""fsspec's file system in memory, broken where a test says so: it stands for the places that no server here speaks."""

from collections.abc import Callable
from typing import Any, ClassVar

from fsspec.implementations.memory import MemoryFileSystem


class HttpFault(OSError):
    """An answer over HTTP, as the clients of the clouds raise it."""

    def __init__(self, status: int, **headers: str) -> None:
        super().__init__(f"signed with https://x.example/?sig=a-secret-signature: {status}")
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class FaultyMemory(MemoryFileSystem):
    """``fault`` is asked before each call, with what is called and for what; it may raise."""

    protocol = "memory"
    cachable = False
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    fault: ClassVar[Callable[[str, str], None]]

    def ls(self, path: str, detail: bool = True, **how: Any) -> Any:
        type(self).fault("ls", path)
        return super().ls(path, detail=detail, **how)

    def info(self, path: str, **how: Any) -> Any:
        type(self).fault("info", path)
        return super().info(path, **how)

    def get_file(self, rpath: str, lpath: str, **how: Any) -> None:
        type(self).fault("get", rpath)
        super().get_file(rpath, lpath, **how)


def no_fault(_call: str, _path: str) -> None:
    """Let everything pass."""
