"""What Discord, or the connection to it, does at a bad moment."""

import discord
import pytest

from bots.discord.translating import incoming_of
from ragcore.errors import PlatformUnreachable
from tests.bots.discord.scene import ASKER, CHANNEL, GUILD, MENTION, Scene, peopled, serving
from tests.bots.scene import view
from tests.fakes.inbox import Kept
from tests.servers.faults import Fault

POST = "POST /channels/{}/messages"


async def test_between_two_connections_a_call_does_not_reach_discord() -> None:
    inbox = Kept()
    async with peopled() as server:
        async with serving(server, inbox) as platform:
            await server.say(CHANNEL, f"{MENTION} how many days?")
            (incoming,) = await inbox.wait()
        (part,) = platform.render(view("Five."))
        with pytest.raises(PlatformUnreachable):
            await platform.send(incoming, part, begun=None, key="k", number=0)
        with pytest.raises(PlatformUnreachable):
            await platform.find(incoming, "k")


async def test_an_answer_stands_where_the_bot_may_not_read_and_so_not_reply(scene: Scene) -> None:
    scene.server.faults.add(POST, Fault(status=403, error="160002 Cannot reply without permission to read history"))
    await scene.ask()
    (incoming,) = scene.inbox.received
    (part,) = scene.platform.render(view("Five."))
    await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    (answer,) = scene.server.answers(CHANNEL)
    assert answer["content"] == "Five."
    assert not answer.get("message_reference")


async def test_a_message_of_a_server_that_is_not_known_yet_is_not_private(scene: Scene) -> None:
    await scene.ask()
    state = scene.platform._calls.client._connection
    number = GUILD + (1 << 22)
    channel = discord.PartialMessageable(state=state, id=99, guild_id=number)
    said = (await scene.server.say(CHANNEL, f"{MENTION} how many?")) | {"guild_id": str(number), "channel_id": "99"}
    message = discord.Message(state=state, channel=channel, data=said)  # type: ignore[arg-type]
    assert message.guild is None
    incoming = incoming_of(message, 100)
    assert incoming is None or (not incoming.private and f"discord:@{ASKER}" not in incoming.seen_by)
