"""A workspace, and what people do in it, with everything in the form that Notion's interface tells it in."""

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

Json = dict[str, Any]
ANN = str(uuid.uuid5(uuid.NAMESPACE_URL, "ann"))
BEN = str(uuid.uuid5(uuid.NAMESPACE_URL, "ben"))
LOOK = {"bold": False, "italic": False, "strikethrough": False, "underline": False, "code": False, "color": "default"}


def spans(*parts: str | Json) -> list[Json]:
    """Return rich text: plain words, or a part with what is special to it."""
    found = []
    for part in parts:
        told = {"plain_text": part} if isinstance(part, str) else dict(part)
        look = LOOK | dict.fromkeys(told.pop("marks", ()), True)
        base = {"type": "text", "text": {"content": told["plain_text"], "link": None}, "href": None}
        found.append(base | {"annotations": look} | told)
    return found


def block(kind: str, text: str | list[Json] | None = None, *children: Json, **body: Any) -> Json:
    """Return a block to be put on a page; what stands in it comes along as ``inner``."""
    told = dict(body)
    if text is not None:
        told["rich_text"] = spans(text) if isinstance(text, str) else text
    return {"type": kind, kind: told, "inner": list(children)}


@dataclass
class Clock:
    """Notion's own time, which tells of edits by the minute."""

    now: datetime = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
    step: timedelta = timedelta(minutes=2)

    def stamp(self) -> str:
        """Return the time of an edit made now, and let time go on."""
        at = told(self.now)
        self.now += self.step
        return at


def told(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:00.000Z")


@dataclass
class Workspace:
    """``blocks`` are those that stand in something, in order, by its id; ``by_id`` is each of them."""

    clock: Clock = field(default_factory=Clock)
    pages: dict[str, Json] = field(default_factory=dict)
    sources: dict[str, Json] = field(default_factory=dict)
    databases: dict[str, Json] = field(default_factory=dict)
    blocks: dict[str, list[Json]] = field(default_factory=dict)
    by_id: dict[str, Json] = field(default_factory=dict)
    comments: dict[str, list[Json]] = field(default_factory=dict)
    users: dict[str, Json] = field(default_factory=dict)
    _made: int = 0

    def __post_init__(self) -> None:
        for identity, name in ((ANN, "Ann"), (BEN, "Ben")):
            self.users[identity] = {
                "object": "user",
                "id": identity,
                "type": "person",
                "name": name,
                "avatar_url": None,
                "person": {"email": f"{name.lower()}@x.example"},
            }

    def new_id(self) -> str:
        self._made += 1
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"https://notion.example/{self._made}"))

    def page(self, title: str, *blocks: Json, parent: Json | None = None, **properties: Json) -> str:
        """Make a page, or with a data source as its parent a row, and return its id."""
        identity = self.new_id()
        self.pages[identity] = {
            "object": "page",
            **self._common(identity, title),
            "is_locked": False,
            "parent": parent or {"type": "workspace", "workspace": True},
            "properties": {"Name": {"id": "title", "type": "title", "title": spans(title)}} | properties,
        }
        self._put(identity, blocks)
        return identity

    def database(self, title: str, *, parent: Json | None = None, description: str = "", **columns: str) -> str:
        """Make a database with one data source, and return the id of that."""
        outer, inner = self.new_id(), self.new_id()
        above = parent or {"type": "workspace", "workspace": True}
        self.databases[outer] = {
            "object": "database",
            **self._common(outer, title),
            "title": spans(title),
            "description": [],
            "parent": above,
            "data_sources": [{"id": inner, "name": title}],
        }
        self.sources[inner] = {
            "object": "data_source",
            **self._common(inner, title),
            "title": spans(title),
            "description": spans(description) if description else [],
            "parent": {"type": "database_id", "database_id": outer},
            "database_parent": above,
            "properties": {
                name: {"id": name, "name": name, "type": kind, "description": None, kind: {}}
                for name, kind in ({"Name": "title"} | columns).items()
            },
        }
        return inner

    def row(self, source: str, title: str, *blocks: Json, **properties: Json) -> str:
        outer = self.sources[source]["parent"]["database_id"]
        parent = {"type": "data_source_id", "data_source_id": source, "database_id": outer}
        return self.page(title, *blocks, parent=parent, **properties)

    def write(self, page: str, *blocks: Json) -> None:
        """Replace what stands on a page."""
        self._put(page, blocks)
        self.touch(page)

    def touch(self, page: str) -> None:
        self.pages[page]["last_edited_time"] = self.clock.stamp()

    def trash(self, identity: str) -> None:
        (self.pages.get(identity) or self.sources[identity])["in_trash"] = True

    def comment(self, page: str, text: str, author: str = ANN) -> None:
        self.comments.setdefault(page, []).append(
            {
                "object": "comment",
                "id": self.new_id(),
                "parent": {"type": "page_id", "page_id": page},
                "discussion_id": self.new_id(),
                "created_time": told(self.clock.now),
                "last_edited_time": told(self.clock.now),
                "created_by": {"object": "user", "id": author},
                "rich_text": spans(text),
                "display_name": {"type": "user", "resolved_name": self.users[author]["name"]},
            }
        )

    def _common(self, identity: str, title: str) -> Json:
        at = self.clock.stamp()
        return {
            "id": identity,
            "created_time": at,
            "last_edited_time": at,
            "created_by": {"object": "user", "id": ANN},
            "last_edited_by": {"object": "user", "id": BEN},
            "in_trash": False,
            "is_archived": False,
            "url": f"https://www.notion.so/{'-'.join(title.split()[:2]) or 'x'}-{identity.replace('-', '')}",
            "public_url": None,
            "icon": None,
            "cover": None,
        }

    def _put(self, parent: str, blocks: Any) -> None:
        found = []
        for told_block in blocks:
            one = dict(told_block)
            inner = one.pop("inner", [])
            at = told(self.clock.now)
            whole = {
                "object": "block",
                "id": one.get("id") or self.new_id(),
                "parent": self._parent(parent),
                "created_time": at,
                "last_edited_time": at,
                "created_by": {"object": "user", "id": ANN},
                "last_edited_by": {"object": "user", "id": BEN},
                "has_children": bool(inner) or bool((one.get("synced_block") or {}).get("synced_from")),
                "in_trash": False,
            } | one
            found.append(whole)
            self.by_id[whole["id"]] = whole
            self._put(whole["id"], inner)
        self.blocks[parent] = found

    def _parent(self, identity: str) -> Json:
        kind = "page_id" if identity in self.pages else "block_id"
        return {"type": kind, kind: identity}
