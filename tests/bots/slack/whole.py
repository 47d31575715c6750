"""A bot with a scripted model on a local Slack, as a process runs it."""

import asyncio
import contextlib
import pathlib
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from bots.requests import Ask, Event
from bots.slack import SlackPlatform
from bots.turn.options import TurnOptions
from bots.turn.turns import Turns
from bots.words.captions import caption
from ragcore.types import Delta, Status
from tests.bots.turn.flows import Script, answer_to, words_for
from tests.fakes.bot import answering_on
from tests.fakes.waiting import until
from tests.servers.slack import Shown, SlackServer, slack_server
from tests.servers.slack.blocks import buttons_of, text_of

CHANNEL = "C1"
QUESTION = "how many days?"
SHOW = caption("show")
OPTIONS = TurnOptions(readers_of={"handbook": ("slack:T0001",)}, merge_within=0.0)


async def slowly(request: Ask) -> AsyncIterator[Event]:
    """Answer over a second or two, as a model does."""
    yield Status(stage="search")
    text = words_for(request.question)
    for word in text.split(" "):
        await asyncio.sleep(0.05)
        yield Delta(text=f"{word} ")
    yield answer_to(request.question, text)


async def at_length(request: Ask, characters: int) -> AsyncIterator[Event]:
    """Answer at once in so many characters: numbered sentences, of which none may be missing or stand twice."""
    sentences = (f"Sentence {number} of a long answer has its own number." for number in range(characters))
    text = ""
    while len(text) < characters:
        text += f"{next(sentences)} "
    yield answer_to(request.question, text.strip())


def numbered(text: str) -> list[int]:
    """Return the numbers of the sentences of a long answer, as they stand."""
    return [int(number) for number in re.findall(r"Sentence (\d+) of", text)]


@dataclass(kw_only=True)
class Whole:
    server: SlackServer
    turns: Turns[Any]

    async def answer(self) -> str:
        """Ask, and return the one answer that stands when all is done."""
        said = self.server.say(CHANNEL, f"<@{self.server.user}> {QUESTION}")
        # That a turn runs would not tell: it may be that of an earlier question, and end before this one arrives.
        await until(lambda: self.server.answers(CHANNEL, said["ts"]), seconds=60.0)
        await until(lambda: not self.turns.running(), seconds=60.0)
        (message,) = self.server.answers(CHANNEL, said["ts"])
        assert "streaming" not in message
        assert message["metadata"]["event_type"] == "citebot_part"
        return self.server.plain(message)


@contextlib.asynccontextmanager
async def whole(
    folder: pathlib.Path, server: SlackServer, *, script: Script = slowly, alone: bool = True
) -> AsyncIterator[Whole]:
    platform = SlackPlatform(
        bot_token=server.bot_token, app_token=server.app_token, api_url=f"{server.url}/api/", channels=()
    )
    async with answering_on(platform, folder, script=script, options=OPTIONS, alone=alone) as bot:
        yield Whole(server=server, turns=bot.turns)


@contextlib.asynccontextmanager
async def begun(folder: pathlib.Path, *, script: Script = slowly) -> AsyncIterator[Whole]:
    async with slack_server() as server:
        server.channel(CHANNEL).members.add("U1")
        server.person("U1")
        async with whole(folder, server, script=script) as made:
            yield made


async def read_alone(server: SlackServer) -> list[str]:
    """Return the pages of the one answer that stands for its asker alone, as they turn them.

    Where the bot doesn't know whether it stands they have it shown only if it doesn't.
    """
    shown = server.answers_alone()
    if (show := to_answer(shown[-1])) is not None:
        if len(shown) == 1:
            shown = [await turned(server, shown[0], show)]
        else:
            shown.pop()
    (message,) = shown
    pages = [text_of(message.blocks)]
    while (following := to_next(message)) is not None:
        message = await turned(server, message, following)
        pages.append(text_of(message.blocks))
    return pages


async def turned(server: SlackServer, message: Shown, value: str) -> Shown:
    """Press a button under what its asker alone sees; return what stands in its place."""
    number = server.shown.index(message)
    server.press(message, value)
    await until(lambda: message not in server.shown)
    assert len(server.shown) > number
    return server.shown[-1]


def to_answer(message: Shown) -> str | None:
    """Return what the button that shows an answer says, where the bot doesn't know whether it stands."""
    found = [part["value"] for element, part in buttons_of(message.blocks) if _words(element) == SHOW]
    return found[0] if found else None


def to_next(message: Shown) -> str | None:
    """Return what the button to the next page says, None on the last one."""
    found = [part["value"] for element, part in buttons_of(message.blocks) if _words(element).endswith("▶")]
    return found[0] if found else None


def _words(element: Mapping[str, Any]) -> str:
    return str((element.get("text") or {}).get("text") or "")
