"""Every operation, written once: commands use it in-process, other terminals over the socket, platforms as it is."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from bots.access import Audience, readable
from bots.app.diagnosing import diagnose
from bots.app.enriching import Enriching
from bots.app.explaining import Traces, explain
from bots.app.hints import with_hints
from bots.app.keeping import Keeping
from bots.app.named import check_named
from bots.app.options import answer_options, drawn_fields, filters_of, homes, retrieval_options
from bots.app.parts import Parts, client_of, refiner_of
from bots.app.people import of_people
from bots.app.remembering import recall_history, recall_one, remember
from bots.app.researching import researched, researcher_of
from bots.app.showing import show
from bots.app.side_by_side import Room
from bots.app.standing import source_states, with_ages
from bots.app.summarising import summarised
from bots.app.syncing import Doubts, refresh_documents, run_sources
from bots.app.unforeseen import in_words
from bots.app.unknown_fields import with_unknown_fields
from bots.app.warming import warm
from bots.app.web import web_options
from bots.requests import (
    Ask,
    AtOnce,
    BackedUp,
    Backup,
    Decide,
    Describe,
    Described,
    Diagnose,
    DropReply,
    Event,
    Explained,
    Forget,
    Forgotten,
    Found,
    ListFeedback,
    ListPeople,
    ListSources,
    Recall,
    Request,
    Search,
    Show,
    SourceState,
    Summarise,
    Sync,
    Why,
)
from bots.settings import Settings
from bots.turn.claims import Claims
from bots.turn.feedback import listed
from ragcore.answer import Answerer, Searcher
from ragcore.errors import CitebotError, ConfigError
from ragcore.images import describe
from ragcore.library.backup import backup
from ragcore.library.recovery import mend
from ragcore.library.upkeep import keep_following
from ragcore.phrases import phrase
from ragcore.reports import SyncReport
from ragcore.retrieval.by_contents import ContentsRetriever
from ragcore.retrieval.by_graph import GraphRetriever
from ragcore.retrieval.drawn_filter import FilteringRetriever
from ragcore.retrieval.retriever import Retrieving
from ragcore.retrieval.summaries import MOST_SHOWN, opened
from ragcore.stores.database import Database
from ragcore.trace import Recorder, recorded
from ragcore.types import Answer, AnswerEvent, Question
from ragcore.web.retriever import WebRetriever

PATIENCE = 5.0
"""Seconds that a start waits for the mending of damaged indexes."""

log = logging.getLogger(__name__)


class Operations:
    """Answers requests from the open parts; safe to use from many tasks of one loop."""

    def __init__(self, settings: Settings, parts: Parts) -> None:
        self._settings = settings
        self._parts = parts
        self._room = Room(settings.sync.at_once)
        self._doubts = Doubts()
        self._refiner = refiner_of(settings, parts)
        self._traces = Traces()
        self._keeping = Keeping(settings, parts)
        self.enriching = Enriching(settings, parts)
        self._mending: asyncio.Task[None] | None = None
        self._warming: asyncio.Task[None] | None = None
        self._following: asyncio.Task[None] | None = None

    @property
    def database(self) -> Database:
        """Return the one database."""
        return self._parts.library.database

    async def start(self, patience: float = PATIENCE) -> None:
        """Mend damaged indexes, waiting a little: a small index is whole again before the first question."""
        await self._keeping.expire()
        self._mending = asyncio.create_task(self._mend())
        self._following = asyncio.create_task(keep_following(self._parts.library))
        await asyncio.wait({self._mending}, timeout=patience)

    async def warm(self) -> None:
        """Load in the background what the first question needs."""
        if (client := client_of(self._parts.chat_model)) is not None:
            # What there is to say of the model's window is said now, not into what somebody types.
            await asyncio.to_thread(getattr, client, "context_window")
        self._warming = asyncio.create_task(warm(self._settings, self._parts))

    async def close(self, leaving: float | None = None) -> None:
        """Let a mending under way come to its end: the next command would only begin it again.

        After ``leaving`` seconds it is broken off all the same, which loses nothing else.
        """
        self._traces.close()
        for task in filter(None, (self._warming, self._following)):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        if self._mending is not None:
            if leaving is not None:
                await asyncio.wait({self._mending}, timeout=leaving)
                self._mending.cancel()
            elif not self._mending.done():
                log.warning("an index is still being built anew; leaving when that is done (Ctrl-C leaves at once)")
            with contextlib.suppress(asyncio.CancelledError):
                await self._mending

    async def refresh(self, source: str, ids: Sequence[str]) -> SyncReport | None:
        """Sync some documents of a source out of turn; see ``bots.app.syncing.refresh_documents``."""
        with in_words("refresh"):
            report = await refresh_documents(self._settings, self._parts.library, self._room, source, ids)
        self.enriching.soon([one.knowledge_base for one in self._settings.sources if one.name == source])
        return report

    async def _mend(self) -> None:
        try:
            async with contextlib.aclosing(mend(self._parts.library)) as steps:
                async for _ in steps:
                    pass
        except CitebotError as error:
            log.warning("an index could not be built anew: %s; `citebot doctor` tells more", error)

    async def run(self, request: Request) -> AsyncIterator[Event]:
        """Yield the events of a request; raise CitebotError, also for what nobody foresaw: the log has that."""
        with in_words(type(request).__name__):
            async with contextlib.aclosing(self._events(request)) as events:
                async for event in events:
                    yield event

    async def _events(self, request: Request) -> AsyncGenerator[Event]:
        stream: AsyncGenerator[Event]
        match request:
            case Ask():
                recorder = Recorder()
                stream = recorded(self._ask(request, recorder), recorder)
            case Summarise():
                stream = summarised(self._settings, self._parts, request)
            case Sync():
                stream = self._sync(request)
            case Show():
                stream = show(self._settings, self._parts.library, request, self._allowed(request.audience))
            case Diagnose():
                stream = diagnose(self._settings, self._parts, repair=request.repair)
            case _:
                for event in await self._at_once(request):
                    yield event
                return
        async with contextlib.aclosing(stream) as events:
            async for told in events:
                yield told

    async def _at_once(self, request: AtOnce) -> Sequence[Event]:  # noqa: PLR0911 (one return a kind of request)
        """Return all events of a request whose work is no progress to tell of."""
        match request:
            case Search():
                return [await self._search(request)]
            case Decide():
                self._doubts.decide(request.doubt, agreed=request.agreed)
                return []
            case ListSources():
                return await self._sources(request.audience)
            case ListFeedback():
                return await listed(self._parts.library.database)
            case Forget():
                self._traces.forget(request.conversation, request.reference)
                await self._keeping.forget(request.conversation, request.reference)
                forgotten = await self._parts.history.forget(request.conversation, reference=request.reference)
                if not request.reference:
                    await Claims(self._parts.library.database).forget(request.conversation)
                return [Forgotten(turns=forgotten)]
            case Recall():
                recalled = await recall_one(self._settings, self._parts, request)
                return [recalled] if recalled else []
            case Why():
                bases = self._readable(request.knowledge_bases, request.audience)
                explained = await explain(self._settings, self._parts, self._traces, request, bases)
                return [explained] if explained else []
            case Describe():
                return [await self._describe(request)]
            case Backup():
                return [await self._backup(Path(request.path))]
            case ListPeople() | DropReply():
                return await of_people(self._parts.library, request)

    async def _ask(self, request: Ask, recorder: Recorder) -> AsyncGenerator[AnswerEvent | Explained]:
        names = self._readable(request.knowledge_bases, request.audience)
        await check_named(self._parts.library.registry, request.document_ids, request.audience, self._allowed)
        history = await recall_history(self._settings, self._parts, request, names)
        question = Question(
            text=request.question,
            knowledge_bases=names,
            readers=request.audience,
            history=(*history, *request.thread, *request.attached),
            document_ids=request.document_ids,
            filters=filters_of(self._settings, names, request.filter),
            beside="\n".join(message.text for message in request.attached),
            typed_by=request.typed_by,
        )
        begin = partial(self._answering, request, question, names)
        async with contextlib.aclosing(self._keeping.answered(begin, question, request, recorder)) as events:
            async for event in events:
                if not isinstance(event, Answer):
                    yield event
                    continue
                trace = recorder.trace(
                    event,
                    knowledge_bases=names,
                    readers=request.audience,
                    rests_on=frozenset[str]().union(*(message.rests_on for message in history)),
                )
                if self._settings.answer.history_days > 0:
                    self._traces.keep(request, trace)
                if request.why:
                    yield Explained(reference=request.reference, trace=trace)
                await remember(self._settings, self._parts, request, event, history)
                aged = await with_ages(self._settings, self._parts.library, event)
                notes = await self._noted(aged.notes, question)
                aged = replace(aged, notes=notes)
                yield await with_hints(self._settings, self._parts.library.registry, aged, request, names)

    def _answering(self, request: Ask, question: Question, names: tuple[str, ...]) -> AsyncGenerator[AnswerEvent]:
        searcher = self._searcher(names)
        if request.research:
            # A question to certain documents is not the web's.
            web = request.web and not request.document_ids
            researcher = researcher_of(self._settings, self._parts, names, searcher, web=web, refiner=self._refiner)
            return researched(researcher, question, request.reference, self.database)
        return Answerer(
            retriever=self._with_web(searcher, request),
            embedder=self._parts.embedder,
            tokenizer=self._parts.tokenizer,
            chat_model=self._parts.chat_model,
            options=answer_options(self._settings, names),
            refiner=self._refiner,
        ).answer(question)

    async def _sync(self, request: Sync) -> AsyncGenerator[Event]:
        reports = []
        bases = [source.knowledge_base for source in self._settings.sources if source.name in request.sources]
        names = dict.fromkeys(bases) if request.sources else dict.fromkeys(self._settings.all_knowledge_bases)
        coming = self.enriching.coming(names) if request.enrich and request.dry_run else {}
        runs = run_sources(self._settings, self._parts.library, request, self._doubts, self._room, coming)
        async with contextlib.aclosing(runs) as events:
            async for event in events:
                if isinstance(event, SyncReport):
                    reports.append(event)
                yield event
        if not request.enrich:
            self.enriching.soon(names)
            return
        steps = self.enriching.foreseen(names, reports, coming) if request.dry_run else self.enriching.now(names)
        async with contextlib.aclosing(steps) as told:
            async for step in told:
                yield step

    def _with_web(self, searcher: Retrieving, request: Ask) -> Searcher:
        """Return what searches the web beside the documents too, where that is set up and may be for this question."""
        web, settings = self._parts.web, self._settings.web
        if web is None or settings is None or not request.web:
            return searcher
        return WebRetriever(searcher, web, web_options(settings))

    def _searcher(self, names: Sequence[str]) -> Retrieving:
        """Return what searches these knowledge bases: by contents and graph, and by a filter from the question first.

        Each where the settings ask for it; what the filter leaves out, neither contents nor graph bring in.
        """
        parts, answer, fields = self._parts, self._settings.answer, drawn_fields(self._settings, names)
        searcher: Retrieving = parts.retriever
        if answer.toc_enhance:
            searcher = ContentsRetriever(
                searcher,
                registry=parts.library.registry,
                values=parts.retriever.values,
                model=parts.chat_model,
                prompts=parts.prompts,
                tokenizer=parts.tokenizer,
                seconds=answer.toc_seconds,
                homes=homes(self._settings),
            )
        if answer.use_kg:
            searcher = GraphRetriever(
                searcher,
                registry=parts.library.registry,
                values=parts.retriever.values,
                tokenizer=parts.tokenizer,
                homes=homes(self._settings),
            )
        if parts.chat_model is None or not fields:
            return searcher
        return FilteringRetriever(
            searcher,
            registry=parts.library.registry,
            values=parts.retriever.values,
            model=parts.chat_model,
            tokenizer=parts.tokenizer,
            fields=fields,
            seconds=answer.filter_seconds,
            prompts=parts.prompts,
            homes=homes(self._settings),
        )

    async def _describe(self, request: Describe) -> Described:
        model = self._parts.vision_model
        if model is None:
            raise ConfigError("no model reads pictures: name one as vision_model under [llm]")
        text, usage = await describe(
            model, request.image, request.question, self._parts.tokenizer, prompts=self._parts.prompts
        )
        return Described(text=text, usage=usage)

    async def _search(self, request: Search) -> Found:
        names = self._readable(request.knowledge_bases, request.audience)
        await check_named(self._parts.library.registry, request.document_ids, request.audience, self._allowed)
        # Whoever searches wants to see what there is, and its score: the gate is for answers.
        retriever = self._parts.retriever.with_options(
            replace(
                retrieval_options(self._settings), top_n=request.limit, similarity_threshold=0.0, rerank_threshold=0.0
            )
        )
        if self._settings.rerank is not None and self._settings.rerank.provider == "llm":
            # A search costs nothing and waits for no model: that one is for answers.
            retriever = retriever.without_reranker()
        question = Question(
            text=request.query,
            knowledge_bases=names,
            readers=request.audience,
            document_ids=request.document_ids,
            filters=filters_of(self._settings, names, request.filter),
        )
        found = await retriever.retrieve(question)
        shown = opened(found.chunks, MOST_SHOWN)[: request.limit]
        notes = [phrase(note, self._settings.answer.language or "en") for note in found.notes]
        return Found(
            chunks=tuple(scored for scored in shown if scored.score > 0.0), notes=await self._noted(notes, question)
        )

    async def _noted(self, notes: Sequence[str], question: Question) -> tuple[str, ...]:
        """Return what is told beside an answer or a search, with the field of the filter that there is none of."""
        library, found = self._parts.library, homes(self._settings)
        return await with_unknown_fields(library, notes, question.filters, question.readers, found)

    async def _sources(self, audience: Audience) -> list[SourceState]:
        names = self._allowed(audience)
        states = await source_states(self._settings, self._parts.library, audience)
        return [state for state in states if audience is None or state.knowledge_base in names]

    async def _backup(self, path: Path) -> BackedUp:
        manifest = await backup(self._parts.library.database, path)
        size = (await asyncio.to_thread(path.stat)).st_size
        return BackedUp(path=str(path), size=size, documents=manifest.documents, chunks=manifest.chunks)

    def _readable(self, wanted: Sequence[str], audience: Audience) -> tuple[str, ...]:
        """Return the knowledge bases to search, of those that may be read: those named, or all but tag sets."""
        bases = self._settings.all_knowledge_bases
        unknown = [name for name in wanted if name not in bases]
        if unknown:
            raise ConfigError(f"there is no knowledge base {unknown[0]!r} (there is: {', '.join(bases) or 'none'})")
        allowed = self._allowed(audience)
        asked = wanted or [name for name in allowed if name not in self._settings.tag_sets]
        return tuple(name for name in allowed if name in asked)

    def _allowed(self, audience: Audience) -> tuple[str, ...]:
        """Return all knowledge bases that the audience may read."""
        bases = self._settings.all_knowledge_bases
        return readable({name: base.readers for name, base in bases.items()}, audience)
