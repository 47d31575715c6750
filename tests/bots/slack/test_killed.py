"""kill -9 at every call of a turn, before and after it takes effect: the next life leaves one whole answer."""

import asyncio
import pathlib

import pytest

from tests.bots.turn.flows import words_for
from tests.fakes.bot import Life
from tests.fakes.forking import Workers
from tests.fakes.killing import Killer, forking, started
from tests.fakes.waiting import until
from tests.servers.slack import SlackServer, slack_server

CHANNEL, QUESTION = "C1", "how many?"
METHODS = ("chat.startStream", "chat.appendStream", "chat.stopStream", "chat.update")
QUICK = ("chat.stopStream", "after")
CASES = [
    pytest.param(method, when, marks=() if (method, when) == QUICK else pytest.mark.soak)
    for method in METHODS
    for when in ("before", "after")
]

forked = forking("slack")


@pytest.mark.parametrize(("method", "when"), CASES)
async def test_killed_at_a_call(forked: Workers, tmp_path: pathlib.Path, method: str, when: str) -> None:
    async with slack_server() as server:
        server.channel(CHANNEL)
        life = Life(environment=server.environment, folder=str(tmp_path), pause=0.9)
        killer = server.watch = Killer(when=when, method=method)
        killer.pid = pid = await begun(forked, server, life)
        server.say(CHANNEL, f"<@{server.user}> {QUESTION}")
        await until(lambda: not killer.pid)
        await forked.kill(pid)
        pid = await begun(forked, server, life)
        await until(lambda: is_answered(server))
        await asyncio.sleep(0.2)
        await forked.kill(pid)
        (answer,) = server.answers(CHANNEL)
        assert is_whole(server, answer)


def is_whole(server: SlackServer, message: dict[str, object]) -> bool:
    return "streaming" not in message and server.plain(message).startswith(words_for(QUESTION)[:60])


def is_answered(server: SlackServer) -> bool:
    return any("metadata" in one and is_whole(server, one) for one in server.answers(CHANNEL))


async def begun(forked: Workers, server: SlackServer, life: Life) -> int:
    """Start a bot, and return its process id once both its sockets listen."""
    return await started(forked, life, lambda: server.opened, times=2)
