"""The doctor's look at what is open: database, indexes, embedder, model, sources."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from bots.app.options import enrich_options, retrieval_options
from bots.app.parts import Parts
from bots.counting import counted, lacking, mends
from bots.doctor import check_embedder, check_model, check_reranker, check_vision_model, check_web
from bots.requests import Check
from bots.settings import Settings, SourceSettings
from connectors.base import Origin
from connectors.registry import connect
from ragcore.enrich.passing import is_wanted
from ragcore.enrich.without import undone
from ragcore.errors import CitebotError, StoreError
from ragcore.library import Library
from ragcore.library.recovery import check, mend
from ragcore.stores.health import IndexHealth, IndexState
from ragcore.stores.sources import SourceStates

_SOURCE_SECONDS = 30.0
_ANOTHER = "name another model under [llm] or [llm.tasks.enrich], or switch that setting off"
_AGAIN = "run `citebot sync`: it is asked for again"
_MUCH = 256 * 1024**2
"""Bytes of vectors that no document uses from which on they are told of: 160,000 of the embedded model."""


async def diagnose(settings: Settings, parts: Parts, *, repair: bool) -> AsyncGenerator[Check]:
    """Yield what is found, repairing indexes first when asked to."""
    yield await _check_database(parts.library)
    async for found in _check_unused(parts.library):
        yield found
    async for found in _check_indexes(parts.library, repair=repair):
        yield found
    yield await check_embedder(parts.embedder)
    yield await check_model(parts.chat_model)
    if parts.vision_model is not None:
        yield await check_vision_model(parts.vision_model)
    if parts.reranker is not None:
        yield await check_reranker(parts.reranker, retrieval_options(settings).rerank_seconds)
    if parts.web is not None:
        yield await check_web(parts.web.search, settings)
    if parts.chat_model is not None:
        async for found in _check_enriched(settings, parts.library):
            yield found
    for source in settings.sources:
        yield await _check_source(settings, source, parts.library)


async def _check_enriched(settings: Settings, library: Library) -> AsyncGenerator[Check]:
    """Tell what models were asked for and is lacking, by setting, and why; nothing where that is none."""
    for name, base in settings.all_knowledge_bases.items():
        options = enrich_options(base)
        if not is_wanted(options):
            continue
        found = await undone(library, name, options)
        for one in found.without:
            usual = _AGAIN if one.again else _ANOTHER
            mend_it = f"{known}, or switch that setting off" if (known := mends(one)) else usual
            yield Check(name=f"enrichment of {name}", state="warn", found=lacking(one), mend=mend_it)
        if found.ended:
            told = f"the last pass ended early: {found.ended}"
            yield Check(name=f"enrichment of {name}", state="warn", found=told, mend=_AGAIN)


async def _check_database(library: Library) -> Check:
    try:
        counts = (await library.registry.counts_by_knowledge_base()).values()
    except StoreError as error:
        return Check(name="database", state="fail", found=str(error), mend="restore a backup with `citebot restore`")
    documents, chunks = sum(c.documents for c in counts), sum(c.chunks for c in counts)
    if not documents:
        mend_it = "run `citebot sync`"
        return Check(name="database", state="warn", found="it is well, and holds no document yet", mend=mend_it)
    return Check(name="database", state="ok", found=f"{counted(documents, 'document')} in {counted(chunks, 'chunk')}")


async def _check_unused(library: Library) -> AsyncGenerator[Check]:
    """Tell how much room unused vectors take, if it is much."""
    try:
        unused = await library.vector_rows.unused()
    except StoreError:
        return  # the database's own check has said so
    if unused.bytes >= _MUCH:
        size = f"{unused.bytes / 1024**2:,.0f} MB of disk or more"
        found = (
            f"{counted(unused.count, 'vector')} that no document uses take {size}; kept, so nothing is embedded twice"
        )
        yield Check(name="unused vectors", state="ok", found=found)


async def _check_indexes(library: Library, *, repair: bool) -> AsyncGenerator[Check]:
    found = await check(library)
    if repair and any(_is_ill(health) for health in found):
        async with aclosing(mend(library)) as steps:
            async for _ in steps:
                pass
        before = {_name(health): health for health in found}
        for health in await check(library):
            was = before.get(_name(health), health)
            yield _check_of(health, mended=_is_ill(was) and not _is_ill(health))
        return
    for health in found:
        yield _check_of(health, mended=False)


def _is_ill(health: IndexHealth) -> bool:
    return health.state is not IndexState.WELL


def _name(health: IndexHealth) -> str:
    return f"{health.index} of {health.knowledge_base}" if health.knowledge_base else health.index


def _check_of(health: IndexHealth, *, mended: bool) -> Check:
    name = f"index: {_name(health)}"
    match health.state:
        case IndexState.WELL:
            found = "it was damaged, and has been built anew" if mended else "every chunk is there, none is left over"
            return Check(name=name, state="ok", found=found)
        case IndexState.MISMATCHED:
            found = health.reason or "its vectors are of another embedder"
            return Check(name=name, state="fail", found=found, mend="run `citebot sync --full`")
        case IndexState.REBUILDING:
            found = f"it is being built anew ({health.done} of {health.total} chunks)"
            return Check(name=name, state="warn", found=found, mend="wait a minute; answers go without it meanwhile")
        case IndexState.DAMAGED:
            found = f"it is damaged: {health.reason}" if health.reason else "it is damaged"
            return Check(name=name, state="fail", found=found, mend="run `citebot doctor --repair`; nothing is lost")


async def _check_source(settings: Settings, source: SourceSettings, library: Library) -> Check:
    """Tell whether a source can be listed, by its first document, and how its last run ended."""
    name = f"source {source.name}"
    try:
        connector = connect(source.type, Origin(source=source.name, folder=settings.folder), source.options)
        async with asyncio.timeout(_SOURCE_SECONDS):
            listing = connector.list_ids()
            first = await anext(aiter(listing), None) if listing is not None else ""
    except (CitebotError, TimeoutError) as error:
        found = str(error) or f"it did not answer within {_SOURCE_SECONDS:.0f} s"
        mend_it = f'mend the [[sources]] table of "{source.name}", or make the place reachable'
        return Check(name=name, state="fail", found=found, mend=mend_it)
    if first is None:
        return Check(name=name, state="warn", found="it holds no document", mend="check its path and its patterns")
    state = await SourceStates(library.database).get(source.name)
    if state.last_success_at is None:
        return Check(name=name, state="warn", found="reachable, never synced", mend=f"run `citebot sync {source.name}`")
    if state.last_error:
        mend_it = f"run `citebot sync {source.name}` to see each reason"
        return Check(name=name, state="warn", found=f"its last run: {state.last_error}", mend=mend_it)
    return Check(name=name, state="ok", found=f"reachable, last synced {state.last_success_at:%Y-%m-%d %H:%M} UTC")
