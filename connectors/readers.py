"""Who may read documents, as settings name them and as rows of a source do."""

import json
import re
from typing import Annotated

from pydantic import AfterValidator

_READER = re.compile(r"\*|(?:slack|discord|telegram):\S+|email:[^@\s]+@[^@\s]+")
_ADDRESS = re.compile(r"[^@\s:]+@[^@\s]+")


def checked_readers(readers: tuple[str, ...]) -> tuple[str, ...]:
    """Return the readers that a setting names, addresses in small letters; ValueError that names one that is none."""
    for reader in readers:
        if not _READER.fullmatch(reader):
            raise ValueError(f'"{reader}" is no reader; write "slack:T0123", "email:ann@example.org" or "*"')
    return tuple(map(_lowered, readers))


def _checked(readers: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if readers is None else checked_readers(readers)


Readers = Annotated[tuple[str, ...] | None, AfterValidator(_checked)]
"""A setting of who may read a source's documents; None: whoever reads the knowledge base."""


def readers_of(value: object) -> frozenset[str]:
    """Return who may read a row, from a list, JSON, or text with commas; a bare e-mail address is a reader, too.

    ValueError for what is no reader: it could shut out, or let in, whom nobody meant.
    """
    if isinstance(value, str):
        try:
            told = json.loads(value) if value.lstrip().startswith("[") else value.split(",")
        except ValueError:
            raise ValueError("its readers are no JSON") from None
    else:
        told = value if value is not None else []
    if not isinstance(told, list | tuple | set | frozenset):
        raise ValueError("its readers are no list")
    found = set()
    for one in told:
        reader = str(one).strip()
        reader = f"email:{reader}" if _ADDRESS.fullmatch(reader) else reader
        if reader and not (_READER.fullmatch(reader) and reader.isprintable()):  # no store takes NUL
            raise ValueError(f'"{reader[:60] if reader.isprintable() else ascii(reader[:60])}" is no reader')
        found.add(_lowered(reader))
    return frozenset(found - {""})


def _lowered(reader: str) -> str:
    return reader.lower() if reader.startswith("email:") else reader
