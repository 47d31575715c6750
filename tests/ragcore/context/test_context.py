"""The fit: never over the budget, and what gives way does so in the promised order."""

import copy
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.context import (
    MESSAGE_TOKENS,
    REPLY_TOKENS,
    default_budget,
    fit_chunks,
    fit_prompt,
    message_fit_in,
    prompt_tokens,
)
from ragcore.errors import ContextTooSmall
from ragcore.prompts import render
from ragcore.tokens import BpeTokenizer, Tokenizer, offline_tokenizer
from ragcore.types import Message, Role
from tests.ragcore.counting import CountingEncoder
from tests.ragcore.nasty import FRAGMENTS, NASTY

TOKENIZER = offline_tokenizer()
QUESTION_TOKENS = 64
"""Of a question at least so many stay: the demand's own figure, not the code's."""


def words(count: int, word: str = "word") -> str:
    """Return a text of exactly this many tokens."""
    return f" {word}" * count


def system(text: str) -> Message:
    return Message(role="system", text=text)


def user(text: str) -> Message:
    return Message(role="user", text=text)


def assistant(text: str) -> Message:
    return Message(role="assistant", text=text)


def size(*tokens: int) -> int:
    """Return the prompt's size for messages of these token counts."""
    return REPLY_TOKENS + sum(tokens) + MESSAGE_TOKENS * len(tokens)


def rounds(count: int, tokens: int = 50) -> list[Message]:
    return [
        message
        for number in range(count)
        for message in (user(f"q{number}" + words(tokens)), assistant(f"a{number}" + words(tokens)))
    ]


class TestSeedForm:
    def test_what_fits_is_returned_as_it_is(self) -> None:
        messages = [system("rules"), user("hello"), assistant("hi"), user("and?")]
        count, fitted = message_fit_in(messages, 4000)
        assert fitted == messages
        assert count == prompt_tokens(messages, TOKENIZER)

    def test_an_exact_fit_keeps_everything(self) -> None:
        messages = [system(words(30)), *rounds(3), user(words(10))]
        exact = prompt_tokens(messages, TOKENIZER)
        assert message_fit_in(messages, exact) == (exact, messages)

    def test_one_token_too_many_drops_the_oldest_round_alone(self) -> None:
        messages = [system(words(30)), *rounds(4), user(words(10))]
        count, fitted = message_fit_in(messages, prompt_tokens(messages, TOKENIZER) - 1)
        assert fitted == [messages[0], *messages[3:]]
        assert count == prompt_tokens(fitted, TOKENIZER)

    def test_no_message_at_all(self) -> None:
        assert message_fit_in([], 4000) == (0, [])

    def test_empty_texts(self) -> None:
        messages = [system(""), user("")]
        assert message_fit_in(messages, 100) == (size(0, 0), messages)

    def test_a_question_alone(self) -> None:
        count, fitted = message_fit_in([user(words(5000))], 100)
        assert count <= 100
        assert TOKENIZER.count(fitted[0].text) >= 90

    def test_system_messages_alone(self) -> None:
        assert message_fit_in([system(words(10))], size(10)) == (size(10), [system(words(10))])
        with pytest.raises(ContextTooSmall):
            message_fit_in([system(words(10))], size(10) - 1)

    def test_the_last_message_is_kept_whatever_its_role(self) -> None:
        messages = [system(words(5)), *rounds(5), assistant(words(20))]
        _, fitted = message_fit_in(messages, size(5, 20))
        assert fitted == [messages[0], messages[-1]]

    def test_a_system_message_after_the_question_stays_there(self) -> None:
        messages = [system(words(5)), *rounds(5), user(words(20)), system(words(5))]
        _, fitted = message_fit_in(messages, size(5, 20, 5))
        assert fitted == [messages[0], *messages[-2:]]


