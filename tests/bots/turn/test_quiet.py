"""What stands around an answer: a first sign at once, a notice once, questions to go on with under the first one."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import pairwise

import pytest

from bots.platform import Reach
from bots.requests import Ask, Event
from bots.turn.replying.saying import STANDS
from bots.words.sentences import word
from ragcore.phrases import phrase
from ragcore.research.sentences import sentence
from ragcore.types import Answer, ConversationKey, Status
from tests.bots.turn.flows import OPTIONS, Model, answer_to, answering, final, flowing
from tests.fakes.platform import Server, asked
from tests.fakes.virtual import run

NO_MODEL, REBUILDING, CUT = (phrase(key, "en") for key in ("no_model", "index_rebuilding", "length_cut"))


async def hanging(request: Ask) -> AsyncIterator[Event]:
    """Say nothing at all for an hour."""
    await asyncio.sleep(3_600)
    async for event in answering(request):
        yield event


@pytest.mark.parametrize("streaming", ["edit", "stream", "draft", "none"])
def test_the_first_sign_comes_at_once_whatever_the_model_does(streaming: str) -> None:
    async def talk() -> None:
        async with flowing(model=Model(hanging), streaming=streaming) as flow:
            began = asyncio.get_running_loop().time()
            for number in range(5):
                await flow.turns.receive(asked("Why?", message=f"q{number}", channel=f"C{number}"))
            await asyncio.sleep(1.0)
            assert {message for message, _ in flow.server.statuses} == {f"q{number}" for number in range(5)}
            assert all(moment - began < 1.0 for moment, name, _ in flow.server.calls[:5] if name == "status")
            assert flow.turns.meter.first_sign.count == 5

    run(talk())


@pytest.mark.parametrize(("pause", "shown"), [(0.5, ["search", "cite"]), (3.0, ["search", "write", "cite"])])
def test_a_status_of_words_stands_a_while_before_it_changes(pause: float, shown: list[str]) -> None:
    words = {"search": word("searching_in", names="handbook"), "write": word("writing"), "cite": word("checking")}

    async def stages(request: Ask) -> AsyncIterator[Event]:
        yield Status(stage="search")
        await asyncio.sleep(pause)
        yield Status(stage="write")
        await asyncio.sleep(pause)
        yield Status(stage="cite")
        await asyncio.sleep(5.0)
        yield answer_to(request.question, "Five days.")

    async def talk() -> None:
        async with flowing(model=Model(stages)) as flow:
            flow.platform.status_lasts, flow.platform.status_has_words = 120.0, True
            await flow.turns.receive(asked("Why?"))
            await flow.idle()
            assert [said for _, said in flow.server.statuses] == [words[stage] for stage in shown]
            moments = [moment for moment, name, _ in flow.server.calls if name == "status"]
            assert all(later - moment > STANDS - 0.001 for moment, later in pairwise(moments))

    run(talk())


@pytest.mark.parametrize("how", ["deleted", "refused"])
def test_a_status_of_words_goes_with_a_turn_that_ends_without_a_message(how: str) -> None:
    """Else it stands for two minutes on Slack, and the Stop button beside it for good."""
    server = Server(fault=lambda name, _: "refused" if how == "refused" and name in ("begin", "send") else "")

    async def talk() -> None:
        async with flowing(server=server, streaming="none") as flow:
            flow.platform.status_lasts, flow.platform.status_has_words = 120.0, True
            question = asked("Why?")
            await flow.turns.receive(question)
            await asyncio.sleep(0.1)
            assert flow.server.statuses[-1] == ("q1", word("searching_in", names="handbook"))
            if how == "deleted":
                await flow.turns.deleted(question.conversation, "q1")
            await flow.idle()
            assert flow.texts("q1") == []
            assert flow.server.statuses[-1] == ("q1", "")

    run(talk())


def test_a_status_names_no_knowledge_base_that_somebody_may_not_read_who_sees_it() -> None:
    options = replace(OPTIONS, readers_of={"handbook": ("*",), "board": ("discord:@7",)})

    async def talk() -> None:
        async with flowing(options=options) as flow:
            await flow.turns.receive(asked("Why?"))
            await flow.idle()
            assert {said for _, said in flow.server.statuses} >= {word("searching_in", names="handbook")}
            assert not any("board" in said for _, said in flow.server.statuses)

    run(talk())


def noting(*notes: str) -> Model:
    async def script(request: Ask) -> AsyncIterator[Event]:
        async for event in answering(request):
            yield replace(event, notes=notes) if isinstance(event, Answer) else event

    return Model(script)


def test_a_notice_is_said_once_a_conversation_as_the_last_line(caplog: pytest.LogCaptureFixture) -> None:
    async def talk() -> None:
        async with flowing(model=noting(NO_MODEL, REBUILDING)) as flow:
            caplog.set_level("INFO")
            for message, channel in (("q1", "C1"), ("q2", "C1"), ("q3", "C1"), ("q4", "C2")):
                await flow.turns.receive(asked("Why?", message=message, channel=channel))
                await flow.idle()
            (first,), (second,), (third,), (elsewhere,) = (flow.texts(f"q{number}") for number in range(1, 5))
            for text in (first, elsewhere):
                assert NO_MODEL in text.rstrip().splitlines()[-1]
                assert REBUILDING not in text, "one a message"
            assert NO_MODEL not in second + third
            assert second == third == final("Why?")
            assert REBUILDING in caplog.text

    run(talk())


def test_in_direct_messages_a_notice_is_said_once_though_each_begins_a_thread() -> None:
    async def talk() -> None:
        async with flowing(model=noting(NO_MODEL)) as flow:
            for message, text in (("q1", "Why?"), ("q2", "Why?"), ("q3", "reset"), ("q4", "Why?")):
                here = ConversationKey(platform="slack", workspace="T1", channel="D1", thread=message)
                await flow.turns.receive(asked(text, message=message, reach=Reach.DIRECT, conversation=here))
                await flow.idle()
            (first,), (second,), (after,) = (flow.texts(f"q{number}") for number in (1, 2, 4))
            assert (NO_MODEL in first, NO_MODEL in second, NO_MODEL in after) == (True, False, True)

    run(talk())


def test_what_the_platform_hides_is_said_under_the_first_answer() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            flow.platform.notice = "mention_needed"
            for message in ("q1", "q2"):
                await flow.turns.receive(asked("Why?", message=message))
                await flow.idle()
            (first,), (second,) = flow.texts("q1"), flow.texts("q2")
            assert word("mention_needed") in first.rstrip().splitlines()[-1]
            assert second == final("Why?")

    run(talk())


def test_what_tells_of_this_very_answer_is_said_each_time() -> None:
    async def talk() -> None:
        async with flowing(model=noting(CUT)) as flow:
            for message in ("q1", "q2"):
                await flow.turns.receive(asked("Why?", message=message))
                await flow.idle()
                (text,) = flow.texts(message)
                assert CUT in text

    run(talk())


def test_all_that_a_research_came_to_is_said_each_time() -> None:
    notes = [
        sentence("seconds", "de"),
        sentence("missing", "de", what="Leyton; Kestrel"),
        sentence("cut", "de", count=4),
    ]

    async def talk() -> None:
        async with flowing(model=noting(NO_MODEL, *notes)) as flow:
            for message in ("q1", "q2"):
                await flow.turns.receive(asked("Why?", message=message))
                await flow.idle()
                (text,) = flow.texts(message)
                assert [note for note in notes if note in text] == notes
                assert (NO_MODEL in text) is (message == "q1")

    run(talk())


@pytest.mark.parametrize("suggests", [True, False])
@pytest.mark.parametrize("reach", [Reach.DIRECT, Reach.MENTION])
def test_the_first_answer_carries_questions_where_no_event_opens_a_conversation(suggests: bool, reach: Reach) -> None:
    async def talk() -> None:
        async with flowing(options=replace(OPTIONS, prompts=("What is new?",))) as flow:
            flow.platform.suggests = suggests
            for message in ("q1", "q2"):
                await flow.turns.receive(asked("Why?", message=message, reach=reach))
                await flow.idle()
            there = ("What is new?",) if suggests and reach is Reach.DIRECT else ()
            assert flow.platform.suggested == [there, ()]

    run(talk())


def test_questions_that_the_documents_answer_are_suggested_in_the_place_of_the_first_ones() -> None:
    async def related(request: Ask) -> AsyncIterator[Event]:
        yield replace(answer_to(request.question, "Five days."), related=("And after that?",))

    async def talk() -> None:
        async with flowing(model=Model(related), options=replace(OPTIONS, prompts=("What is new?",))) as flow:
            flow.platform.suggests = True
            for message in ("q1", "q2"):
                await flow.turns.receive(asked("Why?", message=message, reach=Reach.DIRECT))
                await flow.idle()
            assert flow.platform.suggested == [("And after that?",)] * 2

    run(talk())


def test_without_any_of_ones_own_help_and_sources_are_suggested() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            view = await flow.turns.welcome("en")
            assert view.prompts == (word("help_prompt"), word("sources_prompt"))

    run(talk())
