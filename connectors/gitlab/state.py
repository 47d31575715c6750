"""What a source of GitLab remembers from run to run, as the text of a cursor."""

from dataclasses import dataclass, field
from datetime import datetime

from connectors.forge.state import FilesMemory, Remembered
from connectors.gitlab.replies import Project


@dataclass(slots=True, kw_only=True)
class ListMemory:
    """How far issues or merge requests are read.

    ``time`` is the newest change that was told, ``numbers`` all that there were (negative: not wanted), ``walked`` when
    the list of all was last read, and ``etag`` what the answer to ``url`` was known by.
    """

    time: str | None = None
    numbers: list[int] = field(default_factory=list)
    walked: datetime | None = None
    url: str = ""
    etag: str = ""


@dataclass(slots=True, kw_only=True)
class WikiMemory:
    """What the list of a wiki's pages was known by, and the digest of the pages that were read."""

    etag: str = ""
    digest: str = ""


@dataclass(slots=True, kw_only=True)
class ProjectMemory:
    """What is remembered of one project; ``salts`` are what documents of each kind carried besides their text."""

    etag: str = ""
    about: Project | None = None
    salts: dict[str, str] = field(default_factory=dict)
    files: FilesMemory = field(default_factory=FilesMemory)
    issues: ListMemory = field(default_factory=ListMemory)
    merge_requests: ListMemory = field(default_factory=ListMemory)
    wiki: WikiMemory = field(default_factory=WikiMemory)

    def renew(self, kind: str, salt: str) -> None:
        """Forget what was read of a kind if its documents carry something else by now, such as other readers."""
        if self.salts.get(kind) == salt:
            return
        self.salts[kind] = salt
        if kind == "files":
            self.files = FilesMemory()
        elif kind == "issues":
            self.issues = ListMemory()
        elif kind == "merge_requests":
            self.merge_requests = ListMemory()
        else:
            self.wiki = WikiMemory()


@dataclass(slots=True, kw_only=True)
class Acquaintance:
    """The e-mail address of an account, "" where none is told, and when it was asked for."""

    email: str
    asked: datetime


@dataclass(slots=True, kw_only=True)
class Memory(Remembered):
    """What is remembered of all."""

    projects: dict[str, ProjectMemory] = field(default_factory=dict)
    people: dict[int, Acquaintance] = field(default_factory=dict)

    def of(self, name: str) -> ProjectMemory:
        """Return the part of one project, which may be written to."""
        return self.projects.setdefault(name, ProjectMemory())
