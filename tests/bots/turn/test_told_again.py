"""Who is told an answer again, or hears what several messages ask: those whom the settings let read it there, now."""

from dataclasses import replace

from bots.platform import Reach
from bots.requests import Ask, Recall
from bots.turn.options import ChannelRule
from tests.bots.turn.flows import OPTIONS, flowing
from tests.fakes.platform import asked
from tests.fakes.virtual import run

HERE = "discord:G1/C1"
READERS = {"handbook": ("*",), "secret": ("discord:@U1",), "elsewhere": ("*",)}
ALONE = frozenset({"*", "discord:@U1"})


def test_passages_and_shared_answers_are_narrowed_as_their_channel_is() -> None:
    async def talk() -> None:
        narrowed = {HERE: ChannelRule(knowledge_bases=("handbook", "secret"))}
        options = replace(OPTIONS, readers_of=READERS, channels=narrowed)
        async with flowing(options=options) as flow:
            await flow.turns.receive(asked("Why?", private=True, reach=Reach.COMMAND, command="ask", seen_by=ALONE))
            await flow.idle()
            (reference,) = [one.reference for one in flow.model.asked if isinstance(one, Ask)]
            assert await flow.turns.quotes(reference, ALONE)
            shared = (await flow.turns.share(reference, "U1", frozenset({"*", HERE}))).view
            assert shared is not None
            assert shared.document.notes == ("Passages read: [1] × 1 · Leave × 1 · Leave × 1",)
            told = [one.knowledge_bases for one in flow.model.asked if isinstance(one, Recall)]
            assert told == [("handbook", "secret"), ("handbook",)]
            assert await flow.turns.quotes(reference, frozenset()) is None
            assert (await flow.turns.share(reference, "U1", frozenset())).state == "refused"
            assert (await flow.turns.share(reference, "U2", ALONE)).state == "refused"
            assert len([one for one in flow.model.asked if isinstance(one, Recall)]) == 2

    run(talk())


def test_messages_that_others_see_are_not_joined_with_those_that_fewer_do() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            inside, outside = frozenset({"*", HERE, "discord:G1"}), frozenset({"*", HERE})
            await flow.turns.receive(asked("Who is the new head?", seen_by=inside))
            await flow.turns.receive(asked("And since when?", message="q2", seen_by=outside))
            await flow.idle()
            heard = {one.question: one.audience for one in flow.model.asked if isinstance(one, Ask)}
            assert heard == {"Who is the new head?": inside, "And since when?": outside}

    run(talk())


def test_names_of_knowledge_bases_are_completed_for_those_who_may_ask_them() -> None:
    async def talk() -> None:
        here = asked("").conversation
        there, seen = replace(here, channel="C2"), frozenset({"*", HERE})
        narrowed = {HERE: ChannelRule(knowledge_bases=("handbook", "secret"))}
        async with flowing(options=replace(OPTIONS, readers_of=READERS, channels=narrowed)) as flow:
            assert await flow.turns.knowledge_bases(there, ALONE) == ("handbook", "secret", "elsewhere")
            assert await flow.turns.knowledge_bases(there, seen) == ("handbook", "elsewhere")
            assert await flow.turns.knowledge_bases(here, ALONE) == ("handbook", "secret")
            assert await flow.turns.knowledge_bases(here, seen) == ("handbook",)
            assert await flow.turns.knowledge_bases(here, frozenset()) == ()

    run(talk())


def test_what_answers_for_the_platform_is_in_no_repr() -> None:
    assert "a-response-address" not in repr(replace(asked("Why?"), token="a-response-address"))
