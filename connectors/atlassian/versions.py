"""Versions that tell by their first word for whom a document is: a change of that is not put off. Pure."""

import hashlib

_GATE = 12
_REST = 32


def version_of(readers: frozenset[str] | None, *told: object) -> str:
    """Return what stands for a document's readers and for all else that it tells."""
    return f"{_digest(None if readers is None else sorted(readers))[:_GATE]} {_digest(told)[:_REST]}"


def is_for_others(known: str | None, version: str) -> bool:
    """Tell whether what is known of a document may be for other readers than it is now; None: nothing is known."""
    return known is not None and known.partition(" ")[0] != version.partition(" ")[0]


def _digest(told: object) -> str:
    return hashlib.sha256(repr(told).encode("utf-8", "replace")).hexdigest()
