"""What a command answered one person shows the channel the same when it is shared, if all there may read it."""

import contextlib
import pathlib
from collections.abc import AsyncIterator

import pytest

from bots.discord import DiscordPlatform
from tests.bots.discord.scene import ASKER, CHANNEL, FAST, GUILD, Scene, peopled
from tests.bots.sharing import CHANGED, LINKED, QUESTION, SECRET, over_documents
from tests.fakes.waiting import until
from tests.servers.discord import DiscordServer
from tests.servers.discord.world import EPHEMERAL, Json
from tests.servers.faults import Fault

pytestmark = pytest.mark.usefixtures("no_settings")

FOLLOWUP, SEND = "POST /webhooks/{}/{}", "POST /channels/{}/messages"
FILL_IN = "PATCH /webhooks/{}/{}/messages/@original"
CLOSED = Fault(status=403, error="50013 Missing Permissions")


@contextlib.asynccontextmanager
async def serving(folder: pathlib.Path) -> AsyncIterator[DiscordServer]:
    async with peopled(FAST) as server:
        server.join(GUILD, ASKER)
        platform = DiscordPlatform(token=server.token, api_url=server.url, places=[f"discord:{GUILD}"])
        readers = {"everybody": f"discord:{GUILD}", "asker": f"discord:@{ASKER}"}
        async with over_documents(platform, folder, **readers):
            yield server


async def asked(server: DiscordServer, question: str) -> Json:
    interaction = await server.command(CHANNEL, "ask", question=question, private=True)
    shown = server.interactions.of(interaction).messages
    await until(lambda: any(map(share_button, shown.values())), seconds=30.0)
    (answer,) = shown.values()
    assert answer["flags"] & EPHEMERAL
    return answer


def share_button(answer: Json) -> str:
    held = [button["custom_id"] for row in answer["components"] for button in row["components"]]
    return next((one for one in held if one.startswith("cb:share:")), "")


def said(shown: list[dict[int, Json]]) -> list[str]:
    return [message["content"] for messages in shown for message in messages.values()]


async def share(server: DiscordServer, answer: Json) -> list[Json]:
    """Press Share; return what its interaction showed."""
    interaction = await server.press(answer, share_button(answer))
    shown = server.interactions.of(interaction).messages
    await until(lambda: shown and next(iter(shown.values()))["content"] != "…")
    return list(shown.values())


async def test_the_shared_answer_is_the_private_one(tmp_path: pathlib.Path) -> None:
    async with serving(tmp_path) as server:
        await asked(server, QUESTION)  # under a conversation's first answer its asker is told that there is no model
        answer = await asked(server, QUESTION)
        before = answer["content"]
        (done,) = await share(server, answer)
        (message,) = server.answers(CHANNEL)
    assert (done["content"], done["flags"] & EPHEMERAL) == ("✅", EPHEMERAL)
    assert not message["flags"] & EPHEMERAL
    assert message["content"] == before
    assert f"<{LINKED}>" in before, "an address of a source's host is a link"
    assert "[[1]](<https://wiki.example/leave.md" in before.replace("\\", "")
    assert "Carry-over" in before
    assert f"<t:{int(CHANGED.timestamp())}:R>" in before


async def test_what_the_channel_may_not_read_is_not_shared(tmp_path: pathlib.Path) -> None:
    async with serving(tmp_path) as server:
        answer = await asked(server, SECRET)
        assert "4 May" in answer["content"]
        (told,) = await share(server, answer)
        assert "not everybody who would see it" in told["content"]
        assert server.answers(CHANNEL) == []


@pytest.mark.parametrize("calls", [(SEND, FOLLOWUP), (FILL_IN,)])
async def test_who_shares_is_told_what_fails_and_may_try_again(tmp_path: pathlib.Path, calls: tuple[str, ...]) -> None:
    async with serving(tmp_path) as server:
        answer = await asked(server, QUESTION)
        for call in calls:
            server.faults.add(call, CLOSED)
        (told,) = await share(server, answer)
        assert "went wrong" in told["content"]
        assert server.answers(CHANNEL) == []
        (told,) = await share(server, answer)
        assert told["content"] == "✅"
        assert len(server.answers(CHANNEL)) == 1


async def test_where_the_bot_may_not_write_it_is_shared_by_the_press_itself(tmp_path: pathlib.Path) -> None:
    async with serving(tmp_path) as server:
        answer = await asked(server, QUESTION)
        server.faults.add(SEND, CLOSED)
        done, message = await share(server, answer)
        assert (done["content"], message["flags"] & EPHEMERAL) == ("✅", 0)


async def test_pressed_twice_it_is_shared_once(tmp_path: pathlib.Path) -> None:
    async with serving(tmp_path) as server:
        answer = await asked(server, QUESTION)
        presses = [await server.press(answer, share_button(answer)) for _ in range(3)]
        shown = [server.interactions.of(one).messages for one in presses]
        await until(lambda: "✅" in said(shown))
        await until(lambda: "…" not in said(shown))
        assert len(server.answers(CHANNEL)) == 1
        (told,) = await share(server, answer)
        assert told["content"] == "✅"
        assert len(server.answers(CHANNEL)) == 1


@pytest.mark.parametrize("lost", [Fault(status=503, done=True), Fault(status=503)])
async def test_where_nobody_knows_whether_it_went_a_further_press_ends_it(tmp_path: pathlib.Path, lost: Fault) -> None:
    async with serving(tmp_path) as server:
        answer = await asked(server, QUESTION)
        server.faults.add(SEND, lost)
        (told,) = await share(server, answer)
        assert "went wrong" in told["content"]
        for message in server.answers(CHANNEL):
            message.pop("nonce")  # Discord remembers it for some minutes
        assert len(server.answers(CHANNEL)) == int(lost.done)
        (told,) = await share(server, answer)
        assert told["content"] == "✅"
        assert len(server.answers(CHANNEL)) == 1


async def test_only_where_others_are_is_there_something_to_share(scene: Scene) -> None:
    for place, private in ((CHANNEL, True), (CHANNEL, False), (scene.server.direct(ASKER), True)):
        await scene.server.command(place, "ask", question="how many?", private=private)
    received = await scene.inbox.wait(3)
    assert [scene.platform.manner(one).shares for one in received] == [True, False, False]
