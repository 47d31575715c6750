"""What went wrong with a database, as one of our own errors: each says why, and what to do about it, and no secret.

PostgreSQL tells it by SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html), SQLite by its result
codes (https://www.sqlite.org/rescode.html), which sqlite3 gives by name.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from urllib.parse import quote, quote_plus

from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError

from ragcore.errors import (
    CitebotError,
    ConfigError,
    SourceAuthError,
    SourceBadReply,
    SourceError,
    SourceGone,
    SourceUnreachable,
)

_Kind = tuple[type[SourceError], str]

_AWAY: _Kind = (SourceUnreachable, "see whether the database runs and can be reached from here")
_QUERY: _Kind = (SourceBadReply, "mend the query")
_READ_ONLY: _Kind = (SourceBadReply, "the query may only read: write a SELECT that changes nothing")
_PLACE: _Kind = (SourceGone, "check the names in the URL and in the query")
_RIGHT: _Kind = (SourceAuthError, "give this user the right to SELECT from what the query names")

SLOW = "raise timeout, or make the query faster: an index on what it is restricted and joined by"

# The longest beginning counts.
_STATES: Mapping[str, _Kind] = MappingProxyType(
    {
        "28": (SourceAuthError, "check user and password, and that the server lets this user in from here"),
        "42501": _RIGHT,
        "3D": _PLACE,
        "3F": _PLACE,
        "42P01": _PLACE,
        "42": _QUERY,
        "22": _QUERY,
        "25006": _READ_ONLY,
        "0A": _QUERY,
        "57014": (SourceError, SLOW),
    }
)
_RESULTS: Mapping[str, _Kind] = MappingProxyType(
    {
        "SQLITE_CANTOPEN": (SourceGone, "check the path, and that the file and its folder may be read"),
        "SQLITE_NOTADB": (SourceBadReply, "name a SQLite file in the URL; one that is encrypted can't be read"),
        "SQLITE_CORRUPT": (SourceBadReply, "the file is damaged: restore it from a backup"),
        "SQLITE_READONLY": _READ_ONLY,
        "SQLITE_PERM": (SourceAuthError, "let the user that runs Citebot read the file"),
        "SQLITE_BUSY": (SourceUnreachable, "another program holds the file locked; try again later"),
        "SQLITE_INTERRUPT": (SourceError, SLOW),
        "SQLITE_ERROR": _QUERY,
    }
)
_SECRET = re.compile(r"pass|pwd|secret|token|key|credential", re.I)
_LONGEST = 300


@contextmanager
def told(url: URL) -> Iterator[None]:
    """Turn what SQLAlchemy, the driver and the system raise into our errors; ``url`` has the secrets to be kept."""
    foreseen: tuple[type[Exception], ...] = (SQLAlchemyError, OSError, *_driver_errors(url))
    try:
        yield
    except CitebotError:
        raise
    except foreseen as error:
        # Not "from error": a driver may quote what it was given, and a log prints what an error came from.
        raise _fault(error, url) from None


def _driver_errors(url: URL) -> tuple[type[Exception], ...]:
    """Return what comes through SQLAlchemy as the driver raised it: asyncpg's, where rows are fetched in steps."""
    if url.drivername != "postgresql+asyncpg":
        return ()
    try:
        import asyncpg  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        return ()
    return asyncpg.PostgresError, asyncpg.InterfaceError


def refused_settings(error: Exception, url: URL) -> ConfigError:
    """Return what to say when the driver doesn't take what stands in the URL."""
    return ConfigError(f"the driver doesn't take the URL of {shown(url)}: {_said(error, url)}; check what follows ?")


def shown(url: URL) -> str:
    """Return an address as an error may show it: without user, password and parameters."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    return f"{url.host or 'this host'}{f':{url.port}' if url.port else ''}/{url.database or ''}"


def _fault(error: Exception, url: URL) -> SourceError:
    kind, mend = _kind(error)
    return kind(f"{shown(url)}: {_said(error, url)}", mend=mend)


def _kind(error: Exception) -> _Kind:
    original = error.orig if isinstance(error, DBAPIError) else error
    state = str(getattr(original, "sqlstate", None) or getattr(original, "pgcode", None) or "")
    for length in (5, 2):
        if state and state[:length] in _STATES:
            return _STATES[state[:length]]
    name = str(getattr(original, "sqlite_errorname", ""))
    if name:
        plain = "_".join(name.split("_")[:2])  # of SQLITE_READONLY_DBMOVED and the like
        if plain == "SQLITE_ERROR" and "no such table" in str(original):
            return _PLACE
        return _RESULTS.get(plain, _AWAY)
    if state or isinstance(error, OSError | OperationalError | InterfaceError):
        return _AWAY
    return _QUERY


def _said(error: Exception, url: URL) -> str:
    """Return the cause in one line, without the statement, its values and any secret of the URL."""
    cause = getattr(error, "orig", None) or error
    text = " ".join(str(cause).split()) or type(cause).__name__
    text = re.sub(r"^<class '[\w.]+'>: ", "", text)  # SQLAlchemy's adapter of asyncpg puts it there
    for secret in sorted(_secrets(url), key=len, reverse=True):
        text = text.replace(secret, "***")
    return text[:_LONGEST]


def _secrets(url: URL) -> set[str]:
    found = {str(url.password or "")}
    for name, value in url.query.items():
        if _SECRET.search(name):
            found |= {value} if isinstance(value, str) else set(value)
    written = {form for secret in found for form in (secret, quote(secret, safe=""), quote_plus(secret))}
    return written - {""}
