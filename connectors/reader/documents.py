"""What a reader gives, as documents with ids that are the same at the next run. Pure."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo

from connectors.base import Failure, Origin, SourceDocument
from connectors.reader.options import ReaderOptions
from connectors.rows import Reading, clean, moment, native_id, plain

_RANDOM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE)
"""A UUID of version 4, drawn at random: LlamaIndex gives one to each document that has no id."""
_PLACES = ("source", "file_path", "url", "link", "path", "file_name")
_PAGES = ("page", "page_label", "page_number", "slide", "sheet", "sheet_name", "row")
_TITLES = ("title", "file_name", "name", "subject")
_ADDRESSES = ("url", "link", "permalink", "html_url", "source")
_TIMES = ("updated_at", "last_modified", "last_modified_date", "last_modified_at", "modified", "lastmod", "when")
_LONGEST_ID = 400
_NO_TEXT = ("it has no text", "leave it out")


@dataclass(slots=True)
class Documents:
    """Makes documents of what one reading gives, in its order: ids that come twice are numbered."""

    origin: Origin
    options: ReaderOptions
    _reading: Reading = field(init=False)
    _taken: dict[str, int] = field(init=False, default_factory=dict)
    _versions: dict[str, str] = field(init=False, default_factory=dict)
    _natives: set[str] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        """Work out what makes documents of rows."""
        zone = ZoneInfo(self.options.timezone)
        self._reading = Reading(origin=self.origin, options=self.options, zone=zone, no_text=_NO_TEXT)

    def document(self, told: Mapping[str, Any]) -> SourceDocument | Failure | None:
        """Return the next document, why it can't be taken, or None when it holds nothing or was there already."""
        text, metadata = str(told["text"]), told["metadata"]
        if not told["size"] or (text and not text.strip()):
            return None
        row = self._row(text, metadata)
        version = self._reading.version({**row, "size": told["size"]})
        base = self._base(told, text)
        if self._versions.setdefault(base, version) == version and base in self._taken:
            return None
        count = self._taken.get(base, 0) + 1
        while (native := base if count == 1 else f"{base}#{count}") in self._natives:
            count += 1  # another document has this for an id of its own
        self._taken[base] = count
        self._natives.add(native)
        identity = self.origin.document_id(native)
        if not text:
            size = f"{told['size'] / 1e6:,.1f} MB, over the limit of {self.options.max_megabytes:g}"
            readers = self._reading.readers(row)
            reason = f"its text has {size}"
            return Failure(id=identity, reason=reason, mend="raise max_megabytes", version=version, readers=readers)
        return self._reading.change({**row, "id": native}, version)

    def _row(self, text: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
        options = self.options
        row = {
            "text": text,
            "title": first_of(metadata, options.title, _TITLES),
            "url": self._address(metadata),
            "author": first_of(metadata, options.author, ("author",)),
            "updated_at": first_of(metadata, options.updated_at, _TIMES),
        }
        if moment(row["updated_at"], ZoneInfo(options.timezone)) is None:
            row["updated_at"] = None
        if options.readers:
            row["readers"] = metadata.get(options.readers)
        return row

    def _address(self, metadata: Mapping[str, Any]) -> str | None:
        if self.options.url:
            return first_of(metadata, self.options.url, ())
        for name in _ADDRESSES:
            value = metadata.get(name)
            if isinstance(value, str) and value.startswith(("https://", "http://")):
                return value
        return None

    def _base(self, told: Mapping[str, Any], text: str) -> str:
        """Return what the document is known by, before it is numbered."""
        metadata = told["metadata"]
        if self.options.id:
            named = native_id(metadata.get(self.options.id))
            if named:
                return _short(named)
        own = native_id(told["id"])
        if own and not _RANDOM.fullmatch(own):
            return _short(own)
        place = next((plain(metadata[name]) for name in _PLACES if metadata.get(name)), "")
        if place:
            page = next((plain(metadata[name]) for name in _PAGES if metadata.get(name) not in (None, "")), "")
            return _short(f"{place}/{page}" if page else place)
        return f"text-{hashlib.sha256(clean(text).encode()).hexdigest()[:24]}"


def first_of(metadata: Mapping[str, Any], named: str, usual: Iterable[str]) -> str | None:
    """Return the value of a name, where none is given of the first usual one that is there; None for none."""
    for name in (named,) if named else usual:
        value = metadata.get(name)
        if value not in (None, "", [], {}):
            return ", ".join(map(plain, value)) if isinstance(value, list) else plain(value)
    return None


def _short(native: str) -> str:
    if len(native) <= _LONGEST_ID:
        return native
    return f"{native[:_LONGEST_ID]}-{hashlib.sha256(native.encode()).hexdigest()[:16]}"
