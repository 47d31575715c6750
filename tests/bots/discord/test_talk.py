"""What was said is read back from Discord for a summary, if all who would see it may read it."""

import pathlib
import re
from datetime import UTC, datetime, timedelta

import pytest

from bots.platform import Incoming
from bots.talk import Span, Talk
from ragcore.errors import PlatformRefused
from tests.bots.discord.scene import ASKER, CHANNEL, GUILD, MENTION, THREAD, peopled, serving
from tests.bots.discord.test_turns import running
from tests.fakes.inbox import Kept
from tests.fakes.waiting import until
from tests.servers.discord import DiscordServer
from tests.servers.discord.gateway import MESSAGE_CONTENT
from tests.servers.discord.world import HISTORY, SEND, VIEW

WHOLE = Span(thread=False)


def since(seconds: float) -> datetime:
    return datetime.now(UTC) - timedelta(seconds=seconds)


async def read(
    server: DiscordServer,
    span: Span = WHOLE,
    *,
    channel: int = CHANNEL,
    private: bool | None = None,
) -> tuple[Talk, Incoming]:
    """Let somebody ask for a summary, in words, or by the command where it is told whether in private."""
    inbox = Kept()
    async with serving(server, inbox) as platform:
        if private is None:
            await server.say(channel, f"{MENTION} summarise this")
        else:
            await server.command(channel, "summarise", when="since yesterday", private=private)
        (incoming,) = await inbox.wait()
        return await platform.said(incoming, span), incoming


def texts(talk: Talk) -> list[str]:
    return [one.text for one in talk.messages]


async def test_a_channel_is_read_with_its_public_threads_and_without_our_own_words() -> None:
    async with peopled() as server:
        await server.say(CHANNEL, "Too old.", age=90_000, told=False)
        said = await server.say(CHANNEL, "The release is blocked, <@8>.", age=600, told=False)
        gone = await server.say(CHANNEL, "Forget this.", age=500, told=False)
        await server.say(CHANNEL, "Build 7 failed.", user=9, bot=True, age=400, told=False)
        await server.say(CHANNEL, "My own words.", user=100, bot=True, age=300, told=False)
        await server.say(CHANNEL, "pinned", age=200, told=False, type=6)
        await server.say(THREAD, "In a thread.", age=100, told=False)
        await server.delete(gone)
        await server.edit(said, "The release of 4.2 is blocked, <@8>.")
        talk, _ = await read(server, Span(thread=False, since=since(86_400)))
    assert texts(talk) == ["The release of 4.2 is blocked, @User 8.", "Build 7 failed.", "In a thread."]
    assert talk.messages[0].author == f"User {ASKER}"
    assert talk.messages[0].url == f"https://discord.com/channels/{GUILD}/{CHANNEL}/{said['id']}"
    assert talk.whole
    assert not talk.hidden


async def test_archived_threads_are_read_and_private_ones_are_not() -> None:
    async with peopled() as server:
        moment = datetime.now(UTC).isoformat()
        for number, (kind, archived) in enumerate(((11, moment), (12, ""), (11, "2020-01-01T00:00:00+00:00"))):
            place = server.thread(7_000 + number, parent=CHANNEL)
            await server.say(7_000 + number, f"word {number}", age=100 if number < 2 else 900_000, told=False)
            place.type, place.archived_at = kind, archived
        talk, _ = await read(server, Span(thread=False, since=since(86_400)))
    assert texts(talk) == ["word 0"]
    assert not talk.threads_left


async def test_a_thread_is_read_and_from_in_it_its_channel() -> None:
    async with peopled() as server:
        await server.say(CHANNEL, "Outside.", age=50, told=False)
        for number in range(130):
            await server.say(THREAD, f"word {number}", age=20, told=False)
        talk, incoming = await read(server, Span(thread=True, most=120), channel=THREAD)
        assert texts(talk) == [f"word {number}" for number in range(10, 130)]
        assert not talk.whole
        assert talk.messages[0].url.startswith(f"https://discord.com/channels/{GUILD}/{THREAD}/")
    async with peopled() as server:
        await server.say(CHANNEL, "Outside.", age=50, told=False)
        talk, incoming = await read(server, WHOLE, channel=THREAD)
        assert texts(talk) == ["Outside."]
    assert incoming.conversation.thread == f"thread {THREAD}"


