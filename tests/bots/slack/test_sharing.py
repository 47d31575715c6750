"""What a command answered one person shows the channel the same when it is shared, if all there may read it."""

import asyncio
import contextlib
import pathlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bots.slack import SlackPlatform
from tests.bots.sharing import CHANGED, LINKED, QUESTION, SECRET, over_documents
from tests.fakes.waiting import until
from tests.servers.faults import Fault
from tests.servers.slack import Shown, SlackServer, slack_server
from tests.servers.slack.blocks import buttons_of

pytestmark = pytest.mark.usefixtures("no_settings")

CHANNEL, ASKER = "C1", "U1"


@contextlib.asynccontextmanager
async def serving(folder: pathlib.Path) -> AsyncIterator[SlackServer]:
    async with slack_server() as server:
        server.channel(CHANNEL).members.add(ASKER)
        platform = SlackPlatform(
            bot_token=server.bot_token, app_token=server.app_token, api_url=f"{server.url}/api/", channels=()
        )
        readers = {"everybody": f"slack:{server.team}", "asker": f"slack:{server.team}/@{ASKER}"}
        async with over_documents(platform, folder, **readers):
            yield server


async def asked(server: SlackServer, question: str) -> Shown:
    server.shown.clear()
    server.command(CHANNEL, "/ask", question, user=ASKER)
    await until(server.answers_alone, seconds=30.0)
    return server.answers_alone()[0]


def said(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return all that a message says: its blocks without the buttons."""
    shown = [block for block in blocks if block["type"] in ("markdown", "context", "section")]
    return [{key: value for key, value in block.items() if key != "accessory"} for block in shown]


def share(shown: Shown) -> str:
    return next(part["value"] for _, part in buttons_of(shown.blocks) if part["value"].startswith("cb:share:"))


async def test_the_shared_answer_is_the_private_one(tmp_path: pathlib.Path) -> None:
    async with serving(tmp_path) as server:
        await asked(server, QUESTION)  # under a conversation's first answer its asker is told that there is no model
        shown = await asked(server, QUESTION)
        before = said(shown.blocks)
        server.press(shown, share(shown))
        await until(lambda: server.answers(CHANNEL) and not server.answers_alone())
        (message,) = server.answers(CHANNEL)
    assert said(message["blocks"]) == before
    told = server.plain(message)
    assert f"({LINKED})" in told, "an address of a source's host is a link"
    assert "[\\[1\\]](https://wiki.example/leave.md" in told
    assert "<https://wiki.example/leave.md" in told
    assert "Carry-over" in told
    assert f"<!date^{int(CHANGED.timestamp())}^" in told


async def test_what_the_channel_may_not_read_is_not_shared(tmp_path: pathlib.Path) -> None:
    async with serving(tmp_path) as server:
        shown = await asked(server, SECRET)
        assert "4 May" in server.plain({"blocks": shown.blocks})
        server.press(shown, share(shown))
        await until(lambda: len(server.answers_alone()) == 2)
        assert "not everybody who would see it" in server.plain({"blocks": server.answers_alone()[1].blocks})
        assert server.answers(CHANNEL) == []


async def test_pressed_twice_it_is_shared_once(tmp_path: pathlib.Path) -> None:
    async with serving(tmp_path) as server:
        shown = await asked(server, QUESTION)
        for _ in range(2):
            server.press(shown, share(shown))
        await until(lambda: server.answers(CHANNEL) and not server.answers_alone())
        server.press(shown, share(shown))  # by somebody's client that still shows it
        await until(lambda: len(server.acknowledged) == 4)
        await asyncio.sleep(0.3)
        assert len(server.answers(CHANNEL)) == 1
        assert server.answers_alone() == []


@pytest.mark.parametrize("lost", [Fault(status=0, done=True), Fault(status=0)])
async def test_where_nobody_knows_whether_it_went_a_further_press_ends_it(tmp_path: pathlib.Path, lost: Fault) -> None:
    async with serving(tmp_path) as server:
        shown = await asked(server, QUESTION)
        server.faults.add("chat.postMessage", lost)
        server.press(shown, share(shown))
        await until(lambda: len(server.answers_alone()) == 2)
        assert "went wrong" in server.plain({"blocks": server.answers_alone()[1].blocks})
        assert len(server.answers(CHANNEL)) == int(lost.done)
        server.press(shown, share(shown))
        await until(lambda: len(server.answers_alone()) == 1)
        assert len(server.answers(CHANNEL)) == 1


async def test_where_the_bot_is_not_it_is_shared_by_the_address_of_the_press(tmp_path: pathlib.Path) -> None:
    async with serving(tmp_path) as server:
        shown = await asked(server, QUESTION)
        server.faults.add("chat.postMessage", Fault(status=200, error="not_in_channel"))
        server.press(shown, share(shown))
        await until(lambda: server.answers(CHANNEL) and not server.answers_alone())
        assert len(server.answers(CHANNEL)) == 1
