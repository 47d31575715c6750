"""How an answer came about: what is taken down while it is written, and what is told of it to whom."""

import asyncio
import json
import pathlib

import pytest

from bots.app.explaining import MOST, Traces
from bots.rendering.plain import plain_pieces
from bots.requests import Ask, Explained, Forget, Sync, Why
from bots.why import MOST_IN_A_CHAT, MOST_ON_A_PAGE, why_document, why_in_chat
from bots.wire import decode_event, encode_event
from ragcore.trace import Fate, Recorder, Trace
from ragcore.types import Answer, ConversationKey, Message, Support, ToolCall
from tests.bots.handbook import SETTINGS, opened, told
from tests.fakes.openai_server import OpenAIServer, Reply, Request

FIRST = "How many unused leave days may be carried over?"
NEXT = "And when do they lapse?"
ALONE = "And when do unused leave days that were carried over lapse?"
CHANNEL = ConversationKey(platform="slack", workspace="T1", channel="C1", thread="1.5")
EVERY_STEP = """
[rerank]
provider = "llm"
timeout = 60
[answer]
keyword = true
toc_enhance = true
toc_seconds = 60
citation_plus = true
refine_seconds = 60
filter_seconds = 60
"""


def reply(request: Request) -> Reply:
    """Answer as each task wants it."""
    rules = request.texts[0]
    if "stands alone" in rules or "translations" in rules:
        return Reply(text=json.dumps({"question": ALONE}))
    if "filter" in rules.casefold() and "operator" in rules:
        return Reply(text="{}")
    if "order" in rules and "passage" in rules and "cite" not in rules:
        return Reply(text="[0, 1]")
    return Reply(text="They lapse on 31 March [ID:0]." if "ID:" in rules else "leave, days")


async def asked(operations, request: Ask) -> tuple[Answer, Trace]:  # type: ignore[no-untyped-def]
    events = await told(operations, request)
    (explained,) = [event for event in events if isinstance(event, Explained)]
    answer = events[-1]
    assert isinstance(answer, Answer)
    return answer, explained.trace


async def test_the_trace_holds_every_call_that_reached_the_model_and_no_more(home: pathlib.Path) -> None:
    async with OpenAIServer(default=reply) as server:
        llm = f'[llm]\nbase_url = "{server.base_url}"\nmodel = "m"\n'
        (home / "citebot.toml").write_text(SETTINGS + llm)
        async with opened(home) as (operations, _):
            await told(operations, Sync())
            plainly = Ask(question=FIRST, conversation=CHANNEL, reference="aaaa0001", audience=frozenset({"slack:T1"}))
            events = await told(operations, plainly)
            assert not [event for event in events if isinstance(event, Explained)], "nobody asked why"
            assert len(server.requests) == 1
            why = Why(conversation=CHANNEL, audience=frozenset({"slack:T1"}))
            (explained,) = await told(operations, why)
            assert isinstance(explained, Explained)
            trace = explained.trace
            assert [(call.task, call.failure) for call in trace.calls] == [("answer", "")]
            assert [message.text for message in trace.calls[0].messages] == server.requests[0].texts
            assert trace.calls[0].reply == "They lapse on 31 March [ID:0]."
            assert {one.name for one in trace.steps} >= {"search", "embed", "write", "cite"}
            assert trace.took >= max(step.took for step in trace.steps)
            (search,) = trace.searches
            assert (search.text, search.filters) == (FIRST, ())
            assert all((one.score >= search.gate) is (one.fate is Fate.PASSED) for one in search.passages)
            assert {one.chunk_id for one in trace.read} == {
                one.chunk_id for one in search.passages if one.fate is Fate.PASSED
            }

            operator = await told(operations, Why(conversation=CHANNEL))
            assert operator == [explained], "to the same readers all is told"
            elsewhere = Why(conversation=ConversationKey(platform="slack", workspace="T1", channel="C2"))
            assert await told(operations, elsewhere) == []
            (strange,) = await told(operations, Why(conversation=CHANNEL, audience=frozenset({"slack:T2"})))
            assert isinstance(strange, Explained)
            assert strange.trace.hidden == len(trace.documents) > 0
            seen = repr(strange)
            assert "leave.md" not in seen
            assert "lapse" not in seen
            assert "Leave policy" not in seen

            await told(operations, Forget(conversation=CHANNEL))
            assert await told(operations, Why(conversation=CHANNEL)) == []


