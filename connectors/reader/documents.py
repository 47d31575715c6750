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
_BY_TEXT = "text-"
"""How the id of a document begins that is known by its text alone."""
_NAMELESS = "(documents without an id)"
_MEND = "mend the reader, or let it leave such documents out"
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
    nameless: list[str] = field(init=False, default_factory=list)
    """What was wrong with each document that can't be told from others."""
    _hides_any: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        """Work out what makes documents of rows."""
        zone = ZoneInfo(self.options.timezone)
        self._reading = Reading(origin=self.origin, options=self.options, zone=zone, no_text=_NO_TEXT)

    def document(self, told: Mapping[str, Any]) -> SourceDocument | Failure | None:
        """Return the next document, why it can't be taken, or None when it holds nothing or was there already."""
        text, metadata = str(told["text"]), told["metadata"]
        if told.get("fault"):
            return self._faulty(told)
        if not told["size"] or (text and not text.strip()):
            return None
        row = self._row(text, metadata)
        version = self._reading.version({**row, "size": told["size"]})
        base = self._base(told) or f"{_BY_TEXT}{_digest(clean(text))}"
        if self._versions.setdefault(base, version) == version and base in self._taken:
            return None
        native = self._numbered(base)
        identity = self.origin.document_id(native)
        if not text:
            readers = self._reading.readers(row)
            reason = f"its text has {told['size'] / 1e6:,.1f} MB, over the limit of {self.options.max_megabytes:g}"
            return Failure(id=identity, reason=reason, mend="raise max_megabytes", version=version, readers=readers)
        return self._reading.change({**row, "id": native}, version)

    def unnamed(self) -> Failure | None:
        """Return the failure of the documents that can't be told from others, None for none: they are counted.

        They may be any that was known by its text, or by what isn't told as it should be: none of these is gone.
        """
        if not self.nameless:
            return None
        count = len(self.nameless)
        several = f"{count} documents that have" if count > 1 else "a document that has"
        return Failure(
            id=self.origin.document_id(_NAMELESS),
            reason=f"the reader gives {several} no id: {self.nameless[0]}",
            mend=_MEND,
            covers=self.origin.document_id("" if self._hides_any else _BY_TEXT),
        )

    def _faulty(self, told: Mapping[str, Any]) -> Failure | None:
        """Return why a document can't be taken; None where nothing tells which one it is."""
        reason, metadata = str(told["fault"]), told["metadata"]
        base = self._base(told)
        if not base:
            self.nameless.append(reason)
            self._hides_any |= bool(told["is_unsure"])
            return None
        version = self._reading.version({"fault": reason, "metadata": metadata})
        self._versions.setdefault(base, version)
        native = self._numbered(base)  # whether it is there twice only its text would tell
        identity, named = self.origin.document_id(native), self.options.readers
        readers = self._reading.readers({"readers": metadata.get(named)} if named else {})
        return Failure(id=identity, reason=reason, mend=_MEND, version=version, readers=readers)

    def _numbered(self, base: str) -> str:
        """Return the id of the next document that is known by this."""
        count = self._taken.get(base, 0) + 1
        while (native := base if count == 1 else f"{base}#{count}") in self._natives:
            count += 1  # another document has this for an id of its own
        self._taken[base] = count
        self._natives.add(native)
        return native

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

    def _base(self, told: Mapping[str, Any]) -> str:
        """Return what the document is known by, before it is numbered; "" for nothing but its text."""
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
        return ""


def first_of(metadata: Mapping[str, Any], named: str, usual: Iterable[str]) -> str | None:
    """Return the value of a name, where none is given of the first usual one that is there; None for none."""
    for name in (named,) if named else usual:
        value = metadata.get(name)
        if value not in (None, "", [], {}):
            return ", ".join(map(plain, value)) if isinstance(value, list) else plain(value)
    return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _short(native: str) -> str:
    if len(native) <= _LONGEST_ID:
        return native
    return f"{native[:_LONGEST_ID]}-{hashlib.sha256(native.encode()).hexdigest()[:16]}"
