"""kill -9 at every call of a turn, before and after it takes effect: the next life leaves one whole answer."""

import pathlib
from dataclasses import replace

import pytest

from tests.bots.discord.scene import CHANNEL, MENTION, peopled
from tests.bots.discord.test_turns import is_whole
from tests.fakes.bot import Life
from tests.fakes.forking import Workers
from tests.fakes.killing import Killer, forking, has_ended, started
from tests.fakes.waiting import until
from tests.servers.discord import DiscordServer, Rates

POINTS = [pytest.param(point, marks=() if point <= 1 else pytest.mark.soak) for point in range(1, 11)]

forked = forking("discord")


@pytest.mark.parametrize("by_command", [False, True], ids=["message", "command"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("point", POINTS)
async def test_killed_at_a_call(
    forked: Workers, tmp_path: pathlib.Path, point: int, when: str, *, by_command: bool
) -> None:
    async with peopled(Rates()) as server:
        life = Life(environment=server.environment, folder=str(tmp_path), pause=0.4)
        killer = server.state.watch = Killer(when=when, count=point)
        pid = await begun(forked, server, life)
        killer.pid = pid
        if by_command:
            await server.command(CHANNEL, "ask", question="how many?")
        else:
            await server.say(CHANNEL, f"{MENTION} how many?")
        # A turn can have fewer calls than that.
        await until(lambda: not killer.pid or has_ended(life))
        await forked.kill(pid)
        pid = await begun(forked, server, replace(life, pause=0.1))
        await until(lambda: has_ended(life))
        await forked.kill(pid)
        standing = server.answers(CHANNEL)
        assert [is_whole(one["content"]) for one in standing] == [True]


async def begun(forked: Workers, server: DiscordServer, life: Life) -> int:
    """Start a bot, and return its process id once it listens."""
    pid = await started(forked, life, lambda: len(server.gateway.identified))
    await until(lambda: server.state.commands)
    return pid
