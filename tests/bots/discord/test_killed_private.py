"""kill -9 while a long answer for one person alone is sent: its further parts go by the interaction's token.

Discord takes no nonce there and lists no such messages, so of a part that it took just before the kill nobody can tell:
that part, and nothing else, may stand twice.
"""

import pathlib
from dataclasses import replace

import pytest

from bots.platform import View
from bots.rendering.discord import render_discord
from bots.rendering.parse import parse_answer
from tests.bots.discord.scene import CHANNEL, peopled
from tests.bots.discord.test_killed import begun
from tests.bots.turn.flows import answer_to, words_for
from tests.fakes.bot import Life
from tests.fakes.forking import Workers
from tests.fakes.killing import Killer, forking, has_ended
from tests.fakes.waiting import until
from tests.servers.discord import DiscordServer, Rates
from tests.servers.discord.world import Json
from tests.soak import scaled

QUESTION = "how many? " + " ".join(f"detail{number}".ljust(150, "x") for number in range(9))
"""Long, of few words: the scripted model writes an answer three times as long, word by word."""
FURTHER, FIRST = "POST /webhooks/{}/{}", "PATCH /webhooks/{}/{}/messages/{}"
FINAL = View(document=parse_answer(answer_to(QUESTION, words_for(QUESTION))), reference="")
POINTS = [
    ("after", FURTHER, 1),
    ("after", FIRST, 1),
    ("before", FURTHER, 1),
    ("after", FURTHER, 2),
    ("before", FURTHER, 2),
    ("before", FIRST, 2),
]

forked = forking("discord")


@pytest.mark.parametrize(("when", "name", "count"), POINTS[: scaled(2)])
async def test_killed_between_the_parts_of_a_private_answer(
    forked: Workers, tmp_path: pathlib.Path, when: str, name: str, count: int
) -> None:
    async with peopled(Rates()) as server:
        life = Life(environment=server.environment, folder=str(tmp_path), pause=0.4)
        killer = server.state.watch = Killer(when=when, method=name, count=count)
        killer.pid = await begun(forked, server, life)
        pid = killer.pid
        try:
            asked = await server.command(CHANNEL, "ask", question=QUESTION, private=True)
            await until(lambda: not killer.pid, seconds=20.0)
        finally:
            await forked.kill(pid)
        pid = await begun(forked, server, replace(life, pause=0.1))
        try:
            await until(lambda: has_ended(life), seconds=20.0)
        finally:
            await forked.kill(pid)
        expected = [part.content for part in render_discord(FINAL)]
        allowed = [expected]
        if name == FURTHER:
            allowed.append([*expected[: count + 1], *expected[count:]])
        assert standing(server, asked) in allowed
        assert server.answers(CHANNEL) == [], "nobody else sees any of it"


def standing(server: DiscordServer, asked: Json) -> list[str]:
    return [message["content"] for message in server.interactions.of(asked).messages.values()]
