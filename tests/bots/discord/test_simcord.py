"""The same adapter on a Discord that others have written: permissions, hidden content, interactions as they read them."""

import asyncio
from dataclasses import replace
from typing import Any

import discord
import pytest
import simcord

from bots.discord import DiscordPlatform
from bots.discord.listening import Listener
from bots.discord.reading import Reading
from bots.platform import Button, Reach
from ragcore.errors import PlatformRefused
from ragcore.types import ConversationKey
from tests.bots.scene import REFERENCE, view
from tests.fakes.inbox import Kept


def bot(inbox: Kept, *, content: bool = True) -> tuple[DiscordPlatform, Listener]:
    """Return a platform, and its client, which the simulator connects."""
    platform = DiscordPlatform(token="t")
    listener = Listener(
        inbox,
        platform._calls,
        platform._interactions,
        platform._reading,
        platform._readers_of,
        content=content,
        connected=asyncio.Event(),
    )
    return platform, listener


def peopled(env: simcord.Env) -> tuple[Any, Any]:
    """Return a channel of a server, and a member."""
    guild = env.create_guild()
    return guild.create_text_channel("general"), guild.add_member(env.create_user("alice"))


async def test_a_mention_is_answered_by_a_reply_that_grows() -> None:
    inbox = Kept()
    platform, client = bot(inbox)
    async with simcord.run(client, shard_count=1) as env:
        channel, alice = peopled(env)
        assert client.user is not None
        said = await alice.send(channel, f"{client.user.mention} how many days?")
        (incoming,) = await inbox.wait()
        assert (incoming.text, incoming.reach) == ("how many days?", Reach.MENTION)
        begun = await platform.show(incoming, platform.render_partial(view("Fi")), begun=None, key="k1")
        (part,) = platform.render(view("Five [days](https://example.org). @everyone", Button.FEEDBACK))
        await platform.send(incoming, part, begun=begun, key="k1", number=0)
        answer = channel.last_message
        assert answer is not None
        assert answer.content == part.content
        assert answer.flags.suppress_embeds
        assert answer.reference is not None
        assert answer.reference.message_id == said.id
        assert not answer.mention_everyone
        await alice.click(answer, custom_id=f"cb:up:{REFERENCE}:")
        assert [vote.side for vote in inbox.votes] == ["up"]
        await alice.edit(said, f"{client.user.mention} how many weeks?")
        assert (await inbox.wait(2))[-1].edited_at is not None
        await alice.delete(said)
        assert [message for _, message in inbox.withdrawn] == [str(said.id)]


async def test_a_slash_command_is_answered_in_its_first_sign() -> None:
    inbox = Kept()
    platform, client = bot(inbox)
    async with simcord.run(client, shard_count=1) as env:
        channel, alice = peopled(env)
        result = await alice.slash(channel, "ask", question="how many days?")
        (incoming,) = await inbox.wait()
        assert incoming.command == "ask"
        (part,) = platform.render(view("Five."))
        await platform.send(incoming, part, begun=None, key="k1", number=0)
        assert result.response is not None
        assert channel.last_message is not None
        assert channel.last_message.content == "Five."
        alone = await alice.slash(channel, "help")
        assert alone.response is not None
        assert alone.response.ephemeral


async def test_without_the_intent_only_what_is_meant_for_the_bot_is_heard() -> None:
    inbox = Kept()
    _, client = bot(inbox, content=False)
    async with simcord.run(client, shard_count=1) as env:
        channel, alice = peopled(env)
        assert client.user is not None
        await alice.send(channel, "not for us")
        await alice.send_dm("in private")
        await alice.send(channel, f"{client.user.mention} for us")
        assert [one.text for one in await inbox.wait(2)] == ["in private", "for us"]


async def test_a_channel_that_is_closed_to_the_bot_is_a_refusal_and_a_hidden_one_confirms_nobody() -> None:
    inbox = Kept()
    platform, client = bot(inbox)
    async with simcord.run(client, shard_count=1) as env:
        guild = env.create_guild()
        silent = discord.PermissionOverwrite(send_messages=False)
        hidden = discord.PermissionOverwrite(view_channel=False)
        channel = guild.create_text_channel("rules", overwrites={guild.default_role: silent})
        secret = guild.create_text_channel("board", overwrites={guild.default_role: hidden})
        alice = guild.add_member(env.create_user("alice"))
        await alice.send_dm("How many?")
        (asked,) = await inbox.wait()
        here = (f"discord:{guild.id}", f"discord:{guild.id}/{channel.id}")
        reading = Reading(platform._calls, [*here, f"discord:{guild.id}/{secret.id}", "discord:1"])
        assert await reading.places_of(asked.asker.id) == frozenset(here)
        place = ConversationKey(platform="discord", workspace=str(guild.id), channel=str(channel.id), thread="reply 1")
        (part,) = platform.render(view("Five."))
        with pytest.raises(PlatformRefused, match="50013"):
            await platform.send(replace(asked, conversation=place, private=False), part, begun=None, key="k1", number=0)
