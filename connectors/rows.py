"""A row of named values, from whatever gives such rows, as a document: one of a table, or an item of an API.

Its names are ``id`` and ``text``, and where they are there ``title``, ``url``, ``author``, ``updated_at`` and
``readers``; every other one is metadata.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal
from typing import Annotated, Any, Protocol
from urllib.parse import quote
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import AfterValidator

from connectors.base import Failure, Origin, SourceDocument
from connectors.readers import readers_of

TAKEN = frozenset({"id", "title", "text", "url", "author", "updated_at", "readers"})
_MEDIA = {"text": "text/plain", "markdown": "text/markdown", "html": "text/html"}

Row = Mapping[str, Any]


def _with_id(url: str) -> str:
    if url and ("{id}" not in url or "://" not in url):
        raise ValueError('must be an address with {id} in it, such as "https://wiki.example.org/{id}"')
    return url


BaseUrl = Annotated[str, AfterValidator(_with_id)]
"""A setting of where a reader finds a row that has no address, with ``{id}`` for its id; "": nowhere."""


class RowOptions(Protocol):
    """What of a source's settings decides how its rows are read."""

    @property
    def text_format(self) -> str:
        """What the text is written in."""

    @property
    def base_url(self) -> str:
        """Where a reader finds a row that has no address, with ``{id}`` in it."""

    @property
    def timezone(self) -> str:
        """The zone of times that tell none."""

    @property
    def max_megabytes(self) -> float:
        """How large a text may be."""


def native_id(value: object) -> str:
    """Return an id as text; "" for none."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, int | UUID | Decimal) and not isinstance(value, bool):
        return f"{value:f}" if isinstance(value, Decimal) else str(value)
    return "" if value is None else plain(value)


def moment(value: object, zone: tzinfo) -> datetime | None:
    """Return a time in UTC: of a time, a date, ISO 8601 or seconds since 1970; None for what is none.

    ``zone`` is that of a time which tells none.
    """
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value.strip())
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            value = datetime.fromtimestamp(float(value), UTC)
        if isinstance(value, date) and not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        if isinstance(value, datetime):
            return (value if value.tzinfo else value.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


UNTOLD = frozenset[str]()
"""The readers of what doesn't tell them in a form that can be read: nobody, until it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Makes documents of rows, by the settings of one source.

    ``no_text`` is what is said of a row without a text, and what its owner can do about it. ``readers_setting`` is the
    setting that tells how to find a row's readers, where there is one.
    """

    origin: Origin
    options: RowOptions
    zone: ZoneInfo
    no_text: tuple[str, str]
    readers_setting: str = ""

    def version(self, row: Row) -> str:
        """Return what changes with anything that a document of this row tells."""
        options = self.options
        told = hashlib.sha256(f"{options.text_format}\n{options.base_url}\n{options.timezone}\n".encode())
        for name, value in sorted(row.items()):
            data = _bytes(value) if isinstance(value, bytes | bytearray | memoryview) else plain(value).encode()
            told.update(f"{name} {type(value) is type(None)} {len(data)} ".encode("utf-8", "replace") + data)
        return told.hexdigest()[:24]

    def readers(self, row: Row) -> frozenset[str] | None:
        """Return who may read a row, None where rows don't tell; nobody where that can't be read."""
        try:
            return _readers(row)
        except ValueError:
            return UNTOLD

    def change(self, row: Row, version: str) -> SourceDocument | Failure:
        """Return the document, or why there is none."""
        native = native_id(row["id"])
        identity = self.origin.document_id(native)
        try:
            readers = _readers(row)
        except ValueError as error:
            reason, mend = str(error), 'write them as "email:ann@example.org", "slack:T0123/C0456" or "*"'
            if self.readers_setting:
                reason, mend = f"`{self.readers_setting}`: {reason}", f"mend `{self.readers_setting}`: {mend}"
            return Failure(id=identity, reason=reason, mend=mend, version=version, readers=UNTOLD)
        if row["text"] is None:
            reason, mend = self.no_text
            return Failure(id=identity, reason=reason, mend=mend, version=version, readers=readers)
        content, media_type = self._content(row["text"])
        if len(content) > self.options.max_megabytes * 1_000_000:
            reason = f"its text has {len(content) / 1e6:,.1f} MB, over the limit of {self.options.max_megabytes:g}"
            return Failure(id=identity, reason=reason, mend="raise max_megabytes", version=version, readers=readers)
        return SourceDocument(
            id=identity,
            source=self.origin.source,
            content=content,
            media_type=media_type,
            title=_text(row, "title"),
            url=_text(row, "url") or self.options.base_url.replace("{id}", quote(native, safe="")),
            author=_text(row, "author"),
            version=version,
            updated_at=moment(row.get("updated_at"), self.zone),
            readers=readers,
            metadata={name: plain(row[name]) for name in row if name not in TAKEN and row[name] is not None},
        )

    def _content(self, value: object) -> tuple[bytes, str]:
        media_type = _MEDIA.get(self.options.text_format, "")  # none: whatever it looks like
        if isinstance(value, bytes | bytearray | memoryview):
            return bytes(value), media_type
        return plain(value).encode(), media_type


def plain(value: object) -> str:
    """Return a value as text: a time as ISO 8601, a structure as JSON, bytes as their digest."""
    if isinstance(value, bytes | bytearray | memoryview):
        return _bytes(value).hex()
    if isinstance(value, set | frozenset):
        value = sorted(map(plain, value))  # in an order that is the same at each run
    if isinstance(value, dict | list | tuple):
        return clean(json.dumps(value, ensure_ascii=False, sort_keys=True, default=str))
    return clean(value.isoformat() if isinstance(value, date) else str(value))


def clean(text: str) -> str:
    """Return a text without what no store takes: halves of characters, and NUL."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _text(row: Row, name: str) -> str:
    return plain(row[name]).strip() if row.get(name) is not None else ""


def _bytes(value: "bytes | bytearray | memoryview") -> bytes:
    return hashlib.sha256(value).digest()


def _readers(row: Row) -> frozenset[str] | None:
    """Return who may read a row; ValueError as ``readers_of``."""
    return readers_of(row["readers"]) if "readers" in row else None
