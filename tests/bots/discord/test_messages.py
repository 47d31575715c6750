"""The real discord.py against a local Discord: messages in, answers out."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from bots.discord.translating import turn_of
from bots.platform import Attachment, Button, Call, Reach
from ragcore.errors import MessageGone, PlatformRateLimited, PlatformRefused, PlatformUnreachable
from ragcore.types import ConversationKey
from tests.bots.discord.scene import ASKER, CHANNEL, GUILD, MENTION, THREAD, Scene, peopled, serving
from tests.bots.scene import REFERENCE, view
from tests.fakes.inbox import Kept
from tests.fakes.waiting import until
from tests.servers.discord import Rates
from tests.servers.faults import Fault

SEEN = {"*", f"discord:{GUILD}", f"discord:{GUILD}/{CHANNEL}"}


async def test_a_direct_message_becomes_a_question(scene: Scene) -> None:
    direct = scene.server.direct(ASKER)
    said = await scene.server.say(direct, "How many days?")
    (incoming,) = await scene.inbox.wait()
    assert (incoming.text, incoming.reach, incoming.private) == ("How many days?", Reach.DIRECT, True)
    assert incoming.keys == (f"message:{said['id']}",)
    assert incoming.seen_by == {"*", f"discord:@{ASKER}"}
    assert incoming.conversation == ConversationKey(platform="discord", channel=str(direct.id))
    (part,) = scene.platform.render(view("Five."))
    await scene.platform.send(incoming, part, begun=None, key="k1", number=0)
    (answer,) = scene.server.answers(direct.id)
    assert answer["content"] == "Five."
    assert "message_reference" not in answer


async def test_a_direct_message_that_is_not_right_above_is_replied_to(scene: Scene) -> None:
    direct = scene.server.direct(ASKER)
    asked = [await scene.server.say(direct, text) for text in ("How many days?", "And weeks?")]
    received = await scene.inbox.wait(2)
    for number, incoming in enumerate(received):
        (part,) = scene.platform.render(view(f"{number}."))
        await scene.platform.send(incoming, part, begun=None, key=f"k{number}", number=0)
    answers = scene.server.answers(direct.id)
    assert [one["message_reference"]["message_id"] for one in answers] == [one["id"] for one in asked]
    await scene.server.say(direct, "And months?")
    third = (await scene.inbox.wait(3))[-1]
    await scene.platform.send(third, scene.platform.render(view("2."))[0], begun=None, key="k2", number=0)
    assert "message_reference" not in scene.server.answers(direct.id)[-1]
    assert scene.server.state.pings == []


@pytest.mark.parametrize(
    ("text", "reach", "left"),
    [
        (f"{MENTION} how many days?", Reach.MENTION, "how many days?"),
        (f"hey {MENTION}, how many?", Reach.MENTION, "hey, how many?"),
        (f"<:party:1> {MENTION}", Reach.MENTION, ":party:"),
        ("<@!100>: how many?", Reach.MENTION, "how many?"),
        ("<@&101> how many?", Reach.MENTION, "how many?"),
        (f"{MENTION} does <@8> know <:party:123>?", Reach.MENTION, "does @User 8 know :party:?"),
        ("how many?", Reach.CHANNEL, "how many?"),
    ],
)
async def test_what_a_server_sends_us(scene: Scene, text: str, reach: Reach, left: str) -> None:
    said = await scene.server.say(CHANNEL, text)
    (incoming,) = await scene.inbox.wait()
    assert (incoming.reach, incoming.text, incoming.private) == (reach, left, False)
    assert incoming.seen_by == SEEN
    assert incoming.conversation == ConversationKey(
        platform="discord", workspace=str(GUILD), channel=str(CHANNEL), thread=f"reply {said['id']}"
    )


async def test_what_begins_with_the_mention_of_somebody_else(scene: Scene) -> None:
    told = {"<@8> who asks?": True, "@here who asks?": True, "Six, says <@8>.": False, f"{MENTION} how many?": False}
    for text in told:
        await scene.server.say(CHANNEL, text)
    assert [one.to_others for one in await scene.inbox.wait(len(told))] == list(told.values())


async def test_what_is_not_for_us_never_reaches_the_inbox(scene: Scene) -> None:
    await scene.server.say(CHANNEL, f"{MENTION} hello", user=5, bot=True)
    await scene.server.say(CHANNEL, f"{MENTION} hello", webhook_id="5")
    await scene.server.say(CHANNEL, "", type=7)
    said = await scene.server.say(CHANNEL, f"{MENTION} one")
    await scene.server.unfurl(said)
    await scene.server.say(CHANNEL, f"{MENTION} last")
    assert [incoming.text for incoming in await scene.inbox.wait(2)] == ["one", "last"]
    assert scene.inbox.again == []


async def test_a_reply_goes_on_with_the_conversation_of_its_answer(scene: Scene) -> None:
    await scene.ask()
    (incoming,) = scene.inbox.received
    (part,) = scene.platform.render(view("Five.", Button.FEEDBACK))
    await scene.platform.send(incoming, part, begun=None, key="k1", number=0)
    (answer,) = scene.server.answers(CHANNEL)
    assert answer["message_reference"]["message_id"] == incoming.message
    await scene.server.say(CHANNEL, "and next year?", reply_to=answer)
    _, second = await scene.inbox.wait(2)
    assert (second.reach, second.conversation) == (Reach.REPLY, incoming.conversation)
    # The turn knows better, should the chain be longer than what a message shows.
    assert second.goes_on == REFERENCE


async def test_a_thread_is_a_conversation_of_its_channel_and_is_answered_in(scene: Scene) -> None:
    await scene.server.say(THREAD, "how many?")
    (incoming,) = await scene.inbox.wait()
    assert incoming.reach is Reach.THREAD
    assert (incoming.conversation.channel, incoming.conversation.thread) == (str(CHANNEL), f"thread {THREAD}")
    assert incoming.seen_by == SEEN | {f"discord:{GUILD}/{THREAD}"}
    (part,) = scene.platform.render(view("Five."))
    await scene.platform.send(incoming, part, begun=None, key="k1", number=0)
    assert [answer["content"] for answer in scene.server.answers(THREAD)] == ["Five."]
    assert scene.platform.manner(incoming).notice == ""


async def test_in_a_server_that_anybody_may_look_into_outsiders_read_along() -> None:
    inbox = Kept()
    async with peopled() as server:
        server.guild(GUILD).features.append("DISCOVERABLE")
        async with serving(server, inbox):
            await server.say(CHANNEL, f"{MENTION} one")
            await server.say(13, f"{MENTION} two", user=8)
            await server.say(THREAD, f"{MENTION} three")
            open_one, hidden, thread = await inbox.wait(3)
    assert f"discord:{GUILD}" not in open_one.seen_by | thread.seen_by
    assert hidden.seen_by == {"*", f"discord:{GUILD}", f"discord:{GUILD}/13"}


async def test_an_edit_has_the_names_of_its_message(scene: Scene) -> None:
    said = await scene.ask(f"{MENTION} how many dais?")
    await scene.server.edit(said, f"{MENTION} how many days?")
    first, second = await scene.inbox.wait(2)
    assert second.edited_at is not None
    assert (first.message, first.conversation) == (second.message, second.conversation)
    assert first.keys == second.keys


async def test_what_is_taken_back_is_told(scene: Scene) -> None:
    said = await scene.ask()
    await scene.server.delete(said)
    await until(lambda: scene.inbox.withdrawn)
    inside = await scene.ask(channel=THREAD)
    await scene.server.delete(inside)
    await until(lambda: len(scene.inbox.withdrawn) == 2)
    place = {"platform": "discord", "workspace": str(GUILD), "channel": str(CHANNEL)}
    assert scene.inbox.withdrawn == [
        (ConversationKey(**place), said["id"]),
        (ConversationKey(**place, thread=f"thread {THREAD}"), inside["id"]),
    ]


async def test_what_a_moderator_sweeps_away_is_told_as_often_as_it_takes(scene: Scene) -> None:
    said = [await scene.ask(), await scene.ask()]
    scene.inbox.failing = 1  # the database is away for a moment
    numbers = [one["id"] for one in said]
    gone = {"ids": numbers, "channel_id": str(CHANNEL), "guild_id": str(GUILD)}
    await scene.server.tell("MESSAGE_DELETE_BULK", gone)
    await until(lambda: len(scene.inbox.withdrawn) == 2)
    key = ConversationKey(platform="discord", workspace=str(GUILD), channel=str(CHANNEL))
    assert set(scene.inbox.withdrawn) == {(key, number) for number in numbers}


async def test_a_message_grows_and_is_one_message_without_pings_and_previews(scene: Scene) -> None:
    await scene.ask()
    (incoming,) = scene.inbox.received
    assert scene.platform.manner(incoming).streaming == "edit"
    sent = None
    for text in ("Fi", "Five **d", "Five d"):
        part = scene.platform.render_partial(view(text, Button.STOP))
        sent = await scene.platform.show(incoming, part, begun=sent, key="k1")
    hostile = "@everyone <@8> see [it](https://example.org/a) and https://example.org/b"
    (part,) = scene.platform.render(view(hostile, Button.FEEDBACK))
    await scene.platform.send(incoming, part, begun=sent, key="k1", number=0)
    (answer,) = scene.server.answers(CHANNEL)
    assert answer["content"] == part.content
    assert answer["flags"] & 4
    assert scene.server.state.pings == []
    assert scene.server.state.previewed == []
    assert sent is not None
    await scene.platform.withdraw(incoming, sent)
    await scene.platform.withdraw(incoming, sent)
    assert scene.server.answers(CHANNEL) == []
    with pytest.raises(MessageGone):
        await scene.platform.send(incoming, part, begun=sent, key="k1", number=0)


async def test_what_is_sent_twice_under_one_key_stands_once_and_whole(scene: Scene) -> None:
    await scene.ask()
    (incoming,) = scene.inbox.received
    begun = await scene.platform.show(incoming, scene.platform.render_partial(view("Fi")), begun=None, key="k1")
    (part,) = scene.platform.render(view("Five.", Button.FEEDBACK))
    again = await scene.platform.send(incoming, part, begun=None, key="k1", number=0)
    assert again == begun
    assert [(one["content"], len(one["components"])) for one in scene.server.answers(CHANNEL)] == [("Five.", 1)]


async def test_a_send_whose_answer_was_lost_is_found(scene: Scene) -> None:
    await scene.ask()
    (incoming,) = scene.inbox.received
    (part,) = scene.platform.render(view("Five."))
    scene.server.faults.add("POST /channels/{}/messages", Fault(status=0, done=True))
    with pytest.raises(PlatformUnreachable):
        await scene.platform.send(incoming, part, begun=None, key="k1", number=0)
    (answer,) = scene.server.answers(CHANNEL)
    await until(lambda: scene.platform._calls.known("k1"))
    found = await scene.platform.find(incoming, "k1")
    assert found is not None
    assert found.id == answer["id"]
    assert await scene.platform.find(incoming, "k2") is None


async def test_after_a_crash_the_history_tells_what_was_sent_where_it_tells_keys() -> None:
    inbox = Kept()
    async with peopled() as server:
        async with serving(server, inbox) as before:
            await server.say(CHANNEL, f"{MENTION} how many?")
            (incoming,) = await inbox.wait()
            (part,) = before.render(view("Five."))
            sent = await before.send(incoming, part, begun=None, key="k1", number=0)
        async with serving(server, inbox) as after:
            assert await after.find(incoming, "k1") is None
            server.rest.tells_nonces = True
            assert await after.find(incoming, "k1") == sent
            assert await after.send(incoming, part, begun=None, key="k1", number=0) == sent
        assert len(server.answers(CHANNEL)) == 1


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(status=429, wait=40), PlatformRateLimited),
        (Fault(status=503), PlatformUnreachable),
        (Fault(status=0), PlatformUnreachable),
        (Fault(status=404, error="10003 Unknown Channel"), MessageGone),
        (Fault(status=403, error="50013 Missing Permissions"), PlatformRefused),
        (Fault(status=400, error="50035 Invalid Form Body"), PlatformRefused),
        (Fault(status=400, error="50006 Cannot send an empty message"), PlatformRefused),
    ],
)
async def test_errors_are_told_apart(scene: Scene, fault: Fault, error: type[Exception]) -> None:
    await scene.ask()
    (incoming,) = scene.inbox.received
    scene.server.faults.add("POST /channels/{}/messages", fault)
    (part,) = scene.platform.render(view("Five."))
    with pytest.raises(error) as caught:
        await scene.platform.send(incoming, part, begun=None, key="k1", number=0)
    if isinstance(caught.value, PlatformRateLimited):
        assert caught.value.retry_after == 40
    assert scene.server.token not in str(caught.value)


async def test_a_429_is_waited_for_when_it_is_short_and_told_when_a_wall_sent_it(scene: Scene) -> None:
    await scene.ask()
    (incoming,) = scene.inbox.received
    (part,) = scene.platform.render(view("Five."))
    scene.server.faults.add("POST /channels/{}/messages", Fault(status=429, wait=0.05))
    sent = await scene.platform.send(incoming, part, begun=None, key="k1", number=0)
    scene.server.state.via = False
    scene.server.faults.add("PATCH /channels/{}/messages/{}", Fault(status=429, wait=7))
    (other,) = scene.platform.render(view("Six."))
    with pytest.raises(PlatformRateLimited) as caught:
        await scene.platform.send(incoming, other, begun=sent, key="k1", number=0)
    assert caught.value.retry_after == 8


async def test_whoever_keeps_to_the_limits_is_never_refused() -> None:
    inbox = Kept()
    async with peopled(Rates(create=(5, 0.5), edit=(5, 0.5))) as server, serving(server, inbox) as platform:
        await server.say(CHANNEL, f"{MENTION} how many?")
        (incoming,) = await inbox.wait()
        sent = await platform.show(incoming, platform.render_partial(view("0")), begun=None, key="k1")
        (limit,) = (one for one in platform.limits(incoming, Call.CHANGE, sent) if one.bucket != "bot")
        assert (limit.bucket, limit.calls) == (f"edit {CHANNEL}", 4)
        # The library keeps to what the headers tell, too.
        parts = [platform.render_partial(view(str(number))) for number in range(12)]
        await asyncio.gather(*(platform.show(incoming, part, begun=sent, key="k1") for part in parts))
        assert 429 not in (code for _, code in server.state.refused)


async def test_members_read_in_private_what_their_places_read(scene: Scene) -> None:
    direct = scene.server.direct(ASKER)
    await scene.server.say(direct, "How many?")
    (incoming,) = await scene.inbox.wait()
    assert await scene.platform.readers(incoming) == incoming.seen_by
    for person, flags in ((7, 0), (8, 0), (9, 1 << 4)):
        scene.server.join(GUILD, person, flags=flags)
        await scene.server.say(scene.server.direct(person), "How many?", user=person)
    _, member, insider, guest = await scene.inbox.wait(4)
    server, channel, hidden = f"discord:{GUILD}", f"discord:{GUILD}/{CHANNEL}", f"discord:{GUILD}/13"
    assert await scene.platform.readers(member) == member.seen_by | {server, channel}
    assert await scene.platform.readers(insider) == insider.seen_by | {server, channel, hidden}
    assert await scene.platform.readers(guest) == guest.seen_by | {channel}
    calls = scene.server.count("GET /guilds/{}/members/{}")
    await scene.platform.readers(member)
    assert scene.server.count("GET /guilds/{}/members/{}") == calls, "remembered for five minutes"


async def test_a_file_beside_a_question(scene: Scene) -> None:
    scene.server.state.files["a.txt"] = b"some text"
    url = scene.server.url.replace("/api/v10", "/files/a.txt")
    file = {"id": "1", "filename": "a.txt", "url": url, "proxy_url": url, "size": 9, "content_type": "text/plain"}
    await scene.server.say(CHANNEL, MENTION, attachments=[file])
    (incoming,) = await scene.inbox.wait()
    assert incoming.attachments == (Attachment(id=url, name="a.txt", media_type="text/plain", size=9),)
    assert await scene.platform.fetch(incoming, incoming.attachments[0], limit=100) == b"some text"
    with pytest.raises(PlatformRefused):
        await scene.platform.fetch(incoming, incoming.attachments[0], limit=3)


async def test_a_thread_and_a_chain_of_replies_can_be_read(scene: Scene) -> None:
    await scene.server.say(THREAD, "We get 25 days.", user=8)
    await scene.server.say(THREAD, "No, 30.", user=9)
    await scene.server.say(THREAD, f"{MENTION} who is right?")
    incoming = (await scene.inbox.wait(3))[-1]
    assert [(one.text, one.author) for one in await scene.platform.thread(incoming, limit=5)] == [
        ("We get 25 days.", "User 8"),
        ("No, 30.", "User 9"),
    ]
    assert [one.text for one in await scene.platform.thread(incoming, limit=1)] == ["No, 30."]
    first = await scene.server.say(CHANNEL, "We get 25 days.", user=8)
    second = await scene.server.say(CHANNEL, "No, 30.", user=9, reply_to=first)
    await scene.server.say(CHANNEL, f"{MENTION} who is right?", reply_to=second)
    chained = (await scene.inbox.wait(6))[-1]
    assert [one.text for one in await scene.platform.thread(chained, limit=5)] == ["We get 25 days.", "No, 30."]
    await scene.server.delete(first)
    del second["referenced_message"]
    assert [one.text for one in await scene.platform.thread(chained, limit=5)] == ["No, 30."]
    calls = len(scene.server.state.calls)
    await scene.server.say(CHANNEL, f"{MENTION} who is right?")
    alone = (await scene.inbox.wait(7))[-1]
    assert await scene.platform.thread(alone, limit=5) == ()
    assert len(scene.server.state.calls) == calls, "nothing is asked where there is nothing to read"


async def test_what_was_asked_while_the_bot_was_away_is_read_back(scene: Scene) -> None:
    direct = scene.server.direct(ASKER)
    for place in (direct, CHANNEL, THREAD):
        await scene.server.say(place, f"{MENTION} asked away", told=False)
        await scene.server.say(place, f"{MENTION} asked long ago", told=False, age=1200)
    await scene.server.say(CHANNEL, "said to nobody", told=False)
    here = {"platform": "discord", "workspace": str(GUILD), "channel": str(CHANNEL)}
    conversations = (
        ConversationKey(platform="discord", channel=str(direct.id)),
        ConversationKey(**here, thread="reply 5"),
        ConversationKey(**here, thread=f"thread {THREAD}"),
        ConversationKey(platform="discord", workspace=str(GUILD), channel="999", thread="reply 6"),
    )
    missed = await scene.platform.missed(conversations, datetime.now(UTC) - timedelta(minutes=15))
    assert [(one.text, one.reach) for one in missed] == [
        ("asked away", Reach.DIRECT),
        ("asked away", Reach.MENTION),
        ("asked away", Reach.MENTION),
    ]
    assert missed[1].seen_by == SEEN


async def test_an_admin_is_told_directly(scene: Scene) -> None:
    await scene.platform.tell("discord:@99", "a *fault*")
    assert scene.server.answers(scene.server.direct(99).id)[0]["content"] == "a *fault*"


async def test_typing_is_shown_and_its_failure_is_nobodys_business(scene: Scene) -> None:
    await scene.ask(channel=THREAD)
    (incoming,) = scene.inbox.received
    await scene.platform.status(incoming, "Searching …")
    assert scene.server.count("POST /channels/{}/typing") == 1
    scene.server.state.channels[THREAD].closed = 50013
    await scene.platform.status(incoming, "Searching …")


async def test_the_buttons_of_an_answer_name_its_turn(scene: Scene) -> None:
    await scene.ask()
    (incoming,) = scene.inbox.received
    (part,) = scene.platform.render(view("Five.", Button.QUOTES))
    sent = await scene.platform.send(incoming, part, begun=None, key="k1", number=0)
    channel = scene.platform._calls.client.get_partial_messageable(CHANNEL)
    assert turn_of(await channel.fetch_message(int(sent.id))) == REFERENCE