async def test_a_time_ends_where_it_is_said_to() -> None:
    async with peopled() as server:
        for number in range(10):
            await server.say(CHANNEL, f"word {number}", age=1_000 - 100 * number, told=False)
        talk, incoming = await read(server, Span(thread=False, since=since(750), until=since(350)), private=True)
    assert texts(talk) == [f"word {number}" for number in range(3, 7)]
    assert (incoming.command, incoming.text, incoming.private) == ("summarise", "since yesterday", True)


async def test_without_the_intent_it_is_told_that_words_are_hidden() -> None:
    async with peopled() as server:
        server.gateway.forbidden_intents = MESSAGE_CONTENT
        server.rest.content_intent = False
        await server.say(CHANNEL, "The release is blocked.", age=600, told=False)
        await server.say(CHANNEL, f"{MENTION} is it blocked?", age=500, told=False)
        talk, _ = await read(server)
    assert talk.hidden
    assert texts(talk) == ["", "is it blocked?"]


def history(user: int, *, everyone: bool) -> list[dict[str, str]]:
    """Take the right to read what was said from everyone, or from somebody alone."""
    whom = {"id": str(GUILD), "type": 0} if everyone else {"id": str(user), "type": 1}
    return [{**whom, "allow": "0", "deny": str(HISTORY)}]  # type: ignore[dict-item]


@pytest.mark.parametrize("private", [True, False])
async def test_who_may_not_read_what_was_said_before_gets_no_summary_of_it(private: bool) -> None:
    async with peopled() as server:
        server.channel(CHANNEL, guild=GUILD).overwrites = history(ASKER, everyone=False)
        await server.say(CHANNEL, "The release is blocked.", user=8, age=600, told=False)
        with pytest.raises(PlatformRefused):
            await read(server, private=private)


@pytest.mark.parametrize("private", [True, False])
async def test_a_summary_that_all_see_holds_nothing_that_some_of_them_may_not_read(private: bool) -> None:
    async with peopled() as server:
        allowed = {"type": 1, "allow": str(VIEW | SEND | HISTORY), "deny": "0"}
        channel = server.channel(CHANNEL, guild=GUILD)
        people = [{"id": str(one), **allowed} for one in (ASKER, 100)]
        channel.overwrites = [*history(0, everyone=True), *people]  # type: ignore[list-item]
        await server.say(CHANNEL, "The release is blocked.", user=8, age=600, told=False)
        if private:
            talk, _ = await read(server, private=True)
            assert texts(talk) == ["The release is blocked."]
        else:
            with pytest.raises(PlatformRefused):
                await read(server, private=False)


async def test_a_direct_message_is_read() -> None:
    async with peopled() as server:
        place = server.direct(ASKER)
        await server.say(place, "Remember the milk.", age=60, told=False)
        inbox = Kept()
        async with serving(server, inbox) as platform:
            await server.say(place, "summarise this chat")
            (incoming,) = await inbox.wait()
            talk = await platform.said(incoming, WHOLE)
    assert texts(talk) == ["Remember the milk."]
    assert talk.messages[0].url.startswith("https://discord.com/channels/@me/")
    assert not talk.hidden


async def test_a_whole_turn_shows_links_to_the_messages_and_pings_nobody(tmp_path: pathlib.Path) -> None:
    async with peopled() as server, running(server, tmp_path) as process:
        evil = "Decided: @everyone <@8> pays at [our bank](https://evil.example/x) by Friday. https://evil.example/y"
        said = await server.say(CHANNEL, evil, user=9, age=60, told=False)
        await server.say(CHANNEL, f"{MENTION} summarise this channel since yesterday")
        await until(lambda: len(server.answers(CHANNEL)) == 1)
        await process.idle()
        (answer,) = server.answers(CHANNEL)
    shown = answer["content"]
    assert f"(<https://discord.com/channels/{GUILD}/{CHANNEL}/{said['id']}>)" in shown
    assert re.findall(r"\]\(<?(https?://[^)>]*)", shown) == [
        f"https://discord.com/channels/{GUILD}/{CHANNEL}/{said['id']}"
    ] * shown.count("](<")
    assert server.state.pings == []
    assert server.state.previewed == []
    assert "This channel," in shown
