"""Discord tells of no direct message that is opened: what to ask stands under the first answer there, and in /help."""

import pathlib

from bots.words.sentences import word
from tests.bots.discord.scene import CHANNEL, MENTION, peopled
from tests.bots.discord.test_turns import running
from tests.fakes.waiting import until
from tests.servers.discord import DiscordServer, Rates
from tests.servers.discord.world import Json

PROMPTS = [word("help_prompt"), word("sources_prompt")]


def labels(message: Json) -> list[str]:
    return [button.get("label", "") for row in message["components"] for button in row["components"]]


async def ask(server: DiscordServer, channel: int, text: str, count: int) -> Json:
    """Ask, and return the last of so many answers, whole."""
    await server.say(channel, text)
    await until(lambda: len(server.answers(channel)) == count and "Leave" in server.answers(channel)[-1]["content"])
    return server.answers(channel)[-1]


async def test_the_first_direct_answer_alone_carries_questions_to_go_on_with(tmp_path: pathlib.Path) -> None:
    async with peopled(Rates()) as server, running(server, tmp_path) as process:
        direct = server.direct(42).id
        first = await ask(server, direct, "how many?", 1)
        await process.idle()
        second = await ask(server, direct, "and then?", 2)
        await process.idle()
        elsewhere = await ask(server, CHANNEL, f"{MENTION} how many?", 1)
        assert [label for label in labels(first) if label in PROMPTS] == PROMPTS
        assert not set(labels(second)) & set(PROMPTS)
        assert not set(labels(elsewhere)) & set(PROMPTS)


async def test_help_carries_them_too_but_for_itself(tmp_path: pathlib.Path) -> None:
    async with peopled(Rates()) as server, running(server, tmp_path) as process:
        for place in (CHANNEL, server.direct(42)):
            interaction = server.interactions.of(await server.command(place, "help"))
            await until(lambda: any("Ask me about" in one["content"] for one in interaction.messages.values()))  # noqa: B023
            await process.idle()
            (answer,) = interaction.messages.values()
            assert [label for label in labels(answer) if label in PROMPTS] == [word("sources_prompt")]
