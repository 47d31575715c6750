"""The real discord.py against a local gateway: connecting, resuming, refused intents, shards."""

import logging

import discord
import pytest
from discord.gateway import DiscordWebSocket
from discord.http import Route

from bots.discord import DISCORD_URL, DiscordPlatform
from bots.platform import Reach
from ragcore.errors import PlatformAuthError, PlatformError, PlatformUnreachable
from tests.bots.discord.scene import ASKER, CHANNEL, GUILD, MENTION, THREAD, Scene, peopled, serving
from tests.bots.scene import view
from tests.fakes.inbox import Kept
from tests.fakes.waiting import until
from tests.servers.discord.gateway import MESSAGE_CONTENT
from tests.servers.faults import Fault


async def test_no_more_intents_are_asked_for_than_are_used(scene: Scene) -> None:
    (identified,) = scene.server.gateway.identified
    wanted = discord.Intents(guilds=True, messages=True, message_content=True)
    assert identified["intents"] == wanted.value
    assert scene.inbox.connections == 1


async def test_a_refused_intent_is_done_without_and_told() -> None:
    inbox = Kept()
    async with peopled() as server:
        server.gateway.forbidden_intents = MESSAGE_CONTENT
        async with serving(server, inbox) as platform:
            assert len(server.gateway.identified) == 2
            assert not platform.reads_content
            await server.say(CHANNEL, "not for us")
            await server.say(THREAD, "hidden from us")
            await server.say(THREAD, f"{MENTION} and this?")
            direct = server.direct(ASKER)
            await server.say(direct, "in private")
            mention, private = await inbox.wait(2)
            assert (mention.text, mention.reach) == ("and this?", Reach.MENTION)
            assert platform.manner(mention).notice == "mention_needed"
            assert platform.manner(private).notice == ""


async def test_an_intent_that_is_insisted_on_is_an_error_that_says_what_to_mend() -> None:
    async with peopled() as server:
        server.gateway.forbidden_intents = MESSAGE_CONTENT
        with pytest.raises(PlatformAuthError, match="message_content"):
            async with serving(server, Kept(), message_content="on"):
                pass
        async with serving(server, Kept(), message_content="off") as platform:
            assert not platform.reads_content
        assert len(server.gateway.identified) == 2


async def test_no_secret_and_no_words_reach_the_log(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    await scene.server.command(CHANNEL, "ask", question="a private matter")
    (incoming,) = await scene.inbox.wait()
    scene.server.faults.add("PATCH /webhooks/{}/{}/messages/{}", Fault(status=429, wait=0.01))
    (part,) = scene.platform.render(view("Five."))
    await scene.platform.send(incoming, part, begun=None, key="k1", number=0)
    assert "rate limited" in caplog.text
    for secret in (scene.server.token, incoming.token, "a private matter"):
        assert secret not in caplog.text


async def test_a_refused_token_says_what_to_mend() -> None:
    async with peopled() as server:
        with pytest.raises(PlatformAuthError, match="DISCORD_TOKEN"):
            async with serving(server, Kept(), token="wrong"):
                pass
        server.gateway.token = "changed since"
        with pytest.raises(PlatformAuthError, match="DISCORD_TOKEN"):
            async with serving(server, Kept()):
                pass


async def test_no_network_is_told() -> None:
    async with peopled() as server:
        pass
    with pytest.raises(PlatformUnreachable):
        async with serving(server, Kept()):
            pass


@pytest.mark.parametrize("how", ["asked", "closed", "broken"])
async def test_what_happens_while_a_connection_is_lost_is_heard_when_it_is_resumed(scene: Scene, how: str) -> None:
    gateway = scene.server.gateway
    if how == "asked":
        await gateway.ask_to_reconnect()
    elif how == "closed":
        await gateway.close_all(4000)
    else:
        gateway.break_off()
    await until(lambda: all(session.socket is None for session in gateway.sessions.values()) or gateway.resumed)
    await scene.server.say(CHANNEL, f"{MENTION} asked meanwhile")
    await until(lambda: gateway.resumed)
    await scene.server.say(CHANNEL, f"{MENTION} asked afterwards")
    assert [one.text for one in await scene.inbox.wait(2)] == ["asked meanwhile", "asked afterwards"]
    assert len(gateway.identified) == 1


async def test_a_session_that_was_forgotten_is_begun_anew_and_looks_for_what_it_missed(scene: Scene) -> None:
    await scene.server.gateway.forget()
    await until(lambda: scene.inbox.connections == 2)
    assert len(scene.server.gateway.identified) == 2
    await scene.server.say(CHANNEL, f"{MENTION} asked afterwards")
    await scene.inbox.wait()


async def test_an_event_that_comes_twice_is_claimed_once(scene: Scene) -> None:
    said = await scene.ask()
    await scene.server.tell("MESSAGE_CREATE", said)
    await until(lambda: scene.inbox.again)
    assert len(scene.inbox.received) == 1


async def test_a_message_is_claimed_as_soon_as_the_database_is_back(scene: Scene) -> None:
    scene.inbox.failing = 2
    await scene.server.say(CHANNEL, f"{MENTION} how many?")
    assert len(await scene.inbox.wait()) == 1


async def test_many_servers_are_heard_over_several_shards() -> None:
    inbox = Kept()
    async with peopled() as server:
        server.state.shards = 2
        server.channel(21, guild=8 << 22)
        async with serving(server, inbox) as platform:
            assert sorted(one["shard"] for one in server.gateway.identified) == [[0, 2], [1, 2]]
            for channel in (CHANNEL, 21):
                await server.say(channel, f"{MENTION} how many?")
            first, second = await inbox.wait(2)
            assert {first.conversation.workspace, second.conversation.workspace} == {str(GUILD), str(8 << 22)}
            for incoming in (first, second):
                (part,) = platform.render(view("Five."))
                await platform.send(incoming, part, begun=None, key=f"k{incoming.message}"[:25], number=0)
            assert [len(server.answers(channel)) for channel in (CHANNEL, 21)] == [1, 1]


async def test_at_its_default_the_library_is_left_untouched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Route, "BASE", "http://127.0.0.1:9")
    before = DiscordWebSocket.DEFAULT_GATEWAY
    platform = DiscordPlatform(token="t", api_url=f"{DISCORD_URL}/")
    with pytest.raises(PlatformError):
        await platform.serve(Kept())
    assert Route.BASE == "http://127.0.0.1:9"
    assert before == DiscordWebSocket.DEFAULT_GATEWAY
