"""The settings of a source of the type ``rest``."""

from typing import Any, Literal

from pydantic import Field, SecretStr, field_validator, model_validator
from yarl import URL

from connectors.base import Options, TimeZoneName
from connectors.rest.expressions import check
from connectors.rest.templates import places_in
from connectors.rest.times import beginning

EXPRESSIONS = ("items", "where", "id", "text", "title", "link", "author", "updated_at", "readers", "version", "deleted")
_PAGING = {"page": "{page}", "offset": "{offset}", "token": "{token}"}
_WHERE = "somewhere in url, params or body"


class RestOptions(Options):
    """The items that a JSON API lists, each a document.

    `items` finds the list in a reply, and `id`, `text`, `title` and the others are worked out on each item; all are
    JMESPath expressions (`data.posts`, `author.name`, `join(' ', [first, last])`, ``items || `[]` `` for an API that
    leaves out an empty list). An item whose expressions don't give what is due is named with the setting to mend, and
    the others are taken. Where the listing has no text, `detail` is the address of one item, whose reply is laid over
    the item of the listing.

    ```toml
    [[sources]]
    name = "posts"
    type = "rest"
    url = "https://api.example.org/v1/posts"
    headers = { Authorization = "Bearer ${POSTS_TOKEN}" }
    params = { per_page = "100", page = "{page}", updated_after = "{cursor}" }
    paging = "page"
    items = "data"
    id = "id"
    text = "body"
    text_format = "markdown"
    title = "title"
    link = "html_url"
    updated_at = "updated_at"
    ```

    `paging` tells how the next page is asked for: by `{page}` or `{offset}`, which stand in `url`, `params` or `body`
    and end with an empty page or where `more` says so; by a `{token}` that `next` finds in the reply; by an address
    that `next` finds there (`"next"`), or that the `Link` header has (`"link"`). Pages that lead in a circle, repeat or
    don't end within `max_pages` are an error, and nothing is deleted.

    With `{cursor}` only what is new is asked for: it is the time, ten minutes before the newest `updated_at` that was
    seen, written as `cursor_format` says; `beginning` at first and with `--full`. Where the API gives a token for the
    next run instead, `cursor` finds it in the last page, and what holds `{cursor}` is left out at first. What is gone
    is told by `deleted`, an expression that is true of a deleted item, and by a listing: unless `lists_all = false`,
    what a run without `{cursor}` doesn't list is deleted, within the guard that holds for every listing.

    Only the hosts in `url` and `detail` are asked, and sent the headers: a page, or a redirect, that leads to another
    one is an error. Needs `pip install 'citebot[rest]'`.
    """

    url: str = Field(description="the address that lists the items, such as `https://api.example.org/v1/posts`")
    method: Literal["GET", "POST"] = Field(default="GET", description="how it is asked")
    headers: dict[str, SecretStr] = Field(
        default_factory=dict, description='headers, such as a credential: `{ Authorization = "Bearer ${TOKEN}" }`'
    )
    params: dict[str, str] = Field(
        default_factory=dict,
        description="parameters behind the address; one with `{page}`, `{offset}`, `{token}` or `{cursor}` is left out "
        "while there is no value for it",
    )
    body: dict[str, Any] = Field(
        default_factory=dict, description="with `POST`: what is sent as JSON, with such places in its texts"
    )
    items: str = Field(default="@", description="where a reply has its list of items")
    where: str = Field(default="", description="which items are taken: those of which it is true; default: all")
    id: str = Field(description="what tells an item from all others, as long as it is there: a text or whole number")
    text: str = Field(description="its text")
    text_format: Literal["auto", "text", "markdown", "html"] = Field(
        default="auto", description="what `text` is written in; `auto`: what it looks like"
    )
    title: str = Field(default="", description="its title")
    link: str = Field(default="", description="the address where a reader finds it")
    base_url: str = Field(
        default="", description="where a reader finds an item without a `link`: `{id}` stands for its id"
    )
    author: str = Field(default="", description="who wrote it")
    updated_at: str = Field(default="", description="when it changed: ISO 8601, or seconds or milliseconds since 1970")
    readers: str = Field(
        default="",
        description="who may read it: a list of readers as in the settings, or of e-mail addresses; nothing means "
        "nobody but the operator. Default: whoever the knowledge base lets",
    )
    metadata: dict[str, str] = Field(default_factory=dict, description="more that is kept, an expression by its name")
    version: str = Field(
        default="", description="with `detail`: what changes whenever the item does; default: `updated_at`"
    )
    deleted: str = Field(default="", description="what is true of an item that was deleted")
    detail: str = Field(
        default="", description="the address of one item, such as `https://api.example.org/v1/posts/{id}`"
    )
    detail_item: str = Field(default="@", description="where the reply of `detail` has the item")
    paging: Literal["none", "page", "offset", "token", "next", "link"] = Field(
        default="none", description="how the next page is asked for"
    )
    first_page: int = Field(default=1, ge=0, description="the number of the first page")
    next: str = Field(default="", description="where a reply has the token or the address of the next page")
    more: str = Field(default="", description="what is true of a reply that another page follows")
    max_pages: int = Field(default=10_000, gt=0, le=1_000_000, description="how many pages there may be")
    cursor: str = Field(default="", description="where the last page has the token for the next run")
    cursor_format: Literal["iso", "date", "unix", "unix_ms"] = Field(
        default="iso", description="how `{cursor}` is written: `2026-11-22T19:30:00Z`, `2026-11-22`, a whole number"
    )
    beginning: str = Field(default="1970-01-01", description="the time that `{cursor}` is at first")
    lists_all: bool = Field(default=True, description="whether the API lists all there is, as long as it is there")
    timezone: TimeZoneName = Field(
        default="UTC", description="the zone of times that tell none, such as `Europe/Berlin`"
    )
    max_megabytes: float = Field(default=20, gt=0, description="larger texts are reported instead of taken")
    requests_per_second: float = Field(default=5, gt=0, le=1_000, description="how fast the API is asked")

    @property
    def is_incremental(self) -> bool:
        """Whether what is asked for depends on the run before."""
        return "cursor" in self.places

    @property
    def places(self) -> frozenset[str]:
        """The places that stand in the request."""
        return frozenset(places_in([self.url, self.params, self.body]))

    @field_validator("url", "detail", "base_url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        try:
            address = URL(url)
            is_good = not url or (address.scheme in {"http", "https"} and bool(address.host))
        except ValueError:
            is_good, address = False, URL()
        if not is_good:
            raise ValueError("must be an address such as https://api.example.org/v1/posts")
        if address.user or address.password:
            raise ValueError("holds a name or password; put them into `headers`")
        return url

    @field_validator("detail", "base_url")
    @classmethod
    def _has_id(cls, url: str) -> str:
        if url and "{id}" not in url:
            raise ValueError("must have {id} in it")
        return url

    @field_validator(*EXPRESSIONS, "detail_item", "next", "more", "cursor")
    @classmethod
    def _is_expression(cls, expression: str) -> str:
        return check(expression) if expression else expression

    @field_validator("items", "id", "text", "detail_item")
    @classmethod
    def _is_needed(cls, expression: str) -> str:
        if not expression:
            raise ValueError("must be a JMESPath expression")
        return expression

    @field_validator("metadata")
    @classmethod
    def _are_expressions(cls, metadata: dict[str, str]) -> dict[str, str]:
        for name, expression in metadata.items():
            if name in EXPRESSIONS or name == "url":
                raise ValueError(f'"{name}" has a setting of its own')
            check(expression)
        return metadata

    @field_validator("beginning")
    @classmethod
    def _is_time(cls, text: str) -> str:
        beginning(text)
        return text

    @model_validator(mode="after")
    def _fit_together(self) -> "RestOptions":
        faults = (
            (bool(self.body) and self.method == "GET", 'body: is sent with method = "POST" alone'),
            (self.paging in {"next", "link"} and self.method == "POST", "paging: an address is asked with GET alone"),
            (self.paging in {"token", "next"} and not self.next, f'next: paging = "{self.paging}" needs it'),
            (
                bool(self.next) and self.paging not in {"token", "next"},
                'next: is for paging = "token" and "next" alone',
            ),
            (bool(self.cursor) and not self.is_incremental, f"cursor: needs {{cursor}} {_WHERE}"),
            (
                self.is_incremental and not self.cursor and not self.updated_at,
                "updated_at: {cursor} goes by it; name it, or `cursor`",
            ),
            (bool(self.version) and not self.detail, "version: is for a listing with `detail` alone"),
        )
        told = next((fault for is_wrong, fault in faults if is_wrong), "")
        for paging, place in _PAGING.items():
            if self.paging == paging and paging not in self.places:
                told = told or f'paging: "{paging}" needs {place} {_WHERE}'
            if self.paging != paging and paging in self.places:
                told = told or f'paging: {place} needs paging = "{paging}"'
        if told:
            raise ValueError(told)
        return self
