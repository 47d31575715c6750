"""A local Slack: what the real one documents and refuses, in one process, with faults on demand.

Methods, limits and errors: docs.slack.dev. Events come by Socket Mode, or signed to ``request_url``; those that are not
acknowledged in time come again. What only users report, such as the life of a stream, is a setting. Channels whose id
begins with D are direct messages. Messages live in ``server.channels``.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.servers.serving import served
from tests.servers.slack.blocks import buttons_of, text_of
from tests.servers.slack.events import Events
from tests.servers.slack.responses import Responses
from tests.servers.slack.rules import Json
from tests.servers.slack.sockets import Sockets
from tests.servers.slack.web_api import WebApi
from tests.servers.slack.world import Rates, Shown, World

__all__ = ["Json", "Rates", "Shown", "SlackServer", "slack_server"]


class SlackServer(World):
    """The server; use ``slack_server``."""

    def __init__(self, *, rates: Rates | None = None, agent: bool = True) -> None:
        super().__init__(rates=rates or Rates(), agent=agent)
        self._sockets = Sockets(self)
        self._events = Events(self, self._sockets)
        self._web_api = WebApi(self, self._events, self._sockets)
        self._responses = Responses(self, self._web_api.faulty)

    # What people do

    def say(self, channel: str, text: str, *, user: str = "U1", thread: str = "", at: float = 0.0, **more: Any) -> Json:
        """Let somebody write Slack's wire text, now or ``at`` a time; the app gets its events. Returns the message."""
        place = self.channel(channel)
        place.members.add(user)
        self.person(user)
        ts = self.ts(at)
        message: Json = {"type": "message", "user": user, "text": text, "ts": ts, "team": self.team, **more}
        if thread:
            message["thread_ts"] = thread
        place.messages[ts] = message
        self._events.tell_message(place, message)
        return message

    def edit(self, channel: str, message: Json, text: str) -> None:
        """Let somebody change what they wrote."""
        before = dict(message)
        message |= {"text": text, "edited": {"user": message["user"], "ts": self.ts()}}
        self._events.changed(self.channel(channel), message, before)

    def delete(self, channel: str, message: Json) -> None:
        """Let somebody delete a message; one with replies leaves a tombstone."""
        place = self.channel(channel)
        if any(other.get("thread_ts") == message["ts"] for other in place.messages.values()):
            before = dict(message)
            message |= {
                "subtype": "tombstone",
                "user": "USLACKBOT",
                "text": "This message was deleted.",
                "hidden": True,
            }
            self._events.changed(place, message, before)
            return
        del place.messages[message["ts"]]
        event = {"type": "message", "subtype": "message_deleted", "hidden": True, "channel": channel, "ts": self.ts()}
        more = {"channel_type": place.kind, "deleted_ts": message["ts"], "previous_message": message}
        self.emit({**event, **more}, shared=place.shared)

    def command(
        self, channel: str, command: str, text: str = "", *, user: str = "U1", team: str = "", trigger: str = ""
    ) -> str:
        """Let somebody type a slash command, or deliver the one of a ``trigger`` again; returns its response URL."""
        self.channel(channel)
        self.person(user)
        trigger = trigger or self.trigger()
        url = self._responses.address(channel, user, None, replaces=False)
        names = {"user_id": user, "user_name": user.lower(), "team_id": team or self.team, "channel_id": channel}
        payload = {"command": command, "text": text, "response_url": url, "trigger_id": trigger, **names}
        self._events.deliver(
            "slash_commands", payload, name=trigger, taken=lambda said: self._responses.show_ack(url, said)
        )
        return url

    def press(self, message: Json | Shown, value: str, *, user: str = "U1", channel: str = "") -> str:
        """Let somebody press the button that carries ``value``; returns the trigger."""
        alone = isinstance(message, Shown)
        blocks = message.blocks if isinstance(message, Shown) else message["blocks"]
        found = [(element, part) for element, part in buttons_of(blocks) if part["value"] == value]
        if not found:
            raise AssertionError(f"no button says {value!r}: {[part['value'] for _, part in buttons_of(blocks)]}")
        element, part = found[0]
        place = message.channel if isinstance(message, Shown) else channel
        trigger = self.trigger()
        url = self._responses.address(place, user, message if isinstance(message, Shown) else None, replaces=True)
        ts = self.ts() if isinstance(message, Shown) else message["ts"]
        thread = message.thread if isinstance(message, Shown) else message.get("thread_ts", "")
        container = {"type": "message", "message_ts": ts, "channel_id": place, "is_ephemeral": alone}
        pressed = {"action_id": element["action_id"], "type": element["type"], "action_ts": self.ts()}
        pressed |= (
            {"selected_option": part} if element["type"] == "overflow" else {"value": value, "text": part["text"]}
        )
        self._events.deliver(
            "interactive",
            {
                "type": "block_actions",
                "user": {"id": user, "username": user.lower(), "team_id": self.person(user)["team_id"]},
                "team": {"id": self.team, "domain": "local"},
                "container": container | ({"thread_ts": thread} if thread else {}),
                "channel": {"id": place, "name": place.lower()},
                "trigger_id": trigger,
                "response_url": url,
                "actions": [pressed],
            },
            name=trigger,
        )
        return trigger

    def close_view(self, name: str, *, user: str = "U1") -> None:
        """Let somebody close a modal."""
        view = {"id": name, **self.views.pop(name)}
        if view.get("notify_on_close"):
            who = {"id": user, "name": user.lower(), "team_id": self.team}
            payload = {"type": "view_closed", "user": who, "team": {"id": self.team}, "view": view, "is_cleared": False}
            self._events.deliver("interactive", payload, name=f"close {name}")

    def open_messages(self, user: str) -> str:
        """Let somebody open their direct messages with the app; returns the channel."""
        self.person(user)
        channel = self.direct(user)
        self.emit(
            {"type": "app_home_opened", "user": user, "channel": channel, "tab": "messages", "event_ts": self.ts()}
        )
        return channel

    def press_stop(self, channel: str, thread: str, *, user: str = "U1") -> None:
        """Let somebody press Slack's own Stop; what streams there is stopped."""
        if self.sessions.get((channel, thread)) != "processing":
            raise AssertionError("there is no Stop button here")
        stopped = []
        for message in self.channel(channel).messages.values():
            if message.get("thread_ts") == thread and message.pop("streaming", None) is not None:
                message["stopped_by_user"] = True
                stopped.append(message["ts"])
        event = {"type": "agent_session_stopped", "channel": channel, "thread_ts": thread, "user": user}
        self.emit({**event, "streaming_message_ts": stopped, "event_ts": self.ts()})

    def answers(self, channel: str, thread: str = "") -> list[Json]:
        """Return what the bot has said in a channel (in one thread), oldest first."""
        said = [message for message in self.channel(channel).messages.values() if message.get("bot_id")]
        return [message for message in said if not thread or message.get("thread_ts") == thread]

    def plain(self, message: Json) -> str:
        """Return what a reader sees of a message, buttons aside."""
        return text_of(message.get("blocks") or []) or str(message["text"])

    def answers_alone(self) -> list[Shown]:
        """Return what was said to one person alone, oldest first, acknowledgements of commands aside."""
        return [shown for shown in self.shown if not shown.acknowledges]

    def count(self, method: str) -> int:
        """Return how often a method was called."""
        return sum(name == method for _, name, _ in self.calls)

    # What Slack does

    def expire(self, url: str) -> None:
        """Let a response URL be older than 30 minutes."""
        self._responses.expire(url)

    def drop_sockets(self, *, reason: str = "") -> None:
        """Close what is connected; with a reason Slack announces it, and the client comes again by itself."""
        for end in self._sockets.drop(reason):
            self._events.spawn(end)

    def cut_sockets(self) -> None:
        """Let the connections under the sockets break off; what was on its way is delivered again."""
        self._sockets.cut()

    def emit(self, event: Json, *, shared: bool = False, event_id: str = "") -> str:
        """Deliver an event, again until it is acknowledged; returns its id."""
        return self._events.emit(event, shared=shared, event_id=event_id)

    def signed(self, body: str, *, at: float | None = None) -> dict[str, str]:
        """Return the headers that prove a body to be ours."""
        return self._events.signed(body, at=at)

    def serve(self, app: web.Application) -> None:
        """Answer under the paths of an application."""
        app.router.add_route("*", "/api/{method}", self._web_api.handle)
        app.router.add_get("/link", self._sockets.link)
        app.router.add_get("/files/{name}", self._web_api.download)
        app.router.add_post("/upload/{name}", self._web_api.upload)
        app.router.add_post("/response/{name}", self._responses.respond)

    async def close(self) -> None:
        """Let go of what is connected."""
        await self._events.close()
        await self._sockets.close()


@asynccontextmanager
async def slack_server(*, rates: Rates | None = None, agent: bool = True) -> AsyncIterator[SlackServer]:
    """Serve on a port of its own, on the loopback, until left."""
    server = SlackServer(rates=rates, agent=agent)
    app = web.Application(client_max_size=2**25)
    server.serve(app)
    async with served(app) as where:
        server.url = f"http://{where}"
        try:
            yield server
        finally:
            await server.close()
