"""What the chat client yields, against a scripted endpoint on loopback."""

import pytest

from ragcore.context import prompt_tokens
from ragcore.errors import (
    ModelBadOutput,
)
from ragcore.models.llm import Discard, ReasoningPiece
from ragcore.models.openai_chat import ChatOptions, OpenAIChatModel
from ragcore.tokens import offline_tokenizer
from ragcore.types import Message
from tests.fakes.openai_server import Failure, OpenAIServer, Reply
from tests.ragcore.models.llm_calls import KEY, QUESTION, collect, finish_of, make, text_of


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
