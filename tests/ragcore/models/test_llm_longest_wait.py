"""The longest wait that an endpoint may ask for: 20 seconds, and not one more."""

import asyncio

import pytest

from ragcore.errors import ModelRateLimited
from ragcore.models.llm import TextPiece
from ragcore.models.openai_chat import OpenAIChatModel
from ragcore.types import Message
from tests.fakes.openai_server import Failure, OpenAIServer


@pytest.mark.parametrize(("asked", "is_honoured"), [("19", True), ("20", True), ("21", False)])
async def test_up_to_twenty_seconds_are_waited(monkeypatch: pytest.MonkeyPatch, asked: str, is_honoured: bool) -> None:
    waits: list[float] = []
    real = asyncio.sleep

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        await real(0)

    async with OpenAIServer() as server:
        model = OpenAIChatModel(base_url=server.base_url, model="fake")
        await model.warm_up()
        monkeypatch.setattr("ragcore.models.openai_chat.asyncio.sleep", sleep)
        server.queue(Failure(status=429, headers={"Retry-After": asked}))
        text, told = "", None
        try:
            async for piece in model.stream([Message(role="user", text="What is it?")]):
                text += piece.text if isinstance(piece, TextPiece) else ""
        except ModelRateLimited as error:
            told = error.retry_after
        monkeypatch.undo()
        await model.close()
    assert (text, told) == (("Fine.", None) if is_honoured else ("", 21))
    assert [wait for wait in waits if wait >= 1] == ([float(asked)] if is_honoured else [])
    assert len(server.requests) == (2 if is_honoured else 1)
