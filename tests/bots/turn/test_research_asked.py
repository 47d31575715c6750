"""A research asked for in words, or by the button under an uncertain answer: once, with the presser's own rights."""

import asyncio
import pathlib
import re
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bots.platform import Asker, Button, Incoming, Reach
from bots.rendering.plain import plain_pieces
from bots.requests import Ask, Event
from bots.turn.claims.claim import Outcome
from bots.turn.commands import command_of, help_document, research_of
from bots.turn.options import Rate
from bots.whose import Words
from bots.words.sentences import LANGUAGES, word
from ragcore.errors import ModelUnreachable
from ragcore.types import Answer, Support
from tests.bots.turn.flows import OPTIONS, Flow, Model, answering, flowing, outcome
from tests.fakes.platform import asked
from tests.fakes.virtual import run

SAID = "Where was the founder born?"


def uncertain(support: Support) -> Model:
    """Answer a question so, and a research of it with a cited answer."""

    async def script(request: Ask) -> AsyncIterator[Event]:
        if request.research:
            await asyncio.sleep(5.0)
            async for event in answering(request):
                yield event
            return
        yield Answer(question=request.question, raw_text="Perhaps in Leyton.", support=support)

    return Model(script)


def press(reference: str, *, by: str = "U1", number: int = 1, private: bool = False) -> Incoming:
    """Return a press on the button, as a platform hands it over: without words."""
    incoming = replace(asked("", message=f"p{number}"), keys=(f"press:{number}",), asker=Asker(id=by), private=private)
    return replace(incoming, command="research", reach=Reach.COMMAND, goes_on=reference)


def researches(model: Model) -> list[Ask]:
    return [one for one in model.asked if isinstance(one, Ask) and one.research]


async def answered(flow: Flow, text: str = SAID) -> str:
    """Ask, and return the reference of the answer."""
    await flow.turns.receive(asked(text))
    await flow.idle()
    (claim,) = await flow.claims.by_message(asked("").conversation, "q1")
    return claim.reference


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("research: who founded it?", "who founded it?"),
        ("/research who founded it?", "who founded it?"),
        ("Research：who\nfounded it?", "who\nfounded it?"),
        ("研究：谁创办的？", "谁创办的？"),
        ("深度研究: 谁创办的？", "谁创办的？"),
        ("recherche: Wer war das?", "Wer war das?"),
        ("research leave", ""),
        ("research:", ""),
        ("研究经费怎么申请？", ""),
        ("What is research: a definition", ""),
    ],
)
def test_it_is_asked_for_in_words(text: str, question: str) -> None:
    assert research_of(asked(text), text) == question
    assert research_of(asked(text, reach=Reach.CHANNEL), text) == ""
    assert research_of(asked(text, reach=Reach.COMMAND, command="ask"), text) == ""


@pytest.mark.parametrize(
    ("text", "helps"), [("research:", True), ("/research", True), ("研究：", True), ("research", False)]
)
def test_without_a_question_it_is_help(text: str, helps: bool) -> None:
    command = command_of(asked(text), text)
    assert (command is not None and command.name == "help") == helps
    assert command_of(asked(text, reach=Reach.CHANNEL), text) is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_help_names_it_where_it_is_on(language: str) -> None:
    def shown(*, researches: bool) -> str:
        return "".join(plain_pieces(help_document(language, researches=researches).blocks))

    (named,) = re.findall(r"`([^`]+)`", word("help_research", language))
    assert named in shown(researches=True)
    assert named not in shown(researches=False)
    told = named.replace("…", "TW-350")
    assert research_of(asked(told), told) == "TW-350"


def test_the_words_are_researched_without_their_command() -> None:
    model = uncertain(Support.ABSTAINED)

    async def talk() -> None:
        async with flowing(model=model) as flow:
            await flow.turns.receive(asked(f"research: {SAID}"))
            await flow.idle()

    run(talk())
    (request,) = researches(model)
    assert request.question == SAID


def test_an_edit_makes_a_question_a_research() -> None:
    model = uncertain(Support.ABSTAINED)

    async def talk() -> None:
        async with flowing(model=model) as flow:
            await answered(flow)
            again = asked(f"research: {SAID}")
            await flow.turns.receive(replace(again, edited_at=again.sent_at))
            await flow.idle()

    run(talk())
    assert [one.question for one in researches(model)] == [SAID]


