"""The connector of the source type ``gitlab``.

A document's id is its project's path and where GitLab itself has it: ``acme/docs/-/blob/docs/a.md``,
``acme/docs/-/issues/12``, ``acme/docs/-/merge_requests/13``, ``acme/docs/-/wikis/home``. A cursor remembers how far
each list was read (``state``), so that what is unchanged isn't read.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from connectors.base import Change, Failure, Origin, SourceDocument, Tombstone
from connectors.forge.files import Files
from connectors.forge.rounds import Step, in_turn
from connectors.gitlab import files, wiki
from connectors.gitlab.access import Access, ReadersUnknown
from connectors.gitlab.api import Api, client_of
from connectors.gitlab.conversation import ISSUES, MERGE_REQUESTS
from connectors.gitlab.faults import Forbidden
from connectors.gitlab.options import GitlabOptions
from connectors.gitlab.projects import Projects, Told, projects_of
from connectors.gitlab.scope import OPEN, Scope, opened
from connectors.gitlab.state import Memory, ProjectMemory
from connectors.gitlab.threads import Threads
from connectors.gitlab.wiki import Wiki
from ragcore.errors import SourceAuthError, SourceError, SourceGone

Reader = Files | Threads | Wiki

_PLACES = {
    "files": files.PLACE,
    "issues": ISSUES.place,
    "merge_requests": MERGE_REQUESTS.place,
    "wiki": wiki.PLACE,
}
"""How ids go on behind their project."""


@dataclass(slots=True)
class GitlabConnector:
    """Reads some projects, one after the other."""

    origin: Origin
    options: GitlabOptions
    _listed: list[str | Failure] | None = field(init=False, default=None)
    """What the run has found that there is."""
    _memory: Memory | None = field(init=False, default=None)
    """What the run remembers, for the e-mail addresses in it."""

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        """Yield what is new or has changed; what can't be read of a project holds up nothing else."""
        self._listed = None
        memory = self._memory = Memory.from_cursor(cursor, self.options.basis())
        async with client_of(self.options) as client:
            api = Api(self.options, client)
            projects = await projects_of(api, earlier=memory.projects)
            if not projects.refused:
                memory.projects = {name: memory.of(name) for name in projects.told}
            round_ = _Round(origin=self.origin, api=api, projects=projects, memory=memory, known=known)
            turns = [(name, kind) for name in projects.told for kind in self._kinds]
            async with aclosing(in_turn(turns, round_.turn, memory.to_cursor)) as changes:
                async for change in changes:
                    yield change
        if projects.refused:
            raise projects.refused[0]
        self._listed = round_.listed

    async def list_ids(self) -> AsyncIterator[str | Failure]:
        """Yield the id of all that there is: what the run has found, else by lists of its own."""
        if self._listed is not None:
            for item in self._listed:
                yield item
            return
        async with client_of(self.options) as client:
            api = Api(self.options, client)
            earlier = self._memory.projects if self._memory else ()
            access, projects = self._access(api), await _whole(api, earlier)
            for name, told in projects.told.items():
                scope = await opened(self.origin, api, name, told=told)
                for kind in self._kinds:
                    if access.is_there(scope.about, kind):
                        for item in await _all_of(kind, scope, access):
                            yield item

    async def fetch(self, ids: Sequence[str]) -> AsyncIterator[SourceDocument | Tombstone | Failure]:
        """Yield these documents as they are now."""
        async with client_of(self.options) as client:
            api = Api(self.options, client)
            named = {self.origin.native_id(identity).partition("/-/")[0] for identity in ids}
            access, projects = self._access(api), await _whole(api, sorted(named))
            wanted: dict[str, dict[str, list[str]]] = {}
            for identity in dict.fromkeys(ids):
                name, _, rest = self.origin.native_id(identity).partition("/-/")
                kind = next((kind for kind in self._kinds if f"-/{rest}".startswith(_PLACES[kind])), "")
                if name in projects.told and kind:
                    wanted.setdefault(name, {}).setdefault(kind, []).append(f"-/{rest}")
                else:
                    yield Tombstone(id=identity)
            for name, places in wanted.items():
                async with aclosing(self._fetched(api, access, name, projects.told[name], places)) as stream:
                    async for change in stream:
                        yield change

    async def _fetched(
        self, api: Api, access: Access, name: str, told: Told | None, wanted: Mapping[str, Sequence[str]]
    ) -> AsyncGenerator[SourceDocument | Tombstone | Failure, None]:
        scope = await opened(self.origin, api, name, told=told)
        for kind, places in wanted.items():
            if not access.is_there(scope.about, kind):
                for place in places:
                    yield Tombstone(id=scope.identity(place))
                continue
            left = dict.fromkeys(scope.identity(place) for place in places)
            try:
                reader = _reader(kind, await scope.of(kind, access))
                asked = [place.removeprefix(files.PLACE) for place in places] if isinstance(reader, Files) else places
                async with aclosing(reader.fetch(asked)) as stream:
                    async for change in stream:
                        left.pop(change.id, None)
                        yield change
            except (ReadersUnknown, Forbidden, SourceGone) as error:
                if told is None and not isinstance(error, ReadersUnknown):
                    raise
                for identity in left:
                    yield Failure(id=identity, reason=error.reason, mend=error.mend)

    def _access(self, api: Api) -> Access:
        return Access(api=api, people=self._memory.people if self._memory else {})

    @property
    def _kinds(self) -> list[str]:
        return list(dict.fromkeys(self.options.kinds))


