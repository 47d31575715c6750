"""Projects, and what people write in them."""

from dataclasses import dataclass, field
from datetime import datetime

from tests.servers.git import Repository


@dataclass
class Account:
    """Somebody with a role in a project; ``email`` and ``confirmed`` are what administrators see."""

    id: int
    username: str
    role: int = 30
    email: str = ""
    public_email: str = ""
    told_email: str = ""
    is_confirmed: bool = True
    state: str = "active"
    membership: str = "active"
    expires: str | None = None


@dataclass
class Note:
    id: int
    author: str | None
    body: str
    created: datetime
    updated: datetime
    system: bool = False
    internal: bool = False
    path: str = ""


@dataclass
class Issue:
    """An issue or a merge request; each of ``threads`` is a comment with its replies."""

    iid: int
    title: str
    body: str | None
    author: str | None
    created: datetime
    updated: datetime
    state: str = "opened"
    confidential: bool = False
    moved_to: int | None = None
    labels: list[str] = field(default_factory=list)
    threads: list[list[Note]] = field(default_factory=list)


@dataclass
class Page:
    title: str
    content: str
    format: str = "markdown"


@dataclass
class Project(Repository):
    """A project."""

    id: int
    path: str
    visibility: str = "public"
    archived: bool = False
    tells_branch: bool = True
    levels: dict[str, str] = field(default_factory=dict)
    members: list[Account] = field(default_factory=list)
    issues: dict[int, Issue] = field(default_factory=dict)
    merge_requests: dict[int, Issue] = field(default_factory=dict)
    wiki: dict[str, Page] = field(default_factory=dict)
    last: int = 0
    last_note: int = 900

    def open(self, title: str, body: str | None = "", *, author: str | None = "ann", is_merge: bool = False) -> Issue:
        things = self.merge_requests if is_merge else self.issues
        self.last += 1
        now = self.clock.tick()
        things[self.last] = Issue(self.last, title, body, author, now, now)
        return things[self.last]

    def note(
        self, thing: Issue, body: str, *, author: str | None = "bob", to: Note | None = None, **how: object
    ) -> Note:
        """Comment, in reply to another comment, or apart."""
        self.last_note += 1
        now = self.clock.tick()
        note = Note(self.last_note, author, body, now, now, **how)  # type: ignore[arg-type]
        thread = next((thread for thread in thing.threads if to in thread), None)
        if thread is None:
            thing.threads.append([note])
        else:
            thread.append(note)
        thing.updated = now
        return note

    def edit(self, thing: Issue, body: str) -> None:
        thing.body, thing.updated = body, self.clock.tick()
