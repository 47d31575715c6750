"""What a source that is asked over HTTP identifies itself by."""

import hashlib
from collections.abc import Mapping

from pydantic import SecretStr


def fingerprint_of(headers: Mapping[str, SecretStr], *others: str) -> str:
    """Return what changes when one of the headers does, or another text that may hold a credential."""
    told = sorted((name, value.get_secret_value()) for name, value in headers.items())
    return hashlib.sha256(repr((told, others) if others else told).encode("utf-8", "replace")).hexdigest()
