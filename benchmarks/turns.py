"""What Citebot itself adds to a turn: from the event to the first sign, the first words and the end, and many at once.

    python -m benchmarks.turns [slack] [discord] [telegram] [--conversations 20] [--rounds 3] [--at-once 500]

`citebot run` is a real process with the real library against a local server that keeps to the platform's documented
limits; a local endpoint is the model, which quotes a passage.

`--conversations` ask within two seconds, `--rounds` times, and the model takes five seconds, two of them before its
first word: so all of them are under way together, below the platform's limits. What is told is ours alone: the model's
time is taken off. `--at-once` ask in the same moment and the model answers at once; the limits decide how long that
takes. Conversations are private chats on Telegram, channels on Discord, and on Slack half direct messages, half threads.
"""

import argparse
import asyncio
import json
import math
import pathlib
import re
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks._platforms import PLACES, Place
from tests.fakes.openai_server import OpenAIServer, Reply, Request
from tests.fakes.running import SETTINGS, Running, prepare, running
from tests.fakes.waiting import until

QUESTIONS = (
    "How many unused leave days can I carry over, and until when?",
    "Until when must unused leave days be taken?",
    "How many unused leave days may be carried into the next year?",
)
LIMITS = "[turns]\nuser_limit = 1000\nchannel_limit = 1000\n"
MOST_SECONDS = 300.0
APART = 0.1
"""Seconds between two questions of a round."""
FIRST_WORD, PIECES, PIECE = 2.0, 10, 0.3
"""What the model takes of a round: seconds to its first word, and for each of so many pieces."""
WARMING = range(1, 1 + len(QUESTIONS))


def quoting(request: Request) -> Reply:
    """Answer at once, with the first line of the first passage."""
    found = re.search(r"^ID: 0\n(?:.*\n)*?Content:\n(?:#.*\n|\s)*(.+)", "\n".join(request.texts), flags=re.MULTILINE)
    return Reply(text=f"{found[1].strip().rstrip('.')} [ID:0]." if found else "Nothing.")


