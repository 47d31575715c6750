"""The connector of the source type ``github``.

A document's id is ``owner/name/`` and where GitHub itself has it: ``blob/docs/a.md``, ``issues/12``, ``pull/13``,
``discussions/14``. A cursor remembers what each list was known by (``state``), so that what is unchanged is asked for
under a condition, and not read.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from connectors.base import Change, Failure, Origin, SourceDocument, Tombstone
from connectors.forge.files import Files
from connectors.forge.rounds import Step, in_turn
from connectors.github import discussions, files
from connectors.github.api import Api, client_of
from connectors.github.discussions import DiscussionReader
from connectors.github.files import files_of
from connectors.github.options import GithubOptions
from connectors.github.scope import Scope, opened
from connectors.github.state import Memory, RepositoryMemory
from connectors.github.threads import ISSUES_PLACE, PULLS_PLACE, Threads


@dataclass(slots=True)
class GithubConnector:
    """Reads some repositories, one after the other."""

    origin: Origin
    options: GithubOptions
    _listed: list[str | Failure] | None = field(init=False, default=None)
    """What the run has found that there is."""

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        """Yield what is new or has changed; a repository that can't be read holds up none of the others."""
        self._listed, listed = None, list[str | Failure]()
        memory = Memory.from_cursor(cursor, self.options.basis())
        memory.repositories = {name: memory.of(name) for name in self.options.repositories}
        async with client_of(self.options) as client:
            api = Api(self.options, client)

            def steps(name: str) -> AsyncGenerator[Step, None]:
                return self._repository(api, name, memory.of(name), known, listed)

            async with aclosing(in_turn(self.options.repositories, steps, memory.to_cursor)) as changes:
                async for change in changes:
                    yield change
        self._listed = listed

    async def list_ids(self) -> AsyncIterator[str | Failure]:
        """Yield the id of all that there is: what the run has found, else by lists of its own."""
        if self._listed is not None:
            for item in self._listed:
                yield item
            return
        async with client_of(self.options) as client:
            for name in self.options.repositories:
                scope = await opened(self.origin, self.options, Api(self.options, client), name)
                for reader in self._readers(scope):
                    await reader.list_ids()
                    for item in _all(reader):
                        yield item

    async def fetch(self, ids: Sequence[str]) -> AsyncIterator[SourceDocument | Tombstone | Failure]:
        """Yield these documents as they are now."""
        wanted: dict[str, list[str]] = {}
        for identity in dict.fromkeys(ids):
            owner, _, rest = self.origin.native_id(identity).partition("/")
            name, _, place = rest.partition("/")
            if f"{owner}/{name}" in self.options.repositories and place.startswith(self._places()):
                wanted.setdefault(f"{owner}/{name}", []).append(place)
            else:
                yield Tombstone(id=identity)
        async with client_of(self.options) as client:
            for repository, places in wanted.items():
                scope = await opened(self.origin, self.options, Api(self.options, client), repository)
                async for change in _fetched(scope, places):
                    yield change

    async def _repository(
        self, api: Api, name: str, memory: RepositoryMemory, known: Mapping[str, str], listed: list[str | Failure]
    ) -> AsyncGenerator[Step, None]:
        """Yield what has changed in one repository, and add to ``listed`` what there is; None after each batch."""
        scope = await opened(self.origin, self.options, api, name, memory)
        for reader in self._readers(scope):
            if isinstance(reader, Files):
                async for step in reader.changes(memory.files, known):
                    yield step
            elif isinstance(reader, Threads):
                async for step in reader.changes(memory.threads, known):
                    yield step
            else:
                async for step in reader.changes(memory.discussions, known, memory.discussion_numbers):
                    yield step
                memory.discussions = reader.reached(memory.discussions)
                memory.discussion_numbers = list(reader.numbers)
            listed += _all(reader)

    def _readers(self, scope: Scope) -> list[Files | Threads | DiscussionReader]:
        kinds, found = set(self.options.kinds), list[Files | Threads | DiscussionReader]()
        if "files" in kinds:
            found.append(files_of(scope))
        if kinds & {"issues", "pulls"} and (scope.about.has_issues or "pulls" in kinds):
            found.append(Threads(scope))
        if "discussions" in kinds:
            found.append(DiscussionReader(scope))
        return found

    def _places(self) -> tuple[str, ...]:
        """Return how the ids of what is wanted go on behind their repository."""
        places = {
            "files": files.PLACE,
            "issues": ISSUES_PLACE,
            "pulls": PULLS_PLACE,
            "discussions": discussions.PLACE,
        }
        return tuple(places[kind] for kind in self.options.kinds)


def _all(reader: Files | Threads | DiscussionReader) -> list[str | Failure]:
    return [*reader.ids, *(reader.blocked if isinstance(reader, Files) else ())]


async def _fetched(scope: Scope, places: Sequence[str]) -> AsyncGenerator[SourceDocument | Tombstone | Failure, None]:
    paths = [place.removeprefix(files.PLACE) for place in places if place.startswith(files.PLACE)]
    if paths:
        async for found in files_of(scope).fetch(paths):
            yield found
    numbered = [place for place in places if place.startswith((ISSUES_PLACE, PULLS_PLACE))]
    async for thread in Threads(scope).fetch(numbered):
        yield thread
    spoken = [place for place in places if place.startswith(discussions.PLACE)]
    async for one in DiscussionReader(scope).fetch(spoken):
        yield one
