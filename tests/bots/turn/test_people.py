"""A question goes to a person: asked, posted, replied to, brought back and kept, whatever breaks in between."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bots.platform import Attachment, Incoming, Reach
from bots.turn.people import posting
from bots.turn.people.posts import POST_SECONDS
from bots.turn.people.values import Owners
from tests.bots.turn.flows import flowing, virtual_now
from tests.bots.turn.owned import ADA, OWNED, PLACE, UNSURE, Scene, scene
from tests.fakes.platform import Server, asked
from tests.fakes.virtual import run


def test_a_question_goes_to_its_owners_and_their_reply_comes_back_and_is_kept() -> None:
    async def body() -> None:
        async with scene() as here:
            reference = await here.answered()
            buttons = here.flow.server
            assert await here.flow.turns.may_ask_person(reference, "U1")
            assert await here.flow.turns.ask_person(reference, "U1") == "asked"
            await here.settled()
            assert "How many days?" in here.card().text
            assert UNSURE in here.card().text
            assert "Leave" in here.card().text, "what was read is named"
            assert "Ann" not in here.card().text, "who asked is not"
            reply = await here.reply()
            (copy,) = here.copies()
            assert "Five days." in copy
            assert "Ada" in copy
            (note,) = here.notes()
            assert "Sent to whoever asked" in note
            assert here.syncs() == 0, "nothing is kept before somebody says so"
            assert await here.flow.turns.keep_reply(reply.id, ADA, PLACE, kept=True)
            await here.settled()
            (note,) = here.notes()
            assert "This is a document now" in note
            assert here.syncs() == 1
            assert await here.flow.turns.keep_reply(reply.id, ADA, PLACE, kept=False)
            await here.settled()
            (note,) = here.notes()
            assert "no document any longer" in note
            assert here.syncs() == 2
            assert buttons.refused == 0

    run(body())


@pytest.mark.parametrize("words", ["Five days, see the plan.", ""])
def test_of_a_reply_with_a_file_its_words_go_on_and_the_file_is_named(words: str) -> None:
    async def body() -> None:
        async with scene() as here:
            await here.flow.turns.ask_person(await here.answered(), "U1")
            await here.settled()
            files = (Attachment(id="f1", name="plan `2`.pdf"), Attachment(id="f2", name="", media_type="image/png"))
            reply = await here.reply(words, attachments=files)
            assert reply.text == "\n\n".join(filter(None, [words, "\U0001f4ce `plan '2'.pdf`, `image/png`"]))
            (copy,) = here.copies()
            assert words in copy
            assert "plan '2'.pdf" in copy
            assert "Ada has it" in copy
            (note,) = here.notes()
            assert "Only the words" in note

    run(body())


def test_only_whoever_asked_takes_it_there_once_and_not_too_often() -> None:
    async def body() -> None:
        async with scene() as here:
            first, second, third = [await here.answered(f"q{n}") for n in range(3)]
            assert not await here.flow.turns.may_ask_person(first, "U2")
            assert await here.flow.turns.ask_person(first, "U2") == "refused"
            presses = [here.flow.turns.ask_person(first, "U1") for _ in range(4)]
            assert sorted(await asyncio.gather(*presses)) == ["already"] * 3 + ["asked"]
            assert await here.flow.turns.ask_person(second, "U1") == "asked"
            assert await here.flow.turns.ask_person(third, "U1") == "limited"
            assert await here.flow.turns.ask_person("00000000", "U1") == "refused"
            await here.settled()
            assert len(here.owners_see()) == 2

    run(body())


@pytest.mark.soak
def test_without_owners_there_is_no_button_and_nobody_is_asked() -> None:
    async def body() -> None:
        shown: list[tuple[str, ...]] = []
        for options in (OWNED, replace(OWNED, owners={})):
            async with scene(options) as here:
                render = here.flow.platform.render
                here.flow.platform.render = lambda view, render=render: (  # type: ignore[method-assign, misc]
                    shown.append(tuple(view.buttons)),
                    render(view),
                )[1]
                reference = await here.answered()
                assert await here.flow.turns.may_ask_person(reference, "U1") is bool(options.owners)
        assert "person" in shown[0]
        assert "person" not in shown[-1]

    run(body())


def test_a_good_answer_has_no_such_button_but_may_be_voted_down() -> None:
    async def body() -> None:
        async with flowing(options=OWNED) as flow:
            await flow.turns.connected()
            reference = await Scene(flow).answered()
            assert await flow.turns.may_ask_person(reference, "U1")
            assert flow.texts("q1")

    run(body())


@pytest.mark.parametrize(("person", "where"), [("discord:@B", PLACE), (ADA, "discord:G1/C1"), ("discord:@B", "*")])
def test_only_an_owner_decides(person: str, where: str) -> None:
    async def body() -> None:
        owners = Owners(place=PLACE, people=frozenset({ADA}))
        async with scene(replace(OWNED, owners={"handbook": owners})) as here:
            await here.flow.turns.ask_person(await here.answered(), "U1")
            await here.settled()
            assert await here.flow.turns.receive(here.said("I believe it is six.", message="r0", asker="B"))
            await here.settled()
            assert here.copies() == [], "who does not decide talks to those who do"
            assert here.flow.model.questions == ["How many days?"], "and does not ask the bot"
            reply = await here.reply()
            assert not await here.flow.turns.keep_reply(reply.id, person, where, kept=True)
            await here.settled()
            assert here.syncs() == 0

    run(body())


def test_what_names_the_bot_or_stands_elsewhere_is_for_the_bot() -> None:
    async def body() -> None:
        async with scene() as here:
            reference = await here.answered()
            await here.flow.turns.ask_person(reference, "U1")
            await here.settled()
            await here.flow.turns.receive(here.said("And what of March?", message="m", reach=Reach.MENTION))
            facts = {"channel": "OWN", "sent_at": virtual_now(), "goes_on": reference, "replied_to": "m1"}
            await here.flow.turns.receive(asked("And in April?", message="n", **facts))
            await here.flow.idle()
            assert set(here.flow.model.questions[1:]) == {"And what of March?", "And in April?"}
            assert await here.flow.people.all_replies() == ()

    run(body())


def test_what_begins_with_a_mention_of_somebody_is_not_for_whoever_asked() -> None:
    async def body() -> None:
        async with scene() as here:
            await here.flow.turns.ask_person(await here.answered(), "U1")
            await here.settled()
            assert "unless it begins with a mention" in here.card().text
            aside = here.said("@Bob do you know who this is?", message="r0", to_others=True)
            assert await here.flow.turns.receive(aside)
            await here.settled()
            assert here.copies() == []
            assert here.flow.model.questions == ["How many days?"], "nor is it for the bot"
            await here.reply("They always ask such things.", message="r1")
            assert len(here.copies()) == 1
            facts = {"message": "r1", "edited_at": virtual_now() + timedelta(seconds=5), "to_others": True}
            await here.flow.turns.receive(here.said("@Bob they always ask such things.", **facts))
            await here.settled()
            assert here.copies() == [], "changed into such a one, it is taken back"
            assert here.notes() == []

    run(body())


def test_a_reply_that_is_changed_or_deleted_is_so_everywhere() -> None:
    async def body() -> None:
        async with scene() as here:
            await here.flow.turns.ask_person(await here.answered(), "U1")
            await here.settled()
            reply = await here.reply("Six days.")
            await here.flow.turns.keep_reply(reply.id, ADA, PLACE, kept=True)
            await here.settled()
            edit = here.said("Five days.", edited_at=virtual_now() + timedelta(seconds=5))
            for _ in range(2):
                await here.flow.turns.receive(edit)
            await here.settled()
            (copy,) = here.copies()
            assert "Five days." in copy
            assert "Six" not in copy
            assert here.syncs() == 2, "what is kept is read again, once"
            second = await here.reply("Ask Bob, too.", message="r2")
            assert [one.id for one in await here.flow.people.all_replies()] == [second.id, reply.id]
            await here.flow.turns.deleted(here.said("").conversation, "r1")
            await here.settled()
            (copy,) = here.copies()
            assert "Bob" in copy
            assert here.syncs() == 3
            assert not await here.flow.turns.keep_reply(reply.id, ADA, PLACE, kept=True), "it is gone"

    run(body())


def test_what_was_asked_in_private_is_answered_in_private() -> None:
    async def body() -> None:
        async with scene() as here:
            alone = {"private": True, "token": "t", "reach": Reach.COMMAND, "command": "ask"}
            await here.flow.turns.ask_person(await here.answered(**alone), "U1")
            await here.settled()
            await here.reply()
            places = [one.channel for one in here.flow.server.messages.values() if "Five days." in one.text]
            assert places == ["direct U1"]

    run(body())


def test_owners_see_no_answer_from_documents_that_are_not_theirs() -> None:
    async def body() -> None:
        async with scene() as here:
            reference = await here.answered()
            here.flow.model.turns[reference] = replace(here.flow.model.turns[reference], withheld=1)
            await here.flow.turns.ask_person(reference, "U1")
            await here.settled()
            assert "How many days?" in here.card().text
            assert UNSURE not in here.card().text
            assert "Leave" not in here.card().text

    run(body())


@pytest.mark.soak
def test_a_question_that_was_taken_back_is_answered_no_more() -> None:
    async def body() -> None:
        async with scene() as here:
            await here.flow.turns.ask_person(await here.answered(), "U1")
            await here.settled()
            await here.flow.turns.deleted(asked("").conversation, "q1")
            await here.reply()
            assert not [one for one in here.flow.server.messages.values() if one.channel == "C1" and not one.gone]
            (note,) = here.notes()
            assert "could not be sent" in note

    run(body())


@pytest.mark.parametrize(
    ("fault", "finds"),
    [
        ("dropped", True),
        ("dropped", False),
        pytest.param("unreachable", True, marks=pytest.mark.soak),
        pytest.param("limited", True, marks=pytest.mark.soak),
    ],
)
def test_each_call_may_fail_once(fault: str, finds: bool) -> None:
    async def body() -> None:
        failed: set[int] = set()

        def once(name: str, tried: int) -> str:
            if name not in ("send", "end") or tried in failed or tried - 1 in failed:
                return ""
            failed.add(tried)
            return fault

        async with scene(finds_sent=finds) as here:
            reference = await here.answered()
            here.flow.server.fault = once
            await here.flow.turns.ask_person(reference, "U1")
            await asyncio.sleep(30)
            await here.flow.turns.receive(here.said("Five days."))
            await asyncio.sleep(60)
            (reply,) = await here.flow.people.all_replies()
            await here.flow.turns.keep_reply(reply.id, ADA, PLACE, kept=True)
            await asyncio.sleep(60)
            twice = 2 if fault == "dropped" and not finds else 1
            cards = [one for one in here.owners_see() if "How many days?" in one.text and "Reply to" in one.text]
            assert len(cards) == twice, "where nobody can look, what is in doubt is repeated rather than lost"
            assert len([one for one in here.copies() if "Five days." in one]) == twice
            assert any("This is a document now" in note for note in here.notes())
            assert failed

    run(body())


def test_where_the_owners_cannot_be_reached_whoever_asked_is_told() -> None:
    async def body() -> None:
        async with scene() as here:
            reference = await here.answered()
            calls, send = here.flow.server, here.flow.platform.send

            async def refusing(incoming: Incoming, *args: Any, **more: Any) -> Any:
                calls.fault = lambda name, tried: "refused" if incoming.conversation.channel == "OWN" else ""
                return await send(incoming, *args, **more)

            here.flow.platform.send = refusing  # type: ignore[method-assign]
            await here.flow.turns.ask_person(reference, "U1")
            await here.settled()
            (told,) = here.copies()
            assert "could not be reached" in told

    run(body())


@pytest.mark.soak
def test_what_fails_for_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "MOST_FAULTS", 3)

    async def body() -> None:
        async with scene() as here:
            reference = await here.answered()
            here.flow.server.fault = lambda name, tried: "unreachable"
            before = here.flow.server.tried
            await here.flow.turns.ask_person(reference, "U1")
            await asyncio.sleep(100)
            assert here.flow.server.tried - before == 6, "the card, and then that nobody could be reached"
            here.flow.server.fault = lambda name, tried: ""
            await asyncio.sleep(100)
            assert here.owners_see() == []
            assert await here.flow.turns.ask_person(reference, "U1") == "asked", "who presses again tries again"
            await here.settled()
            assert len(here.owners_see()) == 1

    run(body())


@pytest.mark.parametrize("alone", [True, pytest.param(False, marks=pytest.mark.soak)])
def test_the_next_process_goes_on_where_one_was_killed(tmp_path: Any, alone: bool) -> None:
    async def body() -> None:
        server = Server()
        place = tmp_path / "claims.sqlite"
        async with scene(where=place, server=server) as here:
            reference = await here.answered()
            server.fault = lambda name, tried: "hangs"
            await here.flow.turns.ask_person(reference, "U1")
            await here.settled()  # taken, and never ended
        server.fault = lambda name, tried: ""
        async with scene(where=place, server=server, alone=alone) as here:
            await here.settled()
            assert bool(here.owners_see()) is alone, "what another process may still do is left to it for a while"
            await asyncio.sleep(POST_SECONDS + 10)
            assert len(here.owners_see()) == 1

    run(body())


def test_a_reply_may_come_before_the_card_is_written_down() -> None:
    async def body() -> None:
        async with scene() as here:
            reference = await here.answered()
            here.flow.server.latency = 0.5
            stands = here.flow.people.posts.stands

            async def slowly(*args: Any, **more: Any) -> bool:
                await asyncio.sleep(0.5)
                return await stands(*args, **more)

            here.flow.people.posts.stands = slowly  # type: ignore[method-assign]
            await here.flow.turns.ask_person(reference, "U1")
            await asyncio.sleep(0.6)
            here.flow.server.latency = 0.0
            assert await here.flow.turns.receive(here.said("Five days."))
            await asyncio.sleep(10)
            assert len(here.copies()) == 1

    run(body())


def test_what_was_said_while_nobody_listened_is_read_back() -> None:
    async def body() -> None:
        async with scene() as here:
            await here.flow.turns.ask_person(await here.answered(), "U1")
            await here.settled()
            thread = replace(here.said("").conversation, thread=here.card().id)
            here.flow.platform.read_back = (here.said("Five days.", conversation=thread),)
            for _ in range(2):
                await here.flow.turns.connected()
            await here.settled()
            assert len(here.copies()) == 1

    run(body())
