"""A question that needs several searches: planned, searched in rounds, and answered from all that was read."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace

from ragcore.answer import Answerer, AnswerOptions, Searcher
from ragcore.answer.small_talk import is_signs_alone, small_talk_language
from ragcore.answer.stages import Stages
from ragcore.citations.languages import asked_in
from ragcore.models.embeddings import Embedder
from ragcore.models.llm import CallingModel, ChatModel
from ragcore.models.once import OnceEmbedder
from ragcore.phrases import phrase
from ragcore.refine.refining import Refiner
from ragcore.research.asking import Asker
from ragcore.research.branches import Branches, WebSearch
from ragcore.research.directing import Director, Planner
from ragcore.research.findings import Noting
from ragcore.research.gathered import Gathered
from ragcore.research.keeping import NotKept, Reading, StepStore, resumed
from ragcore.research.memory import readable
from ragcore.research.meter import Meter
from ragcore.research.queries import distinct
from ragcore.research.report import Handed, Material, material, remarks, unanswered
from ragcore.research.rounds import Keeping, Rounds
from ragcore.research.sentences import sentence
from ragcore.research.tools.calls import Tool
from ragcore.research.tools.choosing import ToolUser
from ragcore.research.tools.documents import Documents
from ragcore.research.values import Limits
from ragcore.research.wording import Wordings
from ragcore.tokens import Tokenizer
from ragcore.types import Answer, AnswerEvent, Question, ScoredChunk

log = logging.getLogger(__name__)


class Researcher:
    """Researches questions; safe to share between conversations."""

    def __init__(
        self,
        *,
        searcher: Searcher,
        embedder: Embedder | None,
        tokenizer: Tokenizer,
        chat_model: ChatModel | None = None,
        options: AnswerOptions = AnswerOptions(),  # noqa: B008  (frozen)
        limits: Limits = Limits(),  # noqa: B008  (frozen)
        web: WebSearch | None = None,
        reading: Reading | None = None,
        store: StepStore | None = None,
        documents: Documents | None = None,
        refiner: Refiner | None = None,
        reply_tokens: int | None = None,
        calling: CallingModel | None = None,
        in_words: bool = True,
    ) -> None:
        """Compose.

        Args:
            searcher: Searches the documents, for each sub-question as for any question: with its readers.
            embedder: As for the answerer.
            tokenizer: Counts prompts.
            chat_model: Plans, notes, judges and writes; without one the question's own parts are searched for, and the
                answer quotes the documents.
            options: How answers are written.
            limits: What one research may take.
            web: Is searched besides. Only what was planned before a document was read is sent there.
            reading: Reads chunks again before the answer is written, which may be minutes after they were found, and
                when a research is gone on with.
            store: Keeps the steps of a research that has an id; needs ``reading``.
            documents: Gives out documents to a model that chooses its tools itself. None: it plans and judges.
            refiner: Tells whether a question leans on the conversation, or is to be searched in other languages, too.
            reply_tokens: What a reply to a step may take at most. Default: what every reply of the model may.
            calling: The chat model, where it is to choose its tools by its endpoint's own function calling.
            in_words: Where the endpoint has none, tools are asked for as JSON in the reply; False: then it plans and
                judges.
        """
        self._searcher = searcher
        self._embedder = embedder
        self._tokenizer = tokenizer
        self._model = chat_model
        self._options = options
        self._limits = limits
        self._web = web
        self._reading = reading
        self._store = store
        self._reply_tokens = reply_tokens
        self._calling = calling
        self._in_words = in_words
        self._refiner = refiner
        self._documents = documents if chat_model is not None else None

    async def research(self, question: Question, *, id: str = "") -> AsyncGenerator[AnswerEvent]:
        """Yield Progress, Status and Delta as the work goes on, and end in exactly one Answer.

        Where this is closed or cancelled, nothing of it goes on.

        Args:
            question: What is asked, by whom, and where to look.
            id: Names the research: broken off, it is gone on with from its last step when it is asked for with the same
                id and the same question. "": its steps are not kept.

        Raises:
            StoreError: The documents could not be searched, or what was kept not be read.
            ConfigError: A template of the operator's cannot be used.
        """
        is_talk = small_talk_language(question.text) or is_signs_alone(question.text)
        if is_talk or not question.text.strip() or not question.knowledge_bases:
            async with aclosing(self._plainly(question)) as events:
                async for event in events:
                    yield event
            return
        stages = Stages()
        meter = Meter(self._limits)
        keeping: Keeping = NotKept()
        if id and self._store is not None and self._reading is not None:
            keeping = await resumed(self._store, self._reading, id, question, meter)
        gathered = Gathered()
        # Its searches find the same passages again and again, and the answer is written from them.
        embedder = OnceEmbedder(self._embedder) if self._embedder is not None else None
        with stages.stage("research"):
            async with aclosing(self._rounds(question, meter, keeping, embedder).run(question)) as steps:
                async for step in steps:
                    if isinstance(step, Gathered):
                        gathered = step
                    else:
                        yield step
            await self._read_again(question, gathered)
        async with aclosing(self._written(question, gathered, meter, embedder)) as events:
            async for event in events:
                if isinstance(event, Answer):
                    times = {**event.timings_ms, **stages.milliseconds()}
                    event = replace(event, timings_ms=times)  # noqa: PLW2901
                yield event

    def _rounds(self, question: Question, meter: Meter, keeping: Keeping, embedder: Embedder | None) -> Rounds:
        prompts, calling = self._options.prompts, self._calling
        asker = Asker(self._model, self._tokenizer, meter, prompts, self._reply_tokens, calling)
        documents = self._documents
        template = "research_finding" if documents is None else "tool_call_summary"
        noting = Noting(question.text, asker, embedder, self._options.known_languages, template=template)
        director: Director = Planner(asker)
        if documents is not None:
            # Which documents meet a filter is for a search to tell.
            of_documents = () if any(question.filters.values()) else (Tool.READ, Tool.LIST)
            tools = (Tool.SEARCH, *of_documents, *((Tool.WEB,) if self._web else ()))
            director = ToolUser(asker, noting, tools, in_words=self._in_words)
        branches = Branches(
            searcher=self._searcher,
            noting=noting,
            meter=meter,
            wordings=Wordings(asker, self._refiner),
            web=self._web,
            documents=documents,
        )
        return Rounds(director=director, branches=branches, meter=meter, keeping=keeping)

    async def _plainly(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        answerer = Answerer(
            retriever=self._searcher,
            embedder=self._embedder,
            tokenizer=self._tokenizer,
            chat_model=self._model,
            options=self._options,
        )
        async with aclosing(answerer.answer(question)) as events:
            async for event in events:
                yield event

    async def _read_again(self, question: Question, gathered: Gathered) -> None:
        """Leave out what was closed or deleted since it was found."""
        if self._reading is None:
            return
        bases = frozenset(question.knowledge_bases)
        found = {one.chunk.id: one for finding in gathered.findings for one in finding.chunks}
        of_documents = {key: one.score for key, one in found.items() if one.chunk.knowledge_base in bases}
        there = await self._reading.again(question, of_documents) if of_documents else {}
        kept: Mapping[str, ScoredChunk] = {
            key: one for key, one in found.items() if key not in of_documents or key in there
        }
        if len(kept) < len(found):
            log.info("%d chunks were closed or deleted since they were found", len(found) - len(kept))
            gathered.findings = [readable(finding, kept) for finding in gathered.findings]
            gathered.contradictions = {key: one for key, one in gathered.contradictions.items() if key <= kept.keys()}

    async def _written(
        self, question: Question, gathered: Gathered, meter: Meter, embedder: Embedder | None
    ) -> AsyncGenerator[AnswerEvent]:
        """Write the answer as any other, over all that was read."""
        language = self._options.language or asked_in(question.text)
        used = await asyncio.to_thread(
            material, question, gathered, meter, self._model, self._tokenizer, self._options, language
        )
        answerer = Answerer(
            retriever=Handed(used.chunks, list(gathered.notes), meter.usage),
            embedder=embedder,
            tokenizer=self._tokenizer,
            chat_model=used.model,
            options=self._options,
            beside=used.beside,
        )
        async with aclosing(answerer.answer(replace(question, wordings=gathered.wordings))) as events:
            async for event in events:
                if isinstance(event, Answer):
                    cited = {citation.chunk_id for citation in event.citations}
                    missing = unanswered(gathered.missing, gathered.findings, cited)
                    gathered.missing = distinct((*missing, *used.by_parts.lacking))
                    notes = await asyncio.to_thread(self._notes, event, gathered, meter, used, language)
                    event = replace(event, notes=notes)  # noqa: PLW2901
                yield event

    def _notes(
        self, answer: Answer, gathered: Gathered, meter: Meter, used: Material, language: str
    ) -> tuple[str, ...]:
        """Return the notes of the answer with those of the research; a model that was not asked any more is set up.

        Where the time limit ended the model's writing, that it gave no answer is the same event. That it broke off is,
        too: asked again, it would come to the same limit.
        """
        told = {phrase("no_model", language): phrase("quoted", language)} if self._model is not None else {}
        late = used.model is not None and used.model.late
        ended, broken = phrase("model_failed", language), phrase("interrupted", language)
        notes = [told.get(note, note) for note in answer.notes if not (late and note in (ended, broken))]
        said = remarks(gathered, meter, language)
        if late and broken in answer.notes:
            limit = sentence("seconds", language)
            said = tuple(sentence("broken_off", language) if one == limit else one for one in said)
        return tuple(dict.fromkeys((*notes, *said)))
