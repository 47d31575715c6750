"""What went wrong with a request, as one of our own errors: each says why, and what to do about it, and no secret.

Addresses are shown without their query and without a name or password in them.
"""

import email.utils
import os
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from urllib.parse import urlsplit

import aiohttp

from connectors.http.addresses import refused_addresses
from ragcore.errors import (
    SourceAuthError,
    SourceBadReply,
    SourceError,
    SourceGone,
    SourceRateLimited,
    SourceUnreachable,
)

DEFAULT_WAIT = 60.0
"""Seconds to wait when a host says that it is asked too often, and not for how long."""
_LONGEST_WAIT = 24 * 3600.0

_FAULT = (SourceError, "answered with a fault of its own", "try again later")
_REFUSAL = (SourceBadReply, "refused the request", "check the address and the settings")
_STATUSES: Mapping[int, tuple[type[SourceError], str, str]] = MappingProxyType(
    {
        401: (SourceAuthError, "refused the credential", "check that it is right and still valid"),
        403: (SourceAuthError, "may not be read", "give the credential the scope or permission that this needs"),
        404: (SourceGone, "is not there", "check the address"),
        407: (SourceUnreachable, "is behind a proxy that wants a credential", "put it into HTTPS_PROXY"),
        408: _FAULT,
        410: (SourceGone, "is not there any more", "check the address"),
        425: _FAULT,
    }
)


def shown(url: str) -> str:
    """Return an address as an error may show it: without query, fragment, name and password."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "an address that is none"
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}"


def fault_of(status: int, headers: Mapping[str, str], url: str) -> SourceError | None:
    """Return the fault that a status means; None when it means none (below 400).

    GitHub and others tell a rate limit as 403 with ``X-RateLimit-Remaining: 0``
    (https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api).
    """
    if status < 400:
        return None
    where, wait = shown(url), retry_after(headers)
    is_told = wait is not None or headers.get("X-RateLimit-Remaining") == "0"
    if status == 429 or (status in {403, 503} and is_told):
        seconds = DEFAULT_WAIT if wait is None else wait
        return SourceRateLimited(f"{where} asks to wait {seconds:.0f} s ({status})", retry_after=seconds)
    kind, reason, mend = _STATUSES.get(status, _FAULT if status >= 500 else _REFUSAL)
    return kind(f"{where} {reason} ({status})", mend=mend)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds a host asks to wait, None when it says nothing that can be read.

    ``Retry-After`` in seconds or as a date, which is held against the host's own ``Date`` and not against our clock
    (RFC 9110, section 10.2.3); else the moment ``X-RateLimit-Reset``, in seconds since 1970.
    """
    value = headers.get("Retry-After", "").strip()
    now = moment(headers.get("Date", "")) or datetime.now(UTC)
    until = moment(value)
    if value.isascii() and value.isdigit():
        seconds = float(value)
    elif until is not None:
        seconds = (until - now).total_seconds()
    elif headers.get("X-RateLimit-Remaining") == "0" and headers.get("X-RateLimit-Reset", "").isdigit():
        seconds = float(headers["X-RateLimit-Reset"]) - now.timestamp()
    else:
        return None
    return min(max(seconds, 0.0), _LONGEST_WAIT)


def of_exception(error: Exception, url: str) -> SourceError:
    """Return the fault that an error of the HTTP library, or of the connection below it, means."""
    where = shown(url)
    if isinstance(error, aiohttp.ClientConnectorError):
        return _unconnected(error, where)
    if isinstance(error, TimeoutError):
        return SourceUnreachable(f"{where} did not answer in time", mend="try again later")
    if isinstance(error, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError | ValueError):
        return SourceBadReply(f"{where} is no address that can be read", mend="check the address")
    if isinstance(error, aiohttp.ClientResponseError):
        return SourceBadReply(f"{where} answered with something that is not HTTP", mend="check the address")
    return SourceUnreachable(f"the connection to {where} broke off", mend="try again later")


def _unconnected(error: aiohttp.ClientConnectorError, where: str) -> SourceError:
    """Return why no connection came about."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        mend = "renew the certificate, or name the file of your own authority's certificates in SSL_CERT_FILE"
        return SourceUnreachable(f"the certificate of {where} is not trusted{_certificate_fault(error)}", mend=mend)
    if isinstance(error, aiohttp.ClientSSLError):
        return SourceUnreachable(f"{where} does not speak TLS as it should", mend="check the address and its port")
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return SourceUnreachable(f"the host name of {where} is not known", mend="check the address")
    refused = refused_addresses(error.os_error)
    if refused:
        mend = f'if this is meant, allow it: `networks = ["{refused[0]}"]`'
        return SourceUnreachable(f"{where} leads to {', '.join(refused)}, which is no public address", mend=mend)
    number = error.os_error.errno
    why = f": {os.strerror(number)}" if number else ""
    return SourceUnreachable(f"{where} cannot be reached{why}", mend="check the address")


def _certificate_fault(error: aiohttp.ClientConnectorCertificateError) -> str:
    inner = error.certificate_error
    why = inner.verify_message if isinstance(inner, ssl.SSLCertVerificationError) else ""
    return f": {why}" if why else ""


def moment(text: str) -> datetime | None:
    """Return the moment that a header's date means, None when it is no date."""
    try:
        found = email.utils.parsedate_to_datetime(text) if text else None
    except (ValueError, TypeError):
        return None
    return found if found is None or found.tzinfo else found.replace(tzinfo=UTC)
