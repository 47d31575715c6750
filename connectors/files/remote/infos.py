"""What the file systems tell about a file, each under names of its own, as one value."""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# Of the content itself, or raised with every change of it.
_TAGS = ("ETag", "etag", "sha", "md5Hash", "md5", "crc32c", "checksum", "generation", "content_md5", "CRC")
_TIMES = ("mtime", "LastModified", "last_modified", "modified", "updated", "last_write_time", "modify", "created")

_FRESH = 120.0
"""Seconds, by our clock, that a file must have been left alone before its times count as its version.

Within one tick of the server's clock (a second, for most) a file could be written again unseen, and that clock may be
some time ahead of ours or behind.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Info:
    """A file or folder as its file system tells of it. ``facts`` are those that differ when the file does, by name."""

    name: str
    kind: str
    size: int | None
    modified: float | None
    facts: Mapping[str, str]

    def version(self, *, salt: str, is_exact: bool) -> str:
        """Return what tells that the file is unchanged, or "" when only its content can.

        Args:
            salt: Whatever else makes the document another one.
            is_exact: Whether the facts can't be the same for two contents.
        """
        if not self.facts:
            return ""
        if not is_exact and self.modified is not None and abs(time.time() - self.modified) < _FRESH:
            return ""
        told = "\0".join([*(f"{name}={fact}" for name, fact in self.facts.items()), str(self.size)])
        return f"{hashlib.sha256(told.encode('utf-8', 'replace')).hexdigest()[:24]}-{salt}"

    def agrees_with(self, other: "Info") -> bool:
        """Tell whether two looks at a file saw the same; one of them may have seen more facts."""
        both = self.facts.keys() & other.facts.keys()
        return self.size == other.size and all(self.facts[name] == other.facts[name] for name in both)


def info_of(told: Mapping[str, object]) -> Info:
    """Return what a file system tells of one entry."""
    size = told.get("size")
    moment = next((told[key] for key in _TIMES if told.get(key) is not None), None)
    facts = {key: str(told[key]) for key in _TAGS if told.get(key) not in {None, ""}}
    # A listing and a look at one file may give the same time in two forms.
    facts |= {key: str(_seconds(told[key]) or told[key]) for key in (*_TIMES, "date_time") if told.get(key) is not None}
    return Info(
        name=str(told["name"]),
        kind=str(told.get("type") or "file"),
        size=size if isinstance(size, int) else None,
        modified=_seconds(moment),
        facts=facts,
    )


def _seconds(moment: object) -> float | None:
    """Return a time in seconds since 1970, None where it can't be made out."""
    try:
        if isinstance(moment, datetime):
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        if isinstance(moment, str):
            return _parsed(moment).timestamp()
        if isinstance(moment, int | float):
            return float(moment)
    except (ValueError, OverflowError, TypeError):
        return None
    return None


def _parsed(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = parsedate_to_datetime(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