@dataclass(slots=True, kw_only=True)
class _Round:
    """One run over all projects; ``listed`` is what it finds that there is."""

    origin: Origin
    api: Api
    projects: Projects
    memory: Memory
    known: Mapping[str, str]
    listed: list[str | Failure] = field(default_factory=list)
    _access: Access = field(init=False)
    _by_place: dict[str, dict[str, str]] = field(default_factory=dict)
    """What is known, by what ids begin with."""
    _opened: dict[str, Scope | SourceError] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Remember addresses of people where the run does, and look through what is known once for all projects."""
        self._access = Access(api=self.api, people=self.memory.people)
        for identity, version in self.known.items():
            name, _, rest = identity.partition("/-/")
            self._by_place.setdefault(f"{name}/-/{rest.partition('/')[0]}/", {})[identity] = version

    async def turn(self, turn: tuple[str, str]) -> AsyncGenerator[Step, None]:
        """Yield what has changed in one project of one kind; None after each batch."""
        name, kind = turn
        memory, project = self.memory.of(name), await self._project(name)
        if not self._access.is_there(project.about, kind):
            return
        place = project.identity(_PLACES[kind])
        known = self._by_place.get(place, {})
        try:
            scope = await project.of(kind, self._access)
        except ReadersUnknown as error:
            memory.renew(kind, "")
            for identity in known.keys() - {place}:
                yield Tombstone(id=identity)
            yield Failure(id=place, reason=error.reason, mend=error.mend)
            return
        try:
            async with aclosing(self._read(kind, scope, memory, known)) as stream:
                async for step in stream:
                    yield step
        except (Forbidden, SourceGone) as error:
            if self.projects.told[name] is None:
                raise
            # Of a group not all need to be open to the token; what was read of it is kept.
            hidden = Failure(id=place, reason=error.reason, mend=error.mend, covers=place)
            self.listed.append(hidden)
            yield hidden

    async def _read(
        self, kind: str, scope: Scope, memory: ProjectMemory, known: Mapping[str, str]
    ) -> AsyncGenerator[Step, None]:
        """Yield what has changed; what can't be read again keeps none of the readers that it had."""
        stale = {identity for identity, version in known.items() if scope.salt not in version}
        if memory.salts.get(kind, "").startswith(OPEN) and scope.readers is not None:
            for identity in sorted(stale):
                yield Tombstone(id=identity)
            yield None
            stale.clear()
        memory.renew(kind, scope.salt)
        reader = _reader(kind, scope)
        async with aclosing(_changes(reader, kind, memory, known)) as stream:
            async for step in stream:
                if isinstance(step, SourceDocument | Failure):
                    stale.discard(step.id)
                yield step
        for identity in sorted(stale):
            yield Tombstone(id=identity)
        self.listed += _all(reader)

    async def _project(self, name: str) -> Scope:
        """Return a project; what is wrong with it is asked for once a run."""
        if name not in self._opened:
            told, memory = self.projects.told[name], self.memory.of(name)
            try:
                self._opened[name] = await opened(self.origin, self.api, name, told=told, memory=memory)
            except (SourceGone, SourceAuthError) as error:
                self._opened[name] = error
        found = self._opened[name]
        if isinstance(found, SourceError):
            raise found
        return found


async def _whole(api: Api, earlier: Iterable[str]) -> Projects:
    """Return the projects; raises where a group couldn't be listed."""
    found = await projects_of(api, earlier=earlier)
    if found.refused:
        raise found.refused[0]
    return found


def _reader(kind: str, scope: Scope) -> Reader:
    if kind == "files":
        return files.files_of(scope)
    if kind == "wiki":
        return Wiki(scope)
    return Threads(scope, ISSUES if kind == "issues" else MERGE_REQUESTS)


def _changes(reader: Reader, kind: str, memory: ProjectMemory, known: Mapping[str, str]) -> AsyncGenerator[Step, None]:
    if isinstance(reader, Files):
        return reader.changes(memory.files, known)
    if isinstance(reader, Wiki):
        return reader.changes(memory.wiki, known)
    return reader.changes(memory.issues if kind == "issues" else memory.merge_requests, known)


async def _all_of(kind: str, scope: Scope, access: Access) -> list[str | Failure]:
    """Return what a list of all tells."""
    try:
        reader = _reader(kind, await scope.of(kind, access))
    except ReadersUnknown as error:
        return [Failure(id=scope.identity(_PLACES[kind]), reason=error.reason, mend=error.mend)]
    await reader.list_ids()
    return _all(reader)


def _all(reader: Reader) -> list[str | Failure]:
    return [*reader.ids, *(reader.blocked if isinstance(reader, Files) else ())]
