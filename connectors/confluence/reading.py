"""Lists the documents of a space, and reads those that have changed."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field

from connectors.atlassian import Refused
from connectors.atlassian.versions import is_for_others
from connectors.base import Checkpoint, Estimate, Failure, Origin, SourceDocument, Tombstone
from connectors.confluence.documents import (
    Comments,
    Writer,
    file_version,
    native_id,
    page_version,
    too_large,
)
from connectors.confluence.readers import Access, Readers
from connectors.confluence.replies import Space
from connectors.confluence.site import File, Head, Kind, Site
from connectors.mishaps import Mishaps
from connectors.patterns import Selection
from ragcore.errors import SourceError

_BATCH = 20
"""Documents between two checkpoints."""
_AT_ONCE = 100
"""Pages that are looked through at once: that takes some 10 ms."""
_FEW = 9
"""Documents missing from the lists that are asked for one by one, however few there are."""
_CONFIRMED = 200
"""The same where they are no more than a third of all: of a larger share the run's own guard doubts that they went."""

Step = SourceDocument | Failure | Tombstone | Estimate | Checkpoint
Found = SourceDocument | Failure | Tombstone


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A page or an attachment that is there: who may read it, its version, and the comments on it.

    ``is_left_out`` says that it is restricted, and that nothing restricted is wanted.
    """

    what: Head | File
    access: Access
    version: str
    comments: Comments = ()
    is_left_out: bool = False


@dataclass(slots=True)
class Reader:
    """Reads one site."""

    origin: Origin
    site: Site
    mishaps: Mishaps = field(init=False)
    readers: Readers = field(init=False)
    _writer: Writer = field(init=False)
    _selection: Selection = field(init=False)

    def __post_init__(self) -> None:
        """Make what it reads with."""
        options = self.site.options
        self.mishaps = Mishaps(probe=self.site.check)
        self.readers = Readers(self.site)
        self._writer = Writer(origin=self.origin, site=self.site)
        self._selection = Selection.of(options.include, options.exclude, hidden=True)

    async def changes(self, space: Space, known: Mapping[str, str], found: set[str]) -> AsyncGenerator[Step, None]:
        """Yield what has changed in a space, with a checkpoint after each batch; add to ``found`` what there is."""
        due: list[Spot] = []
        async for spot in self.spots(space):
            identity = self._identity(spot.what)
            if spot.is_left_out:
                if identity in known:  # it wasn't restricted before
                    yield Tombstone(id=identity)
                continue
            if identity not in found and known.get(identity) != spot.version:
                due.append(spot)
            found.add(identity)
        if due:
            yield Estimate(documents=len(due))
        # What others may read than before comes first.
        due.sort(key=lambda spot: not is_for_others(known.get(self._identity(spot.what)), spot.version))
        for number, spot in enumerate(due, 1):
            change = await self._read(spot)
            if isinstance(change, Tombstone):
                found.discard(change.id)
            yield change
            if number % _BATCH == 0:
                yield Checkpoint()

    async def spots(self, space: Space) -> AsyncGenerator[Spot, None]:
        """Yield all that there is in a space and is wanted."""
        kinds = self.site.options.kinds
        heads: list[Head] = []
        for kind in ("page", "blogpost"):
            # Also pages that aren't wanted: what stands below them, and files, follow their restrictions.
            async for batch in self.site.heads(space, kind):
                heads += batch
        restrictions = await self.site.restrictions(space) if self.site.options.is_cloud and heads else {}
        self.readers.note(heads, restrictions)
        comments = await self.site.comments(space) if "comments" in kinds and heads else {}
        holders: dict[str, Access] = {}
        for number, head in enumerate(heads):
            if number % _AT_ONCE == 0:
                await asyncio.sleep(0)  # all else that is under way has its turn
            access = await self.readers.of(head)
            if not self._wants(head.kind):
                continue
            holders[head.id] = access
            said = tuple(comments.get(head.id, ()))
            version = page_version(self.site, head, access.readers, said)
            is_left_out = self._leaves_out(access)
            yield Spot(what=head, access=access, version=version, comments=said, is_left_out=is_left_out)
        if "attachments" in kinds and holders:
            async for files in self.site.files(space):
                for file in files:
                    holder = holders.get(file.holder)
                    if holder is not None and self._selection.takes(file.name):
                        version, is_left_out = file_version(self.site, file, holder.readers), self._leaves_out(holder)
                        yield Spot(what=file, access=holder, version=version, is_left_out=is_left_out)

    async def identities(self, space: Space) -> AsyncGenerator[str, None]:
        """Yield the id of all that there is in a space."""
        async for spot in self.spots(space):
            if not spot.is_left_out:
                yield self._identity(spot.what)

    async def confirmed(self, known: Mapping[str, str], found: set[str]) -> AsyncGenerator[Found, None]:
        """Ask for what is known and stands in no list: where pages are counted, one that goes shifts the others.

        What is there all the same is yielded, and added to ``found``; what the account may not see any more isn't.
        """
        missing = set(known) - found
        self.readers = Readers(self.site)  # who may read them now, not when the spaces were listed
        is_sure = len(missing) <= _FEW or len(missing) <= min(_CONFIRMED, len(known) // 3)
        for identity in sorted(missing) if is_sure else ():
            change: Found
            try:
                change = await self._by_id(identity)
            except Refused:
                continue
            except SourceError as error:
                change = await self.mishaps.failure(identity, error)
            if not isinstance(change, Tombstone):
                found.add(identity)
                if isinstance(change, Failure) or change.version != known[identity]:
                    yield change

    async def fetched(self, identity: str) -> Found:
        """Return a document as it is now."""
        try:
            return await self._by_id(identity)
        except SourceError as error:
            return await self.mishaps.failure(identity, error)

    async def _by_id(self, identity: str) -> SourceDocument | Tombstone:
        kind, _, native = self.origin.native_id(identity).partition("/")
        digits = native.removeprefix("att") if kind == "attachment" else native
        gone = Tombstone(id=identity)
        if not (digits.isascii() and digits.isdigit()):
            return gone
        if kind == "attachment":
            return await self._file_by_id(native) or gone
        return (await self._page(kind, native, None) if kind in {"page", "blogpost"} else None) or gone

    async def _read(self, spot: Spot) -> Found:
        """Return what a list told of."""
        identity = self._identity(spot.what)
        try:
            if isinstance(spot.what, File):
                change = await self._file(spot.what, spot.access, spot.version)
            else:
                change = await self._page(spot.what.kind, spot.what.id, spot)
        except SourceError as error:
            return await self.mishaps.failure(identity, error, spot.version, readers=spot.access.readers)
        return change or Tombstone(id=identity)

    async def _page(self, kind: Kind, native: str, spot: Spot | None) -> SourceDocument | None:
        """Return a page, None when it is gone or isn't wanted; ``spot`` is what a list told of it."""
        got = await self.site.read(kind, native)
        if got is None:
            return None
        head, storage = got
        wants_comments = bool(spot.comments) if spot else "comments" in self.site.options.kinds
        comments = await self.site.comments_on(native) if wants_comments else []
        told: Comments = [(one.id, one.version.number if one.version else 0) for one in comments]
        if spot is None:
            self.readers.note([head], {})
            access = await self.readers.of(head)
        else:
            # What was written since the list may be for those alone to whom the page was closed before.
            access = await self.readers.anew(head) if _is_newer(spot, head, told) else spot.access
        is_as_told = spot is not None and access.readers == spot.access.readers
        version = spot.version if spot and is_as_told else page_version(self.site, head, access.readers, told)
        if not self._takes(kind, access):
            return None
        document = await self._writer.page(head, storage, comments, readers=access.readers, version=version)
        self.mishaps.passed()
        return document

    async def _file_by_id(self, native: str) -> SourceDocument | None:
        got = await self.site.file(native)
        if got is None or "attachments" not in self.site.options.kinds or not self._selection.takes(got[0].name):
            return None
        file, kind = got
        holder = await self.site.read(kind, file.holder)
        if holder is None:
            return None
        self.readers.note([holder[0]], {})
        access = await self.readers.of(holder[0])
        if not self._takes(kind, access):
            return None
        return await self._file(file, access, file_version(self.site, file, access.readers))

    async def _file(self, file: File, access: Access, version: str) -> SourceDocument | None:
        limit = self.site.options.limit
        if file.size is not None and file.size > limit:
            raise too_large(file, limit)
        content = await self.site.api.file(self.site.download(file), limit=limit)
        if content is None:
            return None
        self.mishaps.passed()
        return self._writer.file(file, content, readers=access.readers, version=version)

    def _takes(self, kind: Kind, access: Access) -> bool:
        return self._wants(kind) and not self._leaves_out(access)

    def _wants(self, kind: Kind) -> bool:
        return ("pages" if kind == "page" else "blogposts") in self.site.options.kinds

    def _leaves_out(self, access: Access) -> bool:
        return access.is_restricted and self.site.options.restricted == "skip"

    def _identity(self, what: Head | File) -> str:
        kind = "attachment" if isinstance(what, File) else what.kind
        return self.origin.document_id(native_id(kind, what.id))


def _is_newer(spot: Spot, head: Head, comments: Comments) -> bool:
    """Tell whether a page has changed since it was listed, or what is said on it."""
    return isinstance(spot.what, File) or head.number != spot.what.number or set(comments) != set(spot.comments)
