"""Whole turns on a local Discord: the real flow, the real discord.py, a scripted model."""

import contextlib
import functools
import pathlib
from collections.abc import AsyncIterator

import pytest

from bots.discord import DiscordPlatform
from bots.platform import Incoming
from tests.bots.discord.scene import CHANNEL, MENTION, THREAD, peopled
from tests.bots.turn.flows import answering, words_for
from tests.fakes.bot import Bot, answering_on
from tests.fakes.waiting import until
from tests.servers.discord import DiscordServer, Rates
from tests.servers.discord.world import Json
from tests.servers.faults import Fault

REAL = Rates()
"""What Discord lets through in practice."""
POST, PATCH = "POST /channels/{}/messages", "PATCH /channels/{}/messages/{}"
FINAL = words_for("how many?")


@contextlib.asynccontextmanager
async def running(
    server: DiscordServer, where: pathlib.Path, *, alone: bool = True, pause: float = 0.2
) -> AsyncIterator[Bot[DiscordPlatform]]:
    """Run a bot as a process does; its model is as slow as ``pause``."""
    platform = DiscordPlatform(token=server.token, api_url=server.url)
    async with answering_on(platform, where, script=functools.partial(answering, pause=pause), alone=alone) as bot:
        yield bot


def texts(server: DiscordServer, channel: int = CHANNEL) -> list[str]:
    return [one["content"] for one in server.answers(channel)]


def is_whole(text: str) -> bool:
    """Tell whether an answer is shown to its end, with its source."""
    return FINAL.replace("'", "") in text.replace("\\", "").replace("'", "") and "-# " in text


async def test_a_mention_is_answered_in_one_message(tmp_path: pathlib.Path) -> None:
    async with peopled(REAL) as server, running(server, tmp_path, pause=0.6) as process:
        said = await server.say(CHANNEL, f"{MENTION} how many?")
        await until(lambda: texts(server))
        await process.idle()
        (answer,) = server.answers(CHANNEL)
        assert is_whole(answer["content"])
        assert answer["message_reference"]["message_id"] == said["id"]
        assert server.state.pings == server.state.previewed == []
        assert server.count(POST) == 1
        # It grew on the way.
        assert server.count(PATCH) > 1
        assert 429 not in (code for _, code in server.state.refused)


async def test_a_command_is_answered_in_its_first_sign(tmp_path: pathlib.Path) -> None:
    async with peopled(REAL) as server, running(server, tmp_path) as process:
        interaction = await server.command(CHANNEL, "ask", question="how many?")
        await until(lambda: server.interactions.of(interaction).answered)
        await process.idle()
        (answer,) = texts(server)
        assert is_whole(answer)
        alone = await server.command(CHANNEL, "help")
        shown = server.interactions.of(alone).messages
        await until(lambda: any("Ask me about" in one["content"] for one in shown.values()))
        assert len(texts(server)) == 1


async def test_a_conversation_goes_on_in_replies_and_threads(tmp_path: pathlib.Path) -> None:
    async with peopled(REAL) as server, running(server, tmp_path) as process:
        await server.say(CHANNEL, f"{MENTION} how many?")
        await until(lambda: texts(server))
        await process.idle()
        await server.say(CHANNEL, "and then?", reply_to=server.answers(CHANNEL)[0])
        await until(lambda: len(texts(server)) == 2)
        await process.idle()
        first, second = (claim.conversation for claim in await conversations(process))
        assert first == second
        await server.say(THREAD, "not for us yet")
        await server.say(THREAD, f"{MENTION} how many?")
        await until(lambda: texts(server, THREAD))
        await process.idle()
        await server.say(THREAD, "and now without a name?")
        await until(lambda: len(texts(server, THREAD)) == 2)
        await process.idle()
        assert "not for us yet" not in process.model.questions


async def conversations(process: Bot[DiscordPlatform]) -> list[Incoming]:
    """Return what was claimed, in order."""
    found: list[Incoming] = []
    for answer in process.platform._calls._sent:
        claim = await process.turns._claims.by_reference(answer[:8])
        assert claim is not None
        found.append(claim.incoming)
    return found


async def test_what_its_asker_takes_back_is_withdrawn_and_what_they_change_is_answered_anew(
    tmp_path: pathlib.Path,
) -> None:
    async with peopled(REAL) as server, running(server, tmp_path) as process:
        said = await server.say(CHANNEL, f"{MENTION} how mny?")
        await until(lambda: texts(server))
        await process.idle()
        await server.edit(said, f"{MENTION} how many?")
        await until(lambda: any(is_whole(one) for one in texts(server)))
        await process.idle()
        assert len(texts(server)) == 1
        await server.delete(said)
        await until(lambda: texts(server) == [])


