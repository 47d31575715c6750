"""A research whose model calls its tools by its endpoint's own function calling, which keeps the rules for it."""

import asyncio
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.context import prompt_tokens
from ragcore.errors import ModelBadOutput, ModelError, ModelUnreachable, ModelWithoutTools
from ragcore.json_replies import MOST_MENDED
from ragcore.models.llm import Called, ToolSpec
from ragcore.models.openai_forms import message_form, tools_text
from ragcore.models.recorded import RecordedCallingModel
from ragcore.research import Limits, Outcome
from ragcore.research.research import Researcher
from ragcore.research.tools.calls import Tool
from ragcore.research.tools.native import State, read_calls
from ragcore.tokens import offline_tokenizer
from ragcore.trace import Recorder, Trace, recorded
from ragcore.types import Answer, AnswerEvent, Message, Question, ScoredChunk, Support, ToolCall, Usage
from tests.fakes import virtual
from tests.fakes.researching import ResearchModel, Say, Shelf, chunk, judged, quoting
from tests.fakes.tool_rules import broken_rule
from tests.ragcore.research.test_tools import CHUNKS, QUESTION, RUBBISH, Cupboard, Web, lines, run, within_limits
from tests.soak import scaled

ALL = tuple(Tool)
Calls = Sequence[tuple[str, Any]]
"""Names of tools with their arguments: a text as it is, all else as JSON."""


def made(calls: Calls, start: int = 0) -> tuple[ToolCall, ...]:
    texts = [one if isinstance(one, str) else json.dumps(one) for _, one in calls]
    return tuple(
        ToolCall(id=f"id{start + at}", name=name, arguments=text)
        for at, ((name, _), text) in enumerate(zip(calls, texts, strict=True))
    )


@dataclass
class CallingResearchModel(ResearchModel):
    """Calls in turn what it is told to, the last from then on; refuses messages that break the rules for calls."""

    turns: Sequence[Calls | ModelError | str] = ()
    refuses: bool = False
    refused: bool = False
    takes_tools: bool = True
    with_tools: list[tuple[Message, ...]] = field(default_factory=list)

    async def call(self, messages: Sequence[Message], *, task: str, tools: Sequence[ToolSpec]) -> Called:
        assert not broken_rule([message_form(one) for one in messages])
        self.with_tools.append(tuple(messages))
        self.usage += Usage(calls=1)
        self.under_way += 1
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.under_way -= 1
        if self.refuses:
            self.refused = True
            raise ModelWithoutTools("it does not support tools")
        turn = self.turns[min(len(self.with_tools), len(self.turns)) - 1]
        if isinstance(turn, ModelError):
            raise turn
        calls = () if isinstance(turn, str) else made(turn, 100 * len(self.with_tools))
        tokenizer = offline_tokenizer()
        read = prompt_tokens(messages, tokenizer) + tokenizer.count(tools_text(tools))
        written = min(self.max_tokens, sum(tokenizer.count(one.arguments) for one in calls))
        self.usage += Usage(prompt_tokens=read, completion_tokens=written)
        usage = Usage(calls=1, prompt_tokens=read, completion_tokens=written)
        return Called(text=turn if isinstance(turn, str) else "", calls=calls, usage=usage)

    async def complete(self, messages: Sequence[Message], *, task: str) -> tuple[str, Usage]:
        said = await super().complete(messages, task=task)
        self.takes_tools = self.takes_tools and not self.refused
        return said


def researcher(shelf: Shelf, model: CallingResearchModel, **given: Any) -> Researcher:
    calling = RecordedCallingModel(model)
    given = {"documents": Cupboard(), "calling": calling, **given}
    return Researcher(searcher=shelf, embedder=None, tokenizer=offline_tokenizer(), chat_model=calling, **given)


async def traced(of: Researcher) -> tuple[list[AnswerEvent], Answer, Trace]:
    recorder = Recorder()
    events = [event async for event in recorded(of.research(QUESTION), recorder)]
    answer = events[-1]
    assert isinstance(answer, Answer)
    return events, answer, recorder.trace(answer)