@pytest.mark.parametrize(
    ("support", "offers"),
    [(Support.UNSUPPORTED, True), (Support.NEAREST, True), (Support.ABSTAINED, True), (Support.EXEMPT, False)],
    ids=str,
)
@pytest.mark.parametrize("questions", [10, 0])
def test_it_is_offered_under_an_uncertain_answer_where_it_is_on(support: Support, offers: bool, questions: int) -> None:
    options = replace(OPTIONS, research_rate=Rate(questions=questions, seconds=3600.0))

    async def talk() -> None:
        async with flowing(model=uncertain(support), options=options) as flow:
            await answered(flow)
            assert (Button.RESEARCH in flow.platform.offered[-1]) == (offers and questions > 0)

    run(talk())


def test_two_presses_of_one_person_are_one_research_and_each_person_has_their_own() -> None:
    model = uncertain(Support.NEAREST)

    async def talk() -> None:
        async with flowing(model=model) as flow:
            reference = await answered(flow)
            taken = await asyncio.gather(*(flow.turns.receive(press(reference, number=number)) for number in (1, 2)))
            assert sorted(taken) == [False, True]
            await flow.idle()
            assert not await flow.turns.receive(press(reference, number=3))  # its answer stands
            assert await flow.turns.receive(press(reference, by="U2", number=4))
            await flow.idle()

    run(talk())
    assert [one.question for one in researches(model)] == [SAID, SAID]
    assert len({one.reference for one in researches(model)}) == 2
    assert [one.typed_by for one in researches(model)] == [model.asked[0].typed_by, ""]  # type: ignore[union-attr]


def test_what_stood_on_a_button_is_typed_by_nobody_and_goes_to_no_engine() -> None:
    model = uncertain(Support.NEAREST)

    async def talk() -> None:
        async with flowing(model=model, options=replace(OPTIONS, web=True)) as flow:
            await flow.turns.receive(replace(asked(SAID), words=Words.OFFERED))
            await flow.idle()
            (claim,) = await flow.claims.by_message(asked("").conversation, "q1")
            assert await flow.turns.receive(press(claim.reference))
            await flow.turns.receive(asked("And when?", message="q2", channel="C2"))
            await flow.idle()

    run(talk())
    requests = [one for one in model.asked if isinstance(one, Ask)]
    told = {(one.question, one.web, bool(one.typed_by)) for one in requests}
    assert told == {(SAID, False, False), ("And when?", True, True)}


def test_one_that_came_to_nothing_can_be_pressed_again() -> None:
    model = uncertain(Support.NEAREST)
    working = model.script

    async def failing(request: Ask) -> AsyncIterator[Event]:
        if len(researches(model)) == 1:
            raise ModelUnreachable("no model")
        async for event in working(request):
            yield event

    async def talk() -> None:
        async with flowing(model=model) as flow:
            reference = await answered(flow)
            model.script = failing
            for number in (1, 2):
                assert await flow.turns.receive(press(reference, number=number))
                await flow.idle()
            assert await outcome(flow, "p1") is Outcome.FAILED
            assert await outcome(flow, "p2") is Outcome.ANSWERED

    run(talk())


def test_what_one_person_asked_alone_nobody_else_has_researched() -> None:
    model = uncertain(Support.NEAREST)

    async def talk() -> None:
        async with flowing(model=model) as flow:
            await flow.turns.receive(replace(asked(SAID), private=True))
            await flow.idle()
            (claim,) = await flow.claims.by_message(asked("").conversation, "q1")
            assert not await flow.turns.receive(press(claim.reference, by="U2", number=1, private=True))
            assert not await flow.turns.receive(press(claim.reference, number=2))  # others would see it
            assert await flow.turns.receive(press(claim.reference, number=3, private=True))
            elsewhere = replace(asked("").conversation, channel="elsewhere")
            there = replace(press(claim.reference, number=4, private=True), conversation=elsewhere)
            assert not await flow.turns.receive(there)
            assert not await flow.turns.receive(press("00000000", number=5))
            await flow.idle()

    run(talk())
    assert len(researches(model)) == 1


