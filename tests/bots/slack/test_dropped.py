"""Sockets that Slack closes, or that break off, in the middle of an answer; what comes again is answered once."""

import pathlib
from collections.abc import AsyncIterator, Callable

import pytest

from tests.bots.slack.whole import CHANNEL, QUESTION, Whole, begun
from tests.fakes.waiting import until
from tests.servers.slack import SlackServer

ENDS: dict[str, Callable[[SlackServer], None]] = {
    "announced": lambda server: server.drop_sockets(reason="refresh_requested"),
    "closed": lambda server: server.drop_sockets(),
    "broken off": lambda server: server.cut_sockets(),
}


@pytest.fixture
async def flow(tmp_path: pathlib.Path) -> AsyncIterator[Whole]:
    async with begun(tmp_path) as made:
        yield made


@pytest.mark.parametrize("end", ENDS)
async def test_sockets_that_end_in_the_middle_of_an_answer(flow: Whole, end: str) -> None:
    server = flow.server
    opened = server.opened
    said = server.say(CHANNEL, f"<@{server.user}> {QUESTION}")
    await until(lambda: server.count("chat.startStream"))
    ENDS[end](server)
    await until(lambda: server.opened >= opened + 2, seconds=30.0)
    # Slack delivers again what it takes for lost, by one of the new sockets.
    mention = {**said, "type": "app_mention", "channel": CHANNEL}
    again = server.emit(mention)
    await until(lambda: (again, 0) in server.acknowledged)
    await until(lambda: not flow.turns.running(), seconds=60.0)
    (answer,) = server.answers(CHANNEL)
    assert "streaming" not in answer
    assert server.plain(answer).count("has five days.") == 3


@pytest.mark.parametrize("end", [end if end == "closed" else pytest.param(end, marks=pytest.mark.soak) for end in ENDS])
async def test_an_event_that_was_on_its_way_comes_again_and_is_answered_once(flow: Whole, end: str) -> None:
    server = flow.server
    server.ack_seconds = 1.0
    answered = await flow.answer()
    server.say(CHANNEL, f"<@{server.user}> and how many weeks?")
    ENDS[end](server)
    await until(lambda: len(server.answers(CHANNEL)) == 2, seconds=30.0)
    await until(lambda: not flow.turns.running(), seconds=60.0)
    first, second = server.answers(CHANNEL)
    assert server.plain(first) == answered
    assert "how many weeks?" in server.plain(second)
    assert server.unacknowledged == []