@pytest.mark.soak
async def test_with_every_step_on_the_trace_holds_every_call(home: pathlib.Path) -> None:
    async with OpenAIServer(default=reply) as server:
        llm = f'[llm]\nbase_url = "{server.base_url}"\nmodel = "m"\n'
        every = SETTINGS.replace("[knowledge_bases.secret]", "metadata_filter = 'auto'\n[knowledge_bases.secret]")
        (home / "citebot.toml").write_text(every + llm + EVERY_STEP)
        async with opened(home) as (operations, _):
            await told(operations, Sync())
            seen = set[str]()
            for question in (FIRST, NEXT):
                before = len(server.requests)
                answer, trace = await asked(
                    operations, Ask(question=question, conversation=CHANNEL, reference="aaaa0002", why=True)
                )
                sent = sorted(request.texts for request in server.requests[before:])
                assert sorted([message.text for message in call.messages] for call in trace.calls) == sent
                assert answer.usage.calls == len(sent)
                assert sum(call.usage.prompt_tokens for call in trace.calls) == answer.usage.prompt_tokens
                assert sum(call.usage.completion_tokens for call in trace.calls) == answer.usage.completion_tokens
                seen |= {call.task for call in trace.calls}
            assert seen >= {"answer", "rewrite", "filter"}


def trace_of(text: str = "What?", *, size: int = 0) -> Trace:
    answer = Answer(question=text + "x" * size, raw_text="That.", support=Support.CITED)
    return Recorder().trace(answer)


async def test_traces_are_few_and_go_with_age_and_with_their_conversation() -> None:
    now = 0.0
    traces = Traces(clock=lambda: now)
    for number in range(MOST + 5):
        traces.keep(Ask(question="What?", conversation=CHANNEL, reference=f"{number:08}"), trace_of())
    assert len(traces) == MOST
    assert traces.find(Why(conversation=CHANNEL, reference="00000004")) is None
    found = traces.find(Why(conversation=CHANNEL))
    assert found is not None
    assert found[0] == f"{MOST + 4:08}", "the newest"
    now = 90_000.0
    assert traces.find(Why(conversation=CHANNEL)) is None
    assert len(traces) == 0
    for reference in ("big1", "big2"):
        traces.keep(Ask(question="?", conversation=CHANNEL, reference=reference), trace_of(size=9_000_000))
    assert len(traces) == 1
    traces.close()
    await asyncio.sleep(0)


async def test_what_one_person_saw_alone_is_told_to_nobody_else() -> None:
    traces = Traces()
    alone = Ask(question="What?", conversation=CHANNEL, reference="a", private_to="slack:T1/@U1")
    traces.keep(alone, trace_of())
    for person in ("", "slack:T1/@U2"):
        assert traces.find(Why(conversation=CHANNEL, reference="a", person=person)) is None
    assert traces.find(Why(conversation=CHANNEL, person="slack:T1/@U1")) is not None
    traces.close()


async def test_no_trace_is_kept_where_nothing_is_remembered() -> None:
    traces = Traces()
    traces.keep(Ask(question="What?", reference="a"), trace_of())
    traces.keep(Ask(question="What?", conversation=CHANNEL), trace_of())
    assert len(traces) == 0


def test_a_trace_crosses_the_socket_and_can_be_listed() -> None:
    trace = trace_of()
    event = Explained(reference="a", trace=trace)
    assert decode_event(encode_event(event)) == event
    shown = "".join(plain_pieces(why_document(trace).blocks))
    assert "asked: What?" in shown
    assert "No model was asked." in shown


def test_calls_of_tools_are_shown_and_cross_the_socket() -> None:
    asks = ToolCall(id="a", name="search", arguments='{"what": "leave"}')
    recorder = Recorder()
    said = (Message(role="assistant", text="", calls=(asks,)), Message(role="tool", text="25 days", answers="a"))
    recorder.call("research", "m", said).failure = ""
    trace = recorder.trace(Answer(question="?", raw_text="", support=Support.EXEMPT))
    event = Explained(reference="a", trace=trace)
    assert decode_event(encode_event(event)) == event
    shown = "".join(plain_pieces(why_document(trace).blocks))
    assert shown.index('search({"what": "leave"})') < shown.index("tool:") < shown.index("25 days")
    assert trace.size > len('{"what": "leave"}25 days')


@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("private", [False, True])
def test_in_a_chat_a_long_trace_is_cut_and_prompts_are_shown_to_one_person_alone(private: bool, short: bool) -> None:
    recorder = Recorder()
    for _ in range(3):
        call = recorder.call("answer", "m", [Message(role="user", text="ABC " * 3_000)])
        call.failure = ""
    answer = Answer(question="What?", raw_text="That.", support=Support.CITED)
    shown = "".join(plain_pieces(why_in_chat(recorder.trace(answer), private=private, short=short).blocks))
    assert len(shown) <= (MOST_ON_A_PAGE if short else MOST_IN_A_CHAT) + 200
    assert ("ABC" in shown) is (private and not short) or short
    if not private:
        assert "ABC" not in shown
    whole = "".join(plain_pieces(why_document(recorder.trace(answer)).blocks))
    assert whole.count("ABC ") >= 3 * 2_999
