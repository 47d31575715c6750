"""What the documents do not answer goes to a channel of Slack, and comes back from its thread."""

import pathlib

import pytest

from bots.platform import Button
from bots.slack import SlackPlatform
from tests.bots.owners import AGAIN, QUESTION, REPLY, looked_after, value_of
from tests.bots.slack.scene import CHANNEL, NAME, Scene
from tests.bots.slack.test_buttons import asked_and_answered
from tests.fakes.waiting import until
from tests.servers.slack import Shown, slack_server
from tests.servers.slack.blocks import buttons_of
from tests.servers.slack.world import Json

pytestmark = pytest.mark.usefixtures("no_settings")
OWNERS = "C7"


def pressed(message: Json | Shown, act: str) -> str:
    blocks = message.blocks if isinstance(message, Shown) else message["blocks"]
    return value_of([part["value"] for _, part in buttons_of(blocks)], act)


async def test_a_reply_in_the_thread_comes_back_and_answers_the_next(tmp_path: pathlib.Path) -> None:
    async with slack_server() as server:
        for channel in (CHANNEL, OWNERS):
            server.channel(channel).members.update({"U1", "U7"})
        platform = SlackPlatform(bot_token=server.bot_token, app_token=server.app_token, api_url=f"{server.url}/api/")
        owners = f"slack:{server.team}/{OWNERS}"
        async with looked_after(platform, tmp_path, readers=f"slack:{server.team}", owners=owners):

            async def answer(question: str) -> Json:
                said = server.say(CHANNEL, f"{NAME} {question}")
                await until(lambda: [one for one in server.answers(CHANNEL, said["ts"]) if pressed(one, "up")])
                return server.answers(CHANNEL, said["ts"])[0]

            first = await answer(QUESTION)
            server.press(first, pressed(first, "person"), channel=CHANNEL)
            await until(lambda: server.answers(OWNERS) and server.shown)
            assert "without your name" in str(server.shown[0].blocks)
            (card,) = server.answers(OWNERS)
            assert QUESTION in server.plain(card)
            assert "U1" not in server.plain(card)
            reply = server.say(OWNERS, REPLY, user="U7", thread=card["ts"])
            await until(lambda: len(server.answers(CHANNEL, first["thread_ts"])) == 2)
            (_, copy) = server.answers(CHANNEL, first["thread_ts"])
            assert REPLY in server.plain(copy)
            await until(lambda: server.answers(OWNERS, card["ts"]))
            (note,) = server.answers(OWNERS, card["ts"])
            server.edit(OWNERS, reply, f"{REPLY} Ask for a key.")
            await until(lambda: "Ask for a key" in server.plain(server.answers(CHANNEL, first["thread_ts"])[1]))
            server.press(note, pressed(note, "keep"), channel=OWNERS, user="U7")
            await until(lambda: "This is a document now" in server.plain(server.answers(OWNERS, card["ts"])[0]))

            async def is_found() -> bool:
                return "north wing" in server.plain(await answer(AGAIN))

            assert await is_found()
            (note,) = server.answers(OWNERS, card["ts"])
            server.press(note, pressed(note, "drop"), channel=OWNERS, user="U7")
            await until(lambda: "no document any longer" in server.plain(server.answers(OWNERS, card["ts"])[0]))
            assert not await is_found()


@pytest.mark.parametrize("may", [True, False])
async def test_who_votes_an_answer_down_may_ask_a_person(scene: Scene, may: bool) -> None:
    scene.inbox.for_people = frozenset({"0123abcd"}) if may else frozenset()
    message = await asked_and_answered(scene, Button.FEEDBACK)
    scene.server.press(message, "cb:down:0123abcd:", channel=CHANNEL)
    await until(lambda: scene.server.shown)
    value = pressed(scene.server.shown[0], "person")
    assert bool(value) is may
    if may:
        scene.server.press(scene.server.shown[0], value)
        await until(lambda: scene.inbox.to_people)
        assert scene.inbox.to_people == [("0123abcd", "U1")]