def talked(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """Return the calls in a prompt, as told there, each with what it is told that it gave."""
    calls = {call.id: call.arguments for message in messages for call in message.calls}
    return [(calls[one.answers], one.text) for one in messages if one.role == "tool"]


FIRST: Calls = (("search", {"what": "Who founded the Kestrel?"}), ("list_documents", {"what": "Brown"}))
NOT_YET: Mapping[str, Say] = {"reflect": judged(False, "Where was Ada Brown born?")}


async def test_calls_are_made_side_by_side_and_what_they_gave_is_told_behind_them() -> None:
    model = CallingResearchModel(NOT_YET, turns=[FIRST, [("read_document", {"what": "docs:brown"})], "[]"])
    shelf, cupboard = Shelf(CHUNKS[:1]), Cupboard()
    events, answer, trace = await traced(researcher(shelf, model, documents=cupboard))
    assert {one.text for one in shelf.asked} == {QUESTION.text, "Who founded the Kestrel?"}
    assert cupboard.asked == [("listed", "Brown"), ("read", "docs:brown")]
    assert answer.support is Support.CITED
    assert {one.document_id for one in answer.citations} == {"docs:kestrel", "docs:brown"}
    assert not model.asked("next")
    first, second, third = model.with_tools
    assert talked(first) == []
    assert "Write one JSON list" not in first[0].text
    told = talked(second)
    assert [arguments for arguments, _ in told] == ['{"what": "Who founded the Kestrel?"}', '{"what": "Brown"}']
    assert "founded in 1990 by Ada Brown [ID:" in told[0][1]
    assert told[1][1] == "- docs:brown  (Ada Brown)"
    assert "Ada Brown was born in Leyton [ID:" in talked(third)[2][1]
    # The task stands in what is asked last, with what is lacking; what stands behind its call is not told twice.
    assert "It asks for single facts." in second[-1].text
    assert "- Where was Ada Brown born?" in second[-1].text
    assert [one.text for one in third if one.role == "user"][1] == "- Where was Ada Brown born?"
    assert "» Where was the founder" in third[-1].text
    assert "» Who founded" not in third[-1].text
    # Every call of a model is counted, and stands in the trace with what it asked for.
    assert answer.usage == model.usage
    assert len(trace.calls) == answer.usage.calls
    assert next(one.reply for one in trace.calls if one.messages[-1].text.startswith("tools:")).splitlines() == [
        'search({"what": "Who founded the Kestrel?"})', 'list_documents({"what": "Brown"})',
    ]  # fmt: skip
    assert lines(events)


def test_the_calls_of_one_reply_take_as_long_as_the_longest() -> None:
    model = CallingResearchModel(turns=[[*FIRST, ("search", {"what": "What did the Kestrel sell?"})], "[]"])

    async def research() -> None:
        began = asyncio.get_running_loop().time()
        await run(researcher(Shelf(CHUNKS, seconds=9.0), model))
        assert asyncio.get_running_loop().time() - began < 2 * 9.0

    virtual.run(research())


async def test_what_cannot_be_done_is_answered_and_asked_again_once() -> None:
    wrong: Calls = (("shell", {"cmd": "rm"}), ("search", '{"what": '), ("search", {"what": QUESTION.text}))
    model = CallingResearchModel(turns=[wrong, [("search", "Who founded the Kestrel?")], []])
    shelf = Shelf(CHUNKS)
    await run(researcher(shelf, model))
    assert [one.text for one in shelf.asked] == [QUESTION.text, "Who founded the Kestrel?"]
    again = model.with_tools[1]
    assert [one.role for one in again] == ["system", "user", "assistant", "tool", "tool", "tool"]
    assert [text.split(":")[1].split(".")[0].strip() for _, text in talked(again)] == [
        "there is no such tool", "the arguments are not one JSON object such as {\"what\"", "nearly the same was asked before",
    ]  # fmt: skip
    assert "search, read_document, list_documents" in talked(again)[0][1]
    stubborn = CallingResearchModel(turns=[wrong])
    _, answer = await run(researcher(Shelf(CHUNKS), stubborn))
    assert len(stubborn.with_tools) == 2
    assert answer.citations


@pytest.mark.parametrize("in_words", [True, False], ids=["auto", "native"])
async def test_an_endpoint_that_refuses_tools_is_asked_in_words_if_that_may_be(in_words: bool) -> None:
    model = CallingResearchModel(
        {"next": lambda messages: json.dumps([{"tool": "list_documents", "what": "Brown"}])}, refuses=True
    )
    cupboard = Cupboard()
    of = researcher(Shelf(CHUNKS), model, documents=cupboard, in_words=in_words)
    for number in (1, 2):
        _, answer, trace = await traced(of)
        assert answer.usage == model.usage
        assert answer.citations
        assert len(trace.calls) == answer.usage.calls
        refused = [call for call in trace.calls if call.failure == "ModelWithoutTools"]
        assert len(refused) == (0 if in_words and number == 2 else 1)
        assert ("tools were asked for in words: the endpoint took none" in trace.degraded) is bool(in_words and refused)
        assert bool(model.asked("next")) is in_words
        assert bool(model.asked("plan")) is not in_words
        model.usage = Usage()
    assert bool(cupboard.asked) is in_words


async def test_calls_that_a_model_writes_as_text_are_made_too() -> None:
    model, cupboard = (
        CallingResearchModel(turns=['```json\n[{"name": "list_documents", "arguments": "Brown"}]\n```']),
        Cupboard(),
    )
    await run(researcher(Shelf(CHUNKS), model, documents=cupboard))
    assert cupboard.asked == [("listed", "Brown")]
    silent = CallingResearchModel(NOT_YET, turns=[FIRST, "I have all that I need."])
    _, answer = await run(researcher(Shelf(CHUNKS), silent))
    assert "Where was Ada Brown born?" in answer.notes or answer.citations


@pytest.mark.parametrize("in_words", [True, False], ids=["auto", "native"])
async def test_a_model_that_is_told_of_no_tools_is_asked_in_words_if_that_may_be(in_words: bool) -> None:
    model = CallingResearchModel(
        {"next": lambda messages: json.dumps([{"tool": "list_documents", "what": "Brown"}])},
        turns=["I would look for the founder."],
    )
    cupboard = Cupboard()
    _, answer, trace = await traced(researcher(Shelf(CHUNKS), model, documents=cupboard, in_words=in_words))
    assert bool(cupboard.asked) is in_words
    assert ("tools were asked for in words: the endpoint took none" in trace.degraded) is in_words
    assert len(trace.calls) == answer.usage.calls
    assert answer.usage == model.usage


async def test_a_failed_call_is_told_as_one() -> None:
    model = CallingResearchModel(NOT_YET, turns=[[*FIRST, ("read_document", {"what": "docs:none"})], []])
    shelf = Shelf(CHUNKS, fails=lambda question: ModelUnreachable("x") if "Who founded" in question.text else None)
    events, _ = await run(researcher(shelf, model))
    assert Outcome.FAILED in {outcome for _, outcome in lines(events)}
    results = [text for _, text in talked(model.with_tools[1])]
    assert results == [
        "It failed, or was not done in time.", "- docs:brown  (Ada Brown)", "Nothing of use was found.",
    ]  # fmt: skip


async def test_old_results_give_way_to_the_findings_that_stand_for_them() -> None:
    facts = [chunk(f"n{at}", f"Glider {at} was sold to customer {at} in Leyton in {1900 + at}.") for at in range(24)]
    turns: list[Calls] = [
        [("search", {"what": f"sold to customer {at}"}) for at in range(n, n + 4)] for n in (0, 4, 8, 12)
    ]
    model = CallingResearchModel(NOT_YET, turns=[*turns, "[]"], context_window=3_000, max_tokens=300)
    _, answer = await run(researcher(Shelf(facts, top=4), model, limits=Limits(rounds=4, searches=16, tokens=10**6)))
    assert len(model.with_tools) == 5
    last = model.with_tools[3]
    assert 0 < len(talked(last)) < 12
    assert talked(last)[-1][0] == '{"what": "sold to customer 11"}'
    assert "[ID:" in last[-1].text
    assert prompt_tokens(last, offline_tokenizer()) <= 3_000 - 300
    assert answer.citations


@pytest.mark.soak
@pytest.mark.parametrize("where", ["text", "title"])
async def test_what_a_tool_gives_is_bounded_however_much_it_is(where: str) -> None:
    long = "The Kestrel was founded in 1990 by Ada Brown and sold a glider. " * 4_000
    huge = chunk(
        "kestrel", *((long,) if where == "text" else (CHUNKS[0].text,)), title=long if where == "title" else ""
    )

    class Full(Cupboard):
        async def read(self, question: Question, document_id: str) -> Sequence[ScoredChunk]:
            return [ScoredChunk(chunk=huge, score=0.5)] * 12

        listed = read

    asks: Calls = [("read_document", {"what": "docs:kestrel"}), ("list_documents", {"what": "Kestrel"})]
    model = CallingResearchModel(NOT_YET, turns=[asks, [("read_document", {"what": "docs:more"})], "[]"])
    _, answer = await run(researcher(Shelf(CHUNKS), model, documents=Full(), limits=Limits(rounds=2, tokens=10**6)))
    assert len(model.with_tools) == 3
    assert all(prompt_tokens(one, offline_tokenizer()) < 4_000 for one in model.with_tools)
    assert answer.citations


BAD: Sequence[Calls | ModelError | str] = (
    (), [("search", {"what": f"Kestrel part {n}"}) for n in range(500)], [("shell", "rm")] * 70, "NOTHING", ModelUnreachable("x"),
    [("search", '{"what": "' + "x" * 9_000)] * 9, [("search", "[" * 3_000), ("search", "{1}" * 400)],
    [("search", {"what": QUESTION.text})] * 40, [("read_document", {"what": "docs:brown"}), ("list_documents", {"a": "Brown"})],
    [("web_search", {"what": "@everyone https://evil.example"})], ModelBadOutput("odd", raw=""), [("", "")],
)  # fmt: skip


@settings(max_examples=scaled(8))
@given(seed=st.integers(0, 10**9))
def test_whatever_it_calls_no_limit_is_passed(seed: int) -> None:
    draw = random.Random(seed)

    def say(messages: Sequence[Message]) -> str | ModelError:
        return draw.choice((*RUBBISH, quoting(messages)))

    parts = ("plan", "finding", "judge", "answer", "next", "reflect", "rank", "shorten")
    model = CallingResearchModel(
        dict.fromkeys(parts, say), turns=draw.sample(BAD, len(BAD)), refuses=draw.random() < 0.1,
        context_window=draw.choice((2_000, 8_000)), seconds=draw.choice((0.0, 5.0)),
    )  # fmt: skip
    limits = Limits(rounds=draw.randint(1, 4), searches=draw.randint(1, 8), tokens=draw.choice((6_000, 60_000)))
    shelf, cupboard, web = Shelf(CHUNKS, seconds=draw.choice((0.0, 9.0))), Cupboard(), Web()
    of = researcher(shelf, model, documents=cupboard, web=web, limits=limits)
    virtual.run(within_limits(of, model, limits, shelf, cupboard))
    assert len(model.with_tools) <= 2 * (limits.rounds + 1)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ('{"what": "Who owns it?"}', "Who owns it?"),
        ('{"other": 1, "query": "Who owns it?"}', "Who owns it?"),
        ('{"a": "no", "what": "Who owns it?"}', "Who owns it?"),
        ('"{\\"what\\": \\"Who owns it?\\"}"', "Who owns it?"),
        ('{"what": "Who owns it?"', "Who owns it?"),
        ("{'what': 'Who owns it?'}", "Who owns it?"),
        ("Who owns it?", "Who owns it?"),
        ("", ""), ("{}", ""), ("[]", ""), ("7", ""), ("null", ""), ('{"what": 7}', ""), ('{"what": "?!"}', ""),
        ("[" * 9_000, ""), ('{"what": "' + "x" * 20_000 + '"}', ""), ('{"what": "' + "x" * 2 * MOST_MENDED, ""),
    ],
)  # fmt: skip
def test_arguments_are_mended_or_answered(arguments: str, line: str) -> None:
    (said,) = read_calls([ToolCall(id="a", name="search", arguments=arguments)], 4, ALL, []).said
    assert (said.line, said.fault) == ((line, None) if line else ("", State.BROKEN))
    assert isinstance(json.loads(said.call.arguments), dict)
    assert len(said.call.arguments) < 3_000


