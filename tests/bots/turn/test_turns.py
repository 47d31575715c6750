"""One conversation flow: what people see in the ordinary cases."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from bots.platform import Attachment, Button, Reach, Share
from bots.requests import Ask, Event
from bots.turn.claims.claim import Outcome
from bots.votes import Vote
from bots.words.sentences import word
from tests.bots.turn.flows import (
    MANNERS,
    Model,
    answering,
    final,
    flowing,
    outcome,
)
from tests.fakes.platform import FakePlatform, Server, asked
from tests.fakes.virtual import run


@pytest.mark.parametrize("streaming", MANNERS)
def test_a_question_is_answered_once_and_whole(streaming: str) -> None:
    async def talk() -> None:
        async with flowing(streaming=streaming) as flow:
            question = asked("How many days?")
            assert await flow.turns.receive(question)
            assert not await flow.turns.receive(question)
            await flow.idle()
            assert not await flow.turns.receive(question)
            assert flow.texts("q1") == [final("How many days?")]
            assert flow.model.questions == ["How many days?"]
            assert await outcome(flow, "q1") is Outcome.ANSWERED
            assert flow.server.statuses[0][1] == word("searching_in", names="handbook")

    run(talk())


@pytest.mark.parametrize("streaming", MANNERS)
def test_a_long_answer_comes_in_its_parts_in_order(streaming: str) -> None:
    async def talk() -> None:
        async with flowing(streaming=streaming, longest=40) as flow:
            await flow.turns.receive(asked("How many days?"))
            await flow.idle()
            assert "".join(flow.texts("q1")) == final("How many days?")
            assert [one.number for one in flow.server.standing("q1")] == list(range(len(flow.texts("q1"))))

    run(talk())


def test_words_grow_and_are_never_more_than_the_final_text_needs() -> None:
    async def talk() -> None:
        async with flowing(every=0.1) as flow:
            await flow.turns.receive(asked("How many days?"))
            await flow.idle()
            names = [name for _, name, _ in flow.server.calls if name != "status"]
            assert names[0] == "begin"
            assert names[-1] == "end"
            assert names.count("begin") == names.count("end") == 1
            assert names.count("change") >= 2

    run(talk())


def test_further_words_within_two_seconds_belong_to_the_question() -> None:
    async def slowly(request: Ask) -> AsyncIterator[Event]:
        await asyncio.sleep(3)
        async for event in answering(request):
            yield event

    async def talk() -> None:
        async with flowing(model=Model(slowly)) as flow:
            await flow.turns.receive(asked("How many days"))
            await asyncio.sleep(1)
            assert await flow.turns.receive(asked("may be carried over?", message="q2"))
            await asyncio.sleep(2.5)
            await flow.turns.receive(asked("Another one?", message="q3"))
            await flow.idle()
            both = "How many days\nmay be carried over?"
            assert flow.model.questions == ["How many days", both, "Another one?"]
            assert flow.texts("q1") == [final(both)]
            assert flow.texts("q2") == []
            assert flow.texts("q3") == [final("Another one?")]

    run(talk())


def test_one_at_a_time_in_a_conversation_and_conversations_side_by_side() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            for number in range(3):
                for channel in ("C1", "C2"):
                    message = f"{channel}-{number}"
                    await flow.turns.receive(asked(message, message=message, channel=channel, asker=f"U{number}"))
            await flow.idle()
            order = flow.model.questions
            assert [one for one in order if one.startswith("C1")] == ["C1-0", "C1-1", "C1-2"]
            assert set(order[:2]) == {"C1-0", "C2-0"}

    run(talk())


@pytest.mark.parametrize(
    ("text", "words"),
    [("reset", "Forgotten"), ("Help!", "search …"), ("/sources", "read any documents"), ("search leave", "Leave")],
)
def test_commands_as_the_whole_text(text: str, words: str) -> None:
    async def talk() -> None:
        async with flowing() as flow:
            await flow.turns.receive(asked(text))
            await flow.idle()
            assert words in flow.texts("q1")[0]
            assert flow.model.questions == []

    run(talk())


def test_a_question_by_command_is_one_of_its_own_and_what_follows_goes_on_with_it() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            for number, command in enumerate((None, "ask", None)):
                reach = Reach.COMMAND if command else Reach.DIRECT
                said = asked("Why?", message=f"q{number}", private=True, reach=reach, command=command)
                await flow.turns.receive(said)
                await flow.idle()
            requests = [one for one in flow.model.asked if isinstance(one, Ask)]
            assert [one.of_its_own for one in requests] == [False, True, False]
            assert len({one.conversation for one in requests}) == 1, "it is remembered where what follows finds it"

    run(talk())


def test_files_beside_a_question_are_read_and_others_named() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            flow.platform.files = {"f1": b"# Notes\n\nFive days of leave."}
            files = (Attachment(id="f1", name="notes.md"), Attachment(id="f2", name="cat.png", media_type="image/png"))
            await flow.turns.receive(asked("Is that right?", attachments=files))
            await flow.turns.receive(asked("", message="q2", channel="C2", attachments=files[1:]))
            await flow.idle()
            (request,) = [one for one in flow.model.asked if isinstance(one, Ask)]
            assert "Five days of leave." in request.attached[0].text
            assert word("cannot_read", name="cat.png") in flow.texts("q1")[0]
            assert word("cannot_read", name="cat.png") in flow.texts("q2")[0]

    run(talk())


def test_votes_quotes_and_sharing() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            await flow.turns.receive(asked("Why?", reach=Reach.COMMAND, command="ask", private=True))
            await flow.idle()
            (claim,) = await flow.claims.by_message(asked("").conversation, "q1")
            (_, part) = (None, flow.server.standing("q1")[0])
            await flow.turns.vote(Vote(reference=claim.reference, voter="U1", side="down"))
            view = await flow.turns.quotes(claim.reference, frozenset({"*"}))
            assert view is not None
            shown = FakePlatform(Server()).render(view)[0].text
            assert "Carry over **five days**" in shown
            assert (await flow.turns.share(claim.reference, "U2", frozenset({"*"}))).state == "refused"
            share = await flow.turns.share(claim.reference, "U1", frozenset({"*"}))
            shared = share.view
            assert shared is not None
            assert Button.SHARE not in shared.buttons
            assert FakePlatform(Server()).render(shared)[0].text == part.text
            await flow.turns.shared(claim.reference, lease=share.lease, done=True)
            assert await flow.turns.share(claim.reference, "U1", frozenset({"*"})) == Share(state="done")

    run(talk())


def test_limits_are_kept_and_every_answer_is_whole() -> None:
    async def talk() -> None:
        limits = {"begin": (2, 10.0), "change": (4, 5.0), "end": (2, 10.0), "send": (1, 1.0), "whole": (10, 1.0)}
        async with flowing(server=Server(limits=limits), every=0.1) as flow:
            for number in range(12):
                await flow.turns.receive(
                    asked(f"Why {number}?", message=f"q{number}", asker=f"U{number}", channel=f"C{number % 3}")
                )
            await flow.idle()
            assert flow.server.refused == 0
            for number in range(12):
                assert flow.texts(f"q{number}") == [final(f"Why {number}?")]

    run(talk())
