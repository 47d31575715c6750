"""Pictures of cited passages: files that only whoever pressed sees."""

import contextlib
import logging
import pathlib
from collections.abc import AsyncIterator

import pytest

from bots.discord import DiscordPlatform
from bots.pictures import Picture
from bots.platform import Button
from tests.bots.discord.scene import ASKER, CHANNEL, FAST, GUILD, Scene, peopled
from tests.bots.scene import answered, view
from tests.bots.sharing import over_documents
from tests.fakes.pictures import picture
from tests.fakes.waiting import until
from tests.ragcore.parsing.makers import lines, pdf
from tests.servers.discord import DiscordServer
from tests.servers.discord.world import EPHEMERAL, Json
from tests.servers.faults import Fault

PRESS = "cb:quotes:0123abcd:"
FOLLOWUP = "POST /webhooks/{}/{}"


async def pressed(scene: Scene, *pictures: Picture) -> dict[int, Json]:
    """Press the button of an answer whose passages stand in these pictures; return what the presser alone sees."""
    scene.inbox.pictured = pictures
    scene.inbox.quoted["0123abcd"] = view("> The ferry carries bicycles.")
    await scene.ask()
    await answered(scene, Button.QUOTES)
    (answer,) = scene.server.answers(CHANNEL)
    interaction = await scene.server.press(answer, PRESS)
    shown = scene.server.interactions.of(interaction).messages
    await until(lambda: any("carries bicycles" in one["content"] for one in shown.values()))
    await until(lambda: scene.inbox.pictured_for)
    return shown


def sent(shown: dict[int, Json]) -> list[Json]:
    return [file for message in shown.values() for file in message["attachments"]]


async def test_pictures_follow_the_passages(scene: Scene) -> None:
    shown = await pressed(scene, picture(1), picture(3, label="@everyone"))
    await until(lambda: sent(shown))
    assert len(shown) == 2
    assert all(message["flags"] & EPHEMERAL for message in shown.values())
    assert [one["description"] for one in sent(shown)] == ["[1] Ferries & <Boats>, page 2", "[3] @everyone"]
    kept = [scene.server.state.files[one["url"].partition("/files/")[2]] for one in sent(shown)]
    assert kept == [one.png for one in scene.inbox.pictured]
    assert scene.inbox.pictured_for == scene.inbox.shown_to, "for those who read the passages"
    assert scene.server.state.pings == []
    assert len(scene.server.answers(CHANNEL)) == 1


async def test_a_picture_beyond_the_limit_is_left_out(scene: Scene) -> None:
    shown = await pressed(scene, picture(1, content=bytes(10 * 2**20 + 1)), picture(2))
    await until(lambda: sent(shown))
    assert [one["filename"] for one in sent(shown)] == ["passage-2.png"]


async def test_passages_stay_when_discord_takes_no_picture(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="bots")
    refused = Fault(status=403, error="50013 Missing Permissions")
    scene.server.faults.add(FOLLOWUP, refused)
    shown = await pressed(scene, picture())
    await until(lambda: "without pictures" in caplog.text)
    (message,) = shown.values()
    assert "carries bicycles" in message["content"]
    assert not message["attachments"]


@contextlib.asynccontextmanager
async def serving(folder: pathlib.Path) -> AsyncIterator[DiscordServer]:
    async with peopled(FAST) as server:
        server.join(GUILD, ASKER)
        platform = DiscordPlatform(token=server.token, api_url=server.url, places=[f"discord:{GUILD}"])
        readers = {"everybody": f"discord:{GUILD}", "asker": f"discord:@{ASKER}"}
        pages = [lines(["Bicycles are carried on the lower deck without a charge."])]
        async with over_documents(platform, folder, **readers, more={"handbook/ferry.pdf": pdf(pages)}):
            yield server


@pytest.mark.soak
@pytest.mark.usefixtures("no_settings")
async def test_a_passage_is_cut_from_its_page_as_long_as_its_document_is_the_same(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="bots.turn.pictures")
    async with serving(tmp_path) as server:
        await server.say(CHANNEL, "<@100> on which deck are bicycles carried?")
        await until(lambda: any(map(quotes_button, server.answers(CHANNEL))))
        answer = server.answers(CHANNEL)[-1]
        button = quotes_button(answer)
        shown = server.interactions.of(await server.press(answer, button)).messages
        await until(lambda: sent(shown))
        (file,) = sent(shown)
        assert server.state.files[file["url"].partition("/files/")[2]].startswith(b"\x89PNG")
        assert file["description"] == "[1] Ferry, p. 1"

        (tmp_path / "handbook" / "ferry.pdf").write_bytes(pdf([lines(["No bicycles."])]))
        shown = server.interactions.of(await server.press(answer, button, user=8)).messages
        await until(lambda: "has changed since it was indexed" in caplog.text)
        (message,) = shown.values()
        assert "on the lower deck" in message["content"]
        assert sent(shown) == []


def quotes_button(answer: Json) -> str:
    held = [button["custom_id"] for row in answer["components"] for button in row["components"]]
    return next((one for one in held if one.startswith("cb:quotes:")), "")
