"""The settings of the source type ``gitlab``."""

import re
from typing import Literal

from pydantic import Field, SecretStr, field_validator, model_validator

from connectors.base import Options
from connectors.cursors import basis_of
from connectors.http.urls import server_parts
from connectors.patterns import Patterns
from connectors.readers import checked_readers

Kind = Literal["files", "issues", "merge_requests", "wiki"]

GITLAB_COM = "https://gitlab.com"
_PART = r"[A-Za-z0-9_.][A-Za-z0-9_.-]*"
_PROJECT = re.compile(rf"{_PART}(?:/{_PART})+")
_GROUP = re.compile(rf"{_PART}(?:/{_PART})*")


class GitlabOptions(Options):
    """Projects of gitlab.com or of a GitLab of your own: files, issues, merge requests, wiki pages.

    A file of the branch is a document, linked at the commit it was read at (with its lines, where it is code or plain
    text), so that a link shows what was cited whatever happens to the branch later. An issue and a merge request is a
    document each, with all its threads; each comment is linked by its own address. What GitLab itself notes down (who
    closed it, what was mentioned where) is left out. A wiki page is a document. A group stands for all its projects,
    those of its subgroups too, as they come and go; what the token may not read of them is named. Patterns of `include`
    and `exclude` are compared with paths of files as those of `files` are.

    What hasn't changed costs next to nothing: when the branch has moved, GitLab is asked what changed between the two
    commits (after a forced push, or where it can't tell, for the list of all files), and issues and merge requests are
    asked for by the time of their last change, with how many there are. When GitLab asks to wait, the run waits, or
    goes on at its next turn where it stopped. Without a token only files and wiki pages of public projects can be read.

    Who may read: what anyone may read in GitLab is for whoever reads the knowledge base. What is for members (a private
    or internal project, or a part of a public one that is) is for the members by their e-mail addresses: for issues and
    wiki pages from the role Guest on, for files and merge requests from Reporter on. GitLab tells addresses to
    administrators, to owners of a group for its enterprise users, and those that people have made public in their
    profile; they are asked for once a day. A member whose address isn't told doesn't read, and a project of which none
    is told is named and not read, until `readers` says who reads it. Confidential issues and internal comments are left
    out; with `confidential`, confidential issues are read with their internal comments, for members from Reporter on
    (or for `readers`, where that names who).

    Symbolic links are passed by (what they lead to is a file of its own), and so are submodules (name their project as
    another one). A file that is kept in Git LFS is read where GitLab has it, else named. A project that was moved is
    followed; one that is gone deletes nothing, and is told. Snippets and epics aren't read.
    """

    projects: tuple[str, ...] = Field(default=(), description="which ones, by path, such as `acme/handbook`")
    groups: tuple[str, ...] = Field(
        default=(), description="groups, by path, whose projects are read, with those of their subgroups"
    )
    exclude_projects: Patterns = Field(
        default=(), description='glob patterns of projects of the groups to leave out, such as `["acme/old/**"]`'
    )
    archived: bool = Field(default=False, description="whether archived projects of the groups are read, too")
    kinds: tuple[Kind, ...] = Field(
        default=("files", "issues", "merge_requests", "wiki"),
        min_length=1,
        description='what is read of them: `"files"`, `"issues"`, `"merge_requests"`, `"wiki"`',
    )
    token: SecretStr | None = Field(
        default=None,
        description="a personal, project or group access token with the scope `read_api`, such as `${GITLAB_TOKEN}`",
    )
    branch: str = Field(default="", description="the branch whose files are read; default: each project's own")
    include: Patterns = Field(
        default=(),
        description='glob patterns of the files to take, such as `["docs/**"]`; default: all but pictures and media',
    )
    exclude: Patterns = Field(default=(), description="glob patterns of files and folders to leave out")
    hidden: bool = Field(
        default=False, description="whether files and folders whose name begins with a dot are taken too"
    )
    max_megabytes: float = Field(default=50, gt=0, le=1_000, description="larger files are reported instead of read")
    confidential: bool = Field(default=False, description="whether confidential issues are read, too")
    readers: Literal["knowledge_base"] | tuple[str, ...] | None = Field(
        default=None,
        description="who may read these documents, as in a knowledge base, or `knowledge_base` for whoever reads that;"
        " default: as GitLab tells",
    )
    url: str = Field(default=GITLAB_COM, description="the address of GitLab, such as `https://gitlab.example.org`")

    @field_validator("projects")
    @classmethod
    def _are_projects(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return _paths(names, _PROJECT, "project; write `group/name`, without https:// and .git")

    @field_validator("groups")
    @classmethod
    def _are_groups(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return _paths(names, _GROUP, "group; write `group` or `group/subgroup`, without https://")

    @field_validator("readers")
    @classmethod
    def _are_readers(cls, readers: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
        return checked_readers(readers) if isinstance(readers, tuple) else readers

    @field_validator("url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        parts = server_parts(url, example="https://gitlab.example.org")
        return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/api/v4')}"

    @model_validator(mode="after")
    def _can_ask(self) -> "GitlabOptions":
        if not self.projects and not self.groups:
            raise ValueError("name `projects`, `groups` or both")
        if not self.bearer and {"issues", "merge_requests"} & set(self.kinds):
            raise ValueError('issues and merge requests want a `token`; without one write `kinds = ["files", "wiki"]`')
        if self.confidential and self.readers == "knowledge_base":
            raise ValueError("with `confidential`, name as `readers` who may read them, or leave `readers` out")
        return self

    @property
    def bearer(self) -> str:
        """The token, "" when there is none."""
        return self.token.get_secret_value().strip() if self.token else ""

    def basis(self) -> str:
        """Return what changes when other documents would come of the same projects."""
        return basis_of(
            self.kinds,
            self.branch,
            self.include,
            self.exclude,
            self.hidden,
            self.max_megabytes,
            self.confidential,
            self.readers,
            self.url,
        )


def _paths(names: tuple[str, ...], form: re.Pattern[str], kind: str) -> tuple[str, ...]:
    for name in names:
        if not form.fullmatch(name):
            raise ValueError(f'"{name}" is no {kind}')
    if len({name.lower() for name in names}) < len(names):
        raise ValueError("one is named twice")
    return names
