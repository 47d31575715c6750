"""Repositories and what people write in them."""

from dataclasses import dataclass, field
from datetime import datetime

from tests.servers.git import Repository


@dataclass
class Comment:
    id: int
    author: str | None
    body: str
    created: datetime
    updated: datetime
    path: str = ""
    replies: list["Comment"] = field(default_factory=list)
    is_answer: bool = False


@dataclass
class Review:
    id: int
    author: str
    body: str
    submitted: datetime | None


@dataclass
class Issue:
    number: int
    title: str
    body: str | None
    author: str | None
    created: datetime
    updated: datetime
    is_pull: bool = False
    state: str = "open"
    merged: datetime | None = None
    labels: list[str] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    line_comments: list[Comment] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)


@dataclass
class Discussion:
    number: int
    title: str
    body: str
    author: str | None
    category: str
    created: datetime
    updated: datetime
    comments: list[Comment] = field(default_factory=list)


@dataclass
class Repo(Repository):
    """A repository."""

    full_name: str
    private: bool = False
    has_issues: bool = True
    renamed_branches: dict[str, str] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    deleted: set[int] = field(default_factory=set)
    transferred: dict[int, tuple[str, int]] = field(default_factory=dict)
    discussions: dict[int, Discussion] = field(default_factory=dict)
    last: int = 0
    last_comment: int = 900

    def open(self, title: str, body: str | None = "", *, author: str | None = "ann", is_pull: bool = False) -> Issue:
        self.last += 1
        now = self.clock.tick()
        self.issues[self.last] = Issue(self.last, title, body, author, now, now, is_pull=is_pull)
        return self.issues[self.last]

    def discuss(self, title: str, body: str, *, author: str = "ann", category: str = "Q&A") -> Discussion:
        self.last += 1
        now = self.clock.tick()
        self.discussions[self.last] = Discussion(self.last, title, body, author, category, now, now)
        return self.discussions[self.last]

    def comment(self, thing: Issue | Discussion, body: str, *, author: str | None = "bob", path: str = "") -> Comment:
        comment = self.said(body, author=author, path=path)
        (thing.line_comments if path and isinstance(thing, Issue) else thing.comments).append(comment)
        thing.updated = comment.updated
        return comment

    def said(self, body: str, *, author: str | None = "bob", path: str = "") -> Comment:
        self.last_comment += 1
        now = self.clock.tick()
        return Comment(self.last_comment, author, body, now, now, path)

    def review(self, pull: Issue, body: str, *, author: str = "carla", sent: bool = True) -> Review:
        review = Review(len(pull.reviews) + 700, author, body, self.clock.tick() if sent else None)
        pull.reviews.append(review)
        pull.updated = self.clock.now
        return review

    def edit(self, issue: Issue, body: str) -> None:
        issue.body, issue.updated = body, self.clock.tick()

    def drop(self, number: int) -> None:
        del self.issues[number]
        self.deleted.add(number)