class TestInputsThatBreakRagflow:
    """Found in its newest version by research; each is said to fail there, and must not here."""

    def test_a_large_system_message_never_empties_the_question(self) -> None:
        with pytest.raises(ContextTooSmall):
            message_fit_in([system(words(8000)), user(words(3000))], 7000)
        count, fitted = message_fit_in([system(words(6000)), user(words(3000))], 7000)
        assert 6990 <= count <= 7000
        assert TOKENIZER.count(fitted[0].text) == 6000
        assert TOKENIZER.count(fitted[1].text) >= 980

    def test_knowledge_beside_a_question_gives_way_first(self) -> None:
        blocks = [f"ID: {n}\n" + words(400) for n in range(20)]
        fitted = fit_prompt([system(words(100)), user(words(3000))], 7000, knowledge=blocks)
        assert fitted.messages[-1].text == words(3000)
        assert 7000 - 420 < fitted.count <= 7000
        assert fitted.blocks == 9

    def test_a_large_question_never_empties_the_system_message(self) -> None:
        with pytest.raises(ContextTooSmall):
            message_fit_in([system(words(9000)), user(words(2000))], 1500)
        _, fitted = message_fit_in([system(words(1000)), user(words(9000))], 1500)
        assert fitted[0].text == words(1000)

    def test_history_does_not_go_at_once(self) -> None:
        messages = [*rounds(10, 3), user("and?")]
        whole = prompt_tokens(messages, TOKENIZER)
        for budget in range(whole, size(3), -1):
            count, fitted = message_fit_in(messages, budget)
            assert whole - count <= whole - budget + 2 * (MESSAGE_TOKENS + 6)
            assert fitted == messages[len(messages) - len(fitted) :]

    def test_every_system_message_counts(self) -> None:
        messages = [system(words(500)), system(words(500)), user(words(100))]
        with pytest.raises(ContextTooSmall):
            message_fit_in(messages, 600)
        count, fitted = message_fit_in(messages, 1100)
        assert count <= 1100
        assert [m.text for m in fitted[:2]] == [words(500), words(500)]

    def test_special_tokens_are_text(self) -> None:
        document = "<|endoftext|>" + words(5000)
        count, fitted = message_fit_in([system("rules"), user(document)], 1000)
        assert 900 < count <= 1000
        assert fitted[1].text.startswith("<|endoftext|>")
        block = fit_prompt([system("rules"), user("?")], 1000, knowledge=[document])
        assert block.count <= 1000

    def test_a_cut_never_splits_a_character(self) -> None:
        for budget in range(90, 130):
            _, fitted = message_fit_in([user("👩‍👩‍👧‍👦🇩🇪한국어中文" * 200)], budget)
            assert "\ufffd" not in fitted[0].text

    def test_the_input_is_not_changed(self) -> None:
        messages = [system(words(50)), *rounds(10), user(words(500))]
        before = copy.deepcopy(messages)
        message_fit_in(messages, 400, knowledge=[words(50)])
        assert messages == before

    def test_rules_after_the_knowledge_are_not_lost(self) -> None:
        messages = [system(words(20)), system("Cite with [ID:n]."), user("why?")]
        fitted = fit_prompt(messages, 300, knowledge=[words(100) for _ in range(20)])
        assert fitted.messages[1] == messages[1]
        assert fitted.messages[0].text.startswith(words(20))

    def test_the_citation_rules_are_counted_and_whole(self) -> None:
        rules = render("answer_system", quote=True)
        assert render("citation_rules") in rules
        messages = [system(rules), *rounds(40), user(words(500))]
        for budget in (8192, 4096, 2600):
            fitted = fit_prompt(messages, budget, knowledge=[words(400)] * 20, reserve=512)
            assert fitted.count == prompt_tokens(fitted.messages, TOKENIZER) <= budget - 512
            assert fitted.messages[0].text.startswith(rules)

    @pytest.mark.parametrize("budget", [0, -1, -8192])
    def test_no_budget_at_all_is_refused_not_replaced(self, budget: int) -> None:
        with pytest.raises(ContextTooSmall):
            message_fit_in([user("hello")], budget)

    def test_one_block_larger_than_the_budget_is_not_let_through(self) -> None:
        fitted = fit_prompt([system("rules"), user("?")], 1000, knowledge=[words(5000)])
        assert fitted.blocks == 1
        assert fitted.count <= 1000

    def test_an_empty_block_loses_no_other(self) -> None:
        fitted = fit_prompt([system("rules"), user("?")], 1000, knowledge=["", words(300), words(300)])
        assert fitted.blocks == 3

    def test_the_reserve_is_kept_free(self) -> None:
        messages = [system(words(20)), user(words(20))]
        assert fit_prompt(messages, 1000, knowledge=[words(90)] * 20, reserve=400).count <= 600
        with pytest.raises(ContextTooSmall, match="400 for the answer"):
            fit_prompt(messages, 440, reserve=400)


