"""Brings stores and indexes in line after a crash or damage.

SQL holds the truth. ``recover`` runs at every start and costs what was under way: it sweeps generations that never
became live or were replaced, lets the keyword index catch up, and finds out which indexes are dead. ``mend`` builds
those anew from SQL, without embedding anything, while questions are answered without them. ``check`` looks thoroughly.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta

from ragcore.chunking import embedding_text
from ragcore.errors import IndexDamaged
from ragcore.library import Library
from ragcore.library.upkeep import KEYWORDS, follow, report_keywords, sweep
from ragcore.stores.health import IndexHealth, IndexState
from ragcore.stores.rows import StoredChunk, digest
from ragcore.stores.vectors import INDEX as VECTORS

ABANDONED = timedelta(hours=6)
"""When another process of a shared database is taken for dead, and its unfinished work swept."""
FORGOTTEN = timedelta(days=30)
"""How long replaced generations are remembered for keyword indexes that follow."""
FOLLOW_AT_START = 2_000
"""Documents that the keyword index may be behind at a start; more than that and it catches up as a mending."""


async def recover(library: Library) -> list[IndexHealth]:
    """Finish or undo what an interrupted process left, and find out what is damaged.

    Returns:
        The indexes that are not well; ``mend`` builds them anew.
    """
    await sweep(library, abandoned_before=datetime.now(UTC) - ABANDONED)
    if not library.database.is_sqlite:
        await library.staging.prune_retired(before=datetime.now(UTC) - FORGOTTEN)
    await library.vectors.drop_strays()
    async with library.writing:  # in between two batches of other processes, if there are such
        for name in await library.registry.knowledge_bases():
            await library.vectors.probe(name)
    await _probe_keywords(library)
    return list(library.health)


async def mend(library: Library) -> AsyncGenerator[IndexHealth, None]:
    """Build anew, from SQL, every index that is damaged or worn; yields how far it is. Embeds nothing.

    An index of another embedder stays as it is: that is for ``reembed``.
    """
    worn = await library.vectors.worn()
    damaged = [health.knowledge_base for health in library.health if health.index == VECTORS and _is_dead(health)]
    for name in dict.fromkeys([*damaged, *worn]):
        async with aclosing(_rebuild_vectors(library, name)) as steps:
            async for health in steps:
                yield health
    if _is_dead(library.health.of(KEYWORDS)):
        async with aclosing(_refill_keywords(library)) as steps:
            async for health in steps:
                yield health


async def check(library: Library) -> list[IndexHealth]:
    """Look at every index thoroughly: all ids against the database, and what a start looks at; notes and returns it."""
    found: list[IndexHealth] = []
    bases = await library.registry.knowledge_bases()
    await sweep(library)
    async with library.writing:  # between two batches: nothing is half written
        for name in bases:
            health = await library.vectors.probe(name)
            if health.state is IndexState.WELL:
                live, every = await library.entries.ids(name), await library.entries.ids(name, live=False)
                reason = _difference(await library.vectors.ids(name), live, every, "texts")
                if reason:
                    library.vectors.report_damage(name, reason)
            found.append(library.health.of(VECTORS, name))
    await _check_keywords(library)
    return [*found, library.health.of(KEYWORDS)]


async def reembed(library: Library, knowledge_base: str) -> AsyncGenerator[IndexHealth, None]:
    """Index a knowledge base with the configured embedder: new vectors in SQL, then a new collection, then the switch.

    Interrupted, it goes on where it stopped: what is embedded stays embedded. Yields how far it is.
    """
    total = await library.registry.live_count(knowledge_base)
    embedder, done, after = library.embedder, 0, ""
    while page := await library.registry.live_page(knowledge_base, after=after):
        texts = {stored.vector_key: embedded_text(stored) for stored in page}
        known = await library.vector_rows.known(embedder.name, list(texts))
        missing = {key: text for key, text in texts.items() if key not in known}
        if missing:
            await library.vector_rows.put(embedder.name, list(missing), await embedder.embed(list(missing.values())))
        done, after = done + len(page), page[-1].chunk.id
        yield IndexHealth(
            index=VECTORS, knowledge_base=knowledge_base, state=IndexState.REBUILDING, done=done, total=total
        )
    async with aclosing(_rebuild_vectors(library, knowledge_base)) as steps:
        async for health in steps:
            yield health


def embedded_text(stored: StoredChunk) -> str:
    """Return the text that a vector's key was made of: with the title, or without, where that is the file's name."""
    chunk = stored.chunk
    bare, titled = (
        embedding_text(title, chunk.heading_path, chunk.text, stored.embedded) for title in ("", chunk.title)
    )
    return bare if digest(bare) == stored.vector_key else titled


def _is_dead(health: IndexHealth) -> bool:
    return health.state in {IndexState.DAMAGED, IndexState.REBUILDING}


async def _rebuild_vectors(library: Library, name: str) -> AsyncGenerator[IndexHealth, None]:
    total = (await library.entries.count(name)).live
    if library.health.of(VECTORS, name).state is not IndexState.WELL:
        library.health.report(IndexHealth(index=VECTORS, knowledge_base=name, state=IndexState.REBUILDING, total=total))
    steps = library.vectors.rebuild(name)
    try:
        while True:
            async with library.writing:
                done = await anext(steps, None)
            if done is None:
                break
            library.health.progress(VECTORS, name, done=done)
            yield IndexHealth(index=VECTORS, knowledge_base=name, state=IndexState.REBUILDING, done=done, total=total)
    finally:
        await steps.aclose()
        if library.health.of(VECTORS, name).state is IndexState.REBUILDING:  # it did not come to its end
            library.health.report(
                IndexHealth(index=VECTORS, knowledge_base=name, state=IndexState.DAMAGED, reason="not yet rebuilt")
            )
    yield library.health.of(VECTORS, name)


async def _refill_keywords(library: Library) -> AsyncGenerator[IndexHealth, None]:
    """Clear the keyword index and let it follow from the first revision on."""
    counts = await library.registry.counts_by_knowledge_base()
    report_keywords(library, IndexState.REBUILDING, total=sum(count.chunks for count in counts.values()))
    yield library.health.of(KEYWORDS)
    try:
        async with library.following, library.writing:
            await library.keywords.clear()
        await follow(library)
        report_keywords(library, IndexState.WELL)
    finally:
        if library.health.of(KEYWORDS).state is IndexState.REBUILDING:
            report_keywords(library, IndexState.DAMAGED, "not yet refilled")
    yield library.health.of(KEYWORDS)


async def _probe_keywords(library: Library) -> None:
    """Let the keyword index catch up if it is a little behind; note it as damaged if it lacks more, or differs."""
    try:
        behind = await library.registry.changed_since(await library.keywords.revision(), limit=FOLLOW_AT_START)
        if len(behind) >= FOLLOW_AT_START:
            report_keywords(library, IndexState.DAMAGED, "it is far behind the database")
            return
        await follow(library)
        counts = await library.registry.counts_by_knowledge_base()
        expected = sum(count.chunks for count in counts.values())
        found = await library.keywords.count()
    except IndexDamaged as error:
        report_keywords(library, IndexState.DAMAGED, str(error))
        return
    if found == expected:
        report_keywords(library, IndexState.WELL)
    else:
        report_keywords(library, IndexState.DAMAGED, f"it holds {found} chunks and should hold {expected}")


async def _check_keywords(library: Library) -> None:
    """Let the keyword index catch up, and compare all its ids with the database's."""
    try:
        await follow(library)
        async with library.following, library.writing:
            live, every = await library.registry.ids(), await library.registry.ids(live=False)
            reason = _difference(await library.keywords.ids(), live, every, "chunks")
    except IndexDamaged as error:
        reason = str(error)
    report_keywords(library, IndexState.DAMAGED if reason else IndexState.WELL, reason)


def _difference(found: set[str], live: set[str], every: set[str], what: str) -> str:
    """Say what an index lacks of what is live, and has beyond what there is; what waits to be swept may be there."""
    missing, surplus = len(live - found), len(found - every)
    return f"{missing} {what} are missing and {surplus} are left over" if missing or surplus else ""
