"""What a crawl remembers between runs and over a crash, and the cursor it is written into."""

import json
import time
from dataclasses import dataclass, field
from enum import StrEnum

from connectors.cursors import packed, unpacked
from connectors.http import Validators

NONE = Validators()
_FORM = 1
_RESUMED_FOR = 2 * 3_600.0
"""Seconds without progress after which a crawl that was cut off begins anew: what it saw first may have changed since,
and a site that breaks at the same place each time must not grow older before it."""


class Kind(StrEnum):
    """What an address turned out to be."""

    PAGE = "p"
    """A document, unless its canonical address holds it."""
    MOVED = "m"
    """It leads to another address, its only link."""
    OTHER = "o"
    """No document: nothing that is read, or not to be indexed; its links count."""
    MAP = "s"
    """A sitemap; its links are the pages that it names, and its dates when it says that each was changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What was found at an address when it last answered; ``told`` is the date that a sitemap then gave for it."""

    kind: Kind
    validators: Validators = NONE
    version: str = ""
    title: str = ""
    canonical: str = ""
    links: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    told: str = ""


@dataclass(slots=True, kw_only=True)
class Memory:
    """The records of earlier crawls by address; ``done`` are the addresses that one which was cut off has seen."""

    basis: str
    records: dict[str, Record] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)

    def to_cursor(self) -> str:
        """Return it as text. Of a large site it takes a while: for threads."""
        numbers: dict[str, int] = {}

        def number(url: str) -> int:
            return numbers.setdefault(url, len(numbers))

        rows = [
            [
                number(url),
                record.kind.value,
                record.validators.etag,
                record.validators.modified,
                record.version,
                record.title,
                record.canonical,
                [number(link) for link in record.links],
                record.dates,
                record.told,
            ]
            for url, record in self.records.items()
        ]
        done = sorted(number(url) for url in self.done)
        plain = {
            "form": _FORM,
            "basis": self.basis,
            "reached": now() if done else 0.0,
            "rows": rows,
            "done": done,
            "urls": list(numbers),
        }
        return packed(json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode())

    @classmethod
    def from_cursor(cls, cursor: str | None, basis: str) -> "Memory":
        """Return what a cursor holds; nothing when there is none, or it is of other settings or another form.

        For threads, as ``to_cursor``.
        """
        empty = cls(basis=basis)
        if not cursor:
            return empty
        try:
            plain = json.loads(unpacked(cursor))
            if (plain["form"], plain["basis"]) != (_FORM, basis):
                return empty
            urls = plain["urls"]
            records = {urls[row[0]]: _record(row, urls) for row in plain["rows"]}
            is_fresh = 0 <= now() - plain["reached"] < _RESUMED_FOR
            done = {urls[index] for index in plain["done"]} if is_fresh else set()
            return cls(basis=basis, records=records, done=done)
        except (ValueError, KeyError, IndexError, TypeError):
            return empty


def now() -> float:
    """Return the time in seconds since 1970."""
    return time.time()


def _record(row: list[object], urls: list[str]) -> Record:
    _, kind, etag, modified, version, title, canonical, links, dates, told = row
    return Record(
        kind=Kind(str(kind)),
        validators=Validators(etag=str(etag), modified=str(modified)),
        version=str(version),
        title=str(title),
        canonical=str(canonical),
        links=tuple(urls[index] for index in links),  # type: ignore[attr-defined]
        dates=tuple(map(str, dates)),  # type: ignore[call-overload]
        told=str(told),
    )
