"""What GitLab answers, as far as it is read, each reply checked once, at this edge (https://docs.gitlab.com/api/rest/)."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class User(_Reply):
    """Who wrote something."""

    username: str
    name: str = ""


class Project(_Reply):
    """A project; each ``_access_level`` tells who may see a part of it, "" where that isn't told."""

    id: int
    path_with_namespace: str
    web_url: str
    default_branch: str | None = None
    visibility: str = ""
    archived: bool = False
    empty_repo: bool = False
    repository_access_level: str = ""
    issues_access_level: str = ""
    merge_requests_access_level: str = ""
    wiki_access_level: str = ""


class _Head(_Reply):
    id: str


class Branch(_Reply):
    """A branch, with the commit at its end."""

    name: str
    commit: _Head


class Commit(_Reply):
    """A commit."""

    id: str
    author_name: str = ""
    committed_date: datetime


class TreeEntry(_Reply):
    """A file, folder or submodule; ``mode`` as Git writes it."""

    id: str
    path: str
    type: str
    mode: str


class Diff(_Reply):
    """A file that differs between two commits."""

    old_path: str
    new_path: str
    b_mode: str | None = None
    deleted_file: bool = False


class Comparison(_Reply):
    """What differs between two commits; ``compare_timeout``: there is more."""

    diffs: list[Diff]
    compare_timeout: bool


class Issue(_Reply):
    """An issue or a merge request."""

    iid: int
    title: str
    description: str | None = None
    author: User | None = None
    web_url: str
    state: str = "opened"
    created_at: datetime
    updated_at: datetime
    user_notes_count: int | None = None
    labels: list[str] = Field(default_factory=list)
    confidential: bool = False
    moved_to_id: int | None = None


class _Position(_Reply):
    new_path: str | None = None
    old_path: str | None = None


class Note(_Reply):
    """A comment; ``system``: GitLab itself noted it down. Older servers call ``internal`` ``confidential``."""

    id: int
    body: str | None = None
    author: User | None = None
    created_at: datetime
    updated_at: datetime
    system: bool = False
    internal: bool | None = None
    confidential: bool | None = None
    position: _Position | None = None


class Discussion(_Reply):
    """A thread: a comment and its replies."""

    id: str
    notes: list[Note]


class WikiPage(_Reply):
    """A page of a wiki."""

    slug: str
    title: str
    format: str = "markdown"
    content: str | None = None


class Member(_Reply):
    """Who has a role in a project, also by a group; ``expires_at`` begins with a day, ``email`` is told to few.

    Who is not yet let in has another ``membership_state``.
    """

    id: int
    state: str = "active"
    membership_state: str = "active"
    access_level: int
    expires_at: str | None = None
    email: str | None = None


class Person(_Reply):
    """An account; only administrators are told ``email`` and ``confirmed_at``."""

    id: int
    email: str | None = None
    public_email: str | None = None
    confirmed_at: datetime | None = None


PROJECT = TypeAdapter(Project)
PROJECTS = TypeAdapter(list[Project])
BRANCH = TypeAdapter(Branch)
BRANCHES = TypeAdapter(list[Branch])
COMMIT = TypeAdapter(Commit)
TREE = TypeAdapter(list[TreeEntry])
COMPARISON = TypeAdapter(Comparison)
ISSUE = TypeAdapter(Issue)
ISSUES = TypeAdapter(list[Issue])
DISCUSSIONS = TypeAdapter(list[Discussion])
WIKI_PAGE = TypeAdapter(WikiPage)
WIKI_PAGES = TypeAdapter(list[WikiPage])
MEMBERS = TypeAdapter(list[Member])
PERSON = TypeAdapter(Person)
