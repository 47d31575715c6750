"""What the chat client makes of failures, against a scripted endpoint on loopback."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from ragcore.errors import (
    ConfigError,
    ModelBadOutput,
    ModelContextTooLong,
    ModelError,
    ModelInterrupted,
    ModelRefused,
    ModelUnreachable,
)
from ragcore.models.llm import Piece
from ragcore.models.openai_chat import OpenAIChatModel
from ragcore.models.recorded import RecordedModel
from ragcore.trace import Recorder, recorded
from ragcore.types import Answer, Support
from tests.fakes.openai_server import Drop, Failure, OpenAIServer, Reply
from tests.ragcore.models.llm_calls import FAST, KEY, QUESTION, collect, finish_of, make, text_of


class TestErrors:
    @pytest.mark.parametrize(
        "behaviour",
        [Failure(status=500), Failure(status=503, body="down"), Failure(status=408), Drop(), Reply(done=False)],
    )
    async def test_what_may_pass_is_tried_again(
        self, server: OpenAIServer, model: OpenAIChatModel, behaviour: Failure | Drop | Reply
    ) -> None:
        if isinstance(behaviour, Reply):
            behaviour = replace(behaviour, text="gone", break_after=0)
        server.queue(behaviour, behaviour)
        assert text_of(await collect(model)) == "Fine."
        server.queue(*[behaviour] * FAST.attempts)
        with pytest.raises(ModelUnreachable):
            await collect(model)
        assert len(server.requests) == 3 + FAST.attempts

    async def test_each_request_of_a_call_is_told(self, server: OpenAIServer, model: OpenAIChatModel) -> None:
        taken, recorder = RecordedModel(model), Recorder()

        async def calls() -> AsyncGenerator[Piece | str]:
            server.queue(Failure(status=500), Failure(status=500))
            async for piece in taken.stream(QUESTION):
                yield piece
            server.queue(*[Failure(status=500)] * FAST.attempts)
            with pytest.raises(ModelUnreachable):
                await taken.complete(QUESTION, task="rewrite")
            yield (await taken.complete(QUESTION, task="cite"))[0]

        async for _ in recorded(calls(), recorder):
            pass
        told = recorder.trace(Answer(question="", raw_text="", support=Support.CITED)).calls
        assert [call.requests for call in told] == [3, FAST.attempts, 1]
        assert sum(call.requests for call in told) == len(server.requests)

    async def test_nobody_listens(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whoever asked is kept waiting for one more try, whatever the limits allow, and no longer."""
        model = OpenAIChatModel(base_url="http://127.0.0.1:9/v1", model="fake")
        waits: list[float] = []
        real = asyncio.sleep

        async def sleep(seconds: float) -> None:
            waits.append(seconds)
            await real(0)

        await model.warm_up()
        monkeypatch.setattr("ragcore.models.openai_chat.asyncio.sleep", sleep)
        with pytest.raises(ModelUnreachable, match="no connection"):
            await collect(model)
        monkeypatch.undo()
        (wait,) = [wait for wait in waits if wait]
        assert wait <= 1
        await model.close()

    async def test_errors_within_a_stream(self, server: OpenAIServer, model: OpenAIChatModel) -> None:
        server.queue(Reply(raw=b'data: {"error": {"message": "maximum context length is 8"}}\n\n'))
        with pytest.raises(ModelContextTooLong):
            await collect(model)
        server.queue(Reply(raw=b'data: {"error": {"message": "context_length_exceeded by: What is it?"}}\n\n'))
        with pytest.raises(ModelContextTooLong, match=r"exceeded by: \[…\]"):
            await collect(model)
        server.queue(Reply(raw=b'data: {"error": "overloaded"}\n\n'))
        assert text_of(await collect(model)) == "Fine."
        server.queue(Reply(raw=b"data: {nonsense\n\n"))
        with pytest.raises(ModelBadOutput):
            await collect(model)

    async def test_refusals(self, server: OpenAIServer, model: OpenAIChatModel) -> None:
        server.queue(Reply(finish="content_filter"), Reply(refusal="I can't help with that."))
        for _ in range(2):
            with pytest.raises(ModelRefused):
                await collect(model)
        server.queue(Reply(text="It begins well", finish="content_filter"))
        assert finish_of(await collect(model)).reason == "refused"

    @pytest.mark.parametrize(
        "behaviour", [Reply(text="one two three", break_after=2), Reply(text="one two three", finish=None, done=False)]
    )
    async def test_nothing_is_retried_after_text(
        self, server: OpenAIServer, model: OpenAIChatModel, behaviour: Reply
    ) -> None:
        server.queue(behaviour)
        seen: list[Piece] = []

        async def ask() -> None:
            async for piece in model.stream(QUESTION):
                seen.append(piece)  # noqa: PERF401 (what came before the error counts)

        with pytest.raises(ModelInterrupted):
            await ask()
        assert text_of(seen).startswith("one two")
        assert len(server.requests) == 1

    async def test_a_broken_completion_is_tried_again_because_nobody_saw_it(
        self, server: OpenAIServer, model: OpenAIChatModel
    ) -> None:
        server.queue(Reply(text="one two three", break_after=2))
        assert (await model.complete(QUESTION, task="rewrite"))[0] == "Fine."

    async def test_an_endpoint_that_tells_ends_broke_off_what_it_tells_none_of(
        self, server: OpenAIServer, model: OpenAIChatModel
    ) -> None:
        server.queue(Reply(text="Whole.", finish=None), Reply(text="Whole, too."), Reply(text="one two", finish=None))
        assert [(await model.complete(QUESTION, task="rewrite"))[0] for _ in range(3)] == [
            "Whole.",
            "Whole, too.",
            "Fine.",
        ]
        server.queue(Reply(text="one two", finish=None))
        with pytest.raises(ModelInterrupted):
            await collect(model)

    def test_a_base_url_without_a_scheme(self) -> None:
        with pytest.raises(ConfigError, match="localhost:11434"):
            OpenAIChatModel(base_url="localhost:11434/v1", model="fake")


async def test_the_key_is_nowhere(server: OpenAIServer, caplog: pytest.LogCaptureFixture) -> None:
    model = make(server)
    server.queue(
        Failure(status=500, message=f"bad key {KEY}"),
        Failure(status=400, message=f"bad key {KEY} in {KEY[:12]}***"),
    )
    with caplog.at_level(logging.INFO), pytest.raises(ModelError) as raised:
        await collect(model)
    assert "sk-secret" not in caplog.text + repr(model) + str(raised.value) + repr(raised.value.args)
    await model.close()
