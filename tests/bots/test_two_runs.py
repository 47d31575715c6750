"""Two whole ``citebot run`` on one PostgreSQL and one Chroma server; one is killed, and the other goes on for it."""

import contextlib
import pathlib
import re
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import asyncpg  # type: ignore[import-untyped]
import pytest

from tests.fakes.balancing import Balancer, balancer
from tests.fakes.openai_server import OpenAIServer, Reply, Request
from tests.fakes.ports import free_port
from tests.fakes.running import Running, running
from tests.fakes.settings import read_by_all
from tests.fakes.waiting import until
from tests.servers.discord import DiscordServer, discord_server
from tests.servers.slack import Rates, SlackServer, slack_server
from tests.servers.telegram import TelegramServer, telegram_server
from tests.soak import scaled

SETTINGS = """
data_dir = ".citebot"
[database]
url = "{database}"
[chroma]
url = "{chroma}"
[embedding]
provider = "openai"
base_url = "{model}"
model = "vectors"
batch_size = 4
[llm]
base_url = "{model}"
model = "words"
[turns]
lease = 3
[telegram]
webhook_url = "{webhook}/telegram"
webhook_port = {port}
""" + read_by_all("handbook", path="{documents}", more='schedule = "1h"')
QUESTION = "How many unused leave days may be carried over?"
ANSWER = "Up to five unused leave days may be carried over into the next year [ID:0]."
LEAVE = "# Leave\n\nUp to five unused leave days may be carried over into the next year. This is version {version}."
LONG = 90.0
"""Seconds that answers may take where the machine has much else to do."""
NOTES, SLOW_BATCH = 40, 0.8


@dataclass(kw_only=True, eq=False)
class Pair:
    """The servers, and the two folders that a process may run in."""

    folder: pathlib.Path
    database: str
    chroma: str
    model: OpenAIServer
    slack: SlackServer
    discord: DiscordServer
    telegram: TelegramServer
    balancer: Balancer
    slow: bool = False
    embedded: int = 0
    """Batches of documents, since they were last changed."""
    answers: Reply = field(default_factory=lambda: Reply(text=ANSWER))
    asked: int = 0

    def reply(self, request: Request) -> Reply:
        """Write the answer; take long for the vectors of documents while ``slow``."""
        if not request.path.endswith("/embeddings"):
            return self.answers
        given = request.body["input"]
        if any("version" in text for text in given):
            self.embedded += 1
            return Reply(first_delay=SLOW_BATCH if self.slow else 0.0)
        return Reply()

    def write(self, version: int) -> None:
        """Change every document."""
        documents = self.folder / "handbook"
        documents.mkdir(exist_ok=True)
        (documents / "leave.md").write_text(LEAVE.format(version=version))
        for number in range(NOTES):
            note = f"# Note {number}\n\nWhat happened in week {number}, in version {version}."
            (documents / f"note{number}.md").write_text(note)
        self.embedded = 0

    async def let_be_due(self) -> None:
        """Let the source's last run be long ago."""
        connection = await asyncpg.connect(self.database.replace("+asyncpg", ""), password="x")
        try:
            await connection.execute("UPDATE sources SET last_run_at = '2026-01-01'")
        finally:
            await connection.close()

    @contextlib.asynccontextmanager
    async def run(self, name: str) -> AsyncIterator[Running]:
        """Begin a process in a folder of its own, and wait until its platforms are connected."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        (folder / "run.log").write_text("")
        port = free_port()
        (folder / "citebot.toml").write_text(
            SETTINGS.format(
                database=self.database,
                chroma=self.chroma,
                model=self.model.base_url,
                webhook=self.balancer.url,
                port=port,
                documents=self.folder / "handbook",
            )
        )
        env = {**self.slack.environment, **self.discord.environment, **self.telegram.environment}
        self.balancer.behind.append(address := f"http://127.0.0.1:{port}")
        async with running(folder, **env) as citebot:
            await until(lambda: citebot.log().count(": connected") == 3 or citebot.process.returncode is not None, 60.0)
            assert citebot.process.returncode is None, citebot.log()
            try:
                yield citebot
            finally:
                self.balancer.behind.remove(address)

    async def ask(self) -> list["Asked"]:
        """Ask on each platform, each time somebody else."""
        asked = []
        for _ in range(4):
            self.asked += 1
            number = 1_000 + self.asked
            self.slack.channel(f"D{number}")
            self.slack.say(f"D{number}", QUESTION, user=f"U{number}")
            direct = self.discord.direct(number)
            await self.discord.say(direct, QUESTION, user=number)
            self.telegram.say(number, QUESTION, user=number)
            places = (f"slack:{self.slack.team}/D{number}", f"discord:{direct.id}", f"telegram:{number}")
            asked += [Asked(self, place) for place in places]
        return asked


@dataclass(frozen=True, eq=False)
class Asked:
    """One question in one direct conversation."""

    pair: Pair
    place: str

    def answers(self) -> list[tuple[str, str]]:
        """Return the id and the text of each message of the bot there."""
        platform, _, where = self.place.partition(":")
        match platform:
            case "slack":
                server = self.pair.slack
                return [(one["ts"], server.plain(one)) for one in server.answers(where.partition("/")[2])]
            case "discord":
                return [(one["id"], one["content"]) for one in self.pair.discord.answers(int(where))]
            case _:
                return [(str(one["message_id"]), one["text"]) for one in self.pair.telegram.answers(int(where))]

    def is_answered(self) -> bool:
        """Tell whether the whole answer stands, with its source."""
        return any("into the next year" in text and "Leave" in text for _, text in self.answers())

    def taken_by(self, citebot: Running) -> bool:
        """Tell whether this process began to answer it."""
        return re.search(rf"turn [0-9a-f]{{8}}: direct in {re.escape(self.place)}$", citebot.log(), re.M) is not None


@pytest.fixture
async def pair(tmp_path: pathlib.Path, postgres_url: str, chroma_url: str) -> AsyncIterator[Pair]:
    async with (
        OpenAIServer() as model,
        slack_server(rates=Rates(start=200)) as slack,  # both may stream in each round
        discord_server() as discord,
        telegram_server() as telegram,
        balancer() as before,
    ):
        made = Pair(
            folder=tmp_path,
            database=postgres_url,
            chroma=chroma_url,
            model=model,
            slack=slack,
            discord=discord,
            telegram=telegram,
            balancer=before,
        )
        model.default = made.reply
        yield made


@pytest.mark.soak
async def test_one_goes_on_for_the_other(pair: Pair) -> None:
    pair.write(0)
    async with contextlib.AsyncExitStack() as living:
        other = await living.enter_async_context(pair.run("run0"))
        first = other
        await until(lambda: f"{NOTES + 1} documents added" in first.log())
        for version in range(1, 1 + scaled(1)):
            pair.write(version)
            await pair.let_be_due()
            (other.folder / "run.log").write_text("")  # what the last round told
            pair.slow, pair.answers = True, Reply(text=ANSWER)
            reader = await living.enter_async_context(pair.run(f"run{version}"))
            await until(lambda: pair.embedded)
            other = await _one_is_killed(pair, reader, other, by_turns=version % 2)
        assert await other.end() == 0
    assert set(pair.telegram.webhook_answers) == {200}


async def _one_is_killed(pair: Pair, reader: Running, other: Running, *, by_turns: int) -> Running:
    """Kill the one that reads, or the other; return the one that is left when it has done everything."""
    asked = await _both_answer_while_one_reads(pair, reader, other)
    killed, left = (reader, other) if by_turns else (other, reader)
    asked += await _killed_while_it_answers(pair, killed, left)
    pair.slow = False
    await until(lambda: f"{NOTES + 1} documents changed" in left.log() and not _unfinished(left), 90.0)
    assert ("its run was broken off" in left.log()) == (killed is reader)
    assert [len(one.answers()) for one in asked] == [1] * len(asked)
    return left


def _unfinished(citebot: Running) -> set[str]:
    """Return the turns of a process that its log doesn't tell the end of."""
    taken = re.findall(r"turn ([0-9a-f]{8}): (?:direct in|taken up)", citebot.log())
    return set(taken) - set(re.findall(r"turn ([0-9a-f]{8}): answered", citebot.log()))


