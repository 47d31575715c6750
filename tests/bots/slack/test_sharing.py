"""What a command answered one person shows the channel the same when it is shared, if all there may read it."""

import contextlib
import pathlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bots.slack import SlackPlatform
from tests.bots.sharing import CHANGED, LINKED, QUESTION, SECRET, over_documents
from tests.fakes.waiting import until
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
