"""Whatever happens on a server between runs, what is held at the end is what a first run would find."""

import random

import pytest

from ragcore.errors import SourceError
from tests.connectors.discords import DAY, GENERAL, GUILD, HELP, Run, a_server, archive, post
from tests.servers.discord.world import BOT, VIEW, snowflake
from tests.servers.faults import Fault
from tests.soak import scaled


class Steps:
    """People at work on a server, at random."""

    def __init__(self, server, chance: random.Random) -> None:
        self.server, self.chance = server, chance

    @property
    def threads(self):
        return [one for one in self.server.state.channels.values() if one.parent]

    def message(self):
        places = [one for one in self.server.state.channels.values() if one.messages and one.guild]
        place = self.chance.choice(places) if places else None
        return (place, self.chance.choice(list(place.messages.values()))) if place else (None, None)

    async def say(self) -> None:
        place = self.chance.choice([GENERAL, 72, *self.threads])
        if place in (GENERAL, 72):
            await self.server.say(place, f"word {self.chance.random()}", age=self.chance.random() * 5 * DAY)
        else:
            place.archived_at = ""
            await self.server.say(place, f"word {self.chance.random()}", bot=self.chance.random() < 0.2)

    async def post(self) -> None:
        post(self.server, f"post {self.chance.random()}", "how?", age=self.chance.random() * 5 * DAY)

    async def open_thread(self) -> None:
        thread = self.server.thread(
            snowflake(), parent=GENERAL, private=self.chance.random() < 0.3, members=(BOT,), name="thread"
        )
        await self.server.say(thread, "first")

    async def edit(self) -> None:
        _, message = self.message()
        if message:
            await self.server.edit(message, f"edited {self.chance.random()}")

    async def delete(self) -> None:
        place, message = self.message()
        if message:
            del place.messages[int(message["id"])]

    async def archive(self) -> None:
        if self.threads:
            archive(self.chance.choice(self.threads))

    async def remove(self) -> None:
        if self.threads:
            del self.server.state.channels[self.chance.choice(self.threads).id]

    async def close(self) -> None:
        place = self.server.state.channels[self.chance.choice([GENERAL, 72, HELP])]
        denied = {"id": str(GUILD), "type": 0, "allow": "0", "deny": str(VIEW)}
        for_bot = {"id": str(BOT), "type": 1, "allow": str(VIEW), "deny": "0"}
        place.overwrites = self.chance.choice([[], [denied, for_bot], [denied]])

    async def disturb(self) -> None:
        route = self.chance.choice(["GET /channels/{}/messages", "GET /guilds/{}/threads/active", "*"])
        self.server.faults.add(route, Fault(status=self.chance.choice([500, 429, 0]), wait=0.01))


@pytest.mark.parametrize("seed", range(scaled(3)))
async def test_what_is_held_is_what_a_first_run_finds(seed):
    chance = random.Random(seed)
    async with a_server() as server:
        server.channel(72, guild=GUILD).name = "second"
        steps = Steps(server, chance)
        happens = [steps.say] * 5 + [steps.post, steps.open_thread, steps.edit, steps.edit, steps.delete, steps.archive]
        happens += [steps.remove, steps.close, steps.disturb]
        run = Run(server, look_back_days=10)
        for _ in range(30):
            for _ in range(chance.randrange(6)):
                await chance.choice(happens)()
            try:
                await run()
            except SourceError:
                continue  # the next run goes on from the last checkpoint
        server.faults.clear()
        await run()
        fresh = Run(server, look_back_days=10)
        await fresh()
        assert run.known == fresh.known
        assert await run() == []
