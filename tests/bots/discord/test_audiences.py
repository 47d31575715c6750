"""Who sees what on Discord: private threads, places of which nothing is known, members whom nobody confirms."""

import pytest

from bots.discord import DiscordPlatform
from tests.bots.discord.scene import CHANNEL, GUILD, MENTION, Scene, peopled, serving
from tests.bots.scene import connected
from tests.fakes.inbox import Kept
from tests.servers.faults import Fault

SERVER = f"discord:{GUILD}"
PRIVATE = 31


async def test_no_outsider_looks_into_a_private_thread() -> None:
    inbox = Kept()
    async with peopled() as server:
        server.guild(GUILD).features.append("DISCOVERABLE")
        server.thread(PRIVATE, parent=CHANNEL, private=True)
        async with serving(server, inbox):
            await server.say(PRIVATE, f"{MENTION} how many?")
            (incoming,) = await inbox.wait()
    assert incoming.seen_by == {"*", SERVER, f"{SERVER}/{CHANNEL}", f"{SERVER}/{PRIVATE}"}


async def test_a_place_of_which_nothing_is_known_counts_as_seen_by_outsiders(scene: Scene) -> None:
    scene.server.channel(77, guild=GUILD)  # the gateway has told of no such channel
    await scene.server.say(77, f"{MENTION} how many?")
    (incoming,) = await scene.inbox.wait()
    assert incoming.seen_by == {"*", f"{SERVER}/77"}


async def test_a_private_thread_is_read_by_its_own_members() -> None:
    inbox = Kept()
    async with peopled() as server:
        server.thread(PRIVATE, parent=CHANNEL, private=True, members=(7,))
        thread = f"{SERVER}/{PRIVATE}"
        platform = DiscordPlatform(token=server.token, api_url=server.url, places=[thread])
        async with connected(platform, inbox):
            for person, confirmed in ((7, {thread}), (8, set[str]())):
                server.join(GUILD, person)
                await server.say(server.direct(person), "How many?", user=person)
                incoming = (await inbox.wait(person - 6))[-1]
                assert await platform.readers(incoming) - incoming.seen_by == confirmed


@pytest.mark.parametrize("status", [403, 404])
async def test_whom_discord_does_not_confirm_is_nowhere(status: int, scene: Scene) -> None:
    scene.server.join(GUILD, 7)
    await scene.server.say(scene.server.direct(7), "How many?", user=7)
    (incoming,) = await scene.inbox.wait()
    scene.server.faults.add("GET /guilds/{}/members/{}", Fault(status=status), times=9)
    assert await scene.platform.readers(incoming) == incoming.seen_by
    scene.server.faults.clear()
    confirmed = await scene.platform.readers(incoming)
    assert (SERVER in confirmed) == (status == 403), "a failure is not remembered, a no is"
