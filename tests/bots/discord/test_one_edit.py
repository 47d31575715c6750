"""Edits of several answers in one channel: one at a time, for Discord counts them by channel; channels side by side."""

import asyncio
from dataclasses import dataclass

from bots.platform import Button, Incoming, Sent
from tests.bots.discord.scene import CHANNEL, MENTION, THREAD, Scene
from tests.bots.scene import view
from tests.servers.faults import Fault

PATCH = "PATCH /channels/{}/messages/{}"


@dataclass(slots=True)
class Watch:
    """Counts the edits that the server is busy with."""

    now: int = 0
    most: int = 0

    def __call__(self, when: str, name: str) -> None:
        if name == PATCH:
            self.now += 1 if when == "before" else -1
            self.most = max(self.most, self.now)


async def begun(scene: Scene, channel: int, count: int) -> list[tuple[Incoming, Sent]]:
    """Begin so many answers."""
    found = []
    for number in range(count):
        already = len(scene.inbox.received)
        await scene.server.say(channel, f"{MENTION} question {number}?")
        incoming = (await scene.inbox.wait(already + 1))[-1]
        part = scene.platform.render_partial(view("Fi", Button.STOP))
        sent = await scene.platform.show(incoming, part, begun=None, key=f"k{channel}n{number}")
        found.append((incoming, sent))
    return found


async def grow(scene: Scene, answers: list[tuple[Incoming, Sent]]) -> int:
    """Let all of them grow at once, and return how many edits the server had to do with at a time."""
    scene.server.faults.add(PATCH, Fault(status=200, delay=0.1), times=len(answers))
    watch = scene.server.state.watch = Watch()
    part = scene.platform.render_partial(view("Five days", Button.STOP))
    await asyncio.gather(*(scene.platform.show(one, part, begun=sent, key="k") for one, sent in answers))
    return watch.most


async def test_a_channel_has_one_edit_at_a_time_and_channels_go_side_by_side(scene: Scene) -> None:
    here, there = await begun(scene, CHANNEL, 3), await begun(scene, THREAD, 1)
    assert await grow(scene, here) == 1
    assert {one["content"] for one in scene.server.answers(CHANNEL)} == {"Five days"}
    for incoming, sent in (here[0], there[0]):
        part = scene.platform.render_partial(view("Five", Button.STOP))
        await scene.platform.show(incoming, part, begun=sent, key="k")
    assert await grow(scene, [here[0], there[0]]) == 2
