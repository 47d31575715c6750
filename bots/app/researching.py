"""What researches a question, composed from the settings and the open parts."""

import math

from bots.app.options import answer_options, homes, with_given
from bots.app.parts import Parts
from bots.app.web import web_options
from bots.settings import Settings
from ragcore.answer import Searcher
from ragcore.models.prices import price_of
from ragcore.research import Limits
from ragcore.research.asking import TASK
from ragcore.research.keeping import Reading
from ragcore.research.research import Researcher
from ragcore.research.tools.documents import KnownDocuments
from ragcore.stores.research_steps import ResearchSteps
from ragcore.web.retriever import WebPassages


def researcher_of(
    settings: Settings, parts: Parts, names: tuple[str, ...], searcher: Searcher, *, web: bool
) -> Researcher:
    """Return what researches questions to these knowledge bases, with what searches them.

    ``web``: whether the web may be searched besides, where an engine is set up.
    """
    of_steps = settings.llm.tasks.get(TASK) if settings.llm else None
    return Researcher(
        searcher=searcher,
        embedder=parts.embedder,
        tokenizer=parts.tokenizer,
        chat_model=parts.chat_model,
        options=answer_options(settings, names),
        limits=limits_of(settings),
        reading=Reading(parts.library.registry, homes(settings)),
        store=ResearchSteps(parts.library.database),
        reply_tokens=of_steps.max_tokens if of_steps else None,
        documents=KnownDocuments(parts.library.registry, homes(settings)) if settings.research.tools else None,
        web=WebPassages(parts.web, web_options(settings.web)) if web and parts.web and settings.web else None,
    )


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
