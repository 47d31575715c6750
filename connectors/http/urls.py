"""Addresses: of pages, in one form for each, and of the server that a setting names."""

import re
from urllib.parse import SplitResult, urlsplit

from yarl import URL

_LONGEST = 2_000


def normalised(url: str, base: str = "", *, ignored: re.Pattern[str] | None = None) -> str:
    """Return the one form of an address of a page, "" when it is none.

    Scheme and host in lower case, no default port, no fragment, dots resolved, escapes only where they are needed, no
    name and password, and without the parameters that make no other page.

    Args:
        url: The address, absolute or relative to ``base``.
        base: What it is relative to.
        ignored: Matches the names of parameters that are left out; None: none is.
    """
    try:
        text = url.strip().replace("\n", "").replace("\r", "").replace("\t", "")
        found = URL(base, encoded=True).join(URL(text)) if base else URL(text)
        if found.scheme not in {"http", "https"} or not found.raw_host:
            return ""
        parts = filter(None, found.raw_query_string.split("&"))
        kept = [part for part in parts if ignored is None or not ignored.fullmatch(part.partition("=")[0])]
        query = f"?{'&'.join(kept)}" if kept else ""
        address = f"{found.scheme}://{found.host_port_subcomponent}{found.raw_path or '/'}{query}"
    except ValueError:
        return ""
    return address if len(address) <= _LONGEST else ""


def server_parts(url: str, *, example: str) -> SplitResult:
    """Return the parts of the address of a server, as settings hold it.

    Raises:
        ValueError: It is no such address, or holds a name or password, which belong into settings of their own.
    """
    parts = urlsplit(url.strip())
    try:
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        is_address = False
    if not is_address or "@" in parts.netloc:
        raise ValueError(f'must be an address such as "{example}"')
    return parts


def file_name(url: str) -> str:
    """Return the last part of an address's path as a file name, "" when it ends in a slash."""
    return URL(url, encoded=True).path.rpartition("/")[2]
