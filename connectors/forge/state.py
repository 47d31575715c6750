"""What a source remembers from run to run, as the text of a cursor."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from connectors import cursors

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class FilesMemory:
    """The end of the branch, with the digest of the files that were read there; ``etag`` is the branch's."""

    etag: str = ""
    commit: str = ""
    tree: str = ""
    digest: str = ""


def packed(kind: TypeAdapter[T], memory: T) -> str:
    """Return what is remembered as the text of a cursor."""
    return cursors.packed(kind.dump_json(memory))


def unpacked(kind: TypeAdapter[T], cursor: str | None) -> T | None:
    """Return what a cursor holds; None when there is none, or it is of another kind."""
    if not cursor:
        return None
    try:
        return kind.validate_json(cursors.unpacked(cursor))
    except (ValidationError, ValueError):
        return None


def digest(versions: Iterable[tuple[str, str]]) -> str:
    """Return what stands for a set of ids with their versions, in any order."""
    told = sorted(f"{identity}\0{version}" for identity, version in versions)
    return hashlib.sha256("\n".join(told).encode("utf-8", "replace")).hexdigest()
