"""A scripted endpoint on loopback, and a chat client of it."""

from collections.abc import AsyncIterator

import pytest

from ragcore.models.openai_chat import OpenAIChatModel
from tests.fakes.openai_server import OpenAIServer
from tests.ragcore.models.llm_calls import make


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as running:
        yield running


@pytest.fixture
async def model(server: OpenAIServer) -> AsyncIterator[OpenAIChatModel]:
    made = make(server)
    yield made
    await made.close()
