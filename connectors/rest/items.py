"""An item of the listing as a row: what each expression gives of it, if that is what is due."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from connectors.base import Failure, Origin, SourceDocument
from connectors.rest.expressions import ExpressionError, found, is_true, kind_of
from connectors.rest.options import RestOptions
from connectors.rest.times import time_of
from connectors.rows import UNTOLD, Reading, native_id, plain

_SHOWN = 60
_SCALARS = ("title", "link", "author")
_LISTED = (*_SCALARS, "updated_at", "readers", "version")


class ItemFault(Exception):
    """An expression doesn't give what is due: which setting it is, and what it gives."""

    def __init__(self, setting: str, why: str) -> None:
        """Keep both."""
        super().__init__(f"`{setting}` {why}")
        self.setting = setting


@dataclass(slots=True)
class Items:
    """Makes documents of items, by the settings of one source."""

    origin: Origin
    options: RestOptions
    _zone: ZoneInfo = field(init=False)
    _reading: Reading = field(init=False)

    def __post_init__(self) -> None:
        """Work out the zone, and what makes documents of rows."""
        self._zone = ZoneInfo(self.options.timezone)
        no_text = ("`text` gives nothing", "mend `text`, or leave such items out by `where`")
        self._reading = Reading(
            origin=self.origin, options=self.options, zone=self._zone, no_text=no_text, readers_setting="readers"
        )

    def is_gone(self, item: Any) -> bool:
        """Tell whether an item says of itself that it was deleted, or isn't one that ``where`` takes."""
        if self.options.deleted and is_true(self._given("deleted", item)):
            return True
        return bool(self.options.where) and not is_true(self._given("where", item))

    def native(self, item: Any) -> str:
        """Return an item's id; ItemFault when it gives none."""
        value = self._given("id", item)
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise ItemFault("id", f"gives {kind_of(value)} where a text or whole number is due")
        native = native_id(value).strip()
        if not native:
            raise ItemFault("id", "gives an empty text")
        return native

    def time(self, item: Any) -> datetime | None:
        """Return when an item changed, None when it doesn't tell; ItemFault when it tells what is no time."""
        value = self._given("updated_at", item) if self.options.updated_at else None
        time = time_of(value, self._zone)
        if time is None and value is not None and value != "":
            raise ItemFault("updated_at", f'gives "{plain(value)[:_SHOWN]}", which is no time')
        return time

    def row(self, native: str, item: Any) -> dict[str, Any]:
        """Return what the expressions give of an item; ItemFault when that isn't what is due."""
        options = self.options
        row: dict[str, Any] = {"id": native, "text": self._text("text", item, numbers=False)}
        row |= {
            "url" if name == "link" else name: self._text(name, item) for name in _SCALARS if getattr(options, name)
        }
        if options.updated_at:
            row["updated_at"] = self.time(item)
        if options.readers:
            row["readers"] = self._readers(item)
        return row | {name: self._metadata(name, expression, item) for name, expression in options.metadata.items()}

    def version(self, item: Any, row: dict[str, Any] | None) -> str:
        """Return what changes whenever a document of this item does; without a row, as the listing alone tells it."""
        if row is not None:
            return self._reading.version(row)
        options = self.options
        told = [self._quietly(name, item) for name in _LISTED]
        if not options.detail or not (options.version or options.updated_at):
            told.append(item)
        form = (options.text_format, options.base_url, options.timezone)
        return hashlib.sha256(f"{form} {plain(told)}".encode()).hexdigest()[:24]

    def change(self, row: dict[str, Any], version: str) -> SourceDocument | Failure:
        """Return the document of a row, or why there is none."""
        return self._reading.change(row, version)

    def failure(self, native: str, fault: ItemFault, version: str, *, whole: Any = None) -> Failure:
        """Return the failure of an item that isn't what is due; ``whole`` is all that is told of it, if it is."""
        mend = f"mend `{fault.setting}`, or leave such items out by `where`"
        readers = None if whole is None else self._told_readers(whole)
        identity = self.origin.document_id(native)
        return Failure(id=identity, reason=str(fault), mend=mend, version=version, readers=readers)

    def _told_readers(self, item: Any) -> frozenset[str] | None:
        try:
            return self._reading.readers({"readers": self._readers(item)} if self.options.readers else {})
        except ItemFault:
            return UNTOLD

    def _text(self, setting: str, item: Any, *, numbers: bool = True) -> str | None:
        value = self._given(setting, item)
        if numbers and isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        if value is not None and not isinstance(value, str):
            raise ItemFault(setting, f"gives {kind_of(value)} where a text is due")
        return value

    def _readers(self, item: Any) -> list[str] | str | None:
        value = self._given("readers", item)
        if value is None or isinstance(value, str):
            return value
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise ItemFault("readers", f"gives {kind_of(value)} where a list of texts is due")
        return sorted(value)  # the order that a reply has them in is no change

    def _metadata(self, name: str, expression: str, item: Any) -> Any:
        try:
            return found(expression, item)
        except ExpressionError as error:
            raise ItemFault(f"metadata.{name}", f"can't be worked out: {error}") from None

    def _given(self, setting: str, item: Any) -> Any:
        try:
            return found(getattr(self.options, setting), item)
        except ExpressionError as error:
            raise ItemFault(setting, f"can't be worked out: {error}") from None

    def _quietly(self, setting: str, item: Any) -> Any:
        """Return what an expression gives; what the listing lacks, the item's own reply may have."""
        try:
            return self._given(setting, item) if getattr(self.options, setting) else None
        except ItemFault:
            return None


def laid_over(item: Any, detail: Any) -> Any:
    """Return what is known of an item by the listing and by its own reply, which counts where both tell."""
    return {**item, **detail} if isinstance(item, dict) and isinstance(detail, dict) else detail
