"""What settings of forges share."""

import re

_READER = re.compile(r"\*|email:\S+@\S+|(?:slack|discord|telegram):\S+")


def checked_readers(readers: tuple[str, ...]) -> tuple[str, ...]:
    """Return the readers that a setting names, addresses in small letters; ValueError that names one that is none."""
    for reader in readers:
        if not _READER.fullmatch(reader):
            raise ValueError(f'"{reader}" is no reader; write "slack:T0123", "email:ann@example.org" or "*"')
    return tuple(reader.lower() if reader.startswith("email:") else reader for reader in readers)
