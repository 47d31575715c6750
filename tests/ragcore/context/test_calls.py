"""Calls of tools in a prompt that is fitted: each stays beside its results, or goes with them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.context import fit_prompt, message_tokens, prompt_tokens
from ragcore.context.results import shortened
from ragcore.errors import ContextTooSmall
from ragcore.models.openai_forms import message_form
from ragcore.tokens import offline_tokenizer
from ragcore.types import Message, ToolCall
from tests.fakes.tool_rules import broken_rule
from tests.soak import scaled

TOKENIZER = offline_tokenizer()
RULES = Message(role="system", text="Use the tools.")


def asks(*ids: str) -> Message:
    calls = tuple(ToolCall(id=one, name="search", arguments='{"what": "leave"}') for one in ids)
    return Message(role="assistant", text="", calls=calls)


def result(id_: str, words: int = 20) -> Message:
    return Message(role="tool", text=" word" * words, answers=id_)


def user(words: int = 20) -> Message:
    return Message(role="user", text=" ask" * words)


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Draw rounds, each of what a user says and any number of calls with their results, with or without an answer."""
    messages = [RULES]
    for round_ in range(draw(st.integers(1, 4))):
        messages.append(user(draw(st.integers(1, 120))))
        for turn in range(draw(st.integers(0, 2))):
            ids = [f"{round_}-{turn}-{at}" for at in range(draw(st.integers(1, 3)))]
            messages += [asks(*ids), *(result(one, draw(st.integers(0, 150))) for one in ids)]
        if draw(st.booleans()):
            messages.append(Message(role="assistant", text=" said" * draw(st.integers(0, 30))))
    return messages


@settings(max_examples=scaled(40))
@given(conversations(), st.integers(40, 900), st.lists(st.integers(1, 60), max_size=2))
def test_no_call_is_parted_from_its_results(messages: list[Message], budget: int, blocks: list[int]) -> None:
    try:
        fitted = fit_prompt(messages, budget, knowledge=[" fact" * size for size in blocks])
    except ContextTooSmall:
        return
    assert fitted.count == prompt_tokens(fitted.messages, TOKENIZER) <= budget
    assert not broken_rule([message_form(one) for one in fitted.messages])
    called = [one.calls for one in fitted.messages if one.calls]
    every = [one.calls for one in messages if one.calls]
    assert called == every[len(every) - len(called) :]
    if messages[-1].role == "tool":
        last = max(at for at, one in enumerate(messages) if one.role == "user")
        behind = [one.answers or one.calls for one in messages[last + 1 :]]
        assert [one.answers or one.calls for one in fitted.messages[-len(behind) :]] == behind
        assert fitted.messages[-len(behind) - 1].role == "user"


def test_old_rounds_go_before_what_tools_gave_for_the_question() -> None:
    old = [user(), asks("a"), result("a"), Message(role="assistant", text="so")]
    new = [user(30), asks("b", "c"), result("b", 300), result("c", 5)]
    whole = [RULES, *old, *new]
    assert list(fit_prompt(whole, 2_000).messages) == whole
    without = fit_prompt(whole, prompt_tokens(whole, TOKENIZER) - 1)
    assert list(without.messages) == [RULES, *new]
    tight = fit_prompt(whole, 250)
    assert [one.role for one in tight.messages] == ["system", "user", "assistant", "tool", "tool"]
    assert tight.messages[-1] == new[-1], "what is short stays whole"
    assert tight.messages[1] == new[0]
    assert 100 < TOKENIZER.count(tight.messages[3].text) < 300


def test_a_huge_result_and_a_long_question_both_fit() -> None:
    huge = [RULES, user(3_000), asks("a"), Message(role="tool", text="leave " * 100_000, answers="a")]
    fitted = fit_prompt(huge, 1_000, reserve=200)
    assert fitted.count <= 800
    assert fitted.question_cut
    assert TOKENIZER.count(fitted.messages[-1].text) > 200
    assert TOKENIZER.count(fitted.messages[1].text) > 200


def test_calls_count() -> None:
    assert message_tokens(asks("a", "b"), TOKENIZER) > message_tokens(asks("a"), TOKENIZER) + 16
    assert message_tokens(result("a", 0), TOKENIZER) == message_tokens(user(0), TOKENIZER) + 1
    with pytest.raises(ContextTooSmall):
        fit_prompt([user(1), asks(*map(str, range(50)))], 300)


@settings(max_examples=scaled(40))
@given(st.lists(st.text(max_size=60), max_size=6), st.integers(-5, 200))
def test_results_are_shortened_to_the_room(results: list[str], room: int) -> None:
    short = shortened(results, room, TOKENIZER)
    assert len(short) == len(results)
    assert sum(map(TOKENIZER.count, short)) <= max(0, room)
    if sum(map(TOKENIZER.count, results)) <= room:
        assert short == results
