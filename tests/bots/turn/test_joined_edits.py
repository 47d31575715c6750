"""One of several questions that are answered together is edited: all of them are answered again, in the same message."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from bots.platform import Incoming
from tests.bots.turn.flows import final, flowing, virtual_now
from tests.fakes.platform import Server, asked
from tests.fakes.virtual import run


def edited(message: Incoming, text: str, after: float = 5.0) -> Incoming:
    return replace(message, text=text, edited_at=message.sent_at + timedelta(seconds=after))


@pytest.mark.grid
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("seconds", [0.0, 0.1, 0.3, 0.6])
@pytest.mark.parametrize("streaming", ["edit", "stream", "draft", "none"])
def test_the_others_are_kept_when_a_process_goes_over_an_edit(
    tmp_path_factory: pytest.TempPathFactory, which: int, seconds: float, streaming: str
) -> None:
    """However far the new answer had come when the first process was gone."""
    where = tmp_path_factory.mktemp("claims") / "claims.sqlite"
    server = Server()

    async def talk() -> None:
        questions = [asked("How many days?", sent_at=virtual_now())]
        questions.append(asked("And for part-timers?", message="q2", sent_at=virtual_now()))
        async with flowing(where, server=server, streaming=streaming) as flow:
            for question in questions:
                await flow.turns.receive(question)
            await flow.idle()
            together = "How many days?\nAnd for part-timers?"
            assert flow.texts("q1") == [final(together)]
            (stands,) = server.standing("q1")
            await flow.turns.receive(edited(questions[which], "Which weeks?"))
            await asyncio.sleep(seconds)
        async with flowing(where, server=server, streaming=streaming) as flow:
            await flow.turns.connected()
            await flow.idle()
            words = [question.text for question in questions]
            words[which] = "Which weeks?"
            (now,) = server.standing("q1") + server.standing("q2")
            assert (now.id, now.text) == (stands.id, final("\n".join(words)))
            # And again, the other one, by the process that knows of all this from the database alone.
            await flow.turns.receive(edited(questions[1 - which], "Or months?", after=9.0))
            await flow.idle()
            words[1 - which] = "Or months?"
            (now,) = server.standing("q1") + server.standing("q2")
            assert (now.id, now.text) == (stands.id, final("\n".join(words)))

    run(talk())
