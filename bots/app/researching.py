"""What researches a question, composed from the settings and the open parts."""

import logging
import math
from collections.abc import AsyncGenerator
from contextlib import aclosing

from bots.app.options import answer_options, homes, with_given
from bots.app.parts import Parts
from bots.app.web import web_options
from bots.settings import Settings
from bots.terminal_research import is_terminal
from ragcore.answer import Searcher
from ragcore.errors import StoreError
from ragcore.models.prices import price_of
from ragcore.models.recorded import RecordedCallingModel
from ragcore.refine.refining import Refiner
from ragcore.research import Limits
from ragcore.research.asking import TASK
from ragcore.research.keeping import Reading
from ragcore.research.research import Researcher
from ragcore.research.tools.documents import KnownDocuments
from ragcore.stores.database import Database
from ragcore.stores.research_steps import ResearchSteps
from ragcore.types import Answer, AnswerEvent, Question
from ragcore.web.retriever import WebPassages

log = logging.getLogger(__name__)


def researcher_of(
    settings: Settings,
    parts: Parts,
    names: tuple[str, ...],
    searcher: Searcher,
    *,
    web: bool,
    refiner: Refiner | None = None,
) -> Researcher:
    """Return what researches questions to these knowledge bases, with what searches them.

    ``web``: whether the web may be searched besides, where an engine is set up. ``refiner`` tells what else a question
    is to be searched by.
    """
    research, model = settings.research, parts.chat_model
    of_steps = settings.llm.tasks.get(TASK) if settings.llm else None
    return Researcher(
        searcher=searcher,
        embedder=parts.embedder,
        tokenizer=parts.tokenizer,
        chat_model=model,
        options=answer_options(settings, names),
        limits=limits_of(settings),
        refiner=refiner,
        reading=Reading(parts.library.registry, homes(settings)),
        store=ResearchSteps(parts.library.database),
        reply_tokens=of_steps.max_tokens if of_steps else None,
        documents=KnownDocuments(parts.library.registry, homes(settings)) if research.tools else None,
        calling=model if isinstance(model, RecordedCallingModel) and research.tool_calls != "json" else None,
        in_words=research.tool_calls != "native",
        web=WebPassages(parts.web, web_options(settings.web)) if web and parts.web and settings.web else None,
    )


async def researched(
    researcher: Researcher, question: Question, reference: str, database: Database
) -> AsyncGenerator[AnswerEvent]:
    """Yield the events of a research; of one from a terminal nothing is kept once it has its answer.

    In a chat a reference names one turn for ever. In a terminal the same question asked again is a new one, unless the
    one before was broken off.
    """
    async with aclosing(researcher.research(question, id=reference)) as events:
        async for event in events:
            if isinstance(event, Answer) and is_terminal(reference):
                try:
                    await ResearchSteps(database).forget(reference)
                except StoreError as error:
                    log.warning("the steps of a research that is done stay for a day: %s", error)
            yield event


def limits_of(settings: Settings) -> Limits:
    """Return what one research may take."""
    research = settings.research
    limits = with_given(
        Limits(),
        rounds=research.rounds,
        searches=research.searches,
        tokens=research.tokens,
        seconds=research.seconds,
        money=research.dollars,
    )
    if settings.llm is None or limits.money == math.inf:
        return limits
    # Another model may be set for the steps, and another for the answer: the dearest counts.
    names = {settings.llm.model, *(task.model for name, task in settings.llm.tasks.items() if name in _TASKS)}
    prices = [price for price in (price_of(name) for name in names if name) if price is not None]
    return with_given(limits, price=max(prices, key=lambda price: price.prompt + price.completion, default=None))


_TASKS = frozenset({"answer", "cite", TASK})
