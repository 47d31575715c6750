"""What goes to a person is understood by somebody who did not hear what was said before."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.platform import Asker
from bots.requests import Event, Explained, Request, Why
from bots.turn.people.values import LONGEST_TITLE, title_of
from bots.turn.people.wording import LEAST_BEFORE, told_alone, worded_in
from ragcore.trace import Call, Search, Trace
from ragcore.types import Message
from tests.bots.turn.flows import BEGINNING, Model, flowing, virtual_now
from tests.bots.turn.owned import OWNED, Scene, scene, unsure
from tests.fakes.platform import asked
from tests.fakes.virtual import run

FIRST, FOLLOWUP = "How many days of leave may be carried over?", "And in Hamburg?"
WORDED = "How many days of leave may be carried over in Hamburg?"
SAID = ((FIRST, "Five [ID:0]."), (FOLLOWUP, "Six."))


def trace(reply: str, *searches: str) -> Trace:
    """Return how an answer came about for which a question was put in other words."""
    call = Call(task="rewrite", model="m", began=0.0, took=1.0, messages=(Message(role="user", text="?"),), reply=reply)
    return Trace(
        question=FOLLOWUP, asked_at=BEGINNING, calls=(call,), searches=tuple(Search(text=one) for one in searches)
    )


REWRITTEN = trace(f'{{"question": "{WORDED}", "translations": {{"German": "Wie viele?"}}}}', "Wie viele?", WORDED)


class Knowing(Model):
    """Knows what a question was searched by, where one of ``readers`` asks."""

    def __init__(self, *readers: str) -> None:
        super().__init__(unsure)
        self.readers = readers

    async def run(self, request: Request) -> AsyncIterator[Event]:
        if isinstance(request, Why):
            hidden = request.audience is None or request.audience.isdisjoint(self.readers)
            yield Explained(reference=request.reference, trace=replace(REWRITTEN, searches=()) if hidden else REWRITTEN)
            return
        async for event in super().run(request):
            yield event


async def taken(here: Scene, *questions: str, **of_the_first: Any) -> tuple[str, str]:
    """Ask one question after the other, take the last one to a person, and return the card and a reply's title."""
    for number, question in enumerate(questions):
        more = of_the_first if number == 0 else {}
        await here.flow.turns.receive(replace(asked(question, message=f"q{number}", sent_at=virtual_now()), **more))
        await here.flow.idle()
    (claim,) = await here.flow.claims.by_message(asked("").conversation, f"q{len(questions) - 1}")
    assert await here.flow.turns.ask_person(claim.reference, "U1") == "asked"
    await here.settled()
    return here.card().text, (await here.reply()).title


def test_a_followup_goes_with_the_question_that_it_leans_on() -> None:
    async def body() -> None:
        async with scene() as here:
            card, title = await taken(here, "Who approves it?", FIRST, FOLLOWUP, "And why there?")
            assert title == f"{FIRST} {FOLLOWUP} And why there?"
            assert all(one in card for one in (FIRST, FOLLOWUP, "And why there?"))
            assert "Who approves it?" not in card

    run(body())


@pytest.mark.parametrize("before", [f"{FIRST} (private)", "reset"])
def test_what_was_said_to_others_or_is_forgotten_stays_where_it_is(before: str) -> None:
    async def body() -> None:
        async with scene() as here:
            private = before != "reset"
            more = {"private": private, "asker": Asker(id="U2" if private else "U1")}
            questions = (before, FOLLOWUP) if private else (FIRST, before, FOLLOWUP)
            card, title = await taken(here, *questions, **more)
            assert title == FOLLOWUP
            assert FIRST not in card

    run(body())


@pytest.mark.parametrize(("readers", "words"), [(("a", "b"), WORDED), (("a",), f"{FIRST} {FOLLOWUP}")])
def test_the_words_that_were_searched_go_where_every_reader_may_read_what_they_rest_on(
    readers: tuple[str, ...], words: str
) -> None:
    async def body() -> None:
        options = replace(OWNED, readers_of={"handbook": ("*", "b")})
        model = Knowing(*(one.replace("a", "*") for one in readers))
        async with flowing(options=options, model=model) as flow:
            await flow.turns.connected()
            card, title = await taken(Scene(flow), FIRST, FOLLOWUP)
            assert title == words
            assert words.partition("?")[0] in card

    run(body())


def test_what_stands_alone_goes_as_it_is() -> None:
    alone = "What does the canteen of the Munich office offer on Fridays?"
    assert told_alone(alone, SAID, WORDED) == alone
    assert told_alone(FOLLOWUP, ()) == FOLLOWUP
    assert told_alone(FOLLOWUP, SAID[:1], WORDED) == WORDED
    assert told_alone(FOLLOWUP, SAID) == f"{FIRST}\n{FOLLOWUP}", "asked once more, as a research is"


@given(first=st.integers(1, 400), between=st.integers(0, 9), length=st.integers(0, 300))
def test_the_question_and_what_it_leans_on_have_room_in_a_title(first: int, between: int, length: int) -> None:
    said = [("Leave " * first, "Five."), *(((FOLLOWUP, "Six."),) * between)]
    question = f"And {'there ' * (length // 6)}in May?"
    told = told_alone(question, said)
    before = told.removesuffix(question)
    assert before != told
    assert len(before) <= max(LEAST_BEFORE, LONGEST_TITLE - len(question) - 1) + 1
    if len(question) < LONGEST_TITLE - LEAST_BEFORE:
        assert title_of(told) == " ".join(told.split())
    assert before.startswith("Leave")


def test_only_what_was_searched_counts_as_a_wording() -> None:
    assert worded_in(REWRITTEN) == WORDED
    assert worded_in(trace(WORDED, WORDED)) == WORDED, "a small model writes the sentence alone"
    for one in (trace("{}", FOLLOWUP), trace(WORDED, FOLLOWUP), trace("", ""), trace('["x"]', "x")):
        assert worded_in(one) == ""
    assert worded_in(trace(f'{{"question": "{FOLLOWUP}"}}', FOLLOWUP)) == "", "it says no more than was asked"
