"""What a source of feeds remembers between runs, and the cursor that it is written into."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from connectors.cursors import packed, unpacked
from connectors.http import Validators

NONE = Validators()
_FORM = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecord:
    """What a page of a feed said when it was last read: its entries' versions by native id, and which are gone."""

    validators: Validators = NONE
    next_url: str = ""
    shown: Mapping[str, str] = field(default_factory=dict)
    gone: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Memory:
    """The pages by address, and when each entry that no feed shows any more was first missed (ISO 8601, UTC)."""

    basis: str
    pages: dict[str, PageRecord] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)

    def shown(self) -> Iterator[str]:
        """Yield the native id of every entry that stood on a page."""
        for page in self.pages.values():
            yield from page.shown

    def to_cursor(self) -> str:
        """Return it as text."""
        pages = {
            url: [page.validators.etag, page.validators.modified, page.next_url, dict(page.shown), list(page.gone)]
            for url, page in self.pages.items()
        }
        plain = {"form": _FORM, "basis": self.basis, "pages": pages, "left": self.left}
        return packed(json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))

    @classmethod
    def from_cursor(cls, cursor: str | None, basis: str) -> "Memory":
        """Return what a cursor holds, nothing when it can't be read; of other settings all but the validators."""
        try:
            plain = json.loads(unpacked(cursor or ""))
            if plain["form"] != _FORM:
                return cls(basis=basis)
            is_same = plain["basis"] == basis
            pages = {url: _page(told, is_same) for url, told in plain["pages"].items()}
            return cls(basis=basis, pages=pages, left=dict(plain["left"]))
        except (ValueError, KeyError, TypeError, AttributeError):
            return cls(basis=basis)


def _page(told: list[Any], is_same: bool) -> PageRecord:
    etag, modified, next_url, shown, gone = told
    validators = Validators(etag=etag, modified=modified) if is_same else NONE
    return PageRecord(validators=validators, next_url=next_url, shown=dict(shown), gone=tuple(gone))
