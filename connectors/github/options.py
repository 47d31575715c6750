"""The settings of the source type ``github``."""

import re
from typing import Literal

from pydantic import Field, SecretStr, field_validator, model_validator

from connectors.base import Options
from connectors.cursors import basis_of
from connectors.http.urls import server_parts
from connectors.patterns import Patterns
from connectors.readers import Readers

Kind = Literal["files", "issues", "pulls", "discussions"]

GITHUB_COM = "https://api.github.com"
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9._-]+")


class GithubOptions(Options):
    """Repositories of GitHub or of a GitHub Enterprise Server: files, issues, pull requests, discussions.

    A file of the branch is a document, linked at the commit it was read at (with its lines, where it is code or plain
    text), so that a link shows what was cited whatever happens to the branch later. An issue, a pull request and a
    discussion is a document each, with all its comments, and for a pull request its reviews; each comment is linked by
    its own address. Patterns of `include` and `exclude` are compared with paths of files as those of `files` are.

    What hasn't changed costs next to nothing: files are told apart by Git's own hash of them, and issues are asked for
    under the condition that they have changed, which GitHub doesn't count against the limit when there is a token.
    Without a token only public repositories can be read, 60 requests an hour, and no discussions; with one 5,000. When
    GitHub asks to wait, the run waits, or goes on at its next turn where it stopped. With a token a file also tells who
    changed it last, and when.

    GitHub tells no e-mail addresses of who may read a repository. So the documents of a private one are readable for
    whoever the knowledge base's `readers` name, all of them: give each circle a knowledge base of its own, or name
    `readers` here.

    Symbolic links are passed by (what they lead to is a file of its own), and so are submodules (name their repository
    as another one). A file that is kept in Git LFS is named and not read. A repository or branch that was renamed is
    followed; one that is gone deletes nothing, and is told. Issues that were deleted, moved to another repository or
    turned into a discussion are deleted.
    """

    repositories: tuple[str, ...] = Field(min_length=1, description="which ones, such as `octo-org/handbook`")
    kinds: tuple[Kind, ...] = Field(
        default=("files", "issues", "pulls"),
        min_length=1,
        description='what is read of them: `"files"`, `"issues"`, `"pulls"`, `"discussions"` (which want a token)',
    )
    token: SecretStr | None = Field(
        default=None, description="a token that may read, such as `${GITHUB_TOKEN}`; not needed for public repositories"
    )
    branch: str = Field(default="", description="the branch whose files are read; default: each repository's own")
    include: Patterns = Field(
        default=(),
        description='glob patterns of the files to take, such as `["docs/**"]`; default: all but pictures and media',
    )
    exclude: Patterns = Field(default=(), description="glob patterns of files and folders to leave out")
    hidden: bool = Field(
        default=False, description="whether files and folders whose name begins with a dot are taken too"
    )
    max_megabytes: float = Field(
        default=50, gt=0, le=100, description="larger files are reported instead of read; GitHub gives 100 at most"
    )
    readers: Readers = Field(
        default=None,
        description="who may read these documents, as in a knowledge base; default: whoever reads the knowledge base",
    )
    url: str = Field(
        default=GITHUB_COM,
        description="the address of the API; of a GitHub Enterprise Server `https://github.example.org/api/v3`",
    )

    @field_validator("repositories")
    @classmethod
    def _are_repositories(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if not _REPOSITORY.fullmatch(name):
                raise ValueError(f'"{name}" is no repository; write `owner/name`, without https:// and .git')
        if len({name.lower() for name in names}) < len(names):
            raise ValueError("a repository is named twice")
        return names

    @field_validator("url")
    @classmethod
    def _is_api(cls, url: str) -> str:
        parts = server_parts(url, example="https://github.example.org/api/v3")
        host = parts.hostname or ""
        if host in {"github.com", "www.github.com"}:
            return GITHUB_COM
        is_dedicated = host.startswith("api.") and not parts.path.strip("/")  # also SUBDOMAIN.ghe.com
        path = "" if is_dedicated else parts.path.rstrip("/") or "/api/v3"
        return f"{parts.scheme}://{parts.netloc}{path}"

    @model_validator(mode="after")
    def _can_ask(self) -> "GithubOptions":
        if "discussions" in self.kinds and not self.bearer:
            raise ValueError("discussions want a `token`: GitHub gives them to nobody without one")
        return self

    @property
    def bearer(self) -> str:
        """The token, "" when there is none."""
        return self.token.get_secret_value().strip() if self.token else ""

    @property
    def graphql(self) -> str:
        """The address for GraphQL: ``/graphql``, on a GitHub Enterprise Server ``/api/graphql``."""
        return f"{self.url.removesuffix('/v3')}/graphql"

    def basis(self) -> str:
        """Return what changes when other documents would come of the same repositories."""
        return basis_of(
            self.kinds,
            self.branch,
            self.include,
            self.exclude,
            self.hidden,
            self.max_megabytes,
            self.readers,
            self.url,
        )
