"""What happens to messages on Discord is handed on as the gateway tells it, for sources that are read from there."""

from tests.bots.discord.scene import ASKER, CHANNEL, GUILD, MENTION, Scene
from tests.fakes.waiting import until


async def test_messages_are_handed_on_as_they_are_told(scene: Scene) -> None:
    said = await scene.server.say(CHANNEL, f"{MENTION} how many days?")
    await scene.server.edit(said, f"{MENTION} how many hours?")
    await scene.server.delete(said)
    await until(lambda: len(scene.inbox.seen) == 3)
    assert [event["t"] for event in scene.inbox.seen] == ["MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE"]
    created, changed, deleted = (event["d"] for event in scene.inbox.seen)
    assert {one["channel_id"] for one in (created, changed, deleted)} == {str(CHANNEL)}
    assert {one["guild_id"] for one in (created, changed, deleted)} == {str(GUILD)}
    assert {one["id"] for one in (created, changed, deleted)} == {said["id"]}
    assert created["author"]["id"] == str(ASKER)
    assert changed["content"] == f"{MENTION} how many hours?"
