"""What the documents do not answer goes to a channel of Discord, and comes back as a reply to it."""

import pathlib

import pytest

from bots.discord import DiscordPlatform
from bots.platform import Button
from tests.bots.discord.scene import ASKER, CHANNEL, FAST, GUILD, MENTION, Scene, peopled
from tests.bots.owners import AGAIN, QUESTION, REPLY, looked_after, value_of
from tests.bots.scene import answered
from tests.fakes.waiting import until
from tests.servers.discord.world import EPHEMERAL, Json

pytestmark = pytest.mark.usefixtures("no_settings")
OWNERS, OWNER = 17, 8


def pressed(message: Json, act: str) -> str:
    return value_of([button["custom_id"] for row in message["components"] for button in row["components"]], act)


@pytest.mark.soak
async def test_a_reply_to_the_question_comes_back_and_answers_the_next(tmp_path: pathlib.Path) -> None:
    async with peopled(FAST) as server:
        server.channel(OWNERS, guild=GUILD)
        for person in (ASKER, OWNER):
            server.join(GUILD, person)
        platform = DiscordPlatform(
            token=server.token, api_url=server.url, message_content="off", places=[f"discord:{GUILD}"]
        )
        async with looked_after(platform, tmp_path, readers=f"discord:{GUILD}", owners=f"discord:{GUILD}/{OWNERS}"):

            async def answer(question: str) -> Json:
                count = len(server.answers(CHANNEL))
                await server.say(CHANNEL, f"{MENTION} {question}")
                await until(lambda: [one for one in server.answers(CHANNEL)[count:] if pressed(one, "up")], 30.0)
                return server.answers(CHANNEL)[count]

            first = await answer(QUESTION)
            interaction = await server.press(first, pressed(first, "person"))
            shown = server.interactions.of(interaction).messages
            await until(lambda: any("without your name" in one["content"] for one in shown.values()))
            assert all(one["flags"] & EPHEMERAL for one in shown.values())
            await until(lambda: server.answers(OWNERS))
            (card,) = server.answers(OWNERS)
            assert QUESTION in card["content"]
            await server.say(OWNERS, REPLY, user=OWNER, reply_to=card)
            await until(lambda: any(REPLY in one["content"] for one in server.answers(CHANNEL)))
            await until(lambda: len(server.answers(OWNERS)) == 2)
            (_, note) = server.answers(OWNERS)
            await server.press(note, pressed(note, "keep"), user=OWNER)
            await until(lambda: "This is a document now" in server.answers(OWNERS)[1]["content"], 30.0)
            assert "north wing" in (await answer(AGAIN))["content"]


async def test_who_votes_an_answer_down_may_ask_a_person(scene: Scene) -> None:
    scene.inbox.for_people = frozenset({"0123abcd"})
    await scene.ask()
    await answered(scene, Button.FEEDBACK)
    (message,) = scene.server.answers(CHANNEL)
    interaction = await scene.server.press(message, "cb:down:0123abcd:")
    shown = scene.server.interactions.of(interaction).messages
    await until(lambda: shown)
    (asked,) = shown.values()
    await scene.server.press(asked, pressed(asked, "person"))
    await until(lambda: scene.inbox.to_people)
    assert scene.inbox.to_people == [("0123abcd", str(ASKER))]


async def test_who_is_no_owner_is_told_so(scene: Scene) -> None:
    await scene.ask()
    await answered(scene, Button.KEEP)
    (message,) = scene.server.answers(CHANNEL)
    interaction = await scene.server.press(message, "cb:keep:0123abcd:")
    shown = scene.server.interactions.of(interaction).messages
    await until(lambda: any("look after" in one["content"] for one in shown.values()))
    assert scene.inbox.kept == [("0123abcd", f"discord:@{ASKER}", f"discord:{GUILD}/{CHANNEL}", True)]
