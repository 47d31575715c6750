"""Calls of tools at an endpoint that keeps OpenAI's rules for them: offered, gathered, answered, and refused."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.context import prompt_tokens
from ragcore.errors import ModelBadOutput, ModelError, ModelRefused, ModelUnreachable, ModelWithoutTools
from ragcore.models.llm import Called, CallingModel, Parameter, ToolSpec
from ragcore.models.openai_calls import MOST_CHARACTERS, CallPart, Calls, call_parts
from ragcore.models.openai_chat import OpenAIChatModel
from ragcore.models.openai_errors import of_status
from ragcore.models.openai_forms import message_form, tools_text
from ragcore.models.recorded import RecordedCallingModel
from ragcore.tokens import offline_tokenizer
from ragcore.trace import Recorder, recorded
from ragcore.types import Answer, Message, Support, ToolCall
from tests.fakes.openai_server import Behaviour, Drop, Failure, OpenAIServer, Reply, tool_call
from tests.fakes.tool_rules import broken_rule
from tests.ragcore.models.llm_calls import QUESTION, collect, text_of
from tests.soak import scaled

SEARCH = ToolSpec(name="search", description="passages", parameters=(Parameter(name="what", description="a question"),))
TWO = (tool_call("search", {"what": "leave"}, "a1"), tool_call("search", {"what": "Krankheit 病"}, "b2"))
MADE = (
    ToolCall(id="a1", name="search", arguments='{"what": "leave"}'),
    ToolCall(id="b2", name="search", arguments='{"what": "Krankheit 病"}'),
)


async def called(model: CallingModel, *messages: Message) -> Called:
    return await model.call([*QUESTION, *messages], task="research", tools=[SEARCH])


@pytest.mark.parametrize("plain", [False, True], ids=["streamed", "whole"])
async def test_calls_are_offered_gathered_and_answered(
    server: OpenAIServer, model: OpenAIChatModel, plain: bool
) -> None:
    server.queue(Reply(text="I look.", calls=TWO, plain=plain), Reply(text="Done."))
    first = await called(model)
    assert (first.text, first.calls, first.cut) == ("I look.", MADE, False)
    results = [Message(role="tool", text=f"of {one.id}", answers=one.id) for one in first.calls]
    last = await called(model, Message(role="assistant", text="", calls=first.calls), *results)
    assert (last.text, last.calls) == ("Done.", ())
    assert model.takes_tools
    offered, answered = (request.body for request in server.requests)
    assert offered["tools"] == [{
        "type": "function",
        "function": {
            "name": "search", "description": "passages",
            "parameters": {
                "type": "object", "properties": {"what": {"type": "string", "description": "a question"}},
                "required": ["what"], "additionalProperties": False,
            },
        },
    }]  # fmt: skip
    assert offered["tool_choice"] == "auto"
    assert answered["messages"][2:] == [
        {"role": "assistant", "content": "", "tool_calls": list(TWO)},
        {"role": "tool", "content": "of a1", "tool_call_id": "a1"},
        {"role": "tool", "content": "of b2", "tool_call_id": "b2"},
    ]


async def test_an_answer_that_is_streamed_offers_none_and_takes_none(
    server: OpenAIServer, model: OpenAIChatModel
) -> None:
    server.queue(Reply(text="Fine.", calls=TWO))
    pieces = await collect(model)
    assert text_of(pieces) == "Fine."
    assert "tools" not in server.requests[0].body
    server.queue(Reply(calls=TWO))
    with pytest.raises(ModelBadOutput, match="empty"):
        await model.complete(QUESTION, task="research")


@pytest.mark.parametrize(
    "first",
    [
        Reply(finish=None, done=False),
        Reply(text="I", break_after=0),
        Drop(),
        Failure(status=500, message="Automatic streaming tool choice is not supported"),
        Failure(status=400, message="stream is not supported with tools"),
    ],
    ids=["empty", "broken off", "dropped", "told", "refused"],
)
async def test_calls_that_are_not_to_be_had_in_a_stream_are_asked_for_whole(
    server: OpenAIServer, model: OpenAIChatModel, first: Behaviour
) -> None:
    server.queue(first, Reply(calls=TWO), Reply(calls=TWO), Reply(text="Fine."))
    assert (await called(model)).calls == MADE
    assert (await called(model)).calls == MADE
    assert text_of(await collect(model)) == "Fine."
    asked = [(one.body["stream"], "stream_options" in one.body) for one in server.requests]
    assert asked == [(True, True), (False, False), (False, False), (True, True)]
    assert model.takes_tools


async def test_what_is_not_counted_is_counted_with_the_tools(server: OpenAIServer, model: OpenAIChatModel) -> None:
    server.queue(Reply(calls=TWO, usage=False))
    usage = (await called(model)).usage
    tokenizer = offline_tokenizer()
    assert usage.prompt_tokens == prompt_tokens(QUESTION, tokenizer) + tokenizer.count(tools_text([SEARCH]))
    assert usage.completion_tokens >= 10


async def test_what_is_cut_tells_so(server: OpenAIServer, model: OpenAIChatModel) -> None:
    server.queue(Reply(calls=[tool_call("search", '{"what": "le')], finish="length"), Reply(text="I", finish="length"))
    cut = await called(model)
    assert (cut.cut, cut.calls[0].arguments) == (True, '{"what": "le')
    with pytest.raises(ModelBadOutput, match="length"):
        await called(model)
    server.queue(Reply(text="No", calls=TWO, finish="content_filter"))
    with pytest.raises(ModelRefused):
        await called(model)


REFUSING: dict[str, Failure] = {
    "ollama": Failure(status=400, message="registry.ollama.ai/library/gemma:2b does not support tools"),
    "vllm": Failure(status=400, message='"auto" tool choice requires --enable-auto-tool-choice to be set'),
    "openrouter": Failure(status=404, message="No endpoints found that support tool use."),
    "strict": Failure(status=422, body={"detail": [{"loc": ["body", "tools"], "msg": "Extra inputs"}]}),
    "llama.cpp": Failure(status=500, message="tools param requires --jinja flag"),
    "llama.cpp before": Failure(status=500, message="Unsupported param: tools"),
}


@pytest.mark.parametrize("failure", REFUSING.values(), ids=REFUSING)
async def test_an_endpoint_without_tools_is_remembered_once_it_goes_on_without(
    server: OpenAIServer, model: OpenAIChatModel, failure: Failure
) -> None:
    server.queue(failure, Failure(status=404, message="no such model"), failure, Reply(text="[]"))
    with pytest.raises(ModelWithoutTools):
        await called(model)
    with pytest.raises(ModelError):
        await model.complete(QUESTION, task="research")
    assert model.takes_tools, "nothing goes well there: it need not be the tools"
    with pytest.raises(ModelWithoutTools):
        await called(model)
    await model.complete(QUESTION, task="research")
    assert not model.takes_tools
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("failure", "raised"),
    [
        (Failure(status=401), ModelError),
        (Failure(status=400, message="maximum context length is 4096 tokens"), ModelError),
        (Failure(status=500, message="error parsing tool call"), ModelUnreachable),
    ],
)
async def test_other_failures_say_nothing_of_tools(
    server: OpenAIServer, model: OpenAIChatModel, failure: Failure, raised: type[ModelError]
) -> None:
    server.default = failure
    with pytest.raises(raised) as caught:
        await called(model)
    assert not isinstance(caught.value, ModelWithoutTools)


async def test_only_the_choice_is_left_out_where_only_that_is_refused(
    server: OpenAIServer, model: OpenAIChatModel
) -> None:
    server.queue(Failure(status=404, message="No endpoints found that support the provided 'tool_choice' value."))
    server.default = Reply(calls=TWO)
    assert (await called(model)).calls == MADE
    assert "tool_choice" not in server.requests[1].body
    assert server.requests[1].body["tools"]


async def test_an_endpoint_that_never_calls_is_taken_to_ignore_tools(
    server: OpenAIServer, model: OpenAIChatModel
) -> None:
    await called(model)
    assert model.takes_tools
    server.queue(Reply(text="Long", finish="length"))
    with pytest.raises(ModelBadOutput):
        await called(model)
    assert not model.takes_tools
    server.queue(Reply(calls=TWO))
    for _ in range(3):
        await called(model)
    assert model.takes_tools, "one that has called may do without calls"


@pytest.mark.parametrize("refused", ["text content blocks must be non-empty", "messages.2.content: too short"])
async def test_an_empty_text_beside_calls_is_left_out_where_it_is_refused(
    server: OpenAIServer, model: OpenAIChatModel, refused: str
) -> None:
    server.queue(Failure(status=400, message=refused), Reply(calls=TWO), Reply(text="Done."))
    behind = [Message(role="tool", text="r", answers=one.id) for one in MADE]
    for _ in range(2):
        await called(model, Message(role="assistant", text="", calls=MADE), *behind)
    assert [request.body["messages"][2]["content"] for request in server.requests] == ["", None, None]
    assert model.takes_tools


def test_a_refusal_is_told_by_its_status() -> None:
    statuses = [status for status in range(400, 600) if of_status(status, "no", section="llm").refuses_tools]
    assert statuses == [400, 404, 422]


def delta(arguments: str = "", name: str = "", **more: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments} if name else {"arguments": arguments}, **more}


HOW_OTHERS_STREAM: dict[str, list[dict[str, Any]]] = {
    "an index of 0 for each": [{**call, "index": 0} for call in TWO],
    "no index": list(TWO),
    "no index, in pieces": [
        delta('{"what": ', "search", id="a1"), delta('"leave"}'), delta("", "search", id="b2"),
        delta('{"what": "Krankheit 病"}'),
    ],
    "an index of 0 for each, in pieces": [
        delta("", "search", id="a1", index=0), delta('{"what": "leave"}', index=0), delta("", "search", id="b2", index=0),
        delta('{"what": "Krank', index=0), delta('heit 病"}', index=0),
    ],
    "all of it with each piece": [
        delta('{"what": "le', "search", id="a1", index=0), delta('ave"}', "search", id="a1", index=0),
        delta('{"what": "Krankheit 病"}', "search", id="b2", index=1),
    ],
    "pieces of both in turn": [
        delta("", "search", id="a1", index=0), delta("", "search", id="b2", index=1), delta('{"what": "leave"}', index=0),
        delta('{"what": "Krankheit 病"}', index=1),
    ],
}  # fmt: skip


@pytest.mark.parametrize("deltas", HOW_OTHERS_STREAM.values(), ids=HOW_OTHERS_STREAM)
async def test_pieces_are_put_together_as_each_endpoint_sends_them(
    server: OpenAIServer, model: OpenAIChatModel, deltas: list[dict[str, Any]]
) -> None:
    server.queue(Reply(call_deltas=deltas))
    assert (await called(model)).calls == MADE


def test_calls_without_ids_are_told_apart_by_index_or_name() -> None:
    for index in ((0, 1), (None, None)):
        calls = Calls()
        calls.take([CallPart(index=index[0], name="one", arguments="{}"), CallPart(index=index[1], name="two")])
        calls.take([CallPart(index=index[1], arguments="[]")])
        assert [(one.name, one.arguments) for one in calls.whole()] == [("one", "{}"), ("two", "[]")]
    same = Calls()
    same.take([CallPart(index=at, id="x", name="search", arguments=str(at)) for at in range(3)])
    assert [one.arguments for one in same.whole()] == ["0", "1", "2"]


def test_what_never_ends_is_bounded() -> None:
    calls = Calls()
    for at in range(3_000):
        calls.take([CallPart(index=at, id=str(at), name="search", arguments="{}")])
    assert 400 < len(calls.whole()) <= 500
    endless = Calls()
    for _ in range(300):
        endless.take([CallPart(index=0, id="a", name="search", arguments="x" * 10_000)])
    assert len(endless.whole()[0].arguments) <= MOST_CHARACTERS


JSONS = st.none() | st.integers(0, 3) | st.text(max_size=4) | st.lists(st.text(max_size=4), max_size=2)
CALLS = st.fixed_dictionaries({}, optional=dict.fromkeys(("index", "id", "function"), JSONS)) | st.fixed_dictionaries(
    {"function": st.dictionaries(st.sampled_from(("name", "arguments")), JSONS)}, optional={"index": JSONS, "id": JSONS}
)


@settings(max_examples=scaled(30))
@given(st.lists(JSONS | CALLS, max_size=6))
def test_whatever_an_endpoint_calls_a_call_is_read(said: list[Any]) -> None:
    calls = Calls()
    calls.take(call_parts(said))
    assert all(isinstance(one.arguments, str) for one in calls.whole())
    assert call_parts(json.dumps(said)) == ()


@pytest.mark.parametrize("behaviour", [Reply(text="I look.", calls=TWO), REFUSING["ollama"]], ids=["called", "refused"])
async def test_a_call_with_tools_is_taken_down(
    server: OpenAIServer, model: OpenAIChatModel, behaviour: Behaviour
) -> None:
    server.queue(behaviour)
    recorder, taken = Recorder(), RecordedCallingModel(model)

    async def work() -> Any:
        try:
            yield await called(taken)
        except ModelWithoutTools:
            yield None

    results = [one async for one in recorded(work(), recorder)]
    (call,) = recorder.trace(Answer(question="?", raw_text="", support=Support.EXEMPT)).calls
    if isinstance(behaviour, Reply):
        assert call.reply == 'I look.\nsearch({"what": "leave"})\nsearch({"what": "Krankheit 病"})'
        assert (call.failure, call.usage) == ("", results[0].usage)
    else:
        assert (call.failure, call.reply) == ("ModelWithoutTools", "")
    assert taken.takes_tools


def test_the_rules_that_the_fake_keeps() -> None:
    user, asks = Message(role="user", text="?"), Message(role="assistant", text="", calls=MADE)
    one, two = (Message(role="tool", text="r", answers=call.id) for call in MADE)
    kept: list[list[Message]] = [[user, asks, one, two], [user, asks, two, one, user], [user]]
    broken = [[user, asks, one], [user, asks, one, user, two], [user, one], [user, asks, one, one], [user, asks]]
    assert [bool(broken_rule([message_form(one) for one in case])) for case in kept] == [False] * 3
    assert [bool(broken_rule([message_form(one) for one in case])) for case in broken] == [True] * 5
