"""What Citebot itself adds to a turn: from the event to the first sign, the first words and the end, and many at once.

    python -m benchmarks.turns [telegram] [--conversations 20] [--rounds 5] [--at-once 500]

`citebot run` is a real process with the real library against a local server that keeps to the platform's documented
limits; a local endpoint is the model, which quotes a passage at once, so that what is measured is ours: claim, search,
prompt, verifying, rendering, sending. At `--conversations` questions come one after the other, below the platform's
limits; `--at-once` come in the same moment, each in a direct message of its own, and the limits decide how long that takes.
"""

import argparse
import asyncio
import json
import pathlib
import re
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.fakes.openai_server import OpenAIServer, Reply, Request
from tests.fakes.running import SETTINGS, Running, prepare, running
from tests.fakes.waiting import until
from tests.servers.telegram import TelegramServer, telegram_server

QUESTIONS = (
    "How many unused leave days can I carry over, and until when?",
    "Until when must unused leave days be taken?",
    "How many unused leave days may be carried into the next year?",
)
LIMITS = "[turns]\nuser_limit = 1000\nchannel_limit = 1000\npatience = 280\n"
MOST_SECONDS = 300.0


def quoting(request: Request) -> Reply:
    """Answer with the first line of the first passage."""
    found = re.search(r"^ID: 0\n(?:.*\n)*?Content:\n(?:#.*\n|\s)*(.+)", "\n".join(request.texts), flags=re.MULTILINE)
    return Reply(text=f"{found[1].strip().rstrip('.')} [ID:0]." if found else "Nothing.")


class Telegram:
    """Private chats."""

    spacing = 0.25

    def __init__(self, server: TelegramServer) -> None:
        self.server = server
        self.tokens = {"TELEGRAM_BOT_TOKEN": server.token, "CITEBOT_TELEGRAM__API_URL": server.url}

    async def say(self, number: int, text: str) -> None:
        self.server.say(number, text, user=number)

    def answers(self, number: int) -> list[Any]:
        return self.server.answers(number)

    def begun(self, number: int) -> bool:
        return self.server.draft(number) is not None

    def signed(self, number: int, since: float) -> bool:
        return signed(self.server.calls, "sendChatAction", "chat_id", str(number), since)

    def limited(self) -> int:
        return sum(told.startswith("Too Many Requests") for _, told in self.server.refused)


Place = Telegram
PLACES: dict[str, tuple[Callable[[], AbstractAsyncContextManager[Any]], Callable[[Any], Place]]] = {
    "telegram": (telegram_server, Telegram),
}


