"""A slash command's answer that Slack has taken, in a process that ends before the turn does."""

import asyncio
import pathlib

import pytest

from bots.turn.claims import Claims
from tests.bots.slack.whole import CHANNEL, QUESTION, begun, read_alone, to_answer, whole
from tests.fakes.bot import Life
from tests.fakes.killing import has_ended
from tests.fakes.waiting import until
from tests.servers.faults import Fault
from tests.servers.slack import slack_server


async def test_what_slack_has_taken_is_not_sent_again(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reached = asyncio.Event()

    async def never(*_: object, **__: object) -> None:
        reached.set()
        await asyncio.Event().wait()

    async with slack_server() as server:
        server.channel(CHANNEL).members.add("U1")
        with monkeypatch.context() as dying:
            dying.setattr(Claims, "finish", never)
            async with whole(tmp_path, server):
                server.command(CHANNEL, "/ask", QUESTION, user="U1")
                await until(reached.is_set)
        async with whole(tmp_path, server):
            await until(lambda: has_ended(Life(environment={}, folder=str(tmp_path), pause=0.0)))
            (answer,) = server.answers_alone()
    assert server.plain({"blocks": answer.blocks}).count("has five days.") == 3
    assert to_answer(answer) is None


@pytest.mark.parametrize(
    ("command", "said"), [("reset", "Forgotten."), ("help", "Ask me"), ("sources", "not read any")]
)
async def test_what_other_commands_say_can_be_shown_too(tmp_path: pathlib.Path, command: str, said: str) -> None:
    async with begun(tmp_path) as flow:
        flow.server.faults.add("response_url", Fault(status=500))
        flow.server.command(CHANNEL, "/citebot", command, user="U1")
        await until(lambda: any(map(to_answer, flow.server.answers_alone())))
        await until(lambda: not flow.turns.running())
        (shown,) = await read_alone(flow.server)
    assert said in shown
