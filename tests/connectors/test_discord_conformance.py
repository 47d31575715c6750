"""The conformance suite on ``discord``: documents that are posts of a forum, and ones that are days of a channel."""

from datetime import UTC, datetime
from typing import ClassVar

import pytest
from aiohttp import web

from connectors.base import Origin
from connectors.discord import DiscordConnector
from connectors.discord.moments import moment_of
from tests.connectors.conformance import Conformance
from tests.connectors.discords import DAY, GENERAL, a_server, options, post
from tests.connectors.world import World
from tests.servers.discord import DiscordServer
from tests.servers.discord.world import message_json, moment, spoken, user_json

MESSAGES = "GET /channels/{}/messages"
NO_ADDRESSES = "Discord tells servers and channels, and no e-mail addresses; test_discord_readers.py holds what follows"


class DiscordWorld(World):
    """The local server, broken at the second page of messages."""

    def __init__(self, server: DiscordServer) -> None:
        self.server = server
        self.ids: dict[str, str] = {}
        self.ahead = 0.0
        self.is_away = False
        self.kept_token = server.token

    def settings(self) -> dict:
        return {}

    def connect(self, origin: Origin) -> DiscordConnector:
        told = {"token": self.kept_token, **self.settings()}
        if self.is_away:
            told["api_url"] = "http://127.0.0.1:9/api/v10"
        return DiscordConnector(origin, options(self.server, **told), interval=0.0)

    def identity(self, name: str) -> str:
        return self.ids.get(name, "999")

    def from_the_second_on(self, answer) -> None:
        """Let the second page of messages from now on, and the later ones, be answered so."""
        pages = 0

        def interfere(name: str, path: str) -> web.Response | None:
            nonlocal pages
            pages += name == MESSAGES
            return answer(pages) if name == MESSAGES and pages > 1 else None

        self.server.state.interfere = interfere

    async def break_page(self, status: int = 500) -> None:
        self.from_the_second_on(lambda _: web.json_response({"message": "no", "code": 0}, status=status))

    async def rate_limit(self, seconds: int) -> None:
        told = {"message": "You are being rate limited.", "retry_after": float(seconds), "global": False}

        def slow(page: int) -> web.Response | None:
            return web.json_response(told, status=429, headers={"Retry-After": str(seconds)}) if page == 2 else None

        self.from_the_second_on(slow)

    async def expire_token(self) -> None:
        def expired(_: int) -> None:
            self.server.state.token = "another"

        self.from_the_second_on(expired)

    async def skew(self, seconds: int) -> None:
        self.ahead = self.server.state.clock_ahead = float(seconds)

    async def break_form(self) -> None:
        page = "<html><body>Please log in.</body></html>"
        self.server.state.interfere = lambda *_: web.Response(text=page, content_type="text/html")

    async def leave(self) -> None:
        self.is_away = True

    async def mend(self) -> None:
        state = self.server.state
        state.interfere, state.edit = (lambda *_: None), (lambda _, told: told)
        state.token, self.is_away = self.kept_token, False
        for channel in state.channels.values():
            channel.closed = 0


class PostsWorld(DiscordWorld):
    """Each document is a post."""

    cannot: ClassVar = {
        "rename": "a post keeps its id whatever its name; one that is written again is said at another time",
        "restrict": NO_ADDRESSES,
    }

    def thread_of(self, name: str):
        return self.server.state.channels[int(self.ids[name])]

    async def add(self, name: str, text: str) -> None:
        self.ids[name] = str(post(self.server, name, text, age=-self.ahead).id)

    async def change(self, name: str, text: str) -> None:
        thread = self.thread_of(name)
        thread.messages[thread.id] |= spoken(text) | {"edited_timestamp": moment(-self.ahead)}

    async def delete(self, name: str) -> None:
        del self.server.state.channels[int(self.ids[name])]

    async def late(self, name: str, text: str) -> None:
        self.ids[name] = str(post(self.server, name, text, age=240.0).id)

    async def duplicate(self, name: str) -> None:
        twice = self.thread_of(name).as_json(self.server.state.bot)

        def edit(route: str, told):
            return told | {"threads": [*told["threads"], twice]} if route.endswith("/archived/public") else told

        self.server.state.edit = edit

    async def spoil(self, name: str) -> None:
        self.thread_of(name).closed = 50001

    async def vanish(self, name: str) -> None:
        gone = self.ids[name]

        def interfere(route: str, path: str) -> None:
            if route == MESSAGES and path.endswith(f"/{gone}/messages"):
                self.server.state.channels.pop(int(gone), None)

        self.server.state.interfere = interfere

    async def truncate(self) -> None:
        def edit(route: str, told):
            return told | {"threads": told["threads"][:3]} if route.endswith("/threads/active") else told

        self.server.state.edit = edit


class DaysWorld(DiscordWorld):
    """Each document is what was said on a day of a channel; the look-back reaches over all of them."""

    cannot: ClassVar = {
        "rename": "a day of a channel is what it is",
        "restrict": NO_ADDRESSES,
        "spoil": "the messages of a channel can all be read, or none",
        "vanish": "what was deleted meanwhile is not in the page that is read",
        "duplicate": "messages are asked for by their ids, so that no page shifts",
    }

    def settings(self) -> dict:
        return {"look_back_days": 60}

    async def add(self, name: str, text: str) -> None:
        age = (len(self.ids) + 1) * DAY - self.ahead
        channel = self.server.state.channels[GENERAL]
        message = message_json(channel, user_json(42), text, age=age)
        channel.messages[int(message["id"])] = message
        self.ids[name] = f"{GENERAL}/{moment_of(int(message['id'])).date()}"

    late = add

    async def change(self, name: str, text: str) -> None:
        self.message_of(name).update(spoken(text) | {"edited_timestamp": datetime.now(UTC).isoformat()})

    async def delete(self, name: str) -> None:
        del self.server.state.channels[GENERAL].messages[int(self.message_of(name)["id"])]

    def message_of(self, name: str) -> dict:
        messages = self.server.state.channels[GENERAL].messages
        (found,) = [one for one in messages if self.ids[name].endswith(str(moment_of(one).date()))]
        return messages[found]

    async def truncate(self) -> None:
        self.server.state.edit = lambda route, told: told[:3] if route == MESSAGES else told


@pytest.fixture
async def server():
    async with a_server() as server:
        yield server


class TestPosts(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    def world(self, server):
        return PostsWorld(server)


class TestDays(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    def world(self, server, monkeypatch):
        monkeypatch.setattr("connectors.discord.api.PAGE", 5)
        return DaysWorld(server)
