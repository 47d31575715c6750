"""kill -9 while a long answer goes by an interaction's token: one message, and in it each page of the answer, once.

Discord takes no nonce there, and lists neither what one person alone sees nor what stands in a channel that is closed
to the bot; the first answer to an interaction is the only one that can be changed without knowing more of it.
"""

import itertools
import pathlib
from dataclasses import replace

import pytest

from bots.platform import View
from bots.rendering.discord import render_discord
from tests.bots.discord.scene import CHANNEL, peopled
from tests.bots.discord.test_killed import begun
from tests.bots.turn.flows import answer_to, document_of, words_for
from tests.fakes.bot import Life
from tests.fakes.forking import Workers
from tests.fakes.killing import Killer, forking, has_ended
from tests.fakes.waiting import until
from tests.servers.discord import DiscordServer, Rates
from tests.servers.discord.world import Json
from tests.soak import scaled

QUESTION = "how many? " + " ".join(f"detail{number}".ljust(150, "x") for number in range(9))
"""Long, of few words: the scripted model writes an answer three times as long, word by word."""
CALLBACK, CHANGE = "POST /interactions/{}/{}/callback", "PATCH /webhooks/{}/{}/messages/{}"
FINAL = View(document=document_of(answer_to(QUESTION, words_for(QUESTION))), reference="")
CALLS = [(CHANGE, 2), (CHANGE, 1), (CALLBACK, 1)]
POINTS = list(itertools.product(CALLS, ("after", "before")))

forked = forking("discord")


@pytest.mark.soak
@pytest.mark.parametrize("private", [True, False], ids=["private", "closed channel"])
@pytest.mark.parametrize(("call", "when"), POINTS[: scaled(2)])
async def test_killed_while_an_answer_is_sent_that_stays_one_message(
    forked: Workers, tmp_path: pathlib.Path, call: tuple[str, int], when: str, *, private: bool
) -> None:
    async with peopled(Rates()) as server:
        server.state.channels[CHANNEL].closed = 0 if private else 50001
        life = Life(environment=server.environment, folder=str(tmp_path), pause=0.4)
        killer = server.state.watch = Killer(when=when, method=call[0], count=call[1])
        killer.pid = pid = await begun(forked, server, life)
        try:
            asked = await server.command(CHANNEL, "ask", question=QUESTION, private=private)
            await until(lambda: not killer.pid, seconds=20.0)
        finally:
            await forked.kill(pid)
        pid = await begun(forked, server, replace(life, pause=0.1))
        try:
            await until(lambda: has_ended(life), seconds=20.0)
            assert await read(server, asked) == [part.content for part in render_discord(FINAL)]
        finally:
            await forked.kill(pid)
        assert not (private and server.answers(CHANNEL)), "nobody else sees any of it"


async def read(server: DiscordServer, asked: Json) -> list[str]:
    """Return the pages of the one message that answers, turned as its asker turns them."""
    shown = [*server.interactions.of(asked).messages.values(), *server.answers(server.direct(42).id)]
    (message,) = shown
    pages = [message["content"]]
    while (following := to_next(message)) is not None:
        await server.press(message, following)
        await until(lambda: message["content"] != pages[-1])
        pages.append(message["content"])
    return pages


def to_next(message: Json) -> str | None:
    """Return what the button to the next page says, None on the last one."""
    buttons = [button for row in message["components"] for button in row["components"]]
    return next((one["custom_id"] for one in buttons if (one.get("label") or "").endswith("▶")), None)
