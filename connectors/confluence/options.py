"""The settings of the source type ``confluence``."""

import hashlib
import re
from typing import Literal

from pydantic import Field, field_validator

from connectors.atlassian import AtlassianOptions
from connectors.patterns import Patterns

Kind = Literal["pages", "blogposts", "comments", "attachments"]

_SPACE = re.compile(r"~?[A-Za-z0-9._:-]+")


class ConfluenceOptions(AtlassianOptions):
    """Spaces of Confluence, on Cloud or on a Data Center or Server of one's own.

    A page or blog post is a document, with its comments, those in the text among them; headings and comments are linked
    by their own addresses. An attachment is a document of its own. What macros hold is read: code, panels, tables,
    tasks, status, and the body of any macro that isn't known. A macro that shows another page leads to that page and
    isn't filled in, for the other page may be for fewer people. Archived and deleted pages are deleted; one that is
    moved stays the same document.

    Who may read: a page that is restricted, or stands below one that is, is for the people and groups of the
    restriction, and where several are above each other, for those whom all of them name, by e-mail address. Someone
    whose address Confluence doesn't tell is left out, unless `emails` or `username_email` tells it; where a
    restriction can't be read at all, nobody but the operator reads the page. What isn't restricted is for whoever reads
    the knowledge base, or for `readers`: who may see a space isn't asked for, so give each circle a knowledge base of
    its own. Attachments and comments are for those who read the page.

    Each run lists all pages with their versions and restrictions, a hundred in one or two requests, and reads those
    alone that have changed.
    """

    spaces: tuple[str, ...] = Field(
        default=(),
        description='keys of the spaces to read, such as `["HR", "DEV"]`; default: all that the account may see, '
        "personal ones aside",
    )
    exclude_spaces: tuple[str, ...] = Field(default=(), description="keys of spaces to leave out")
    kinds: tuple[Kind, ...] = Field(
        default=("pages", "blogposts", "comments", "attachments"),
        min_length=1,
        description='what is read: `"pages"`, `"blogposts"`, their `"comments"`, their `"attachments"`',
    )
    restricted: Literal["readers", "skip"] = Field(
        default="readers",
        description='what becomes of restricted pages: `"readers"` keeps them for those who may read them, `"skip"` '
        "leaves them out",
    )
    include: Patterns = Field(
        default=(), description='glob patterns of attachments to take, such as `["*.pdf"]`; default: all but pictures'
    )
    exclude: Patterns = Field(default=(), description="glob patterns of attachments to leave out")
    max_megabytes: float = Field(default=50, gt=0, le=1_000, description="larger attachments are reported, not read")

    @field_validator("spaces", "exclude_spaces")
    @classmethod
    def _are_keys(cls, keys: tuple[str, ...]) -> tuple[str, ...]:
        for key in keys:
            if not _SPACE.fullmatch(key):
                raise ValueError(f'"{key}" is no key of a space; it stands in addresses behind /spaces/ or /display/')
        return keys

    @field_validator("kinds")
    @classmethod
    def _has_pages(cls, kinds: tuple[Kind, ...]) -> tuple[Kind, ...]:
        if not {"pages", "blogposts"} & set(kinds):
            raise ValueError('comments and attachments belong to pages: name "pages" or "blogposts", too')
        return kinds

    @property
    def limit(self) -> int:
        """The most bytes of an attachment."""
        return int(self.max_megabytes * 1_000_000)

    def takes_space(self, key: str, *, is_personal: bool) -> bool:
        """Tell whether a space is read."""
        if key in self.exclude_spaces:
            return False
        return key in self.spaces if self.spaces else not is_personal

    def salt(self) -> str:
        """Return what changes when the same pages would make other documents."""
        told = (self.kinds, self.readers, self.restricted, self.site)
        return hashlib.sha256(repr(told).encode("utf-8", "replace")).hexdigest()[:8]
