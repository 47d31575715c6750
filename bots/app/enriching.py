"""What a model adds to the chunks of knowledge bases: as a part of a sync, or in the background of everything else."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence

from bots.app.leasing import lease_seconds, leased
from bots.app.options import enrich_options, with_tagged_by
from bots.app.parts import Parts, enrich_identity
from bots.app.unforeseen import in_words
from bots.counting import counted, lacking
from bots.requests import Event
from bots.settings import Settings
from ragcore.enrich.asking import Asker
from ragcore.enrich.coming import Coming
from ragcore.enrich.passing import enrich, estimate, is_wanted
from ragcore.errors import BusyError, CitebotError
from ragcore.reports import EnrichProgress, EnrichReport, SyncProgress, SyncReport
from ragcore.stores.model_results import ModelResults
from ragcore.stores.sources import SourceStates

log = logging.getLogger(__name__)

AGAIN_SECONDS = 600.0
"""Until the next try in the background where the model was away."""


class Enriching:
    """The enrichment of one process: one pass over a knowledge base at a time."""

    def __init__(self, settings: Settings, parts: Parts) -> None:
        """Compose; nothing is begun."""
        self._settings = settings
        self._parts = parts
        self._passing: dict[str, asyncio.Lock] = {}
        self._due: dict[str, None] = {}
        self._woken = asyncio.Event()

    async def now(self, names: Collection[str]) -> AsyncGenerator[Event]:
        """Enrich these knowledge bases, and those tagged by them, telling how far it is and what it came to.

        One with nothing to do is silent.
        """
        async with contextlib.aclosing(self._each(with_tagged_by(self._settings, names))) as events:
            async for event in events:
                yield event

    async def _each(self, names: Collection[str]) -> AsyncGenerator[Event]:
        for name in names:
            async with self._passing.setdefault(name, asyncio.Lock()), contextlib.aclosing(self._pass(name)) as events:
                async for event in events:
                    yield event

    def coming(self, names: Collection[str]) -> dict[str, Coming]:
        """Return by knowledge base, where a model is asked, what is to be told of the documents that a sync brings."""
        wanted = {name: enrich_options(self._settings.all_knowledge_bases[name]) for name in names}
        asker = self._asker()
        if asker is None:
            return {}
        return {name: Coming(self._parts.library, one, asker) for name, one in wanted.items() if is_wanted(one)}

    async def foreseen(
        self, names: Collection[str], reports: Sequence[SyncReport], coming: Mapping[str, Coming]
    ) -> AsyncGenerator[EnrichReport]:
        """Tell about what it would take, with the documents that a sync would bring."""
        for name in with_tagged_by(self._settings, names):
            options = enrich_options(self._settings.all_knowledge_bases[name])
            if not is_wanted(options):
                continue
            asker = self._asker()
            if asker is None:
                if options.needs_model:
                    yield EnrichReport(knowledge_base=name, error=self._no_model(name), dry_run=True)
                continue
            sources = {source.name for source in self._settings.sources if source.knowledge_base == name}
            here = [report for report in reports if report.source in sources]
            # What changes is counted as it comes, and not as it is, however much that lacks.
            leaving = frozenset(one for report in here for one in (*report.changed_ids, *report.deleted_ids))
            yield await estimate(
                self._parts.library,
                name,
                options,
                asker,
                coming=coming.get(name),
                leaving=leaving,
                tag_sets=self._parts.tag_sets,
            )

    def soon(self, names: Collection[str]) -> None:
        """Have these knowledge bases, and those tagged by them, enriched in the background, where ``go_on`` runs."""
        self._due |= dict.fromkeys(with_tagged_by(self._settings, names))
        self._woken.set()

    @contextlib.asynccontextmanager
    async def going_on(self) -> AsyncGenerator[None]:
        """Enrich in the background while the context lasts, beginning with whatever is due from before."""
        self.soon(self._settings.all_knowledge_bases)
        task = asyncio.create_task(self._go_on())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _go_on(self) -> None:
        while True:
            await self._woken.wait()
            self._woken.clear()
            names, self._due = list(self._due), {}
            failed = [name for name in names if not await self._in_background(name)]
            if failed:
                asyncio.get_running_loop().call_later(AGAIN_SECONDS, self.soon, failed)

    async def _in_background(self, name: str) -> bool:
        """Enrich a knowledge base and write to the log what it came to; False where it is to be tried again."""
        try:
            with in_words(f"enrich {name}"):
                async with contextlib.aclosing(self._each([name])) as events:
                    async for event in events:
                        if isinstance(event, EnrichReport):
                            _log(event)
                            if event.error:
                                return self._asker() is None
        except CitebotError as error:
            log.warning("knowledge base %s could not be enriched: %s", name, error)
            return False
        return True

    async def _pass(self, name: str) -> AsyncGenerator[Event]:
        options = enrich_options(self._settings.all_knowledge_bases[name])
        asker = self._asker() if is_wanted(options) else None
        if asker is None and options.needs_model:
            yield EnrichReport(knowledge_base=name, error=self._no_model(name))
            if not options.works_without_model:
                return
        database = self._parts.library.database
        # Sources have no colon in their names.
        lease = leased(SourceStates(database), f"enriching:{name}", lease_seconds(self._settings, database))
        passing = enrich(self._parts.library, name, options, asker, tag_sets=self._parts.tag_sets)
        try:
            async with lease, contextlib.aclosing(passing) as steps:
                async for step in steps:
                    if isinstance(step, EnrichProgress):
                        yield _progress(step)
                    elif step.documents or step.summaries or step.failed or step.without or step.error:
                        yield step
        except BusyError:
            log.info("knowledge base %s: another process enriches it", name)
        await ModelResults(database).prune()

    def _no_model(self, name: str) -> str:
        needing = ", ".join(self._settings.all_knowledge_bases[name].needing_model)
        return f"no model is set up for {needing}: name one under [llm], or leave that out"

    def _asker(self) -> Asker | None:
        """Return what asks the model, with nothing spent yet; None without a model."""
        if self._parts.chat_model is None:
            return None
        return Asker(
            model=self._parts.chat_model,
            identity=enrich_identity(self._settings),
            results=ModelResults(self._parts.library.database),
            prompts=self._parts.prompts,
            tokenizer=self._parts.tokenizer,
            places=self._parts.background,
        )


def _progress(step: EnrichProgress) -> SyncProgress:
    return SyncProgress(
        source=f"enriching {step.knowledge_base}",
        done=step.done,
        total=step.total,
        document_id=counted(step.calls, "call") + " of the model",
        reached=float(step.done),
    )


def _log(report: EnrichReport) -> None:
    if report.documents:
        told = (counted(report.documents, "document"), counted(report.usage.calls, "call"), report.seconds)
        log.info("knowledge base %s: %s enriched with %s of the model, %.1f s", report.knowledge_base, *told)
    if report.summaries:
        told_of = (counted(report.summaries, "overview"), counted(report.usage.calls, "call"))
        log.info("knowledge base %s: %s of documents written, %s of the model in all", report.knowledge_base, *told_of)
    if report.failed:
        some = counted(len(report.failed), "document")
        log.warning(
            "knowledge base %s: %s lack some of it (%s); tried again at the next sync",
            report.knowledge_base,
            some,
            report.failed[0].reason,
        )
    for without in report.without if report.documents or report.summaries else ():
        log.warning("knowledge base %s: %s", report.knowledge_base, lacking(without))
    if report.error:
        log.warning("knowledge base %s could not be enriched: %s", report.knowledge_base, report.error)
