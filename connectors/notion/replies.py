"""What Notion answers, as far as it is read: each reply is checked once, at this edge.

https://developers.notion.com/reference/page, /block, /data-source, /database, /user, /comment-object; the forms are
those of the version 2026-03-11.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, TypeAdapter, model_validator

from connectors.notion.ids import id_of
from connectors.notion.properties import Property, properties_of
from connectors.notion.rich import Pointer, Reply, Span

_PARENTS = ("page_id", "data_source_id", "database_id", "block_id")


class Parent(Reply):
    """What something stands in: ``kind`` and ``id`` of the nearest, and the database of a data source beside it.

    ``kind`` is "workspace" at the top, and whatever else Notion names; ``id`` is "" then.
    """

    kind: str = ""
    id: str = ""
    database: str = ""

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, told: Any) -> Any:
        if not isinstance(told, dict) or "kind" in told:
            return told
        kind = str(told.get("type", ""))
        return {
            "kind": kind,
            "id": id_of(str(told.get(kind, ""))) if kind in _PARENTS else "",
            "database": id_of(str(told.get("database_id") or "")),
        }


class User(Reply):
    """A person or bot; without the right to read them Notion tells the id alone."""

    id: str
    name: str | None = None


class _Dated(Reply):
    id: str
    url: str = ""
    created_time: datetime
    last_edited_time: datetime
    parent: Parent = Field(default_factory=Parent)
    in_trash: bool = False
    is_archived: bool = False
    created_by: Pointer | None = None


class Page(_Dated):
    """A page, or a row of a database, which is one with more properties than its title."""

    object: Literal["page"]
    properties: tuple[Property, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _short(cls, told: Any) -> Any:
        """Keep of the properties what is told of them: in whole they are most of what a list of pages weighs."""
        if isinstance(told, dict) and isinstance(told.get("properties"), dict):
            return told | {"properties": properties_of(told["properties"])}
        return told

    @property
    def title(self) -> str:
        """The title, "" when it has none."""
        return next((one.text for one in self.properties if one.kind == "title"), "")


class _Column(Reply):
    name: str = ""
    type: str = ""
    description: str | None = None


class DataSource(_Dated):
    """A table of a database: what its rows have in common."""

    object: Literal["data_source"]
    title: list[Span] = Field(default_factory=list)
    description: list[Span] = Field(default_factory=list)
    database_parent: Parent = Field(default_factory=Parent)
    properties: dict[str, _Column] = Field(default_factory=dict)


class Database(Reply):
    """A database, which holds one data source or several."""

    id: str
    parent: Parent = Field(default_factory=Parent)
    data_sources: list[Pointer] = Field(default_factory=list)
    in_trash: bool = False
    is_archived: bool = False


class _Unknown(Reply):
    """Something in a list that is neither page nor data source, or that Notion tells nothing of but its id."""

    id: str = ""


def _kind_of(told: Any) -> str:
    if isinstance(told, dict):
        kind, is_whole = told.get("object"), "last_edited_time" in told
    else:
        kind, is_whole = getattr(told, "object", ""), True
    return str(kind) if kind in {"page", "data_source"} and is_whole else "other"


Found = Annotated[
    Annotated[Page, Tag("page")] | Annotated[DataSource, Tag("data_source")] | Annotated[_Unknown, Tag("other")],
    Discriminator(_kind_of),
]


class _Limit(Reply):
    type: str = "complete"


class _List(Reply):
    has_more: bool = False
    next_cursor: str | None = None
    request_status: _Limit | None = None

    @property
    def following(self) -> str:
        """Where the next page begins, "" after the last one."""
        return (self.next_cursor or "") if self.has_more else ""

    @property
    def is_cut(self) -> bool:
        """Whether Notion stops here though there is more: it gives 10,000 entries to one question at most."""
        return self.request_status is not None and self.request_status.type == "incomplete"


class FoundList(_List):
    """A page of what was searched or queried."""

    object: Literal["list"]
    results: list[Found]


class _Media(Reply):
    url: str = ""


class Body(Reply):
    """What a block holds, whatever its type: each type has some of these."""

    rich_text: list[Span] = Field(default_factory=list)
    caption: list[Span] = Field(default_factory=list)
    title: str | list[Span] = ""
    checked: bool = False
    language: str = ""
    expression: str = ""
    url: str = ""
    external: _Media | None = None
    file: _Media | None = None
    name: str = ""
    synced_from: dict[str, Any] | None = None
    page_id: str = ""
    database_id: str = ""
    cells: list[list[Span]] = Field(default_factory=list)
    has_column_header: bool = False
    list_start_index: int | None = None
    children: dict[str, Any] | None = None
    icon: dict[str, Any] | None = None


class Block(Reply):
    """A block; those that stand in it are asked for by its id."""

    id: str
    type: str = ""
    has_children: bool = False
    in_trash: bool = False
    parent: Parent = Field(default_factory=Parent)
    body: Body = Field(default_factory=Body)

    @model_validator(mode="before")
    @classmethod
    def _named(cls, told: Any) -> Any:
        """Put what a block holds, which stands under the name of its type, in one place."""
        if not isinstance(told, dict) or "body" in told:
            return told
        body = told.get(str(told.get("type", "")))
        return told | {"body": body if isinstance(body, dict) else {}}


class BlockList(_List):
    """A page of the blocks that stand in another, or on a page."""

    object: Literal["list"]
    results: list[Block]


class _DisplayName(Reply):
    resolved_name: str | None = None


class Comment(Reply):
    """A comment on a page."""

    id: str
    created_time: datetime
    rich_text: list[Span] = Field(default_factory=list)
    created_by: Pointer | None = None
    display_name: _DisplayName | None = None


class CommentList(_List):
    """A page of open comments, oldest first."""

    object: Literal["list"]
    results: list[Comment]


class ItemList(_List):
    """A page of the values of one property."""

    object: Literal["list", "property_item"]
    results: list[dict[str, Any]] = Field(default_factory=list)


FOUND = TypeAdapter(FoundList)
PAGE = TypeAdapter(Page)
DATA_SOURCE = TypeAdapter(DataSource)
DATABASE = TypeAdapter(Database)
BLOCK = TypeAdapter(Block)
BLOCKS = TypeAdapter(BlockList)
USER = TypeAdapter(User)
COMMENTS = TypeAdapter(CommentList)
ITEMS = TypeAdapter(ItemList)
