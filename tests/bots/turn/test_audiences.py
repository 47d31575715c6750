"""Who is answered, and from what: readers, channels, private questions."""

from dataclasses import replace

import pytest

from bots.access import line_to_add
from bots.platform import Asker, Incoming, Reach
from bots.requests import Ask
from bots.turn.claims.claim import Outcome
from bots.turn.options import ChannelRule
from ragcore.errors import PlatformUnreachable
from tests.bots.turn.flows import OPTIONS, flowing, outcome
from tests.fakes.platform import asked
from tests.fakes.virtual import run


@pytest.mark.parametrize("words", ["How many days?", "search days", "sources"])
@pytest.mark.parametrize("asker", ["U1", "9"])
def test_who_may_read_nothing_is_told_whom_to_ask_and_an_admin_the_line(asker: str, words: str) -> None:
    async def talk() -> None:
        async with flowing(options=replace(OPTIONS, readers_of={"handbook": ("slack:T1",)})) as flow:
            await flow.turns.receive(asked(words, asker=asker))
            await flow.idle()
            (text,) = flow.texts("q1")
            line = line_to_add("handbook", ("slack:T1",), "discord:G1/C1")
            assert (line in text) == (asker == "9")
            assert ("discord:@9" in text) == ("ask an administrator" in text) == (asker == "U1")
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


def test_what_the_platform_does_not_confirm_counts_for_nothing() -> None:
    async def talk() -> None:
        async with flowing() as flow:

            async def readers(_: Incoming) -> frozenset[str]:
                raise PlatformUnreachable("nobody tells")

            flow.platform.readers = readers  # type: ignore[method-assign]
            await flow.turns.receive(asked("Why?", reach=Reach.DIRECT, private=True, seen_by=frozenset({"*"})))
            await flow.idle()
            (request,) = [one for one in flow.model.asked if isinstance(one, Ask)]
            assert request.audience == {"*", "discord:@U1"}

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