async def _both_answer_while_one_reads(pair: Pair, reader: Running, other: Running) -> list[Asked]:
    asked = await pair.ask()
    await until(lambda: all(one.is_answered() for one in asked), LONG)
    await until(lambda: not _unfinished(reader) and not _unfinished(other), LONG)
    taken = [[one for one in asked if one.taken_by(citebot)] for citebot in (reader, other)]
    assert all(taken), "each of them has its share"
    assert sorted(one.place for one in [*taken[0], *taken[1]]) == sorted(one.place for one in asked), "each once"
    assert "documents changed" not in reader.log() + other.log(), "the run goes on meanwhile, in one of them"
    return asked


async def _killed_while_it_answers(pair: Pair, killed: Running, left: Running) -> list[Asked]:
    pair.answers = Reply(text=ANSWER, delay=0.4)
    asked = await pair.ask()
    growing = [one for one in asked if one.place.startswith(("slack", "discord"))]  # Telegram shows drafts here
    await until(lambda: any(one.answers() and not one.is_answered() and one.taken_by(killed) for one in growing))
    await killed.end(signal.SIGKILL)
    pair.answers = Reply(text=ANSWER)
    lost = [one for one in asked if one.taken_by(killed) and not one.is_answered()]
    begun = {one: [name for name, _ in one.answers()] for one in lost if one in growing}
    assert any(begun.values())
    await until(lambda: all(one.is_answered() for one in asked), LONG)
    for one, names in begun.items():
        assert [name for name, _ in one.answers()][: len(names)] == names, "in the same message"
    assert left.log().count("taken up after 1 attempts") >= len(lost) > 0
    return asked