def signed(calls: Sequence[tuple[float, str, Any]], method: str, key: str, value: str, since: float) -> bool:
    """Tell whether a call about this conversation came since then."""
    for at, name, given in reversed(calls):
        if at < since:
            return False
        if name == method and str(given.get(key)) == value:
            return True
    return False


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

    def resident(self) -> float:
        """Return the memory of the process, in MB."""
        status = pathlib.Path(f"/proc/{self.citebot.process.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))) / 1024

    async def ask(self, number: int, question: str) -> Times:
        """Ask in a conversation, and wait until the whole answer stands, its sources linked."""
        place = self.place
        before = len(place.answers(number))
        begun = time.monotonic()
        await place.say(number, question)
        sign = words = 0.0
        while True:
            now = time.monotonic() - begun
            standing = place.answers(number)[before:]
            words = words or (now if standing or place.begun(number) else 0.0)
            sign = sign or words or (now if place.signed(number, begun) else 0.0)
            if standing and whole(standing[-1]):
                return Times(sign, words, now)
            if now > MOST_SECONDS:
                raise TimeoutError(f"no answer: {standing}")
            await asyncio.sleep(0.005)


def whole(message: Any) -> bool:
    """Tell whether an answer is complete: its sources are linked in the end alone."""
    return "wiki.example" in json.dumps(message)


@asynccontextmanager
async def scene(name: str) -> AsyncIterator[Scene]:
    """Run Citebot over the examples."""
    serve, made = PLACES[name]
    with tempfile.TemporaryDirectory() as folder:
        data = await asyncio.to_thread(prepare, pathlib.Path(folder) / "citebot", SETTINGS + LIMITS)
        async with OpenAIServer() as model, serve() as server:
            model.default = quoting
            place = made(server)
            env = {
                **place.tokens,
                "CITEBOT_LLM__BASE_URL": model.base_url,
                "CITEBOT_LLM__MODEL": "scripted",
                "CITEBOT_LLM__MAX_CONCURRENT": "100",
            }
            async with running(data, **env) as citebot:
                await until(lambda: ": connected" in citebot.log(), 120.0)
                here = Scene(place, citebot)
                for question in QUESTIONS:  # what loads late is no part of a turn
                    await here.ask(1, question)
                    await asyncio.sleep(1.0)
                yield here
                await citebot.end()


async def one_after_another(here: Scene, conversations: int, rounds: int) -> list[Times]:
    """Let so many conversations ask so often, one question after the other."""
    asking = []
    for turn in range(rounds * conversations):
        number = 100 + turn % conversations
        asking.append(asyncio.create_task(here.ask(number, QUESTIONS[turn // conversations % len(QUESTIONS)])))
        await asyncio.sleep(here.place.spacing)
    return await asyncio.gather(*asking)


async def at_once(here: Scene, conversations: int) -> None:
    """Let so many conversations ask in the same moment, and tell what came of it."""
    place, before, limited = here.place, here.resident(), here.place.limited()
    numbers = range(10_000, 10_000 + conversations)
    highest = before
    waiting = set(numbers)
    begun = time.monotonic()
    for number in numbers:
        await place.say(number, QUESTIONS[number % len(QUESTIONS)])
    while waiting and time.monotonic() - begun < MOST_SECONDS:
        highest = max(highest, here.resident())
        waiting = {number for number in waiting if not any(map(whole, place.answers(number)))}
        await asyncio.sleep(0.2)
    took = time.monotonic() - begun
    await asyncio.sleep(2.0)  # whoever answers twice does so now
    counts = [len(place.answers(number)) for number in numbers]
    print(
        f"  {conversations} conversations at once: {took:.1f} s to the last answer, {conversations / took:.1f} a second"
    )
    print(f"    answered once {counts.count(1)}, whole {conversations - len(waiting)}, not at all {counts.count(0)}, "
          f"twice or more {sum(count > 1 for count in counts)}; calls refused by a limit: {place.limited() - limited}")  # fmt: skip
    print(
        f"    memory: {before:.0f} MB before, {highest:.0f} MB at most, {(highest - before) * 1024 / conversations:.0f} KB a conversation"
    )


def tell(name: str, seconds: Sequence[float]) -> None:
    """Print the middle and the 95th percentile of some times."""
    cut = statistics.quantiles(seconds, n=20, method="inclusive")
    print(f"  {name:<12} p50 {statistics.median(seconds) * 1000:5.0f} ms   p95 {cut[18] * 1000:5.0f} ms")


async def measure(name: str, given: argparse.Namespace) -> None:
    """Measure one platform."""
    async with scene(name) as here:
        times = await one_after_another(here, given.conversations, given.rounds)
        print(f"{name}: {given.conversations} conversations, {len(times)} questions, the model answers at once")
        for what, field in (("first sign", "sign"), ("first words", "words"), ("end", "end")):
            tell(what, [getattr(one, field) for one in times])
        if given.at_once:
            await at_once(here, given.at_once)
        sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("platforms", nargs="*", default=list(PLACES), metavar="telegram")
    parser.add_argument("--conversations", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--at-once", type=int, default=500)
    given = parser.parse_args()
    for name in given.platforms:
        asyncio.run(measure(name, given))
    return 0


if __name__ == "__main__":
    sys.exit(main())
