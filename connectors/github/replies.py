"""What GitHub answers, as far as it is read: each reply is checked once, at this edge.

https://docs.github.com/en/rest and https://docs.github.com/en/graphql.
"""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class User(_Reply):
    """Who wrote something; GitHub tells none whose account is gone."""

    login: str


class Repository(_Reply):
    """A repository; ``full_name`` is what it is called now."""

    full_name: str
    html_url: str
    default_branch: str
    has_issues: bool = True


class _TreeName(_Reply):
    sha: str


class _Commit(_Reply):
    tree: _TreeName


class _Head(_Reply):
    sha: str
    commit: _Commit


class Branch(_Reply):
    """A branch, with the commit at its end."""

    name: str
    commit: _Head


class BranchName(_Reply):
    """A branch in a list."""

    name: str


class TreeEntry(_Reply):
    """A file, folder or submodule; ``mode`` as Git writes it, ``size`` in bytes for files alone."""

    path: str
    mode: str
    type: str
    sha: str
    size: int | None = None


class Tree(_Reply):
    """A folder, or with ``recursive`` all that is in it; ``truncated``: there is more than GitHub lists at once.

    Its entries may be 100,000, and are checked bit by bit (``ENTRIES``).
    """

    tree: list[Any]
    truncated: bool = False


class _Label(_Reply):
    name: str


class _PullRequest(_Reply):
    merged_at: datetime | None = None


class Issue(_Reply):
    """An issue, or a pull request, which then has ``pull_request``; in a list of pull requests none has."""

    number: int
    title: str
    body: str | None = None
    user: User | None = None
    html_url: str
    state: str = "open"
    created_at: datetime
    updated_at: datetime
    comments: int | None = None
    labels: list[_Label | str] = Field(default_factory=list)
    pull_request: _PullRequest | None = None
    merged_at: datetime | None = None


class Comment(_Reply):
    """A comment on an issue or pull request, or on a line of a pull request."""

    html_url: str
    body: str | None = None
    user: User | None = None
    created_at: datetime
    updated_at: datetime
    path: str = ""
    issue_url: str = ""
    pull_request_url: str = ""

    @property
    def number(self) -> int:
        """The number of what it is a comment on, 0 when that isn't told."""
        last = (self.issue_url or self.pull_request_url).rpartition("/")[2]
        return int(last) if last.isascii() and last.isdigit() else 0


class Review(_Reply):
    """What a reviewer wrote above the comments on lines; one that isn't sent yet has no time."""

    html_url: str
    body: str | None = None
    user: User | None = None
    submitted_at: datetime | None = None


class PageInfo(_Reply):
    """Whether a list of GraphQL goes on, and where."""

    hasNextPage: bool  # noqa: N815 - as GraphQL names it
    endCursor: str | None = None  # noqa: N815


class _Category(_Reply):
    name: str


class Post(_Reply):
    """A comment on a discussion, or a reply to one."""

    id: str
    url: str
    body: str
    author: User | None = None
    createdAt: datetime  # noqa: N815
    isAnswer: bool = False  # noqa: N815
    replies: "Posts | None" = None


class Posts(_Reply):
    """A page of comments or replies."""

    pageInfo: PageInfo  # noqa: N815
    nodes: list[Post | None]


class Count(_Reply):
    """How many there are."""

    totalCount: int  # noqa: N815


class Listed(_Reply):
    """A discussion in a list."""

    number: int
    updatedAt: datetime  # noqa: N815
    comments: Count


class Discussions(_Reply):
    """A page of the list of discussions."""

    totalCount: int  # noqa: N815
    pageInfo: PageInfo  # noqa: N815
    nodes: list[Listed | None]


class Discussion(_Reply):
    """A discussion, with the first page of its comments."""

    number: int
    title: str
    body: str
    url: str
    author: User | None = None
    createdAt: datetime  # noqa: N815
    updatedAt: datetime  # noqa: N815
    category: _Category | None = None
    total: Count
    comments: Posts


class _Person(_Reply):
    name: str | None = None


class Change(_Reply):
    """The commit that changed a file last."""

    committedDate: datetime  # noqa: N815
    author: _Person | None = None


class _History(_Reply):
    nodes: list[Change | None]


REPOSITORY = TypeAdapter(Repository)
BRANCH = TypeAdapter(Branch)
BRANCHES = TypeAdapter(list[BranchName])
TREE = TypeAdapter(Tree)
ENTRIES = TypeAdapter(list[TreeEntry])
ISSUE = TypeAdapter(Issue)
ISSUES = TypeAdapter(list[Issue])
COMMENTS = TypeAdapter(list[Comment])
REVIEWS = TypeAdapter(list[Review])
DISCUSSIONS = TypeAdapter(Discussions)
DISCUSSION = TypeAdapter(Discussion)
POSTS = TypeAdapter(Posts)
HISTORIES: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, _History | None])
