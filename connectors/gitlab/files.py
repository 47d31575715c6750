"""The files of a branch of GitLab.

A tree comes by the hundred entries, so where the branch has moved on, the commits are compared instead
(https://docs.gitlab.com/api/repositories/), and the folders of what differs are listed for Git's hashes.
"""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from urllib.parse import quote

from connectors.forge.files import MODES, Blob, Entry, Files, Head, LastChange, Moved, is_pointer
from connectors.forge.state import FilesMemory
from connectors.gitlab.api import FORGE, PER_PAGE, size_of
from connectors.gitlab.replies import BRANCH, BRANCHES, COMMIT, COMPARISON, TREE, Comparison, TreeEntry
from connectors.gitlab.scope import Scope
from connectors.http import shown
from connectors.patterns import Selection
from ragcore.errors import (
    SourceAuthError,
    SourceBadReply,
    SourceError,
    SourceGone,
    SourceRateLimited,
    SourceUnreachable,
)

PLACE = "-/blob/"
_MOST_DIFFERENCES, _MOST_FOLDERS = 300, 20
"""More than these, and the list of all files costs no more."""
_NONE = frozenset({400, 404})
_STORE = "check where GitLab keeps large files, or exclude it"


@dataclass(slots=True)
class GitlabBranch:
    """The branch that the settings name, else the project's own."""

    scope: Scope
    forge: str = FORGE
    place: str = PLACE
    _commits: dict[str, LastChange | None] = field(default_factory=dict)

    @property
    def limit(self) -> int:
        """The most bytes of a file that is read."""
        return int(self.scope.options.max_megabytes * 1_000_000)

    async def head(self, memory: FilesMemory) -> Head | None:
        """Return the end of the branch, None when nothing was ever committed."""
        scope, branches = self.scope, f"{self.scope.path}/repository/branches"
        name = scope.options.branch or scope.about.default_branch
        if not name:
            await self._confirm_empty(branches, f"GitLab tells no default branch of {scope.name}")
            return None
        etag = memory.etag if memory.commit else ""
        got = await scope.api.get(BRANCH, f"{branches}/{quote(name, safe='')}", etag=etag, passing=frozenset({404}))
        if got.is_unchanged:
            return Head(commit=memory.commit, tree=memory.tree, etag=memory.etag)
        if got.value is None:
            await self._confirm_empty(branches, f'{scope.name} has no branch "{name}"')
            return None
        commit = got.value.commit.id  # which stands for its tree: GitLab tells no hash of that
        return Head(commit=commit, tree=commit, etag=got.etag)

    async def walk(self, head: Head) -> AsyncGenerator[Entry | str, None]:
        """Yield every file that is selected."""
        selection = self._selection
        async for page in self._tree(head, "recursive=true"):
            for entry in page:
                if _is_file(entry) and selection.reaches(entry.path):
                    yield Entry(path=entry.path, sha=entry.id)

    async def some(self, paths: Collection[str], head: Head) -> list[Entry] | None:
        """Return those of these files that there are and are selected; None where they stand in too many folders."""
        folders, selection = {path.rpartition("/")[0] for path in paths}, self._selection
        if len(folders) > _MOST_FOLDERS:
            return None
        found: list[Entry] = []
        for folder in sorted(folders):
            async for page in self._tree(head, f"path={quote(folder, safe='')}"):
                taken = (entry for entry in page if entry.path in paths and _is_file(entry))
                found += [Entry(path=one.path, sha=one.id) for one in taken if selection.reaches(one.path)]
        return found

    async def moved(self, memory: FilesMemory, head: Head) -> Moved | None:
        """Return what differs from the commit that is remembered; None after a forced push, or where it is too much."""
        try:
            compared = await self._compared(memory.commit, head.commit)
            return None if compared is None else await self._found(compared, head)
        except (SourceRateLimited, SourceAuthError):
            raise
        except SourceError:
            return None  # a large comparison may end in a fault or in silence; the list of all may still be had

    async def ready(self, entries: Sequence[Entry], head: Head) -> None:
        """Do nothing: each file comes with its last commit."""

    async def read(self, entry: Entry, head: Head) -> Blob:
        """Return a file, also one that is kept in Git LFS, if GitLab has it."""
        place = f"{self.scope.path}/repository/files/{quote(entry.path, safe='')}/raw?ref={head.commit}"
        reply = await self.scope.api.raw(place, limit=self.limit)
        if reply.headers.get("X-Gitlab-Blob-Id", "") != entry.sha:
            # A page to log in, or of whatever else stands between, must not be taken for the file.
            raise SourceError(f"{shown(reply.url)} did not answer with the file as {FORGE} does", mend="check `url`")
        content = await self._kept(place, reply.content) if is_pointer(reply.content) else reply.content
        if size_of(reply) > self.limit:
            reason = f"it has {size_of(reply) / 1e6:,.1f} MB, more than the limit of {self.limit / 1e6:,.1f} MB"
            raise SourceBadReply(reason, mend="exclude it, or raise max_megabytes")
        commit = reply.headers.get("X-Gitlab-Last-Commit-Id", "")
        return Blob(content=content, changed=await self._commit(commit) if commit else None)

    async def _kept(self, place: str, pointer: bytes) -> bytes:
        """Return a file that is kept in Git LFS, its pointer where GitLab doesn't have it."""
        try:
            kept = await self.scope.api.raw(f"{place}&lfs=true", limit=self.limit, passing=frozenset({404}))
        except SourceAuthError as error:
            # GitLab may lead to a store elsewhere, whose refusal says nothing about the token.
            raise SourceError(error.reason, mend=_STORE) from None
        if kept.status != 200:
            return pointer
        told = await asyncio.to_thread(hashlib.sha256, kept.content)
        if told.hexdigest().encode() not in pointer:
            raise SourceError(f"{shown(kept.url)} did not answer with the file that is kept in Git LFS", mend=_STORE)
        return kept.content

    def url(self, entry: Entry, head: Head) -> str:
        """Return where people find a file, at its commit."""
        return f"{self.scope.about.web_url}/-/blob/{head.commit}/{quote(entry.path, safe='/')}"

    async def _confirm_empty(self, branches: str, why: str) -> None:
        """Raise what else than that nothing was ever committed is why a branch is missing.

        Whoever may not read the code is told no default branch either, and refused when asking for branches.
        """
        if self.scope.about.empty_repo:
            return
        if (await self.scope.api.get(BRANCHES, f"{branches}?per_page=1")).value:
            raise SourceGone(why, mend="name the one to read as `branch`")

    @property
    def _selection(self) -> Selection:
        options = self.scope.options
        return Selection.of(options.include, options.exclude, hidden=options.hidden)

    async def _tree(self, head: Head, how: str) -> AsyncGenerator[list[TreeEntry], None]:
        """Yield the entries of a tree, page by page."""
        repository = f"{self.scope.path}/repository"
        url = f"{repository}/tree?ref={head.commit}&{how}&per_page={PER_PAGE}&pagination=keyset"
        async with aclosing(self.scope.api.replies(TREE, url, passing=frozenset({404}))) as replies:
            async for got in replies:
                if got.value is None:
                    # Nothing at all in a commit is told like this, and so is a commit that is gone.
                    await self.scope.api.get(COMMIT, f"{repository}/commits/{head.commit}?stats=false")
                    return
                yield got.value

    async def _compared(self, old: str, new: str) -> Comparison | None:
        repository = f"{self.scope.path}/repository"
        base = await self.scope.api.get(COMMIT, f"{repository}/merge_base?refs[]={old}&refs[]={new}", passing=_NONE)
        if base.value is None or base.value.id != old:
            return None
        asked = f"{repository}/compare?from={old}&to={new}&straight=true"
        found = (await self.scope.api.get(COMPARISON, asked, passing=_NONE)).value
        if found is None or found.compare_timeout or len(found.diffs) > _MOST_DIFFERENCES:
            return None
        return found

    async def _found(self, compared: Comparison, head: Head) -> Moved | None:
        """Return what the comparison tells, with Git's hashes; None when the folders tell something else."""
        selection = self._selection
        paths = {path for diff in compared.diffs for path in (diff.old_path, diff.new_path)}
        due = {
            diff.new_path
            for diff in compared.diffs
            if not diff.deleted_file and diff.b_mode in {None, *MODES} and selection.reaches(diff.new_path)
        }
        entries = await self.some(due, head)
        is_told = entries is not None and {entry.path for entry in entries} == due
        return Moved(paths=paths, entries=entries) if entries is not None and is_told else None

    async def _commit(self, sha: str) -> LastChange | None:
        """Return a commit as the last change of a file, as far as it is told: no file is held back for it."""
        if sha not in self._commits:
            try:
                got = await self.scope.api.get(COMMIT, f"{self.scope.path}/repository/commits/{sha}?stats=false")
            except (SourceRateLimited, SourceUnreachable):
                raise
            except SourceError:
                self._commits[sha] = None
            else:
                told = got.value
                self._commits[sha] = LastChange(at=told.committed_date, author=told.author_name) if told else None
        return self._commits[sha]


def files_of(scope: Scope) -> Files:
    """Return what reads the files of a project."""
    return Files(GitlabBranch(scope))


def _is_file(entry: TreeEntry) -> bool:
    return entry.type == "blob" and entry.mode in MODES
