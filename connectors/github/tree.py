"""All files of a commit, also where they are too many for one reply.

A tree is asked for with all that is in it; GitHub cuts that off at 100,000 entries or 7 MB and says so
(https://docs.github.com/en/rest/git/trees). Then it is asked for alone, and each folder in it likewise.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any

from connectors.forge.files import MODES, Entry
from connectors.github.replies import ENTRIES, TREE, Tree, TreeEntry
from connectors.github.scope import Scope
from connectors.patterns import Selection
from ragcore.errors import SourceBadReply

_SLICE = 1_000
"""Entries that are checked at once: what checks them lets nothing else run meanwhile."""
_EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""Git's hash of a folder with nothing in it, which is nowhere kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """Walks the tree of a commit."""

    scope: Scope
    selection: Selection

    async def walk(self, sha: str, folder: str = "") -> AsyncGenerator[Entry | str, None]:
        """Yield every file that is selected, and as text, ended by "/", each folder that GitHub doesn't list whole."""
        if sha == _EMPTY:
            return
        found = await self._asked(f"{sha}?recursive=1")
        if not found.truncated:
            for entry in (await asyncio.to_thread(self._picked, found.tree, folder))[0]:
                yield entry
            return
        found = await self._asked(sha)
        if found.truncated:
            yield folder
        files, folders = await asyncio.to_thread(self._picked, found.tree, folder)
        for entry in files:
            yield entry
        for inner in folders:
            async for spot in self.walk(inner.sha, f"{inner.path}/"):
                yield spot

    def _picked(self, told: Sequence[Any], folder: str) -> tuple[list[Entry], list[Entry]]:
        """Return the files, and the folders, that are selected: half a second's work for 100,000, so for a thread."""
        files, folders = list[Entry](), list[Entry]()
        for first in range(0, len(told), _SLICE):
            for entry in self.scope.api.rest.checked(ENTRIES, told[first : first + _SLICE], self.scope.options.url):
                found = Entry(path=folder + entry.path, sha=entry.sha, size=entry.size)
                if _is_file(entry) and self.selection.reaches(found.path):
                    files.append(found)
                elif entry.type == "tree" and self.selection.reaches_folder(found.path):
                    folders.append(found)
        return files, folders

    async def _asked(self, sha: str) -> Tree:
        got = await self.scope.api.get(TREE, f"{self.scope.path}/git/trees/{sha}")
        if got.value is None:
            raise SourceBadReply(f"GitHub listed no files of {self.scope.name}", mend="try again later")
        return got.value


def _is_file(entry: TreeEntry) -> bool:
    return entry.type == "blob" and entry.mode in MODES
