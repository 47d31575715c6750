"""A summary of what was said in a chat, composed from the settings and the open parts."""

from collections.abc import AsyncGenerator

from bots.app.options import known_languages
from bots.app.parts import Parts
from bots.requests import Event, Summarise
from bots.settings import Settings
from ragcore.gist.summarising import Summariser


def summarised(settings: Settings, parts: Parts, request: Summarise) -> AsyncGenerator[Event]:
    """Yield the events of a summary; it searches nothing, and nothing of it is remembered."""
    summariser = Summariser(
        model=parts.chat_model,
        tokenizer=parts.tokenizer,
        embedder=parts.embedder,
        prompts=parts.prompts,
        known_languages=known_languages(settings),
    )
    return _events(summariser, request)


async def _events(summariser: Summariser, request: Summarise) -> AsyncGenerator[Event]:
    async for event in summariser.summarise(request.messages, request.language):
        yield event
