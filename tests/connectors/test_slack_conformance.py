"""The conformance suite on ``slack``: a channel of threads, and one of days without threads."""

import time
from typing import ClassVar

import pytest

from connectors.base import Origin
from connectors.slack import SlackConnector
from connectors.slack.ids import day_id, thread_id
from tests.connectors.conformance import Conformance
from tests.connectors.slacks import PLENTY, options
from tests.connectors.world import World
from tests.servers.faults import Fault
from tests.servers.slack import SlackServer, slack_server

CHANNEL = "C1"
PAGE = 5
MANY_TIMES = 1_000
HOUR, DAY = 3_600, 86_400


class SlackWorld(World):
    """A channel with a document for each name; what each consists of is the subclass's."""

    def __init__(self, server: SlackServer) -> None:
        self.server = server
        server.page = PAGE
        server.channel(CHANNEL)
        self.ids: dict[str, str] = {}
        self.messages: dict[str, list] = {}
        self.away = False

    def connect(self, origin: Origin) -> SlackConnector:
        changes = {"api_url": "http://127.0.0.1:9/api/"} if self.away else {}  # port 9 takes no connection
        return SlackConnector(origin, options(self.server, look_back_days=60, **changes))

    def identity(self, name: str) -> str:
        return self.ids.get(name, thread_id(CHANNEL, "1700000000.000001"))

    def now(self) -> float:
        return time.time() + self.server.ahead

    async def change(self, name: str, text: str) -> None:
        self.server.edit(CHANNEL, self.messages[name][0], text)

    async def delete(self, name: str) -> None:
        for message in reversed(self.messages.pop(name)):
            self.server.delete(CHANNEL, message)

    async def duplicate(self, name: str) -> None:
        self.server.twice.add(self.messages[name][0]["ts"])

    async def break_page(self, status: int = 500) -> None:
        self.server.faults.add("conversations.history again", Fault(status=status), MANY_TIMES)

    async def rate_limit(self, seconds: int) -> None:
        self.server.faults.add("conversations.history again", Fault(status=429, wait=seconds - 0.5))

    async def expire_token(self) -> None:
        self.server.faults.add("conversations.history again", Fault(status=200, error="token_revoked"), MANY_TIMES)

    async def truncate(self) -> None:
        self.server.cut = True

    async def skew(self, seconds: int) -> None:
        self.server.ahead = seconds

    async def break_form(self) -> None:
        self.server.html = True

    async def leave(self) -> None:
        self.away = True

    async def mend(self) -> None:
        server = self.server
        self.away = server.cut = server.html = False
        for doubtful in (server.twice, server.spoiled):
            doubtful.clear()
        server.faults.clear()


NO_RENAME = "when something was said is its id, and stands in its text; a channel's new name is tested on its own"
NO_ADDRESSES = "Slack tells who may read as the privacy of a channel; test_slack.py holds what follows"


class Threads(SlackWorld):
    """Each name is a thread of two messages; they begin hours apart."""

    cannot: ClassVar = {"rename": NO_RENAME, "restrict": NO_ADDRESSES}

    async def add(self, name: str, text: str) -> None:
        self.begin(name, text, self.now() - (40 - len(self.ids)) * 7 * HOUR)

    async def late(self, name: str, text: str) -> None:
        newest = max(float(said[0]["ts"]) for said in self.messages.values())
        self.begin(name, text, newest - 300)

    def begin(self, name: str, text: str, at: float) -> None:
        first = self.server.say(CHANNEL, text, at=at)
        reply = self.server.say(CHANNEL, "Thanks.", user="U2", thread=first["ts"], at=at + 60)
        self.messages[name], self.ids[name] = [first, reply], thread_id(CHANNEL, first["ts"])

    async def spoil(self, name: str) -> None:
        self.server.spoiled.add(self.messages[name][0]["ts"])

    async def vanish(self, name: str) -> None:
        self.server.vanishing.add(self.messages[name][0]["ts"])


class Days(SlackWorld):
    """Each name is a day with one message."""

    cannot: ClassVar = {
        "rename": NO_RENAME,
        "restrict": NO_ADDRESSES,
        "spoil": "a day comes with the history of its channel, and can't fail alone",
        "vanish": "a day is read where it is listed",
    }

    async def add(self, name: str, text: str) -> None:
        self.say(name, text, 2 * len(self.ids) + 2)

    async def late(self, name: str, text: str) -> None:
        self.say(name, text, 3)

    def say(self, name: str, text: str, days: int) -> None:
        message = self.server.say(CHANNEL, text, at=self.now() - days * DAY)
        self.messages[name], self.ids[name] = [message], day_id(CHANNEL, message["ts"])


@pytest.fixture
async def server():
    async with slack_server(rates=PLENTY) as slack:
        slack.delivers = False
        yield slack


class TestThreads(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    def world(self, server):
        return Threads(server)


class TestDays(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    def world(self, server):
        return Days(server)
