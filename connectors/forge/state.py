"""What a source remembers from run to run, as the text of a cursor."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from pydantic import TypeAdapter

from connectors.cursors import packed, unpacked


@dataclass(slots=True, kw_only=True)
class FilesMemory:
    """The end of the branch, with the digest of the files that were read there; ``etag`` is the branch's."""

    etag: str = ""
    commit: str = ""
    tree: str = ""
    digest: str = ""


@dataclass(slots=True, kw_only=True)
class Remembered:
    """What a forge's memory begins with: the settings that all was read by, and what its fields mean.

    A forge adds its fields, and gives ``form`` another value when they come to mean something else.
    """

    basis: str
    form: str = "1"

    def to_cursor(self) -> str:
        """Return it as text."""
        return packed(_adapter(type(self)).dump_json(self))

    @classmethod
    def from_cursor(cls, cursor: str | None, basis: str) -> Self:
        """Return what a cursor holds; nothing when there is none, or it is of other settings or another form."""
        nothing = cls(basis=basis)
        if not cursor:
            return nothing
        try:
            found: Self = _adapter(cls).validate_json(unpacked(cursor))
        except ValueError:
            return nothing
        return found if (found.form, found.basis) == (nothing.form, basis) else nothing


_ADAPTERS: dict[type, TypeAdapter[Any]] = {}


def _adapter(kind: type) -> TypeAdapter[Any]:
    """Return what reads and writes a kind of memory: making it takes longer than using it."""
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def digest(versions: Iterable[tuple[str, str]]) -> str:
    """Return what stands for a set of ids with their versions, in any order."""
    told = sorted(f"{identity}\0{version}" for identity, version in versions)
    return hashlib.sha256("\n".join(told).encode("utf-8", "replace")).hexdigest()