@pytest.mark.parametrize(
    ("route", "fault"),
    [
        (POST, Fault(status=0, done=True)),
        (POST, Fault(status=0)),
        (POST, Fault(status=503)),
        (POST, Fault(status=503, done=True)),
        (POST, Fault(status=429, wait=0.3)),
        (PATCH, Fault(status=0, done=True)),
        (PATCH, Fault(status=503)),
        (PATCH, Fault(status=429, wait=0.3)),
        (PATCH, Fault(status=404, error="10008 Unknown Message")),
    ],
)
async def test_whatever_goes_wrong_once_one_whole_answer_stands(
    tmp_path: pathlib.Path, route: str, fault: Fault
) -> None:
    async with peopled(REAL) as server, running(server, tmp_path) as process:
        server.faults.add(route, fault)
        await server.say(CHANNEL, f"{MENTION} how many?")
        await until(lambda: any(is_whole(one) for one in texts(server)))
        await process.idle()
        whole = [one for one in texts(server) if is_whole(one)]
        assert len(whole) == 1
        assert len(texts(server)) == 1 or fault.status == 404


async def test_a_lost_connection_in_mid_answer(tmp_path: pathlib.Path) -> None:
    async with peopled(REAL) as server, running(server, tmp_path) as process:
        said = await server.say(CHANNEL, f"{MENTION} how many?")
        await until(lambda: texts(server))
        server.gateway.break_off()
        await until(lambda: server.gateway.resumed)
        await server.tell("MESSAGE_CREATE", said)
        await process.idle()
        assert [is_whole(one) for one in texts(server)] == [True]


async def test_a_token_that_dies_in_mid_answer(tmp_path: pathlib.Path) -> None:
    async with peopled(REAL) as server, running(server, tmp_path) as process:
        interaction = await server.command(CHANNEL, "ask", question="how many?")
        await until(lambda: any("answer" in one for one in texts(server)))
        server.interactions.expire(interaction)
        await process.idle()
        assert [is_whole(one) for one in texts(server)] == [True]


@pytest.mark.parametrize("by_command", [pytest.param(False, marks=pytest.mark.soak), True])
async def test_a_process_that_dies_in_mid_answer_is_followed_by_one_that_ends_it(
    tmp_path: pathlib.Path, *, by_command: bool
) -> None:
    async with peopled(REAL) as server:
        async with running(server, tmp_path, pause=1.0):
            if by_command:
                await server.command(CHANNEL, "ask", question="how many?")
            else:
                await server.say(CHANNEL, f"{MENTION} how many?")
            await until(lambda: any("answer" in one for one in texts(server)))
        assert not any(is_whole(one) for one in texts(server))
        async with running(server, tmp_path) as process:
            await until(lambda: any(is_whole(one) for one in texts(server)))
            await process.idle()
        assert [is_whole(one) for one in texts(server)] == [True]


async def test_what_was_asked_while_nobody_was_there_is_answered(tmp_path: pathlib.Path) -> None:
    async with peopled(REAL) as server:
        async with running(server, tmp_path) as process:
            await server.say(CHANNEL, f"{MENTION} how many?")
            await until(lambda: texts(server))
            await process.idle()
        asked: Json = await server.say(CHANNEL, f"{MENTION} how many now?", told=False)
        async with running(server, tmp_path) as process:
            await until(lambda: len(texts(server)) == 2)
            await process.idle()
        assert server.answers(CHANNEL)[-1]["message_reference"]["message_id"] == asked["id"]


async def test_two_processes_answer_once(tmp_path: pathlib.Path) -> None:
    async with (
        peopled(REAL) as server,
        running(server, tmp_path, alone=False) as one,
        running(server, tmp_path, alone=False) as other,
    ):
        await server.say(CHANNEL, f"{MENTION} how many?")
        interaction = await server.command(13, "ask", question="how many?", user=8)
        await until(lambda: any(is_whole(text) for text in texts(server)))
        await until(lambda: any(is_whole(text) for text in texts(server, 13)))
        await one.idle()
        await other.idle()
        assert len(texts(server)) == len(texts(server, 13)) == 1
        assert len(one.model.questions) + len(other.model.questions) == 2
        assert server.interactions.of(interaction).answered
