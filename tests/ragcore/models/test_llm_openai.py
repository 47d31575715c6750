"""The chat client against a scripted endpoint on loopback."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from ragcore.context import prompt_tokens
from ragcore.errors import (
    ConfigError,
    ModelAuthError,
    ModelBadOutput,
    ModelContextTooLong,
    ModelError,
    ModelInterrupted,
    ModelRateLimited,
    ModelRefused,
    ModelUnreachable,
)
from ragcore.models.llm import Discard, Finish, Piece, ReasoningPiece, TextPiece
from ragcore.models.openai_chat import ChatLimits, ChatOptions, OpenAIChatModel
from ragcore.models.openai_errors import retry_after
from ragcore.tokens import offline_tokenizer
from ragcore.types import Message
from tests.fakes.openai_server import Drop, Failure, Hang, OpenAIServer, Reply

QUESTION = [Message(role="system", text="Be brief."), Message(role="user", text="What is it?")]
FAST = ChatLimits(first_backoff=0.01, connect=2, first_token=5, total=20)
KEY = "sk-secret-0123456789abcdef"


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as running:
        yield running


@pytest.fixture
async def model(server: OpenAIServer) -> AsyncIterator[OpenAIChatModel]:
    made = make(server)
    yield made
    await made.close()


def make(server: OpenAIServer, limits: ChatLimits = FAST, **more: Any) -> OpenAIChatModel:
    return OpenAIChatModel(base_url=server.base_url, model="fake", api_key=KEY, limits=limits, **more)


async def collect(model: OpenAIChatModel, task: str = "answer") -> list[Piece]:
    return [piece async for piece in model.stream(QUESTION, task=task)]


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))


def finish_of(pieces: list[Piece]) -> Finish:
    assert [isinstance(piece, Finish) for piece in pieces].count(True) == 1
    assert isinstance(pieces[-1], Finish)
    return pieces[-1]


class TestAnswers:
    async def test_streamed_piece_by_piece(self, server: OpenAIServer, model: OpenAIChatModel) -> None:
        server.queue(Reply(text="It is 42 [ID:0]. 年假\u2028\x85👩‍👩‍👧‍👦"))
        pieces = await collect(model)
        assert text_of(pieces) == "It is 42 [ID:0]. 年假\u2028\x85👩‍👩‍👧‍👦"
        assert len(pieces) > 4
        assert finish_of(pieces).reason == "stop"
        assert finish_of(pieces).usage.completion_tokens == 6
        sent = server.requests[0].body
        assert sent["messages"] == [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is it?"},
        ]
        assert (sent["model"], sent["max_tokens"], sent["temperature"]) == ("fake", 1024, 0.1)
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"

    async def test_options_by_task(self, server: OpenAIServer) -> None:
        rewrite = ChatOptions(model="small", temperature=None, max_tokens=64, extra_body={"think": False})
        model = make(server, tasks={"rewrite": rewrite})
        await collect(model, task="rewrite")
        await collect(model)
        first, second = (request.body for request in server.requests)
        assert (first["model"], first["max_tokens"], first["think"]) == ("small", 64, False)
        assert "temperature" not in first
        assert "think" not in second
        assert model.max_tokens == 1024
        await model.close()

    async def test_complete_gives_text_and_usage(self, server: OpenAIServer, model: OpenAIChatModel) -> None:
        server.queue(Reply(text="<think>hm</think>\nyes"))
        text, usage = await model.complete(QUESTION, task="rewrite")
        assert text == "yes"
        assert usage.calls == 1
        assert usage.prompt_tokens > 0

    async def test_a_server_that_does_not_stream(self, server: OpenAIServer, model: OpenAIChatModel) -> None:
        server.queue(Reply(text="All at once.", plain=True, reasoning="hm"))
        pieces = await collect(model)
        assert text_of(pieces) == "All at once."
        assert ReasoningPiece(text="hm") in pieces

    async def test_usage_is_counted_where_the_server_does_not(
        self, server: OpenAIServer, model: OpenAIChatModel
    ) -> None:
        server.queue(Reply(text="two words", usage=False))
        usage = finish_of(await collect(model)).usage
        tokenizer = offline_tokenizer()
        assert usage.prompt_tokens == prompt_tokens(QUESTION, tokenizer)
        assert usage.completion_tokens == tokenizer.count("two words")

    @pytest.mark.parametrize(
        ("message", "gone", "there"),
        [
            ("Unrecognized request argument supplied: stream_options", "stream_options", "max_tokens"),
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'.",
                "max_tokens",
                "max_completion_tokens",
            ),
            ("'temperature' does not support 0.1 with this model.", "temperature", "max_tokens"),
        ],
    )
    async def test_a_field_that_the_server_refuses_is_left_out_for_good(
        self, server: OpenAIServer, model: OpenAIChatModel, message: str, gone: str, there: str
    ) -> None:
        server.queue(Failure(status=400, message=message))
        assert text_of(await collect(model)) == "Fine."
        await collect(model)
        assert len(server.requests) == 3
        for request in server.requests[1:]:
            assert gone not in request.body
            assert there in request.body

    async def test_length_is_told(self, server: OpenAIServer, model: OpenAIChatModel) -> None:
        server.queue(Reply(text="It is", finish="length"), Reply(text="It is", finish="length"))
        assert finish_of(await collect(model)).reason == "length"
        with pytest.raises(ModelBadOutput) as raised:
            await model.complete(QUESTION, task="rewrite")
        assert raised.value.raw == "It is"

    async def test_lone_surrogates_are_sent_as_replacement_characters(
        self, server: OpenAIServer, model: OpenAIChatModel
    ) -> None:
        async for _ in model.stream([Message(role="user", text="a\ud800b 👍")]):
            pass
        assert server.requests[0].texts == ["a\ufffdb 👍"]

    async def test_odd_but_readable_streams(self, server: OpenAIServer, model: OpenAIChatModel) -> None:
        server.queue(
            Reply(
                raw=b': ping\r\n\r\nevent: x\r\ndata:{"choices":[{"delta":{"content":[{"type":"text","text":"Hi"}]}}]}'
                b'\r\n\r\ndata: {"choices":null}\n\ndata: {"choices":[{"delta":null,"finish_reason":"stop"}]}\n\n'
            )
        )
        pieces = await collect(model)
        assert text_of(pieces) == "Hi"
        assert finish_of(pieces).reason == "stop"

    async def test_a_stream_that_only_says_done(self, server: OpenAIServer, model: OpenAIChatModel) -> None:
        server.queue(Reply(text="Whole.", finish=None))
        assert finish_of(await collect(model)).reason == "stop"


class TestThoughts:
    @pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
    async def test_fields_of_their_own(self, server: OpenAIServer, model: OpenAIChatModel, field: str) -> None:
        server.queue(Reply(text="Yes.", reasoning="Let me see.", reasoning_field=field))
        pieces = await collect(model)
        assert text_of(pieces) == "Yes."
        assert ReasoningPiece(text="Let me see.") in pieces

    async def test_tags_cut_anywhere(self, server: OpenAIServer, model: OpenAIChatModel) -> None:
        server.queue(Reply(pieces=["<th", "ink>Let me", " see.</", "think>\n", "\nYes", "."]))
        pieces = await collect(model)
        assert text_of(pieces) == "Yes."
        assert "".join(p.text for p in pieces if isinstance(p, ReasoningPiece)) == "Let me see."

    async def test_a_template_that_opens_the_tag_is_noticed_once_and_remembered(
        self, server: OpenAIServer, model: OpenAIChatModel
    ) -> None:
        server.queue(*[Reply(pieces=["Let me", " see.\n", "</think>", "\n\nYes", "."])] * 2)
        first, second = await collect(model), await collect(model)
        assert Discard(text="Let me see.\n") in first
        assert text_of(first[first.index(Discard(text="Let me see.\n")) :]) == "Yes."
        assert text_of(second) == "Yes."
        assert not any(isinstance(piece, Discard) for piece in second)

    async def test_only_thoughts_until_the_limit(self, server: OpenAIServer, model: OpenAIChatModel) -> None:
        server.queue(Reply(text="<think>On and on", finish="length"))
        pieces = await collect(model)
        assert text_of(pieces) == ""
        assert finish_of(pieces).reason == "length"

    async def test_an_empty_answer_is_no_answer(self, server: OpenAIServer, model: OpenAIChatModel) -> None:
        server.queue(Reply(text="<think>hm</think>"))
        with pytest.raises(ModelBadOutput):
            await collect(model)


class TestErrors:
    @pytest.mark.parametrize(
        ("failure", "kind"),
        [
            (Failure(status=401, message=f"Incorrect API key provided: {KEY}"), ModelAuthError),
            (Failure(status=403, message="no access"), ModelAuthError),
            (Failure(status=402, message="Insufficient Balance"), ModelAuthError),
            (Failure(status=403, message="Your input was flagged: requires moderation"), ModelRefused),
            (Failure(status=400, message="x", code="context_length_exceeded"), ModelContextTooLong),
            (Failure(status=400, message="This model's maximum context length is 4096 tokens."), ModelContextTooLong),
            (
                Failure(
                    status=400,
                    body={"object": "error", "message": "The decoder prompt (length 9000) is longer than the maximum "
                          "model length of 8192.", "type": "BadRequestError", "code": 400},
                ),
                ModelContextTooLong,
            ),
            (
                Failure(
                    status=400,
                    body={"error": {"code": 400, "message": "the request exceeds the available context size. try "
                          "increasing the context size", "type": "exceed_context_size_error", "n_ctx": 4096}},
                ),
                ModelContextTooLong,
            ),
            (Failure(status=500, message="the input length exceeds the context length"), ModelContextTooLong),
            (Failure(status=400, message="prompt is too long: 200001 tokens > 200000 maximum"), ModelContextTooLong),
            (Failure(status=413, body="payload too large"), ModelContextTooLong),
            (Failure(status=400, message="blocked", code="content_filter"), ModelRefused),
            (Failure(status=404, message="model 'fake' not found"), ModelError),
            (Failure(status=422, body={"detail": "bad field"}), ModelError),
            (Failure(status=400, body="<html>Bad Gateway of sorts</html>"), ModelError),
            (Failure(status=429, message="You exceeded your current quota", code="insufficient_quota"), ModelRateLimited),
        ],
    )  # fmt: skip
    async def test_final_at_once(
        self, server: OpenAIServer, model: OpenAIChatModel, failure: Failure, kind: type[ModelError]
    ) -> None:
        server.queue(failure)
        with pytest.raises(ModelError) as raised:
            await collect(model)
        assert type(raised.value) is kind
        assert len(server.requests) == 1
        assert KEY not in repr(raised.value)
        assert raised.value.__cause__ is None
        assert raised.value.__suppress_context__

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

    async def test_nobody_listens(self) -> None:
        model = OpenAIChatModel(base_url="http://127.0.0.1:9/v1", model="fake", limits=FAST)
        with pytest.raises(ModelUnreachable):
            await collect(model)
        await model.close()

    async def test_errors_within_a_stream(self, server: OpenAIServer, model: OpenAIChatModel) -> None:
        server.queue(Reply(raw=b'data: {"error": {"message": "maximum context length is 8"}}\n\n'))
        with pytest.raises(ModelContextTooLong):
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

    def test_a_base_url_without_a_scheme(self) -> None:
        with pytest.raises(ConfigError, match="localhost:11434"):
            OpenAIChatModel(base_url="localhost:11434/v1", model="fake")


class TestWaits:
    async def test_retry_after_is_honoured(self, server: OpenAIServer, model: OpenAIChatModel) -> None:
        server.queue(Failure(status=429, headers={"Retry-After": "1"}))
        began = time.monotonic()
        assert text_of(await collect(model)) == "Fine."
        assert 1.0 <= time.monotonic() - began < 15

    async def test_a_longer_wait_is_told_instead(self, server: OpenAIServer, model: OpenAIChatModel) -> None:
        for status in (429, 503):
            server.queue(Failure(status=status, headers={"Retry-After": "21"}))
            with pytest.raises(ModelRateLimited) as raised:
                await collect(model)
            assert raised.value.retry_after == 21
        assert len(server.requests) == 2

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
        assert all(step / 2 <= wait <= step for wait, step in zip(own, steps, strict=True))
        await model.close()

    def test_forms_of_retry_after(self) -> None:
        assert retry_after("7") == 7
        assert retry_after("1", "250") == 0.25
        assert retry_after(None) is None
        assert retry_after("soon") is None
        then = retry_after(format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True))
        assert then is not None
        assert 85 < then <= 90
        assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0

    async def test_first_token_timeout(self, server: OpenAIServer) -> None:
        model = make(server, replace(FAST, first_token=0.2, attempts=2))
        server.queue(Hang(), Reply(text="late", first_delay=5))
        began = time.monotonic()
        with pytest.raises(ModelUnreachable, match="in time"):
            await collect(model)
        assert time.monotonic() - began < 4.5
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


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


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


class TestContextWindow:
    def test_settings_come_first(self) -> None:
        assert OpenAIChatModel(base_url="http://x/v1", model="gpt-4o", context_window=4096).context_window == 4096

    def test_known_models(self) -> None:
        assert OpenAIChatModel(base_url="http://x/v1", model="gpt-4o").context_window >= 100_000
        assert OpenAIChatModel(base_url="http://x/v1", model="openai/gpt-4o").context_window >= 100_000

    def test_an_unknown_one_is_cautious_and_said_once(self, caplog: pytest.LogCaptureFixture) -> None:
        windows = {OpenAIChatModel(base_url="http://x/v1", model="llama3.1:8b-own").context_window for _ in range(3)}
        assert windows == {8192}
        assert len([record for record in caplog.records if "llama3.1:8b-own" in record.getMessage()]) == 1
