"""What the tests of the source type ``discord`` use: the local server, a connector to it, and one run after another."""

from contextlib import asynccontextmanager
from datetime import UTC, datetime

from connectors.base import Checkpoint, Origin, SourceDocument
from connectors.discord import DiscordConnector, DiscordOptions
from tests.connectors.helpers import collect, known_of, listed
from tests.servers.discord import DiscordServer, Rates, discord_server
from tests.servers.discord.world import FORUM, Channel, message_json, moment, snowflake, user_json

GUILD = 7
GENERAL, HELP = 70, 71
DAY = 86_400.0
INTENT = 1 << 19
PLENTY = Rates(everything=(100_000, 1.0), history=(100_000, 1.0))


@asynccontextmanager
async def a_server(rates: Rates = PLENTY):
    """Serve a guild with a channel and a forum, and let the bot read what people write."""
    async with discord_server(rates=rates) as server:
        server.state.application_flags = INTENT
        server.guild(GUILD).name = "Valve Makers"
        server.channel(GENERAL, guild=GUILD).name = "general"
        forum = server.channel(HELP, guild=GUILD)
        forum.type, forum.name = FORUM, "help"
        yield server


def post(server: DiscordServer, name: str, text: str, *, age: float = 0.0, user: int = 42) -> Channel:
    """Let somebody write a post in the forum: a thread whose first message has its id."""
    thread = server.thread(snowflake(age), parent=HELP, name=name)
    thread.messages[thread.id] = message_json(thread, user_json(user), text, age=age) | {"id": str(thread.id)}
    return thread


def archive(thread: Channel, *, age: float = 0.0) -> None:
    """Archive a thread."""
    thread.archived_at = moment(age)


def options(server: DiscordServer, **changes) -> DiscordOptions:
    defaults = {"token": server.token, "servers": (str(GUILD),), "api_url": server.url}
    return DiscordOptions.model_validate(defaults | changes)


def discord_source(server: DiscordServer, tmp_path="/", **changes) -> DiscordConnector:
    return DiscordConnector(Origin(source="s", folder=tmp_path), options(server, **changes), interval=0.0)


def today(age: float = 0.0) -> str:
    return datetime.fromtimestamp(datetime.now(UTC).timestamp() - age, UTC).date().isoformat()


class Run:
    """One run after another of a source, as a sync does them."""

    def __init__(self, server: DiscordServer, **changes):
        self.server, self.changes = server, changes
        self.known, self.cursor = {}, None

    async def __call__(self, **changes):
        """Do a run; return the native ids of what was yielded."""
        self.server.state.calls.clear()
        self.server.state.asked.clear()
        connector = discord_source(self.server, **(self.changes | changes))
        self.documents, self.failures, self.gone, self.cursor = await collect(
            self._kept(connector.changes(self.cursor, self.known))
        )
        ids, _ = await listed(connector)
        self.requests = len(self.server.state.calls)
        self.known |= known_of(self.documents)
        self.known = {one: version for one, version in self.known.items() if one in ids and one not in self.gone}
        return sorted(one.removeprefix("s:") for one in self.documents)

    async def _kept(self, changes):
        """Keep at each checkpoint what came before it."""
        pending = {}
        async for change in changes:
            if isinstance(change, SourceDocument):
                pending[change.id] = change.version
            elif isinstance(change, Checkpoint):
                self.known, self.cursor = self.known | pending, change.cursor
            yield change

    @property
    def held(self):
        return sorted(one.removeprefix("s:") for one in self.known)

    def text(self, native) -> str:
        return self.documents[f"s:{native}"].content.decode()
