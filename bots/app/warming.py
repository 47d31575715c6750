"""Readiness for the first question: models, indexes and the packages that load late."""

from contextlib import aclosing

from bots.app.options import answer_options
from bots.app.parts import Parts, client_of
from bots.settings import Settings
from ragcore.answer import Answerer
from ragcore.models.minilm import MiniLMEmbedder
from ragcore.types import Question

_QUESTION = "What is written in the documents?"


async def warm(settings: Settings, parts: Parts) -> None:
    """Answer a question from the documents alone, and make the language model's client ready; nothing is sent out.

    What fails here fails again at the first question, which tells of it.
    """
    names = tuple(settings.all_knowledge_bases)
    if isinstance(parts.embedder, MiniLMEmbedder) and not list(parts.library.health):
        answerer = Answerer(
            retriever=parts.retriever,
            embedder=parts.embedder,
            tokenizer=parts.tokenizer,
            options=answer_options(settings, names),
        )
        async with aclosing(answerer.answer(Question(text=_QUESTION, knowledge_bases=names))) as events:
            async for _ in events:
                pass
    if parts.web is not None:
        await parts.web.reader.warm()
    if (client := client_of(parts.chat_model)) is not None:
        await client.warm_up()
