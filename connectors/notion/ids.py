"""Notion's ids: UUIDs, which stand with or without dashes in its addresses and its replies. Pure."""

import re
from urllib.parse import parse_qs, urlsplit

_ID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}")
_LAST = re.compile(rf"(?<![0-9a-f])({_ID.pattern})$")


def id_of(text: str) -> str:
    """Return an id with its dashes, in lower case; "" when the text is none."""
    plain = text.strip().lower()
    if not _ID.fullmatch(plain):
        return ""
    digits = plain.replace("-", "")
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def id_in(text: str) -> str:
    """Return the id that an address of Notion leads to, or that a text is; "" when there is none.

    A page that is open beside or above another stands in the address as ``p``; ``v`` names a view, and no page.
    """
    if "://" not in text:
        return id_of(text)
    try:
        parts = urlsplit(text.strip())
    except ValueError:
        return ""
    for peeked in parse_qs(parts.query).get("p", []):
        if id_of(peeked):
            return id_of(peeked)
    last = _LAST.search(parts.path.rstrip("/").lower())
    return id_of(last[1]) if last else ""


def undashed(identity: str) -> str:
    """Return an id as addresses have it."""
    return identity.replace("-", "")
