"""What tells a host that we have its page already: the ETag and the date of the last change that it gave."""

from collections.abc import Mapping
from dataclasses import dataclass

from connectors.http.faults import moment

_SURE = 2.0
"""Seconds a page must have stood for its date to tell it from a later change: dates know whole seconds, and a change
within the same second has the same date (RFC 9110, section 8.8.2.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Validators:
    """An ETag and a ``Last-Modified`` as they came, each "" when there is none that can be relied on."""

    etag: str = ""
    modified: str = ""

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> "Validators":
        """Return those of a reply."""
        modified, told = moment(headers.get("Last-Modified", "")), moment(headers.get("Date", ""))
        is_sure = modified is not None and told is not None and (told - modified).total_seconds() >= _SURE
        return cls(etag=headers.get("ETag", ""), modified=headers["Last-Modified"] if is_sure else "")

    def __bool__(self) -> bool:
        """Tell whether there is any."""
        return bool(self.etag or self.modified)

    def headers(self) -> dict[str, str]:
        """Return the headers that ask for the page only if it has changed."""
        found = {"If-None-Match": self.etag, "If-Modified-Since": self.modified}
        return {name: value for name, value in found.items() if value}
