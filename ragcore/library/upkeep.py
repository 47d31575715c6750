"""What keeps the indexes in line with the database while everything is well: sweeping, and following its revisions."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from contextlib import aclosing, nullcontext
from datetime import datetime
from typing import TypeVar

from ragcore.errors import IndexDamaged, StoreError
from ragcore.library import Library
from ragcore.stores.health import IndexHealth, IndexState
from ragcore.stores.indexes import KeywordReader, KeywordSearch
from ragcore.stores.staging import Staged
from ragcore.stores.waiting import uninterrupted
from ragcore.types import Chunk

KEYWORDS = "keywords"
"""What the keyword index is called in the library's health."""
STEP = 200
"""Documents of one step when the keyword index catches up."""
FOLLOW_SECONDS = 5.0
"""How often a process that shares its database looks for what others have switched."""

T = TypeVar("T")
log = logging.getLogger(__name__)


async def sweep(library: Library, *, abandoned_before: datetime | None = None) -> int:
    """Remove from indexes and rows every generation that is not live.

    Args:
        library: the stores.
        abandoned_before: sweep also what other processes of a shared database began before this time.

    Returns:
        How many generations were swept.
    """
    return await uninterrupted(_sweep(library, abandoned_before))


async def _sweep(library: Library, abandoned_before: datetime | None) -> int:
    async with library.writing:
        garbage = await library.staging.garbage(abandoned_before=abandoned_before)
        if garbage:
            dead = await remove_vectors(library, garbage)
            await write_keywords(library, remove=garbage)
            await library.staging.forget(garbage, dead=dead)
    return len(garbage)


async def remove_vectors(library: Library, garbage: Sequence[Staged]) -> dict[str, int]:
    """Remove the entries that only these generations use; the write lock is held, and their rows are still there.

    Returns:
        How many entries went, by knowledge base.
    """
    by_base: dict[str, list[str]] = defaultdict(list)
    for note in garbage:
        by_base[note.knowledge_base].append(note.generation)
    gone: dict[str, int] = {}
    for name, generations in by_base.items():
        gone[name] = 0
        async with aclosing(library.entries.orphans(name, generations)) as pages:
            async for orphans in pages:
                await library.vectors.delete(name, orphans)
                gone[name] += len(orphans)
    return gone


async def write_keywords(library: Library, *, add: Sequence[Chunk] = (), remove: Sequence[Staged] = ()) -> None:
    """Add and remove chunks in the keyword index in one commit; the write lock is held.

    The index's revision moves along where this process is the only writer and the index lacks nothing before it. It
    is the revision before the added chunks become live, so a crash makes the next start look at them again.
    A damaged index is noted and passed over: SQL has everything.
    """
    well = library.health.of(KEYWORDS).state is IndexState.WELL
    sole = library.database.is_sqlite
    revision = await library.registry.revision() if well and sole else None
    try:
        await library.keywords.write(
            add=add, remove_generations=[note.generation for note in remove], revision=revision
        )
    except IndexDamaged as error:
        report_keywords(library, IndexState.DAMAGED, str(error))


async def settle(library: Library) -> None:
    """Let the keyword index know the last switch, so that the next start has nothing to look at."""
    if library.database.is_sqlite and library.health.of(KEYWORDS).state is IndexState.WELL:
        await uninterrupted(_settle(library))


async def _settle(library: Library) -> None:
    async with library.writing:
        try:
            behind = await library.keywords.revision() < await library.registry.revision()
        except IndexDamaged as error:
            report_keywords(library, IndexState.DAMAGED, str(error))
            return
        if behind:
            await write_keywords(library)


async def follow(library: Library) -> int:
    """Let the keyword index catch up with the database, a step at a time; returns how many documents it took.

    At a start, for what a crash left behind; in a process that shares its database with others, whenever it asks.

    Raises:
        IndexDamaged: the index is dead, or ahead of a database that was set back.
    """
    taken = 0
    while step := await uninterrupted(_follow_step(library)):
        taken += step
    return taken


async def _follow_step(library: Library) -> int:
    # With a database of its own, a process also keeps its batches out. Others' batches need not be waited for: what
    # they switch in the middle of a step has a later revision, so the next step looks at it again.
    async with library.following, library.writing if library.database.is_sqlite else nullcontext():
        at = await library.keywords.revision()
        newest = await library.registry.revision()
        if at > newest:
            raise IndexDamaged(f"the keyword index is at revision {at}, the database at {newest}: it was set back")
        if at == newest:
            return 0
        changed = await library.registry.changed_since(at, limit=STEP)
        gone: Collection[str] = [] if library.database.is_sqlite else await library.registry.retired_since(at)
        upto = changed[-1].revision if len(changed) >= STEP else newest
        live = [document.id for document in changed if not document.deleted]
        await library.keywords.write(
            add=await library.registry.chunks_of(live), remove_generations=list(gone), revision=upto
        )
        return max(1, len(changed))


class FollowedKeywords:
    """The KeywordIndex of a process that shares its database with others: it catches up before it is read."""

    def __init__(self, library: Library) -> None:
        """Read the keyword index of a library."""
        self._library = library

    async def read(self, work: Callable[[KeywordReader], T]) -> T:
        """Run ``work`` in a snapshot that holds what others had switched before."""
        await catch_up(self._library)
        return await self._library.keywords.read(work)


def followed(library: Library) -> KeywordSearch:
    """Return the keyword index that questions are to be asked of."""
    return library.keywords if library.database.is_sqlite else FollowedKeywords(library)


async def catch_up(library: Library) -> None:
    """Let the keyword index follow the database unless it is damaged; what goes wrong is noted, and the index used."""
    if library.health.of(KEYWORDS).state is not IndexState.WELL:
        return
    try:
        if await library.keywords.revision() < await library.registry.revision():
            await follow(library)
    except IndexDamaged as error:
        report_keywords(library, IndexState.DAMAGED, str(error))


async def keep_following(library: Library) -> None:
    """Catch up again and again until cancelled, so that questions find little to catch up with."""
    while not library.database.is_sqlite:
        try:
            await catch_up(library)
        except StoreError as error:
            log.warning("the keyword index could not follow the database: %s", error)
        await asyncio.sleep(FOLLOW_SECONDS)


def report_keywords(library: Library, state: IndexState, reason: str = "", *, total: int = 0) -> None:
    """Note the state of the keyword index."""
    library.health.report(IndexHealth(index=KEYWORDS, state=state, reason=reason, total=total))
