"""Whole turns on a local Slack: whatever goes wrong on the way, one complete answer stands in the end."""

import asyncio
import logging
import pathlib
from collections.abc import AsyncIterator

import pytest

from tests.bots.slack.whole import CHANNEL, QUESTION, Whole, begun, whole
from tests.fakes.waiting import until
from tests.servers.faults import Fault
from tests.servers.slack import slack_server
from tests.servers.slack.blocks import buttons_of


@pytest.fixture
async def flow(tmp_path: pathlib.Path) -> AsyncIterator[Whole]:
    async with begun(tmp_path) as made:
        yield made


async def test_an_answer_is_streamed_once_and_ends_whole(flow: Whole) -> None:
    text = await flow.answer()
    assert text.startswith(f"The answer to '{QUESTION}' has five days.")
    assert "[1]" in text
    assert flow.server.count("chat.startStream") == flow.server.count("chat.stopStream") == 1
    assert flow.server.count("chat.appendStream") >= 1
    assert flow.server.count("chat.postMessage") == 0
    assert flow.server.count("auth.test") == 1
    assert flow.server.refused == []
    assert len(flow.server.acknowledged) >= 2


FAULTS = [
    ("chat.startStream", Fault(status=0, done=True)),
    ("chat.startStream", Fault(status=500)),
    ("chat.startStream", Fault(status=429, wait=1)),
    ("chat.startStream", Fault(status=200, error="channel_type_not_supported")),
    ("chat.appendStream", Fault(status=0, done=True)),
    ("chat.appendStream", Fault(status=200, error="message_not_in_streaming_state")),
    ("chat.stopStream", Fault(status=0, done=True)),
    ("chat.stopStream", Fault(status=500)),
    ("chat.update", Fault(status=0, done=True)),
    ("chat.update", Fault(status=429, wait=1)),
    ("chat.update", Fault(status=500)),
    ("assistant.threads.setStatus", Fault(status=500)),
    ("agents.sessions.setStatus", Fault(status=429, wait=1)),
]


async def test_one_answer_whatever_goes_wrong(tmp_path: pathlib.Path) -> None:
    async def answer(number: int, method: str, fault: Fault) -> tuple[str, int]:
        folder = tmp_path / str(number)
        folder.mkdir()
        async with begun(folder) as flow:
            flow.server.faults.add(method, fault)
            text = await flow.answer()
            assert flow.server.faults.take(method) is None, "the fault came to pass"
            return f"{method} {fault}", text.count("has five days.")

    # Side by side, for each takes as long as its model.
    told = await asyncio.gather(*(answer(number, *one) for number, one in enumerate(FAULTS)))
    assert {name: 3 for name, _ in told} == dict(told)


async def test_a_stream_that_dies_in_the_middle(flow: Whole) -> None:
    flow.server.stream_seconds = 0.5
    assert (await flow.answer()).count("has five days.") == 3


async def test_a_question_is_answered_again_after_its_edit_and_taken_back_with_it(flow: Whole) -> None:
    said = flow.server.say(CHANNEL, f"<@{flow.server.user}> how many dais?")
    await until(flow.turns.running)
    await until(lambda: not flow.turns.running(), seconds=60.0)
    flow.server.edit(CHANNEL, said, f"<@{flow.server.user}> how many days?")
    await until(flow.turns.running)
    await until(lambda: not flow.turns.running(), seconds=60.0)
    (message,) = flow.server.answers(CHANNEL, said["ts"])
    assert "how many days?" in flow.server.plain(message)
    flow.server.delete(CHANNEL, said)
    await until(lambda: not flow.server.answers(CHANNEL, said["ts"]))


async def test_nothing_secret_reaches_the_log(flow: Whole, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    url = flow.server.command(CHANNEL, "/ask", QUESTION)
    await flow.answer()
    flow.server.drop_sockets()
    flow.server.faults.add("apps.connections.open", Fault(status=500))
    await until(lambda: flow.server.count("apps.connections.open") >= 4)
    # A socket stands a while after its address was given, and then alone is the SDK done with telling of it.
    await until(lambda: "has been established" in caplog.text)
    # The database's own log at this level is the operator's business.
    told = "\n".join(record.getMessage() for record in caplog.records if record.name != "aiosqlite")
    assert "Failed to retrieve WSS URL" in told, "the SDK's log is there"
    for secret in (flow.server.bot_token, flow.server.app_token, url, "five days", "ticket=ticket-"):
        assert secret not in told


async def test_a_process_that_stops_in_mid_stream_is_followed_by_one_that_ends_the_same_message(
    tmp_path: pathlib.Path,
) -> None:
    async with slack_server() as server:
        server.channel(CHANNEL)
        async with whole(tmp_path, server):
            said = server.say(CHANNEL, f"<@{server.user}> {QUESTION}")
            await until(lambda: server.count("chat.startStream"))
            await until(lambda: server.answers(CHANNEL))
        (begun,) = server.answers(CHANNEL)
        assert "streaming" in begun
        async with whole(tmp_path, server) as second:
            await until(lambda: "streaming" not in begun)
            await until(lambda: not second.turns.running())
        (ended,) = server.answers(CHANNEL, said["ts"])
        assert ended["ts"] == begun["ts"]
        assert server.plain(ended).count("has five days.") == 3


async def test_what_was_asked_meanwhile_is_answered_when_the_bot_is_back(tmp_path: pathlib.Path) -> None:
    async with slack_server() as server:
        server.channel(CHANNEL)
        async with whole(tmp_path, server) as first:
            await first.answer()
        server.delivers = False
        asked = server.say(CHANNEL, f"<@{server.user}> and how many weeks?")
        server.say(CHANNEL, "nobody asks the bot here")
        server.delivers = True
        async with whole(tmp_path, server) as second:
            await until(lambda: server.answers(CHANNEL, asked["ts"]))
            await until(lambda: not second.turns.running())
        (answer,) = server.answers(CHANNEL, asked["ts"])
        assert "how many weeks?" in server.plain(answer)
        assert len(server.answers(CHANNEL)) == 2


async def test_a_command_is_answered_for_one_and_shared_with_all(flow: Whole) -> None:
    server = flow.server
    server.person("U2", is_restricted=True)
    server.command(CHANNEL, "/ask", QUESTION, user="U2")
    await until(server.answers_alone)
    (refused,) = server.answers_alone()
    assert "has five days." not in server.plain({"blocks": refused.blocks}), "a guest is no reader of the workspace"
    server.shown.clear()
    server.command(CHANNEL, "/ask", QUESTION)
    await until(server.answers_alone)
    (shown,) = server.answers_alone()
    assert server.plain({"blocks": shown.blocks}).count("has five days.") == 3
    assert server.answers(CHANNEL) == []
    (share,) = (part["value"] for _, part in buttons_of(shown.blocks) if part["value"].startswith("cb:share:"))
    server.press(shown, share)
    await until(lambda: server.answers(CHANNEL) and not server.answers_alone())
    (message,) = server.answers(CHANNEL)
    assert server.plain(message).count("has five days.") == 3
