"""What Citebot itself adds to a turn: from the event to the first sign, the first words and the end, and many at once.

    python -m benchmarks.turns [--conversations 20] [--rounds 5] [--at-once 500]

`citebot run` is a real process with the real library against a local server that keeps to Telegram's documented limits
(30 calls a second in all); a local endpoint is the model and answers at once, so that what is measured is ours: claim,
search, prompt, verifying, rendering, sending. At `--conversations` questions come one after the other, below the
platform's limit; `--at-once` come in the same moment, and the limit decides how long that takes.
"""

import argparse
import asyncio
import pathlib
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tests.fakes.openai_server import OpenAIServer, Reply
from tests.fakes.running import SETTINGS, Running, prepare, running
from tests.fakes.waiting import until
from tests.servers.telegram import TelegramServer, telegram_server

QUESTIONS = (
    "How many unused leave days can I carry over, and until when?",
    "What should I do when the VPN shows ERR_CONN_104?",
    "How long is the warranty of the main unit?",
    "Who approves a business trip?",
    "How often must the probe be calibrated?",
)
ANSWER = "The documents tell it here [ID:0]. They tell more of it there [ID:1]."
SIGNS = frozenset({"sendChatAction", "sendMessageDraft", "sendMessage"})
WORDS = frozenset({"sendMessageDraft", "sendMessage"})
SPACING = 0.25
"""Seconds between two questions: with three calls each, half of what the platform takes."""
LIMITS = "[turns]\nuser_limit = 1000\nchannel_limit = 1000\npatience = 120\n"


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds from the event."""

    sign: float
    words: float
    end: float


@dataclass(frozen=True, slots=True)
class Scene:
    """A process with its servers."""

    server: TelegramServer
    citebot: Running

    def resident(self) -> float:
        """Return the memory of the process, in MB."""
        status = pathlib.Path(f"/proc/{self.citebot.process.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))) / 1024

    async def ask(self, chat: int, question: str) -> Times:
        """Ask in a chat, and wait for the answer."""
        before = len(self.server.answers(chat))
        begun = time.monotonic()
        self.server.say(chat, question, user=chat)
        await until(lambda: len(self.server.answers(chat)) > before, 120.0)
        calls = [(at - begun, method) for at, method, given in self.server.calls if at >= begun and about(given, chat)]
        sign = min(at for at, method in calls if method in SIGNS)
        words = min(at for at, method in calls if method in WORDS)
        return Times(sign, words, max(at for at, method in calls if method == "sendMessage"))


def about(given: dict[str, object], chat: int) -> bool:
    """Tell whether a call is about this chat."""
    return str(given.get("chat_id")) == str(chat)


@asynccontextmanager
async def scene() -> AsyncIterator[Scene]:
    """Run Citebot over the examples."""
    with tempfile.TemporaryDirectory() as folder:
        data = await asyncio.to_thread(prepare, pathlib.Path(folder) / "citebot", SETTINGS + LIMITS)
        async with OpenAIServer() as model, telegram_server() as server:
            model.default = Reply(text=ANSWER)
            env = {
                "TELEGRAM_BOT_TOKEN": server.token,
                "CITEBOT_TELEGRAM__API_URL": server.url,
                "CITEBOT_LLM__BASE_URL": model.base_url,
                "CITEBOT_LLM__MODEL": "scripted",
                "CITEBOT_LLM__MAX_CONCURRENT": "100",
            }
            async with running(data, **env) as citebot:
                await until(lambda: server.count("getUpdates"), 120.0)
                here = Scene(server, citebot)
                for question in QUESTIONS:  # what loads late is no part of a turn
                    await here.ask(1, question)
                yield here
                await citebot.end()


async def one_after_another(here: Scene, conversations: int, rounds: int) -> list[Times]:
    """Let so many conversations ask so often, one question every SPACING seconds."""
    asking = []
    for turn in range(rounds * conversations):
        chat = 100 + turn % conversations
        asking.append(asyncio.create_task(here.ask(chat, QUESTIONS[turn // conversations % len(QUESTIONS)])))
        await asyncio.sleep(SPACING)
    return await asyncio.gather(*asking)


async def at_once(here: Scene, conversations: int) -> None:
    """Let so many conversations ask in the same moment, and tell what came of it."""
    before, refused = here.resident(), len(refusals(here.server))
    chats = range(10_000, 10_000 + conversations)
    highest = before
    begun = time.monotonic()
    for chat in chats:
        here.server.say(chat, QUESTIONS[chat % len(QUESTIONS)], user=chat)
    while answered(here.server, chats) < conversations and time.monotonic() - begun < 300:
        highest = max(highest, here.resident())
        await asyncio.sleep(0.1)
    took = time.monotonic() - begun
    await asyncio.sleep(2.0)  # whoever answers twice does so now
    counts = [len(here.server.answers(chat)) for chat in chats]
    texts = [one["text"] for chat in chats for one in here.server.answers(chat)]
    whole = sum("tell it here" in text for text in texts)
    print(
        f"{conversations} conversations at once: {took:.1f} s to the last answer, {conversations / took:.0f} a second"
    )
    print(f"  answered once {counts.count(1)}, with the model's words {whole}, not at all {counts.count(0)}, twice or more "
          f"{sum(count > 1 for count in counts)}; sends refused by a limit: {len(refusals(here.server)) - refused}")  # fmt: skip
    print(
        f"  memory: {before:.0f} MB before, {highest:.0f} MB at most, {(highest - before) * 1024 / conversations:.0f} KB a conversation"
    )


def refusals(server: TelegramServer) -> list[tuple[str, str]]:
    """Return the calls that a limit refused."""
    return [(method, told) for method, told in server.refused if told.startswith("Too Many Requests")]


def answered(server: TelegramServer, chats: Sequence[int]) -> int:
    """Return in how many chats an answer stands."""
    return sum(bool(server.answers(chat)) for chat in chats)


def tell(name: str, seconds: Sequence[float]) -> None:
    """Print the middle and the 95th percentile of some times."""
    cut = statistics.quantiles(seconds, n=20, method="inclusive")
    print(f"  {name:<12} p50 {statistics.median(seconds) * 1000:5.0f} ms   p95 {cut[18] * 1000:5.0f} ms")


async def measure(given: argparse.Namespace) -> int:
    async with scene() as here:
        times = await one_after_another(here, given.conversations, given.rounds)
        print(f"Telegram, {given.conversations} conversations, {len(times)} questions, the model answers at once")
        for name, field in (("first sign", "sign"), ("first words", "words"), ("end", "end")):
            tell(name, [getattr(one, field) for one in times])
        if given.at_once:
            await at_once(here, given.at_once)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conversations", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--at-once", type=int, default=500)
    return asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