class TestKnowledge:
    def test_the_block_that_breaks_the_budget_is_left_out(self) -> None:
        blocks = [words(400)] * 3
        kept = fit_chunks(blocks, 1000, TOKENIZER)
        assert kept == tuple(blocks[:2])

    def test_a_best_block_larger_than_the_budget_is_cut(self) -> None:
        (kept,) = fit_chunks(["ID: 0\n" + words(5000), words(10)], 1000, TOKENIZER)
        assert kept.startswith("ID: 0\n")
        assert 128 <= TOKENIZER.count(kept) <= 1000

    def test_no_room_for_a_useful_beginning(self) -> None:
        assert fit_chunks([words(5000)], 100, TOKENIZER) == ()
        assert fit_chunks([], 100, TOKENIZER) == ()
        assert fit_chunks(["x"], -5, TOKENIZER) == ()

    def test_an_empty_block_shifts_nothing(self) -> None:
        blocks = [words(10), "", words(10)]
        assert fit_chunks(blocks, 100, TOKENIZER) == tuple(blocks)

    @given(lengths=st.lists(st.integers(0, 60), max_size=12), budget=st.integers(0, 500))
    def test_as_many_of_the_first_as_fit(self, lengths: list[int], budget: int) -> None:
        blocks = [f"ID: {n}\n" + words(length) for n, length in enumerate(lengths)]
        kept = fit_chunks(blocks, budget, TOKENIZER)
        assert kept == tuple(blocks[: len(kept)]) or len(kept) == 1
        assert TOKENIZER.count("\n------\n".join(kept)) <= budget
        if 0 < len(kept) < len(blocks) and kept[0] == blocks[0]:
            assert TOKENIZER.count("\n------\n".join(blocks[: len(kept) + 1])) > budget

    def test_blocks_join_the_first_system_message(self) -> None:
        fitted = fit_prompt([system("rules"), user("?")], 500, knowledge=["ID: 0\nx", "ID: 1\ny"])
        assert fitted.messages[0].text == "rules\n\nID: 0\nx\n------\nID: 1\ny"
        assert fitted.blocks == 2

    def test_blocks_without_a_system_message_get_one(self) -> None:
        fitted = fit_prompt([user("?")], 500, knowledge=["ID: 0\nx"])
        assert fitted.messages == (system("ID: 0\nx"), user("?"))

    def test_blocks_give_way_before_rounds(self) -> None:
        """Ten blocks of 100, ten rounds of 100: as the room shrinks, first the blocks go, then the rounds."""
        messages = [system("rules"), *rounds(10, 42), user("and?")]
        blocks = [words(100)] * 10
        seen = [
            (fit.blocks, fit.history // 2)
            for budget in range(2400, 60, -20)
            for fit in [fit_prompt(messages, budget, knowledge=blocks)]
        ]
        assert seen[0] == (10, 10)
        assert seen == sorted(seen, key=sum, reverse=True)
        assert all(r == 10 for b, r in seen if b), "no round goes while a block can"
        assert {(9, 10), (1, 10), (0, 10), (0, 5), (0, 0)} <= set(seen)

    def test_a_newest_round_too_large_leaves_its_room_to_knowledge(self) -> None:
        messages = [system("rules"), *rounds(3), user("long"), assistant(words(2000)), user("and?")]
        fitted = fit_prompt(messages, 1000, knowledge=[words(100)] * 20)
        assert fitted.history == 0
        assert fitted.blocks >= 8


class TestQuestion:
    def test_head_and_tail_stay(self) -> None:
        text = "FIRST" + words(2000) + " LAST"
        fitted = fit_prompt([system(words(20)), user(text)], 200)
        assert fitted.question_cut
        assert fitted.messages[-1].text.startswith("FIRST")
        assert fitted.messages[-1].text.endswith("LAST")
        assert "…" in fitted.messages[-1].text
        assert 195 <= fitted.count <= 200

    def test_the_smallest_budget(self) -> None:
        messages = [system(words(20)), user(words(2000))]
        least = size(20, QUESTION_TOKENS)
        fitted = fit_prompt(messages, least)
        assert fitted.count == least
        with pytest.raises(ContextTooSmall):
            fit_prompt(messages, least - 1)

    def test_a_short_question_needs_only_its_length(self) -> None:
        messages = [system(words(20)), user(words(7))]
        assert fit_prompt(messages, size(20, 7)).messages == tuple(messages)
        with pytest.raises(ContextTooSmall):
            fit_prompt(messages, size(20, 7) - 1)

    @pytest.mark.parametrize("unit", [*FRAGMENTS, "👩‍👩‍👧‍👦 family ", "🇩🇪🇫🇷"])
    def test_the_smallest_budgets_keep_64_tokens_of_anything(self, unit: str) -> None:
        text = unit * 400
        while TOKENIZER.count(text) < 200:
            text += text
        for room in range(QUESTION_TOKENS, QUESTION_TOKENS + 24):
            fitted = fit_prompt([system(words(20)), user(text)], size(20, room))
            kept = fitted.messages[-1].text
            assert QUESTION_TOKENS <= TOKENIZER.count(kept) <= room
            assert fitted.count == size(20, TOKENIZER.count(kept)) <= size(20, room)
        with pytest.raises(ContextTooSmall):
            fit_prompt([system(words(20)), user(text)], size(20, QUESTION_TOKENS - 1))


TEXTS = st.one_of(st.integers(0, 120).map(words), NASTY)
ROLES: st.SearchStrategy[Role] = st.sampled_from(["user", "assistant", "user", "assistant", "system"])
CONVERSATIONS = st.lists(st.builds(lambda role, text: Message(role=role, text=text), ROLES, TEXTS), max_size=14)


@given(
    messages=CONVERSATIONS,
    budget=st.integers(0, 900),
    reserve=st.integers(0, 100),
    blocks=st.lists(TEXTS, max_size=6),
)
def test_any_conversation(messages: list[Message], budget: int, reserve: int, blocks: list[str]) -> None:
    before = copy.deepcopy((messages, blocks))
    spoken = [message for message in messages if message.role != "system"]
    rules = [message for message in messages if message.role == "system"]
    try:
        fitted = fit_prompt(messages, budget, knowledge=blocks, reserve=reserve)
    except ContextTooSmall:
        least = min(TOKENIZER.count(spoken[-1].text), QUESTION_TOKENS) + MESSAGE_TOKENS if spoken else 0
        assert (prompt_tokens(rules, TOKENIZER) or REPLY_TOKENS) + least > budget - reserve
        return
    finally:
        assert (messages, blocks) == before

    assert fitted.count == prompt_tokens(fitted.messages, TOKENIZER)
    if fitted.messages:
        assert fitted.count <= budget - reserve
    assert_system_messages_stay(rules, fitted.messages)
    kept = [message for message in fitted.messages if message.role != "system"]
    assert len(kept) == fitted.history + bool(spoken)
    assert kept[:-1] == spoken[len(spoken) - len(kept) : -1], "the newest of the history, in order"
    if spoken and not fitted.question_cut:
        assert kept[-1] == spoken[-1]
    elif spoken:
        assert TOKENIZER.count(kept[-1].text) >= QUESTION_TOKENS
        assert fitted.history == fitted.blocks == 0
    if kept and fitted.history:
        first = len(spoken) - len(kept)
        assert spoken[first].role == "user" or first == 0, "whole rounds"
    again = fit_prompt(fitted.messages, budget, reserve=reserve)
    assert (again.count, again.messages) == (fitted.count, fitted.messages)


def assert_system_messages_stay(rules: list[Message], fitted: Sequence[Message]) -> None:
    kept = [message.text for message in fitted if message.role == "system"]
    assert len(kept) - len(rules) in ((0, 1) if not rules else (0,))
    for rule, text in zip(rules, kept, strict=False):
        assert text.startswith(rule.text)


@given(tokens=st.lists(st.integers(1, 60), min_size=1, max_size=12), budget=st.integers(20, 700))
def test_the_next_older_round_would_not_have_fitted(tokens: list[int], budget: int) -> None:
    history = [m for n in tokens for m in (user(words(n)), assistant(words(n)))]
    fitted = fit_prompt([system("be brief"), *history, user("and?")], budget)
    gone = len(history) - fitted.history
    if gone:
        next_round = sum(MESSAGE_TOKENS + TOKENIZER.count(m.text) for m in history[gone - 2 : gone])
        assert fitted.count + next_round > budget


def test_a_turn_costs_its_new_text_only() -> None:
    encoder = CountingEncoder()
    tokenizer: Tokenizer = BpeTokenizer(encoder)
    messages = [system(words(200))]
    costs = []
    for number in range(300):
        messages.append(user(f"question {number}" + words(20)))
        encoder.characters = 0
        message_fit_in(messages, 3000, tokenizer=tokenizer)
        costs.append(encoder.characters)
        messages.append(assistant(f"answer {number}" + words(80)))
    new = len(messages[-1].text) + len(messages[-2].text)
    assert max(costs[5:]) <= new + 20


def test_the_default_budget_is_95_percent_of_the_window() -> None:
    assert default_budget(8192) == 7782