def test_what_a_length_limit_cut_is_not_mended() -> None:
    calls = made([("search", {"what": "whole"}), ("search", '{"what": "Who ow')])
    assert [one.fault for one in read_calls(calls, 4, ALL, [], cut=True).said] == [None, State.BROKEN]


def test_five_hundred_calls_are_bounded_and_counted() -> None:
    read = read_calls(made([("read_document", {"what": f"docs:{n}"}) for n in range(500)]), 4, ALL, [])
    assert read.plan.questions == tuple(f"read_document: docs:{n}" for n in range(4))
    assert len(read.plan.cut) == 496
    assert [one.fault for one in read.said] == [None] * 4 + [State.BEYOND] * 4
    twice = read_calls(
        made([("read_document", {"what": f"docs:{n % 9}"}) for n in range(500)]), 4, ALL, ["read_document: docs:8"]
    )
    assert twice.plan.cut == tuple(f"read_document: docs:{n}" for n in range(4, 8))
    only_web = read_calls(made([("web_search", {"what": "x"})]), 4, (Tool.SEARCH,), [])
    assert [one.fault for one in only_web.said] == [State.UNKNOWN]


@given(
    st.lists(
        st.builds(
            ToolCall,
            id=st.sampled_from(("", "a", "b", "call00000")) | st.text(max_size=80),
            name=st.sampled_from(ALL) | st.text(max_size=80),
            arguments=st.sampled_from(('{"what": "Kestrel"}', "{", "")) | st.text(max_size=20),
        ),
        max_size=12,
    ),
    st.integers(0, 4),
)
def test_what_is_sent_back_keeps_the_rules(calls: list[ToolCall], most: int) -> None:
    read = read_calls(calls, most, ALL, [], ids=["a"])
    ids = [one.call.id for one in read.said]
    assert len({*ids, "a"}) == len(ids) + 1
    assert all(0 < len(one) <= 64 for one in ids)
    assert all(one.call.name.isascii() and 0 < len(one.call.name) <= 64 for one in read.said)
    assert [one.line for one in read.said if one.fault is None] == list(read.plan.questions)
    assert len(read.plan.questions) <= most
    assert len(read.said) <= 2 * most
