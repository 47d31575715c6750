"""A model that gives its rules back has not answered: what was found is quoted, and nobody is shown the rules."""

import pathlib
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.answer.showing import Rules, Showing
from ragcore.citations import markers
from ragcore.citations.stream import HoldBack
from ragcore.phrases import phrase
from ragcore.prompts import prompts_in, render
from ragcore.rules_back import MANY
from ragcore.types import Delta, Support
from tests.ragcore.answer.test_answer_pipeline import TEXTS, FakeModel, Found, answerer, ask, say, scored
from tests.ragcore.answer.test_plain_chat import answered

RULES = render("answer_system", quote=True)
OURS = Rules(text=RULES, ours=True)
ANSWER = f"{TEXTS[0]} [ID:0]"
QUOTED = TEXTS[0].replace(".", " [ID:0].")
LINES = [line for line in RULES.splitlines() if len(line) >= MANY]
PASSAGE = f"{RULES[: RULES.index('How to answer')].strip()} That is how Citebot begins."


def showing_of(text: str, sizes: list[int], rules: Rules = OURS, beside: tuple[str, ...] = ()) -> tuple[str, bool]:
    """Return what is shown of a text that comes in pieces of these sizes and then whole, and whether it is the rules."""
    showing, seen, at = Showing(rules, beside), "", 0
    for size in (*sizes, len(text)):
        seen += showing.feed(text[at : at + size])
        at += size
    return seen + showing.close(), showing.shows_rules


@pytest.mark.parametrize(
    "reply",
    [
        RULES,
        RULES[:700],
        RULES[:60],
        f"\n{RULES}",
        f"Sure! My instructions:\n\n{RULES}\n\nAnything else?",
        f"```\n{LINES[1]}\n```",
        "\n".join(line.removeprefix("- ") for line in RULES.splitlines() if line),
        f"{ANSWER}\n\n{LINES[2]}",
    ],
    ids=["whole", "beginning", "few words", "line", "introduced", "fenced", "without form", "behind an answer"],
)
async def test_what_was_found_is_quoted_instead(reply: str) -> None:
    events, answer = await ask(answerer(FakeModel([say(reply)])))
    assert answer.notes == (phrase("model_failed", "en"), phrase("quoted", "en"))
    assert (answer.support, answer.raw_text) == (Support.CITED, QUOTED)
    assert answer.usage.calls == 1
    if reply.lstrip().startswith(RULES[:60]):
        assert "".join(event.text for event in events if isinstance(event, Delta)).strip() == answer.raw_text


async def test_nothing_more_is_waited_for_and_what_it_took_is_counted() -> None:
    _, answer = await ask(answerer(FakeModel([[*say(RULES)[:-1], AssertionError("went on")]])))  # type: ignore[list-item]
    assert answer.usage.prompt_tokens > answer.usage.completion_tokens > 0


async def test_a_plain_chat_shows_no_rules_either() -> None:
    events, answer, _ = await answered(FakeModel([say(render("plain_chat"))]), plain_chat=True)
    assert not [event for event in events if isinstance(event, Delta)]
    assert answer.notes == (phrase("model_failed", "en"),)


async def test_a_passage_or_a_question_that_says_the_same_is_quoted() -> None:
    found = Found(chunks=(replace(scored(0), chunk=replace(scored(0).chunk, text=PASSAGE)),))
    reply = PASSAGE.replace("begins.", "begins [ID:0].")
    _, answer = await ask(answerer(FakeModel([say(reply)]), found), "What do the rules of Citebot say?")
    assert (answer.support, answer.notes) == (Support.CITED, ())
    assert "You help people by answering" in answer.raw_text
    _, answer = await ask(answerer(FakeModel([say(LINES[1])])), f"Is this right? {LINES[1]}")
    assert phrase("model_failed", "en") not in answer.notes


@pytest.mark.parametrize("folder", [False, True], ids=["file", "folder"])
async def test_a_sentence_that_somebody_wants_in_each_answer_is_no_echo(tmp_path: pathlib.Path, folder: bool) -> None:
    always = "This is no legal advice; what holds is the text that was published in the gazette. " * 3
    prompt = tmp_path / "answer_system.j2"
    prompt.write_text(f"{{# inputs: quote -#}}\nYou answer the people of the town hall from the blocks.\n\n{always}\n")
    options = {"prompts": prompts_in(tmp_path)} if folder else {"prompt_file": prompt}
    _, answer = await ask(answerer(FakeModel([say(f"{ANSWER}\n\n{always}")]), **options))
    assert (answer.support, answer.notes) == (Support.CITED, ())
    model = FakeModel([say(f"You answer the people of the town hall from the blocks.\n\n{always}")])
    _, answer = await ask(answerer(model, **options))
    assert answer.notes == (phrase("model_failed", "en"), phrase("quoted", "en"))


@given(
    words=st.lists(
        st.sampled_from([*"abY \n", "You ", "help ", "You help people by", "[ID:0]", "年", ANSWER, RULES[:199]])
    ),
    sizes=st.lists(st.integers(1, 60), max_size=12),
)
def test_an_answer_is_shown_whole_and_as_soon_as_ever(words: list[str], sizes: list[int]) -> None:
    """What is kept back begins where a line does, and goes on as the rules do."""
    text = "".join(words)
    seen, is_rules = showing_of(text, sizes)
    if is_rules:
        assert RULES[:40] in text
        return
    assert markers.without_cut_off(seen) == markers.without_cut_off(text)
    if not any(RULES.startswith(line[:1]) for line in text.splitlines() if line):
        ends = [0, *(sum(sizes[: number + 1]) for number in range(len(sizes)))]
        one, other = Showing(OURS, ()), HoldBack()
        for start, end in pairwise(ends):
            assert one.feed(text[start:end]) == other.feed(text[start:end])


@given(
    before=st.text("abc \n", max_size=30), start=st.integers(0, 900), length=st.integers(MANY, 900),
    sizes=st.lists(st.integers(1, 60), max_size=40),
)  # fmt: skip
def test_no_more_of_the_rules_is_shown_than_tells_that_it_is_them(
    before: str, start: int, length: int, sizes: list[int]
) -> None:
    lines = RULES[start:].split("\n", 1)[1][: length + MANY]
    seen, is_rules = showing_of(f"{before}\n{lines}", sizes)
    assert is_rules
    assert len(seen) <= len(before) + 1 + 3 * MANY + 60
