"""How long the chat client waits, and that it lets go, against a scripted endpoint on loopback."""

import asyncio
import time
from contextlib import aclosing
from dataclasses import replace

import pytest

from ragcore.errors import (
    ModelError,
    ModelInterrupted,
    ModelRateLimited,
    ModelUnreachable,
)
from ragcore.models.openai_chat import ChatLimits, OpenAIChatModel
from tests.fakes.openai_server import Drop, Failure, Hang, OpenAIServer, Reply
from tests.fakes.waiting import until
from tests.ragcore.models.llm_calls import FAST, QUESTION, collect, make, text_of


class TestWaits:
    async def test_retry_after_is_honoured(self, server: OpenAIServer, model: OpenAIChatModel) -> None:
        server.queue(Failure(status=429, headers={"Retry-After": "1"}))
        began = time.monotonic()
        assert text_of(await collect(model)) == "Fine."
        assert time.monotonic() - began >= 1.0

    async def test_without_a_header_tries_end(self, server: OpenAIServer, model: OpenAIChatModel) -> None:
        server.queue(*[Failure(status=429)] * FAST.attempts)
        with pytest.raises(ModelRateLimited):
            await collect(model)
        assert len(server.requests) == FAST.attempts

    async def test_waits_grow_with_jitter_and_are_capped(
        self, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        waits: list[float] = []
        real = asyncio.sleep

        async def sleep(seconds: float) -> None:
            waits.append(seconds)
            await real(0)

        model = make(server, ChatLimits(attempts=9, total=1000))
        server.queue(*[Failure(status=500)] * 8)
        await model.warm_up()
        monkeypatch.setattr("ragcore.models.openai_chat.asyncio.sleep", sleep)
        await collect(model)
        monkeypatch.undo()
        steps = [0.5, 1, 2, 4, 8, 16, 20, 20]
        own = [wait for wait in waits if wait > 0.01]
        assert len(own) == len(steps)
        shares = [wait / step for wait, step in zip(own, steps, strict=True)]
        assert all(0.5 <= share <= 1 for share in shares)
        assert len({round(share, 3) for share in shares}) > 2, "those who failed together do not come back together"
        await model.close()

    async def test_first_token_timeout(self, server: OpenAIServer) -> None:
        model = make(server, replace(FAST, first_token=0.2, attempts=2))
        server.queue(Hang(), Reply(text="late", first_delay=600))
        began = time.monotonic()
        with pytest.raises(ModelUnreachable, match="in time"):
            await collect(model)
        assert time.monotonic() - began < 30
        assert len(server.requests) == 2
        await model.close()

    async def test_thoughts_count_as_a_first_token(self, server: OpenAIServer) -> None:
        model = make(server, replace(FAST, first_token=1.0))
        server.queue(Reply(reasoning="hm", pieces=["a"] * 5, delay=0.3))
        assert text_of(await collect(model)) == "aaaaa"
        await model.close()

    async def test_total_timeout(self, server: OpenAIServer) -> None:
        model = make(server, replace(FAST, total=1.5))
        server.queue(Reply(pieces=["a"] * 100, delay=0.05))
        with pytest.raises(ModelInterrupted):
            await collect(model)
        server.queue(*[Failure(status=500)] * 3)
        await collect(model)
        await model.close()

    async def test_concurrent_calls_are_limited(self, server: OpenAIServer) -> None:
        model = make(server, replace(FAST, max_concurrent=2))
        server.default = Reply(text="a b c", delay=0.02)
        answers = await asyncio.gather(*(collect(model) for _ in range(8)))
        assert all(text_of(pieces) == "a b c" for pieces in answers)
        assert server.most_at_once == 2
        await model.close()

    async def test_a_place_is_free_again_after_every_end(self, server: OpenAIServer) -> None:
        model = make(server, replace(FAST, max_concurrent=1, first_token=1.5, attempts=1))
        server.queue(Failure(status=401), Drop(), Hang(), Reply(text="a b", break_after=1))
        for _ in range(4):
            with pytest.raises(ModelError):
                await collect(model)
        assert text_of(await collect(model)) == "Fine."
        await model.close()


class TestLeaving:
    async def test_closing_the_iterator_closes_the_http_stream(
        self, server: OpenAIServer, model: OpenAIChatModel
    ) -> None:
        server.queue(Reply(pieces=["a "] * 500, delay=0.02))
        async with aclosing(model.stream(QUESTION)) as pieces:
            async for _ in pieces:
                break
        await until(lambda: server.streaming == 0)
        assert server.disconnects >= 1

    async def test_a_cancelled_task_closes_the_http_stream(self, server: OpenAIServer, model: OpenAIChatModel) -> None:
        server.queue(Reply(pieces=["a "] * 500, delay=0.02), Hang())
        for _ in range(2):
            before, asked = server.disconnects, len(server.requests)
            asking = asyncio.create_task(collect(model))
            await until(lambda: len(server.requests) > asked)  # noqa: B023
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await until(lambda: server.disconnects > before)  # noqa: B023
        assert text_of(await collect(model)) == "Fine."
