"""Slack counts the calls of all processes of a workspace together; another one's are met as a refusal with a wait."""

import asyncio
import contextlib
import pathlib
import time
from collections.abc import AsyncIterator

import pytest
from slack_sdk.errors import SlackApiError

from bots.platform import Incoming
from bots.slack.calling import Calls
from ragcore.errors import PlatformRateLimited
from tests.bots.scene import view
from tests.bots.slack.scene import ASKER, CHANNEL, DIRECT, NAME, Scene
from tests.bots.slack.whole import QUESTION, whole
from tests.fakes.waiting import until
from tests.servers.faults import Fault
from tests.servers.slack import Rates, SlackServer, slack_server

MINUTE = 1.5
"""Seconds of a minute here: Slack's own would be a minute's test."""


@contextlib.asynccontextmanager
async def calling(server: SlackServer) -> AsyncIterator[Calls]:
    calls = Calls(server.bot_token, f"{server.url}/api/")
    async with calls.connection():
        yield calls


async def test_one_refusal_lets_all_calls_of_the_method_wait() -> None:
    async with slack_server(rates=Rates(append=3, minute=MINUTE)) as server:
        server.person(ASKER)
        async with calling(server) as first, calling(server) as second:
            for _ in range(3):
                await first.client.users_info(user=ASKER)
            with pytest.raises(SlackApiError):  # what is asked for has another way, of the whole crowd
                await second.client.users_info(user=ASKER)
            refused = time.monotonic()
            found = await asyncio.gather(*(second.client.users_info(user=ASKER) for _ in range(3)))
    assert all(one["ok"] for one in found)
    assert [method for method, _ in server.refused] == ["users.info"]
    assert min(at for at, _, _ in server.calls[4:]) - refused > 0.9, "a second is what it was asked to wait"


async def test_what_is_refused_is_asked_once_more_after_the_wait() -> None:
    async with slack_server(rates=Rates(read=2, minute=MINUTE)) as server:
        server.channel(CHANNEL)
        async with calling(server) as first, calling(server) as second:
            for _ in range(2):
                await first.client.conversations_info(channel=CHANNEL)
            found = await asyncio.gather(*(second.client.conversations_info(channel=CHANNEL) for _ in range(2)))
    assert all(one["ok"] for one in found)
    assert len(server.refused) <= 2, "only those that were under way together"


async def test_a_wait_that_is_too_long_is_told() -> None:
    async with slack_server() as server:
        server.channel(CHANNEL)
        server.faults.add("conversations.info", Fault(status=429, wait=300))
        async with calling(server) as calls:
            with pytest.raises(PlatformRateLimited):
                await calls.do(calls.client.conversations_info(channel=CHANNEL))


async def test_nobody_is_a_stranger_because_another_process_asks_as_well(scene: Scene) -> None:
    scene.server.say(DIRECT, "How many?")
    (incoming,) = await scene.inbox.wait()
    scene.server.faults.add("users.info", Fault(status=429, wait=30))
    assert "slack:T0001" in await scene.platform.readers(incoming)
    assert scene.server.count("users.list") == 1


async def test_statuses_are_left_out_as_long_as_slack_asks_to_wait(scene: Scene) -> None:
    incoming = await asked(scene)
    scene.server.faults.add("assistant.threads.setStatus", Fault(status=429, wait=30))
    for _ in range(3):
        await scene.platform.status(incoming, "Searching …")
    assert scene.server.count("assistant.threads.setStatus") == 1


async def test_slacks_stop_button_goes_although_another_process_left_no_room(scene: Scene) -> None:
    incoming = await asked(scene)
    await scene.platform.status(incoming, "Searching …")
    assert set(scene.server.sessions.values()) == {"processing"}
    scene.server.faults.add("agents.sessions.setStatus", Fault(status=429, wait=0.2))
    (part,) = scene.platform.render(view("Five."))
    await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    assert set(scene.server.sessions.values()) == {"processing"}, "nothing waits for it"
    await until(lambda: set(scene.server.sessions.values()) == {"active"})


async def asked(scene: Scene) -> Incoming:
    scene.server.say(CHANNEL, f"{NAME} how many?")
    (incoming,) = await scene.inbox.wait()
    return incoming


async def test_two_processes_in_one_workspace_answer_all_once_and_whole(tmp_path: pathlib.Path) -> None:
    few = Rates(start=4, change=5, append=8, read=30, status=4, posts=6, minute=MINUTE, channel=(100, 1.0))
    people = range(1, 9)
    async with slack_server(rates=few) as server:
        async with whole(tmp_path, server, alone=False) as first, whole(tmp_path, server, alone=False) as second:
            # Of direct messages comes one event each, to one socket after the other.
            said = {f"D{number}": server.say(f"D{number}", QUESTION, user=f"U{number}") for number in people}
            await until(lambda: first.turns.running() + second.turns.running() == len(said))
            assert (first.turns.running(), second.turns.running()) == (4, 4)
            await until(lambda: not first.turns.running() + second.turns.running(), seconds=60.0)
            assert not any("streaming" in one for channel in said for one in server.answers(channel))
        for channel, question in said.items():
            (answer,) = server.answers(channel, question["ts"])
            assert server.plain(answer).count("has five days.") == 3
    assert {error for _, error in server.refused} == {"ratelimited"}
