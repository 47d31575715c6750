"""A slash command's answer, whatever its interaction does: one whole answer, none twice."""

import contextlib
import functools
import pathlib
from collections.abc import AsyncIterator

import pytest

from bots.discord import DiscordPlatform
from tests.bots.discord.scene import ASKER, CHANNEL, FAST, peopled
from tests.bots.turn.flows import answering, words_for
from tests.fakes.bot import Bot, answering_on
from tests.fakes.waiting import until
from tests.servers.discord import DiscordServer
from tests.servers.discord.world import Json
from tests.servers.faults import Fault

CALLBACK = "POST /interactions/{}/{}/callback"
EDIT = "PATCH /webhooks/{}/{}/messages/{}"
QUESTION = "how many?"
GONE = Fault(status=404, error="10062 Unknown interaction")
DEAD = Fault(status=401, error="50027 Invalid Webhook Token")
QUICK = (Fault(status=0), Fault(status=0, done=True), Fault(status=429, wait=0.3))
SLOW = (Fault(status=500), Fault(status=503, done=True))
"""The library waits a second before it tries these again."""


@contextlib.asynccontextmanager
async def running(
    server: DiscordServer, folder: pathlib.Path, *, pause: float = 0.05
) -> AsyncIterator[Bot[DiscordPlatform]]:
    platform = DiscordPlatform(token=server.token, api_url=server.url)
    async with answering_on(platform, folder, script=functools.partial(answering, pause=pause)) as bot:
        yield bot


def whole(server: DiscordServer, interaction: Json) -> list[str]:
    """Return the whole answers that stand: in the channel, for the asker alone, and in their direct messages."""
    places = (*server.answers(CHANNEL), *server.answers(server.direct(ASKER).id))
    alone = server.interactions.of(interaction).messages.values()
    said = {one["id"]: one["content"] for one in (*places, *alone)}
    return [text for text in said.values() if is_whole(text)]


def is_whole(text: str) -> bool:
    wanted = words_for(QUESTION).replace("'", "")
    return wanted in text.replace("\\", "").replace("'", "") and "-# " in text


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize(
    ("route", "faults"),
    [
        (CALLBACK, (*QUICK, GONE)),
        (EDIT, (*QUICK, DEAD)),
        pytest.param(CALLBACK, SLOW, marks=pytest.mark.soak),
        pytest.param(EDIT, SLOW, marks=pytest.mark.soak),
    ],
)
async def test_one_whole_answer_whatever_goes_wrong(
    tmp_path: pathlib.Path, route: str, faults: tuple[Fault, ...], *, private: bool
) -> None:
    async def answer(number: int, fault: Fault) -> int:
        folder = tmp_path / str(number)
        folder.mkdir()
        async with peopled(FAST) as server, running(server, folder) as bot:
            server.faults.add(route, fault)
            interaction = await server.command(CHANNEL, "ask", question=QUESTION, private=private)
            await until(bot.turns.running)
            await bot.idle(60.0)
            assert server.faults.take(route) is None, "the fault came to pass"
            return len(whole(server, interaction))

    found = {str(fault): await answer(number, fault) for number, fault in enumerate(faults)}
    assert found == dict.fromkeys(found, 1)


@pytest.mark.parametrize("private", [False, True])
async def test_an_interaction_that_dies_in_the_middle_of_an_answer(tmp_path: pathlib.Path, *, private: bool) -> None:
    async with peopled(FAST) as server, running(server, tmp_path, pause=0.6) as bot:
        interaction = await server.command(CHANNEL, "ask", question=QUESTION, private=private)
        await until(lambda: any("answer" in text for text in shown(server, interaction)))
        assert not whole(server, interaction)
        server.interactions.expire(interaction)
        await bot.idle(60.0)
        assert len(whole(server, interaction)) == 1
        if private:
            assert len(server.answers(server.direct(ASKER).id)) == 1
            assert server.answers(CHANNEL) == [], "whoever asked in private is answered in private"


async def test_an_answer_comes_although_the_first_sign_never_went(tmp_path: pathlib.Path) -> None:
    async with peopled(FAST) as server, running(server, tmp_path) as bot:
        server.interactions.seconds = 0.0
        interaction = await server.command(CHANNEL, "ask", question=QUESTION)
        await until(lambda: server.answers(CHANNEL))
        await bot.idle(60.0)
        assert len(whole(server, interaction)) == 1


def shown(server: DiscordServer, interaction: Json) -> list[str]:
    return [one["content"] for one in server.interactions.of(interaction).messages.values()]
