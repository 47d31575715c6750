"""One conversation flow: what people see in the ordinary cases, and in those where something goes wrong."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from bots.access import line_to_add
from bots.platform import Asker, Attachment, Button, Incoming, Reach, Vote
from bots.requests import Ask, Event
from bots.turn.claim import Outcome
from bots.turn.options import ChannelRule
from bots.turn.rates import Rate
from bots.turn.words import word
from ragcore.errors import ModelUnreachable, StoreError
from ragcore.phrases import phrase
from ragcore.types import Delta, Message
from tests.bots.turn.flows import OPTIONS, Flow, Model, answering, final, flowing, virtual_now, words_for
from tests.fakes.platform import FakePlatform, Server, asked
from tests.fakes.virtual import run

MANNERS = ["edit", "stream", "draft", "none"]


async def outcome(flow: Flow, message: str) -> Outcome | None:
    claims = await flow.claims.by_message(asked("").conversation, message)
    return claims[0].outcome


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
            assert flow.server.statuses[0][1] == word("searching")

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


@pytest.mark.parametrize("streaming", MANNERS)
@pytest.mark.parametrize("after", [0.3, 1.0, 5.0])
def test_an_edited_question_is_answered_again_in_place(streaming: str, after: float) -> None:
    async def talk() -> None:
        async with flowing(streaming=streaming, longest=120) as flow:
            sent_at = virtual_now()
            await flow.turns.receive(asked("How many days, tell me all about it?", sent_at=sent_at))
            await asyncio.sleep(after)
            edited = asked("How many?", sent_at=sent_at, edited_at=virtual_now())
            assert await flow.turns.receive(edited)
            assert not await flow.turns.receive(edited)
            await flow.idle()
            assert "".join(flow.texts("q1")) == final("How many?")
            late = virtual_now() + timedelta(minutes=2)
            assert not await flow.turns.receive(asked("Why?", sent_at=sent_at - timedelta(minutes=2), edited_at=late))
            assert list(flow.model.turns.values())[-1].question == "How many?"
            assert len(flow.model.turns) == 1

    run(talk())


@pytest.mark.parametrize("streaming", MANNERS)
@pytest.mark.parametrize("after", [0.0, 0.3, 1.0, 5.0])
def test_a_deleted_question_takes_its_answer_along(streaming: str, after: float) -> None:
    async def talk() -> None:
        async with flowing(streaming=streaming, longest=60) as flow:
            question = asked("How many days?")
            await flow.turns.receive(question)
            await asyncio.sleep(after)
            await flow.turns.deleted(question.conversation, "q1")
            await flow.idle()
            assert flow.texts("q1") == []
            assert await outcome(flow, "q1") is Outcome.WITHDRAWN
            assert flow.model.turns == {}

    run(talk())


def test_a_question_that_is_deleted_before_it_comes_is_not_answered() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            question = asked("How many days?")
            await flow.turns.deleted(question.conversation, "q1")
            assert not await flow.turns.receive(question)
            await flow.idle()
            assert flow.texts("q1") == []

    run(talk())


def test_only_the_asker_or_an_admin_withdraws_and_stops() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            await flow.turns.receive(asked("How many days?"))
            await asyncio.sleep(0.5)
            reference = (await flow.claims.by_message(asked("").conversation, "q1"))[0].reference
            assert not await flow.turns.stop(reference, "U2")
            assert not await flow.turns.stop_in(asked("").conversation, "U2")
            assert await flow.turns.stop(reference, "U1")
            await flow.idle()
            (text,) = flow.texts("q1")
            assert word("stopped") in text
            assert reference in text
            assert await outcome(flow, "q1") is Outcome.STOPPED
            assert not await flow.turns.withdraw(reference, "U2")
            assert await flow.turns.withdraw(reference, "9")
            assert flow.texts("q1") == []

    run(talk())


def hanging(after: int = 0) -> Model:
    async def hang(request: Ask) -> AsyncIterator[Event]:
        for number in range(after):
            yield Delta(text=f"word {number} ")
        await asyncio.sleep(10**6)
        yield Delta(text="never")

    return Model(hang)


@pytest.mark.parametrize("streaming", MANNERS)
@pytest.mark.parametrize("after", [0, 3])
def test_a_plain_reason_stands_in_time_whatever_the_model_does(streaming: str, after: int) -> None:
    async def talk() -> None:
        async with flowing(streaming=streaming, model=hanging(after)) as flow:
            await flow.turns.receive(asked("How many days?"))
            await asyncio.sleep(40)
            shown = after and streaming != "none"
            assert flow.turns.running() == (1 if shown else 0)
            await flow.idle()
            (text,) = flow.texts("q1")
            assert (phrase("interrupted") if shown else word("too_slow")) in text
            assert await outcome(flow, "q1") is Outcome.FAILED

    run(talk())


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ModelUnreachable("no route to 10.0.0.1"), phrase("model_down")),
        (StoreError("disk full at /srv"), word("index_down")),
        (ZeroDivisionError("division by zero"), word("went_wrong")),
    ],
)
def test_an_error_is_told_in_plain_words_with_the_reference(error: Exception, words: str) -> None:
    async def fail(request: Ask) -> AsyncIterator[Event]:
        raise error
        yield Delta(text="")

    async def talk() -> None:
        async with flowing(model=Model(fail)) as flow:
            await flow.turns.receive(asked("How many days?"))
            await flow.idle()
            (text,) = flow.texts("q1")
            reference = (await flow.claims.by_message(asked("").conversation, "q1"))[0].reference
            assert words in text
            assert reference in text
            assert str(error) not in text

    run(talk())


def test_rates_are_told_with_the_wait() -> None:
    async def talk() -> None:
        options = replace(OPTIONS, user_rate=Rate(questions=2, seconds=60))
        async with flowing(options=options) as flow:
            for number in range(3):
                await flow.turns.receive(asked("Why?", message=f"q{number}"))
                await flow.idle()
            assert flow.texts("q1") == [final("Why?")]
            assert "Please wait 5" in flow.texts("q2")[0]
            assert await outcome(flow, "q2") is Outcome.LIMITED

    run(talk())


@pytest.mark.parametrize("asker", ["U1", "9"])
def test_who_may_read_nothing_is_told_whom_to_ask_and_an_admin_the_line(asker: str) -> None:
    async def talk() -> None:
        async with flowing(options=replace(OPTIONS, readers_of={"handbook": ("slack:T1",)})) as flow:
            await flow.turns.receive(asked("How many days?", asker=asker))
            await flow.idle()
            (text,) = flow.texts("q1")
            line = line_to_add("handbook", ("slack:T1",), "discord:G1/C1")
            assert (line in text) == (asker == "9")
            assert ("discord:@9" in text) == (asker == "U1")
            assert flow.model.questions == []
            assert await outcome(flow, "q1") is Outcome.NOT_ALLOWED

    run(talk())


def test_a_channel_is_narrowed_and_never_widened() -> None:
    async def talk() -> None:
        options = replace(
            OPTIONS,
            readers_of={"a": ("*",), "b": ("*",), "closed": ("slack:T1",)},
            channels={"discord:G1/C1": ChannelRule(knowledge_bases=("b", "closed"))},
        )
        async with flowing(options=options) as flow:
            await flow.turns.receive(asked("Why?"))
            await flow.turns.receive(asked("Why?", message="q2", channel="C2"))
            await flow.idle()
            bases = [request.knowledge_bases for request in flow.model.asked if isinstance(request, Ask)]
            assert sorted(bases) == [("a", "b"), ("b",)]

    run(talk())


def test_a_private_question_is_for_whom_the_platform_confirms() -> None:
    async def talk() -> None:
        members = {"U1": frozenset({"*", "email:a@b.c"})}
        async with flowing(members=members) as flow:
            await flow.turns.receive(asked("Why?", reach=Reach.DIRECT, private=True, seen_by=frozenset()))
            await flow.idle()
            (request,) = [one for one in flow.model.asked if isinstance(one, Ask)]
            assert request.audience == members["U1"]
            assert request.private_to == "discord:@U1"

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


def test_a_mention_in_the_middle_of_a_thread_reads_the_thread_once() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            question = asked("Is that so?")
            here = replace(question.conversation, thread="t1")
            said = (Message(role="user", text="Five days lapse."),)
            flow.platform.threads[here] = said
            for number in range(2):
                await flow.turns.receive(
                    replace(question, conversation=here, keys=(f"k{number}",), message=f"q{number}")
                )
                await flow.idle()
            assert [one.thread for one in flow.model.asked if isinstance(one, Ask)] == [said, ()]

    run(talk())


def test_a_thread_is_answered_without_a_mention_where_the_bot_takes_part() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            question = asked("How many days?")
            here = replace(question.conversation, thread="t1")
            further = replace(question, conversation=here, reach=Reach.THREAD)
            assert not await flow.turns.receive(replace(further, keys=("k0",), message="q0"))
            await flow.turns.receive(replace(further, keys=("k1",), message="q1", reach=Reach.MENTION))
            await flow.idle()
            assert await flow.turns.receive(replace(further, keys=("k2",), message="q2"))
            await flow.idle()
            assert len(flow.model.questions) == 2
            (claim,) = await flow.claims.by_message(here, "q2")
            assert claim.incoming.conversation == here

    run(talk())


def test_a_reply_to_an_answer_goes_on_with_its_conversation() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            first = asked("How many days?")
            await flow.turns.receive(first)
            await flow.idle()
            (claim,) = await flow.claims.by_message(first.conversation, "q1")
            alone = replace(first.conversation, thread="alone")
            for number, (reference, where, expected) in enumerate(
                [
                    (claim.reference, alone, first.conversation),
                    ("00000000", alone, alone),
                    (claim.reference, replace(alone, channel="C9"), replace(alone, channel="C9")),
                ],
                start=2,
            ):
                further = replace(
                    first, conversation=where, goes_on=reference, keys=(f"k{number}",), message=f"q{number}"
                )
                assert await flow.turns.receive(further)
                await flow.idle()
                (taken,) = await flow.claims.by_message(where, f"q{number}")
                assert taken.incoming.conversation == expected

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


def test_messages_that_are_not_for_us_leave_no_trace() -> None:
    async def talk() -> None:
        async with flowing(options=replace(OPTIONS, channels={"discord:G1/C9": ChannelRule(respond="off")})) as flow:
            for number, other in enumerate(
                [
                    asked("Hello all", reach=Reach.CHANNEL),
                    asked("  "),
                    asked("Why?", channel="C9"),
                    replace(asked("Why?"), asker=Asker(id="B1", is_bot=True)),
                ]
            ):
                assert not await flow.turns.receive(replace(other, keys=(f"k{number}",), message=f"q{number}"))
            await flow.idle()
            assert flow.server.calls == []

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
            assert "Carry over **five** **days**" in shown
            assert await flow.turns.share(claim.reference, "U2", frozenset({"*"})) is None
            shared = await flow.turns.share(claim.reference, "U1", frozenset({"*"}))
            assert shared is not None
            assert Button.SHARE not in shared.buttons
            assert FakePlatform(Server()).render(shared)[0].text == part.text

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


@pytest.mark.parametrize("fault", ["unreachable", "dropped", "limited", "refused", "ended", "gone", "hangs"])
@pytest.mark.parametrize("streaming", MANNERS)
@pytest.mark.parametrize("call", ["begin", "change", "end", "send"])
def test_one_failure_leaves_one_whole_answer(fault: str, streaming: str, call: str) -> None:
    failed: list[str] = []

    def once(name: str, _: int) -> str:
        if name != call or failed:
            return ""
        failed.append(name)
        return fault

    async def talk() -> None:
        async with flowing(server=Server(fault=once), streaming=streaming, every=0.2) as flow:
            await flow.turns.receive(asked("How many days?"))
            await flow.idle()
            (text,) = flow.texts("q1")
            assert words_for("How many days?").split()[0] in text
            assert " ".join(text.replace("*", "").split())[:40] == " ".join(final("How many days?").split())[:40]

    run(talk())


def test_what_cannot_be_sent_is_marked_and_an_admin_told() -> None:
    def never(name: str, _: int) -> str:
        return "" if name == "status" else "unreachable"

    async def talk() -> None:
        async with flowing(server=Server(fault=never)) as flow:
            await flow.turns.receive(asked("How many days?"))
            await flow.idle()
            assert await outcome(flow, "q1") is Outcome.UNSENT
            ((admin, words),) = flow.server.told
            assert admin == "discord:@9"
            assert (await flow.claims.by_message(asked("").conversation, "q1"))[0].reference in words

    run(talk())


def test_what_was_missed_is_answered_if_it_is_recent() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            await flow.turns.receive(asked("Why?"))
            await flow.idle()
            now = virtual_now()

            def later(message: str, minutes: float) -> Incoming:
                return asked(f"{message}?", message=message, sent_at=now - timedelta(minutes=minutes))

            flow.platform.read_back = (later("old", 16), later("q2", 3), later("q3", 2))
            await flow.turns.connected()
            await flow.idle()
            assert flow.model.questions == ["Why?", "q3?"]

    run(talk())