def writing(request: Request) -> Reply:
    """Answer so over some seconds, as models do."""
    words = re.findall(r"\S+\s*", quoting(request).text)
    size = -(-len(words) // PIECES)
    pieces = ["".join(words[at : at + size]) for at in range(0, len(words), size)]
    delay = PIECES * PIECE / len(pieces)
    return Reply(pieces=pieces, first_delay=FIRST_WORD, delay=delay)


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds from the event."""

    sign: float
    words: float
    end: float


@dataclass(frozen=True, slots=True)
class Scene:
    """A process with its server."""

    place: Place
    citebot: Running
    model: OpenAIServer

    def resident(self) -> float:
        """Return the memory of the process, in MB."""
        status = pathlib.Path(f"/proc/{self.citebot.process.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))) / 1024

    async def ask(self, number: int, question: str) -> Times:
        """Ask in a conversation, and wait until the whole answer stands, its sources linked."""
        before, begun = len(self.place.answers(number)), time.monotonic()
        await self.place.say(number, question)
        while not any(map(whole, standing := self.place.answers(number)[before:])):
            if time.monotonic() - begun > MOST_SECONDS:
                raise TimeoutError(f"no answer: {standing}")
            await asyncio.sleep(0.005)
        end = time.monotonic() - begun
        sign, words = firsts(self.place, begun)[number]
        return Times(sign - begun, words - begun, end)


def firsts(place: Place, since: float) -> dict[int, tuple[float, float]]:
    """Return when each conversation was shown its first sign, which may be its first words, and its first words."""
    signs: dict[int, float] = {}
    words: dict[int, float] = {}
    for shown in place.shown(since):
        for first in (signs, words) if shown.words else (signs,):
            first[shown.number] = min(first.get(shown.number, math.inf), shown.at)
    return {number: (at, words.get(number, math.inf)) for number, at in signs.items()}


def whole(message: Any) -> bool:
    """Tell whether an answer is complete: its sources are linked in the end alone."""
    return "wiki.example" in json.dumps(message)


@asynccontextmanager
async def scene(name: str, numbers: Sequence[int]) -> AsyncIterator[Scene]:
    """Run Citebot over the examples, for conversations of these numbers."""
    serve, made = PLACES[name]
    with tempfile.TemporaryDirectory() as folder:
        data = await asyncio.to_thread(prepare, pathlib.Path(folder) / "citebot", SETTINGS + LIMITS)
        async with OpenAIServer() as model, serve() as server:
            model.default = quoting
            place = made(server, [*WARMING, *numbers])
            env = {
                **place.tokens,
                "CITEBOT_LLM__BASE_URL": model.base_url,
                "CITEBOT_LLM__MODEL": "scripted",
                "CITEBOT_LLM__MAX_CONCURRENT": "100",
            }
            async with running(data, anew=True, **env) as citebot:
                await until(lambda: ": connected" in citebot.log(), 120.0)
                here = Scene(place, citebot, model)
                for number, question in zip(WARMING, QUESTIONS, strict=True):  # what loads late is no part of a turn
                    await here.ask(number, question)
                    await asyncio.sleep(0.3)
                yield here
                await citebot.end()


async def together(here: Scene, numbers: Sequence[int], rounds: int) -> list[Times]:
    """Let all conversations ask so often, each time together; what the model takes is taken off."""
    here.model.default = writing
    found: list[Times] = []
    for index in range(rounds):
        await asyncio.sleep(here.place.pause)
        asking = []
        for number in numbers:
            asking.append(asyncio.create_task(here.ask(number, QUESTIONS[index % len(QUESTIONS)])))
            await asyncio.sleep(APART)
        found += await asyncio.gather(*asking)
    here.model.default = quoting
    whole_time = FIRST_WORD + PIECES * PIECE
    return [Times(one.sign, one.words - FIRST_WORD, one.end - whole_time) for one in found]


async def at_once(here: Scene, numbers: Sequence[int]) -> None:
    """Let conversations ask in the same moment, and tell what came of it."""
    place, before, limited = here.place, here.resident(), here.place.limited()
    highest, waiting, begun = before, set(numbers), time.monotonic()
    for number in numbers:
        await place.say(number, QUESTIONS[number % len(QUESTIONS)])
    ends = {}
    while waiting and time.monotonic() - begun < MOST_SECONDS:
        highest = max(highest, here.resident())
        done = {number for number in waiting if any(map(whole, place.answers(number)))}
        ends |= dict.fromkeys(done, time.monotonic() - begun)
        waiting -= done
        await asyncio.sleep(0.2)
    took = time.monotonic() - begun
    await asyncio.sleep(2.0)  # whoever answers twice does so now
    counts = [len(place.answers(number)) for number in numbers]
    refused = place.limited() - limited
    print(f"  {len(numbers)} at once: {took:.1f} s to the last answer, {len(numbers) / took:.1f} a second")
    print(f"    answered once {counts.count(1)}, whole {len(ends)}, not at all {counts.count(0)}, "
          f"twice or more {sum(count > 1 for count in counts)}; "
          f"calls refused by a limit: {refused.total()}{f' {dict(refused)}' if refused else ''}")  # fmt: skip
    print(f"    memory: {before:.0f} MB before, {highest:.0f} MB at most, "
          f"{(highest - before) * 1024 / len(numbers):.0f} KB a conversation")  # fmt: skip
    if len(ends) > 1:
        shown = firsts(place, begun)
        tell("first sign", [sign - begun for sign, _ in shown.values()])
        tell("first words", [words - begun for _, words in shown.values() if words < math.inf])
        tell("end", list(ends.values()))


def tell(name: str, seconds: Sequence[float]) -> None:
    """Print the middle and the 95th percentile of some times, and the longest."""
    cut = statistics.quantiles(seconds, n=20, method="inclusive")
    middle, high, longest = (1000 * one for one in (statistics.median(seconds), cut[18], max(seconds)))
    print(f"  {name:<12} p50 {middle:6.0f} ms   p95 {high:6.0f} ms   longest {longest:6.0f} ms")


async def measure(name: str, given: argparse.Namespace) -> None:
    """Measure one platform."""
    numbers, many = range(100, 100 + given.conversations), range(1_000, 1_000 + given.at_once)
    async with scene(name, [*numbers, *many]) as here:
        if times := await together(here, numbers, given.rounds):
            print(f"{name}: {len(numbers)} conversations, {len(times)} questions, {here.model.most_at_once} being "
                  f"answered at once at most; calls refused by a limit: {here.place.limited().total()}")  # fmt: skip
            for what, field in (("first sign", "sign"), ("first words", "words"), ("end", "end")):
                tell(what, [getattr(one, field) for one in times])
        if many:
            await at_once(here, many)
        sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("platforms", nargs="*", default=list(PLACES), metavar="|".join(PLACES))
    parser.add_argument("--conversations", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--at-once", type=int, default=500)
    given = parser.parse_args()
    for name in given.platforms:
        asyncio.run(measure(name, given))
    return 0


if __name__ == "__main__":
    sys.exit(main())
