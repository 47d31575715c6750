"""What stands in Drive: files, folders, shared drives, who may read them, and the logs of changes."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

_OWN = "application/vnd.google-apps."
FOLDER, DOC, SHEET, SLIDES = (f"{_OWN}{kind}" for kind in ("folder", "document", "spreadsheet", "presentation"))
SHORTCUT = f"{_OWN}shortcut"
NEW = datetime(2026, 3, 1, 9, tzinfo=UTC)
EDITORS = {"owner", "organizer", "fileOrganizer", "writer"}
ME = "robot@project.iam.example"


def user(address: str, role: str = "reader", **more: Any) -> dict[str, Any]:
    return {"type": "user", "emailAddress": address, "role": role, "id": f"u-{address}"} | more


def group(address: str, role: str = "reader", **more: Any) -> dict[str, Any]:
    return {"type": "group", "emailAddress": address, "role": role, "id": f"g-{address}"} | more


def domain(name: str, *, can_find: bool) -> dict[str, Any]:
    return {"type": "domain", "domain": name, "role": "reader", "allowFileDiscovery": can_find, "id": f"d-{name}"}


def anyone(*, can_find: bool) -> dict[str, Any]:
    return {"type": "anyone", "role": "reader", "allowFileDiscovery": can_find, "id": "anyone"}


@dataclass
class Item:
    """A file or folder; ``permissions`` are those given on itself, ``drive`` the shared drive's id."""

    id: str
    name: str
    mime: str = "text/plain"
    parent: str = ""
    drive: str = ""
    content: bytes = b""
    permissions: list[dict[str, Any]] = field(default_factory=list)
    modified: datetime = NEW
    trashed: bool = False
    can_download: bool = True
    target: str = ""


@dataclass
class Drive:
    """All of it, as the account ``me`` may see it.

    A change of a folder is told of the folder alone, which is the least that Drive's documentation promises.
    """

    me: str = ME
    items: dict[str, Item] = field(default_factory=dict)
    members: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    groups: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    log: list[tuple[str, str]] = field(default_factory=list)
    """The drive ("" for none) and id of what changed, in order."""
    now: datetime = NEW
    _made: int = 0

    def __post_init__(self) -> None:
        self.items["my-root"] = Item("my-root", "My Drive", FOLDER, permissions=[user(self.me, "owner")])

    def shared(self, identity: str, *members: dict[str, Any]) -> str:
        """Make a shared drive."""
        self.members[identity] = [user(self.me, "fileOrganizer"), *members]
        self.items[identity] = Item(identity, "Drive", FOLDER, drive=identity)
        return identity

    def folder(self, name: str, parent: str = "my-root", **more: Any) -> str:
        return self.put(name, b"", parent, mime=FOLDER, **more)

    def put(self, name: str, content: str | bytes, parent: str = "my-root", **more: Any) -> str:
        """Make a file; returns its id."""
        self._made += 1
        identity = more.pop("id", None) or f"{'fd' if more.get('mime') == FOLDER else 'fl'}{self._made:04}-x_Y"
        drive = self.items[parent].drive if parent else ""
        bytes_ = content.encode() if isinstance(content, str) else content
        self.items[identity] = Item(identity, name, parent=parent, drive=drive, content=bytes_, **more)
        self.touch(identity)
        return identity

    def write(self, identity: str, content: str | bytes) -> None:
        self.items[identity].content = content.encode() if isinstance(content, str) else content
        self.touch(identity)

    def edit(self, identity: str, **values: Any) -> None:
        """Change what a file is called, where it lies, whether it lies in the trash."""
        for name, value in values.items():
            setattr(self.items[identity], name, value)
        self.note(identity)

    def share(self, identity: str, *permissions: dict[str, Any]) -> None:
        """Give a file, or a shared drive, these permissions in the place of those that it had of its own."""
        if identity in self.members:
            self.members[identity] = [user(self.me, "fileOrganizer"), *permissions]
        else:
            self.items[identity].permissions = list(permissions)
            self.note(identity)

    def delete(self, identity: str) -> None:
        self.note(identity)
        del self.items[identity]

    def touch(self, identity: str) -> None:
        self.now += timedelta(seconds=1)
        self.items[identity].modified = self.now
        self.note(identity)

    def note(self, identity: str) -> None:
        self.log.append((self.items[identity].drive, identity))

    # What the interface answers.

    def chain(self, item: Item) -> Iterator[Item]:
        """Yield a file and the folders above it."""
        at: Item | None = item
        while at is not None:
            yield at
            at = self.items.get(at.parent) if at.parent else self.items.get(at.drive) if at.id != at.drive else None

    def allowed(self, item: Item) -> list[dict[str, Any]]:
        """Return who may do what, inherited rights among them."""
        found = {one["id"]: one for above in self.chain(item) for one in above.permissions}
        return list(({one["id"]: one for one in self.members.get(item.drive, ())} | found).values())

    def mine(self, item: Item) -> str:
        """Return what the account may do with a file: a role, "" for nothing."""
        return next((str(one["role"]) for one in self.allowed(item) if one.get("emailAddress") == self.me), "")

    def sees(self, item: Item) -> bool:
        return bool(self.mine(item))

    def in_trash(self, item: Item) -> bool:
        return any(above.trashed for above in self.chain(item))

    def resource(self, item: Item) -> dict[str, Any]:
        above = self.items.get(item.parent)
        shown = above is not None and self.sees(above)
        told: dict[str, Any] = {
            "kind": "drive#file",
            "id": item.id,
            "name": item.name,
            "mimeType": item.mime,
            "trashed": self.in_trash(item),
            "modifiedTime": f"{item.modified:%Y-%m-%dT%H:%M:%S}.000Z",
            "webViewLink": f"https://drive.google.com/file/d/{item.id}/view",
            "lastModifyingUser": {"displayName": "Ann Example"},
            "capabilities": {"canDownload": item.can_download},
            "parents": [item.parent] if shown else None,
        }
        if item.drive:
            told |= {"driveId": item.drive, "hasAugmentedPermissions": bool(item.permissions)}
        else:
            told["owners"] = [{"displayName": "Olga Owner"}]
            if self.mine(item) in EDITORS:
                told["permissions"] = self.allowed(item)
        if not item.mime.startswith(_OWN):
            told["size"] = str(len(item.content))
            told["md5Checksum"] = hashlib.md5(item.content, usedforsecurity=False).hexdigest()
            told["headRevisionId"] = f"r{item.modified.timestamp():.0f}"
        if item.target:
            told["shortcutDetails"] = {"targetId": item.target, "targetMimeType": self.items[item.target].mime}
        return {name: value for name, value in told.items() if value is not None}