def test_whoever_may_read_nothing_has_nothing_researched() -> None:
    model = uncertain(Support.NEAREST)
    options = replace(OPTIONS, readers_of={"handbook": ("discord:@U1",)})

    async def talk() -> None:
        async with flowing(model=model, options=options) as flow:
            await flow.turns.receive(replace(asked(SAID), seen_by=frozenset({"discord:@U1"})))
            await flow.idle()
            (claim,) = await flow.claims.by_message(asked("").conversation, "q1")
            other = replace(press(claim.reference, by="U2"), seen_by=frozenset({"discord:@U2"}))
            assert await flow.turns.receive(other)
            await flow.idle()
            assert await outcome(flow, "p1") is Outcome.NOT_ALLOWED

    run(talk())
    assert not researches(model)


def test_one_person_gets_so_many_and_none_where_it_is_off() -> None:
    async def talk(questions: int, outcomes: list[Outcome]) -> None:
        model = uncertain(Support.ABSTAINED)
        options = replace(OPTIONS, research_rate=Rate(questions=questions, seconds=3600.0))
        async with flowing(model=model, options=options) as flow:
            for number in range(3):
                incoming = replace(asked(SAID, message=f"m{number}"), command="research", reach=Reach.COMMAND)
                await flow.turns.receive(incoming)
                await flow.idle()
            assert [await outcome(flow, f"m{number}") for number in range(3)] == outcomes
            if questions:
                assert "60 min" in flow.texts("m2")[0]

    run(talk(2, [Outcome.ANSWERED, Outcome.ANSWERED, Outcome.LIMITED]))
    run(talk(0, [Outcome.NOT_ALLOWED] * 3))


def test_the_limit_holds_across_restarts_and_processes(tmp_path: pathlib.Path) -> None:
    model = uncertain(Support.ABSTAINED)
    options = replace(OPTIONS, research_rate=Rate(questions=2, seconds=3600.0))
    said = [replace(asked(SAID, message=f"m{number}"), command="research", reach=Reach.COMMAND) for number in range(5)]
    said[0] = asked(SAID, message="m0")
    said[4] = replace(said[4], asker=replace(said[4].asker, id="U9"))

    async def talk() -> None:
        server = None
        for number, incoming in enumerate(said):
            more = {"server": server} if server else {}
            async with flowing(tmp_path / "claims.sqlite", model=model, options=options, **more) as flow:
                server = flow.server
                await flow.turns.receive(incoming)
                await flow.idle()
                limited = await outcome(flow, f"m{number}") is Outcome.LIMITED
                assert limited is (number == 3), "the question is none, and another person has their own"

    run(talk())


def test_after_a_crash_a_pressed_research_goes_on_and_a_further_press_begins_no_other(tmp_path: pathlib.Path) -> None:
    model = uncertain(Support.NEAREST)

    async def talk() -> None:
        async with flowing(tmp_path / "claims.sqlite", model=model) as flow:
            reference = await answered(flow)
            await flow.turns.receive(press(reference))
            await asyncio.sleep(3.0)
            assert len(researches(model)) == 1
        async with flowing(tmp_path / "claims.sqlite", model=model, server=flow.server) as flow:
            assert not await flow.turns.receive(press(reference, number=2))
            await flow.turns.connected()
            await flow.idle()
            assert await outcome(flow, "p1") is Outcome.ANSWERED

    run(talk())
    first, again = researches(model)
    assert first.reference == again.reference


def test_a_long_research_is_given_the_time_that_its_settings_give() -> None:
    async def slow(request: Ask) -> AsyncIterator[Event]:
        await asyncio.sleep(80.0)
        async for event in answering(request):
            yield event

    async def talk(seconds: float, ended: Outcome) -> None:
        options = replace(OPTIONS, longest=40.0, research_seconds=seconds)
        async with flowing(model=Model(slow), options=options) as flow:
            await flow.turns.receive(asked(f"research: {SAID}"))
            await flow.idle()
            assert await outcome(flow, "q1") is ended

    run(talk(30.0, Outcome.ANSWERED))
    run(talk(10.0, Outcome.FAILED))
