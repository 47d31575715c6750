"""A document as a list tells of it, before it is read. Pure."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from connectors.notion.ids import id_of
from connectors.notion.options import NotionOptions
from connectors.notion.replies import DataSource, Page
from connectors.notion.rich import plain

PAGES, DATA_SOURCES = "pages", "data_sources"
_TEXT_FORM = "1"
"""Raised when documents are written in another way, so that they are read again."""
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A page or data source. ``version`` stands for what the list tells of it, ``what`` is that where it is to be read.

    ``is_settled``: a further edit would have another version.
    """

    kind: str
    id: str
    title: str
    version: str
    is_settled: bool
    what: Page | DataSource | None

    @property
    def native(self) -> str:
        """The source's own id: what Notion's interface has it by."""
        return f"{self.kind}/{self.id}"


def entry_of(what: Page | DataSource, at: datetime, options: NotionOptions) -> Entry:
    """Return the entry of a page or data source that Notion told of at a moment of its own time.

    Notion tells when something was last edited by the minute, rounded down
    (https://developers.notion.com/changelog/last-edited-time-is-now-rounded-to-the-nearest-minute). So while that
    minute lasts a further edit would look the same: the version then says so, and differs from the one that stays.
    """
    if isinstance(what, Page):
        kind, title = PAGES, what.title
        told = [(one.id, one.name, one.text, one.pages) for one in what.properties if one.is_edited]
    else:
        kind, title = DATA_SOURCES, plain(what.title)
        told = [(name, column.type, column.description or "", ()) for name, column in what.properties.items()]
        told.append(("description", plain(what.description), "", ()))
    about = (_TEXT_FORM, options.readers, kind == PAGES and options.comments, title, what.url, told)
    brief = hashlib.sha256(repr(about).encode("utf-8", "replace")).hexdigest()[:16]
    edited = what.last_edited_time.astimezone(UTC)
    is_settled = at >= edited.replace(second=0, microsecond=0) + _MINUTE
    version = f"{edited:%Y-%m-%dT%H:%M:%SZ} {brief}{'' if is_settled else ' still'}"
    return Entry(
        kind=kind, id=id_of(what.id) or what.id, title=title, version=version, is_settled=is_settled, what=what
    )
