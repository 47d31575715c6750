"""The files of a branch of GitHub."""

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from connectors.forge.files import Blob, Entry, Files, Head, LastChange, Moved
from connectors.forge.state import FilesMemory
from connectors.github.api import FORGE
from connectors.github.history import last_changes
from connectors.github.replies import BRANCH, BRANCHES
from connectors.github.scope import Scope
from connectors.github.tree import Trees
from connectors.patterns import Selection
from ragcore.errors import SourceError, SourceGone, SourceRateLimited

PLACE = "blob/"


@dataclass(slots=True)
class GithubBranch:
    """The branch that the settings name, else the repository's own."""

    scope: Scope
    forge: str = FORGE
    place: str = PLACE
    _changes: Mapping[str, LastChange] = field(default_factory=dict)
    _is_without_dates: bool = False

    @property
    def limit(self) -> int:
        """The most bytes of a file that is read."""
        return int(self.scope.options.max_megabytes * 1_000_000)

    async def head(self, memory: FilesMemory) -> Head | None:
        """Return the end of the branch, None when nothing was ever committed."""
        scope = self.scope
        name = scope.options.branch or scope.about.default_branch
        etag = memory.etag if memory.commit else ""
        got = await scope.api.get(
            BRANCH, f"{scope.path}/branches/{quote(name, safe='')}", etag=etag, passing=frozenset({404})
        )
        if got.is_unchanged:
            return Head(commit=memory.commit, tree=memory.tree, etag=memory.etag)
        if got.value is None:
            any_branch = await scope.api.get(BRANCHES, f"{scope.path}/branches?per_page=1")
            if any_branch.value:
                raise SourceGone(f'{scope.name} has no branch "{name}"', mend="name the one to read as `branch`")
            return None
        return Head(commit=got.value.commit.sha, tree=got.value.commit.commit.tree.sha, etag=got.etag)

    async def walk(self, head: Head) -> AsyncGenerator[Entry | str, None]:
        """Yield every file that is selected, and as text, ended by "/", each folder that GitHub doesn't list whole."""
        options = self.scope.options
        selection = Selection.of(options.include, options.exclude, hidden=options.hidden)
        async for spot in Trees(scope=self.scope, selection=selection).walk(head.tree):
            yield spot

    async def some(self, paths: Collection[str], head: Head) -> list[Entry] | None:
        """Return None: a whole tree is one question."""
        return None

    async def moved(self, memory: FilesMemory, head: Head) -> Moved | None:
        """Return None: a whole tree is one question."""
        return None

    async def ready(self, entries: Sequence[Entry], head: Head) -> None:
        """Ask who changed each file last, and when, as far as that is told: no file is held back for it."""
        self._changes = {}
        if not self.scope.api.has_token or self._is_without_dates:
            return
        try:
            self._changes = await last_changes(self.scope, head.commit, [entry.path for entry in entries])
        except SourceRateLimited:
            raise
        except SourceError:
            self._is_without_dates = True

    async def read(self, entry: Entry, head: Head) -> Blob:
        """Return a file."""
        content = await self.scope.api.raw(f"{self.scope.path}/git/blobs/{entry.sha}", limit=self.limit)
        return Blob(content=content, changed=self._changes.get(entry.path))

    def url(self, entry: Entry, head: Head) -> str:
        """Return where people find a file, at its commit."""
        return f"{self.scope.about.html_url}/blob/{head.commit}/{quote(entry.path, safe='/')}"


def files_of(scope: Scope) -> Files:
    """Return what reads the files of a repository."""
    return Files(GithubBranch(scope))
