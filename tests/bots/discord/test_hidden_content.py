"""Without the message content intent Discord hides words also from whoever reads a thread: what is left is read."""

from datetime import UTC, datetime, timedelta

from bots.platform import Reach
from tests.bots.discord.scene import CHANNEL, MENTION, THREAD, peopled, serving
from tests.fakes.inbox import Kept
from tests.servers.discord.gateway import MESSAGE_CONTENT


async def test_of_a_thread_only_what_was_meant_for_the_bot_is_read() -> None:
    inbox = Kept()
    async with peopled() as server:
        server.gateway.forbidden_intents = MESSAGE_CONTENT
        server.rest.content_intent = False
        async with serving(server, inbox) as platform:
            await server.say(THREAD, "We get 25 days.", user=8)
            await server.say(THREAD, f"{MENTION} I say 30.", user=9)
            await server.say(THREAD, f"{MENTION} who is right?")
            first = await server.say(CHANNEL, "We get 25 days.", user=8)
            await server.say(CHANNEL, f"{MENTION} is that so?", reply_to=first)
            *_, incoming, chained = await inbox.wait(3)
            assert incoming.reach is Reach.MENTION
            assert [one.text for one in await platform.thread(incoming, limit=5)] == ["I say 30."]
            assert await platform.thread(chained, limit=5) == ()
            since = datetime.now(UTC) - timedelta(minutes=15)
            missed = await platform.missed((incoming.conversation,), since)
            assert {one.text for one in missed} == {"I say 30.", "who is right?", "is that so?"}
