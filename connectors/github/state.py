"""What a source of GitHub remembers from run to run, as the text of a cursor."""

from dataclasses import dataclass, field

from connectors.forge.state import FilesMemory, Remembered
from connectors.github.replies import Repository


@dataclass(slots=True, kw_only=True)
class Page:
    """A page of the list of issues: what it is known by, and the numbers on it, those of pull requests negative.

    ``is_followed``: another page stood behind it when it was read.
    """

    etag: str
    numbers: list[int]
    is_followed: bool = False


@dataclass(slots=True, kw_only=True)
class ThreadsMemory:
    """How far issues and pull requests are read: the newest time told, and what lists are known by, by address."""

    time: str | None = None
    etags: dict[str, str] = field(default_factory=dict)
    pages: list[Page] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class RepositoryMemory:
    """What is remembered of one repository."""

    etag: str = ""
    about: Repository | None = None
    files: FilesMemory = field(default_factory=FilesMemory)
    threads: ThreadsMemory = field(default_factory=ThreadsMemory)
    discussions: str | None = None
    """The newest time that the list of discussions told."""
    discussion_numbers: list[int] = field(default_factory=list)
    """All that there were then."""


@dataclass(slots=True, kw_only=True)
class Memory(Remembered):
    """What is remembered of all."""

    repositories: dict[str, RepositoryMemory] = field(default_factory=dict)

    def of(self, name: str) -> RepositoryMemory:
        """Return the part of one repository, which may be written to."""
        return self.repositories.setdefault(name, RepositoryMemory())
