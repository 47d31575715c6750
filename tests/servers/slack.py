"""A local Slack: what the real one documents and refuses, in one process, with faults on demand.

Methods, limits and errors: docs.slack.dev. Events come by Socket Mode, or signed to ``request_url``; those that are not
acknowledged in time come again. What only users report, such as the life of a stream, is a setting. Channels whose id
begins with D are direct messages. Messages live in ``server.channels``.
"""

import asyncio
import hashlib
import hmac
import itertools
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from aiohttp import ClientError, ClientSession, ClientTimeout, WSMsgType, web

from tests.servers.faults import Fault, Faults, Window
from tests.servers.slack_blocks import (
    MAX_MARKDOWN,
    MAX_PAYLOAD,
    MAX_VIEW_BLOCKS,
    InvalidBlocks,
    buttons_of,
    check_blocks,
    text_of,
)

MAX_UPDATE_TEXT = 4_000
RESPONSES = 5
TRIGGER_SECONDS = 3.0

Json = dict[str, Any]


class Refused(Exception):
    """A call that Slack does not take."""

    def __init__(self, error: str, *, status: int = 200, wait: float = 0.0, **more: Any) -> None:
        super().__init__(error)
        self.error = error
        self.status = status
        self.wait = wait
        self.more = more


@dataclass(kw_only=True)
class Rates:
    """Calls by method and workspace in a minute (tiers 2, 3, 4), and messages by channel."""

    start: int = 20
    change: int = 50
    append: int = 100
    read: int = 50
    status: int = 600
    posts: int = 300
    channel: tuple[int, float] = (5, 5.0)


@dataclass(kw_only=True)
class Channel:
    """One channel or direct message."""

    id: str
    messages: dict[str, Json] = field(default_factory=dict)
    members: set[str] = field(default_factory=set)
    shared: bool = False
    has_bot: bool = True

    @property
    def kind(self) -> str:
        return {"D": "im", "G": "mpim"}.get(self.id[0], "channel")


@dataclass(kw_only=True)
class Shown:
    """What one person alone sees in a channel."""

    channel: str
    user: str
    text: str
    blocks: list[Json]
    thread: str = ""
    url: str = ""


@dataclass(kw_only=True)
class _Address:
    """A response URL."""

    channel: str
    user: str
    shown: Shown | None
    born: float
    used: int = 0
    message: Json | None = None


class SlackServer:
    """The server; use ``slack_server``."""

    def __init__(self, *, rates: Rates | None = None, agent: bool = True) -> None:
        self.url = ""
        self.team = "T0001"
        self.bot_token, self.app_token, self.signing_secret = "xoxb-local", "xapp-local", "a-secret"
        self.user, self.bot_id = "U0BOT", "B0BOT"
        self.agent = agent
        self.subscribed = True
        """To the event that tells of Slack's own Stop button."""
        self.stream_seconds = 300.0
        self.ack_seconds = 3.0
        self.redelivery = (0.05, 0.2, 0.5)
        """Seconds until an unacknowledged event comes again; the real ones are about 0, 60 and 300."""
        self.response_seconds = 1_800.0
        self.request_url = ""
        """Where events are posted, signed; empty: Socket Mode."""
        self.delivers = True
        """Off: events are lost, as when nobody listens for long."""
        self.channels: dict[str, Channel] = {}
        self.users: dict[str, Json] = {}
        self.files: dict[str, bytes] = {}
        self.calls: list[tuple[float, str, Json]] = []
        self.refused: list[tuple[str, str]] = []
        self.shown: list[Shown] = []
        self.statuses: list[tuple[str, str, str]] = []
        self.sessions: dict[tuple[str, str], str] = {}
        self.prompts: list[Json] = []
        self.views: dict[str, Json] = {}
        self.acknowledged: list[tuple[str, int]] = []
        """Event or envelope, and at which attempt."""
        self.unacknowledged: list[str] = []
        self.faults = Faults()
        self.watch: Callable[[str, str], None] = lambda when, method: None
        """Told of each call, ``before`` and ``after`` it takes effect."""
        self.opened = 0
        """Sockets, until now."""
        self.rates = rates or Rates()
        self._windows: dict[str, Window] = {}
        self._numbers = itertools.count(1)
        self._addresses: dict[str, _Address] = {}
        self._triggers: dict[str, float] = {}
        self._tickets: set[str] = set()
        self._sockets: list[web.WebSocketResponse] = []
        self._next_socket = 0
        self._acks: dict[str, asyncio.Future[Json]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._methods: dict[str, tuple[Callable[[Json], Awaitable[Json]], str]] = {
            "auth.test": (self._auth_test, ""),
            "chat.postMessage": (self._post, "posts"),
            "chat.update": (self._update, "change"),
            "chat.delete": (self._delete, "change"),
            "chat.postEphemeral": (self._whisper, "append"),
            "chat.startStream": (self._start, "start"),
            "chat.appendStream": (self._append, "append"),
            "chat.stopStream": (self._stop, "start"),
            "assistant.threads.setStatus": (self._status, "status"),
            "assistant.threads.setSuggestedPrompts": (self._suggest, "append"),
            "agents.sessions.setStatus": (self._session, "change"),
            "views.open": (self._open_view, "append"),
            "views.update": (self._update_view, "append"),
            "conversations.history": (self._history, "read"),
            "conversations.replies": (self._replies, "read"),
            "conversations.info": (self._info, "read"),
            "conversations.members": (self._member_list, "append"),
            "conversations.open": (self._open, "read"),
            "users.info": (self._user, "append"),
            "files.info": (self._file, "append"),
        }

    # What people do

    def channel(self, channel: str) -> Channel:
        """Return the channel, made when it is new."""
        return self.channels.setdefault(channel, Channel(id=channel))

    def person(self, user: str, **more: Any) -> Json:
        """Return a user, made when they are new: a full member with a confirmed address."""
        profile = {"email": f"{user.lower()}@example.org", "display_name": f"name of {user}"}
        made = {"id": user, "team_id": self.team, "name": user.lower(), "profile": profile, "is_email_confirmed": True}
        return self.users.setdefault(user, {**made, "locale": "en-US", **more})

    def ts(self) -> str:
        """Return a new time stamp, later than all before."""
        return f"{int(time.time())}.{next(self._numbers):06d}"

    def say(self, channel: str, text: str, *, user: str = "U1", thread: str = "", **more: Any) -> Json:
        """Let somebody write Slack's wire text; the app gets its events. Returns the message."""
        place = self.channel(channel)
        place.members.add(user)
        self.person(user)
        ts = self.ts()
        message: Json = {"type": "message", "user": user, "text": text, "ts": ts, "team": self.team, **more}
        if thread:
            message["thread_ts"] = thread
        place.messages[ts] = message
        self.tell_message(place, message)
        return message

    def tell_message(self, place: Channel, message: Json) -> None:
        """Deliver the events of a message: a mention comes twice, under two ids."""
        if place.kind == "channel" and f"<@{self.user}>" in message["text"] and not message.get("bot_id"):
            self.emit({**message, "type": "app_mention", "channel": place.id}, shared=place.shared)
        if place.has_bot:
            self.emit({**message, "channel": place.id, "channel_type": place.kind}, shared=place.shared)

    def edit(self, channel: str, message: Json, text: str) -> None:
        """Let somebody change what they wrote."""
        before = dict(message)
        message |= {"text": text, "edited": {"user": message["user"], "ts": self.ts()}}
        self._changed(self.channel(channel), message, before)

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
            self._changed(place, message, before)
            return
        del place.messages[message["ts"]]
        event = {"type": "message", "subtype": "message_deleted", "hidden": True, "channel": channel, "ts": self.ts()}
        more = {"channel_type": place.kind, "deleted_ts": message["ts"], "previous_message": message}
        self.emit({**event, **more}, shared=place.shared)

    def _changed(self, place: Channel, message: Json, before: Json) -> None:
        event = {"type": "message", "subtype": "message_changed", "hidden": True, "channel": place.id, "ts": self.ts()}
        more = {"channel_type": place.kind, "message": dict(message), "previous_message": before}
        if place.has_bot:
            self.emit({**event, **more}, shared=place.shared)

    def command(self, channel: str, command: str, text: str = "", *, user: str = "U1", team: str = "") -> str:
        """Let somebody type a slash command; returns its response URL."""
        self.channel(channel)
        self.person(user)
        trigger = self._trigger()
        url = self._address(channel, user, None)
        names = {"user_id": user, "user_name": user.lower(), "team_id": team or self.team, "channel_id": channel}
        payload = {"command": command, "text": text, "response_url": url, "trigger_id": trigger, **names}
        self._deliver("slash_commands", payload, name=trigger, url=url)
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
        trigger = self._trigger()
        url = self._address(place, user, message if isinstance(message, Shown) else None)
        ts = self.ts() if isinstance(message, Shown) else message["ts"]
        thread = message.thread if isinstance(message, Shown) else message.get("thread_ts", "")
        container = {"type": "message", "message_ts": ts, "channel_id": place, "is_ephemeral": alone}
        pressed = {"action_id": element["action_id"], "type": element["type"], "action_ts": self.ts()}
        pressed |= (
            {"selected_option": part} if element["type"] == "overflow" else {"value": value, "text": part["text"]}
        )
        self._deliver(
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

    def open_messages(self, user: str) -> str:
        """Let somebody open their direct messages with the app; returns the channel."""
        self.person(user)
        channel = self._direct(user)
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

    def count(self, method: str) -> int:
        """Return how often a method was called."""
        return sum(name == method for _, name, _ in self.calls)

    def expire(self, url: str) -> None:
        """Let a response URL be older than 30 minutes."""
        self._addresses[url.rpartition("/")[2]].born = -self.response_seconds

    def drop_sockets(self, *, reason: str = "") -> None:
        """Close what is connected; with a reason Slack announces it, and the client comes again by itself."""
        for socket in self._sockets:
            frame = socket.send_json({"type": "disconnect", "reason": reason}) if reason else socket.close()
            self._spawn(frame)

    # How events travel

    def emit(self, event: Json, *, shared: bool = False, event_id: str = "") -> str:
        """Deliver an event, again until it is acknowledged; returns its id."""
        event_id = event_id or f"Ev{next(self._numbers):06d}"
        authorization = {"team_id": self.team, "user_id": self.user, "is_bot": True, "is_enterprise_install": False}
        payload = {
            "token": "legacy",
            "team_id": self.team,
            "api_app_id": "A1",
            "type": "event_callback",
            "event": event,
            "event_id": event_id,
            "event_time": int(time.time()),
            "is_ext_shared_channel": shared,
            "authorizations": [authorization],
        }
        self._deliver("events_api", payload, name=event_id)
        return event_id

    def _deliver(self, kind: str, payload: Json, *, name: str, url: str = "") -> None:
        if self.delivers:
            self._spawn(self._deliver_until_taken(kind, payload, name, url))

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _deliver_until_taken(self, kind: str, payload: Json, name: str, url: str) -> None:
        pauses = self.redelivery if kind == "events_api" else ()
        for attempt, pause in enumerate((*pauses, None)):
            send = self._send_signed if self.request_url else self._send_by_socket
            try:
                said = await send(kind, payload, attempt)
            except (TimeoutError, ClientError, OSError):
                said = None
            if said is not None:
                self.acknowledged.append((name, attempt))
                if url and (said.get("text") or said.get("blocks")):
                    self._show_ack(url, said)
                return
            if pause is None:
                break
            await asyncio.sleep(pause)
        self.unacknowledged.append(name)

    def _show_ack(self, url: str, said: Json) -> None:
        address = self._addresses[url.rpartition("/")[2]]
        shown = Shown(
            channel=address.channel,
            user=address.user,
            text=said.get("text", ""),
            blocks=said.get("blocks", []),
            url=url,
        )
        address.shown = shown
        self.shown.append(shown)

    async def _send_by_socket(self, kind: str, payload: Json, attempt: int) -> Json | None:
        deadline = time.monotonic() + self.ack_seconds
        while not (open_sockets := [socket for socket in self._sockets if not socket.closed]):
            if time.monotonic() > deadline:
                return None
            await asyncio.sleep(0.01)
        self._next_socket += 1
        socket = open_sockets[self._next_socket % len(open_sockets)]
        envelope = f"envelope-{next(self._numbers)}"
        acknowledged = self._acks[envelope] = asyncio.get_running_loop().create_future()
        frame = {"envelope_id": envelope, "type": kind, "payload": payload, "accepts_response_payload": True}
        retry = {"retry_attempt": attempt, "retry_reason": "timeout"} if attempt else {}
        await socket.send_json({**frame, **retry})
        try:
            async with asyncio.timeout(self.ack_seconds):
                return await acknowledged
        finally:
            del self._acks[envelope]

    async def _send_signed(self, kind: str, payload: Json, attempt: int) -> Json | None:
        if kind == "events_api":
            body, form = json.dumps(payload), "application/json"
        elif kind == "slash_commands":
            body, form = urlencode(payload), "application/x-www-form-urlencoded"
        else:
            body, form = urlencode({"payload": json.dumps(payload)}), "application/x-www-form-urlencoded"
        headers = self.signed(body) | {"Content-Type": form}
        if attempt:
            headers |= {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": "http_timeout"}
        async with (
            ClientSession(timeout=ClientTimeout(total=self.ack_seconds)) as session,
            session.post(self.request_url, data=body, headers=headers) as answer,
        ):
            text = await answer.text()
            if answer.status != 200:
                return None
            return json.loads(text) if text.startswith("{") else {"text": text}

    def signed(self, body: str, *, at: float | None = None) -> dict[str, str]:
        """Return the headers that prove a body to be ours."""
        stamp = str(int(time.time() if at is None else at))
        digest = hmac.new(self.signing_secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}

    async def link(self, request: web.Request) -> web.StreamResponse:
        """Serve one socket."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=403)
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "hello", "num_connections": len(self._sockets) + 1})
        self._sockets.append(socket)
        self.opened += 1
        try:
            async for frame in socket:
                if frame.type is WSMsgType.TEXT:
                    said = frame.json()
                    waiting = self._acks.get(said.get("envelope_id", ""))
                    if waiting is not None and not waiting.done():
                        waiting.set_result(said.get("payload") or {})
        finally:
            self._sockets.remove(socket)
        return socket

    # What the app calls

    async def handle(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        params = await _params(request)
        self.calls.append((time.monotonic(), method, params))
        fault = self.faults.take(method)
        if fault is not None and fault.delay:
            await asyncio.sleep(fault.delay)
        if fault is not None and not fault.done and (fault.status != 200 or fault.error):
            return self._faulty(fault, request)
        self.watch("before", method)
        try:
            said = await self._call(method, params, request.headers.get("Authorization", ""))
        except Refused as refused:
            self.refused.append((method, refused.error))
            return _refusal(refused)
        self.watch("after", method)
        if fault is not None and fault.done:
            return self._faulty(fault, request)
        return web.json_response({"ok": True, **said})

    def _faulty(self, fault: Fault, request: web.Request) -> web.StreamResponse:
        if fault.status == 0 and request.transport is not None:
            request.transport.close()
        if fault.status == 429:
            return _refusal(Refused("ratelimited", status=429, wait=fault.wait))
        if fault.error:
            return _refusal(Refused(fault.error, status=200))
        return web.Response(status=fault.status or 500, text="<html>", content_type="text/html")

    async def _call(self, method: str, params: Json, authorization: str) -> Json:
        token = authorization.removeprefix("Bearer ")
        if method == "apps.connections.open":
            if token != self.app_token:
                raise Refused("invalid_auth")
            ticket = f"ticket-{next(self._numbers)}"
            self._tickets.add(ticket)
            return {"url": f"{self.url.replace('http', 'ws', 1)}/link?ticket={ticket}"}
        if token != self.bot_token:
            raise Refused("invalid_auth")
        if method not in self._methods:
            raise Refused("unknown_method")
        call, tier = self._methods[method]
        if tier:
            self._pace(method, getattr(self.rates, tier), 60.0)
        return await call(params)

    def _pace(self, bucket: str, calls: int, seconds: float) -> None:
        wait = self._windows.setdefault(bucket, Window(calls, seconds)).take(time.monotonic())
        if wait > 0:
            raise Refused("ratelimited", status=429, wait=max(1.0, wait))

    async def _auth_test(self, params: Json) -> Json:
        return {"team_id": self.team, "user_id": self.user, "bot_id": self.bot_id, "team": "Local", "user": "citebot"}

    def _place(self, params: Json, name: str = "channel") -> Channel:
        place = self.channels.get(params.get(name, ""))
        if place is None:
            raise Refused("channel_not_found")
        if not place.has_bot:
            raise Refused("not_in_channel")
        return place

    def _content(self, params: Json, most_text: int | None = None) -> Json:
        blocks, text = params.get("blocks") or [], params.get("text") or ""
        if not blocks and not text:
            raise Refused("no_text")
        if most_text is not None and len(text) > most_text:
            raise Refused("msg_too_long")
        self._check(blocks)
        if sum(map(len, (text_of(blocks),))) > MAX_PAYLOAD:
            raise Refused("msg_blocks_too_long")
        return {"text": text[:40_000], "blocks": blocks}

    def _check(self, blocks: list[Json], most: int = 50) -> None:
        try:
            check_blocks(blocks, most)
        except InvalidBlocks as error:
            raise Refused("invalid_blocks", response_metadata={"messages": [f"[ERROR] {error}"]}) from error

    async def _post(self, params: Json) -> Json:
        place = self._place(params)
        self._pace(f"post {place.id}", *self.rates.channel)
        message = self._said(place, params.get("thread_ts", ""), **self._content(params))
        message["unfurl"] = (params.get("unfurl_links", True), params.get("unfurl_media", True))
        if params.get("metadata"):
            message["metadata"] = params["metadata"]
        self.tell_message(place, message)
        return {"channel": place.id, "ts": message["ts"], "message": message}

    def _said(self, place: Channel, thread: str, **content: Any) -> Json:
        message: Json = {"type": "message", "user": self.user, "bot_id": self.bot_id, "ts": self.ts(), **content}
        if thread:
            message["thread_ts"] = thread
            self.statuses.append((place.id, thread, ""))
        place.messages[message["ts"]] = message
        return message

    def _own(self, place: Channel, params: Json, error: str) -> Json:
        message = place.messages.get(params.get("ts", ""))
        if message is None:
            raise Refused("message_not_found")
        if message.get("bot_id") != self.bot_id:
            raise Refused(error)
        return message

    async def _update(self, params: Json) -> Json:
        place = self._place(params)
        message = self._own(place, params, "cant_update_message")
        if self._is_streaming(message):
            raise Refused("streaming_state_conflict")
        before = dict(message)
        message |= self._content(params, MAX_UPDATE_TEXT)
        message["edited"] = {"user": self.user, "ts": self.ts()}
        if params.get("metadata"):
            message["metadata"] = params["metadata"]
        self._changed(place, message, before)
        return {"channel": place.id, "ts": message["ts"]}

    async def _delete(self, params: Json) -> Json:
        place = self._place(params)
        message = self._own(place, params, "cant_delete_message")
        del place.messages[message["ts"]]
        return {"channel": place.id, "ts": message["ts"]}

    async def _whisper(self, params: Json) -> Json:
        place = self._place(params)
        if params.get("user") not in place.members:
            raise Refused("user_not_in_channel")
        content = self._content(params)
        self.shown.append(Shown(channel=place.id, user=params["user"], thread=params.get("thread_ts", ""), **content))
        return {"message_ts": self.ts()}

    # Streams

    def _is_streaming(self, message: Json) -> bool:
        started = message.get("streaming")
        if started is not None and time.monotonic() - started > self.stream_seconds:
            del message["streaming"]
        return "streaming" in message

    def _streamed(self, params: Json) -> tuple[str, list[Json]]:
        text, blocks = params.get("markdown_text") or "", []
        chunks = params.get("chunks") or []
        if text and chunks:
            raise Refused("markdown_text_conflict")
        for chunk in chunks:
            match chunk.get("type"):
                case "markdown_text":
                    text += chunk["text"]
                case "blocks":
                    blocks += chunk["blocks"]
                case _:
                    raise Refused("invalid_chunks")
        if len(text) > MAX_MARKDOWN:
            raise Refused("msg_too_long")
        self._check(blocks)
        return text, blocks

    async def _start(self, params: Json) -> Json:
        place = self._place(params)
        if place.kind == "im" and not params.get("thread_ts"):
            raise Refused("invalid_thread_ts")
        for name in ("recipient_team_id", "recipient_user_id"):
            if not params.get(name):
                raise Refused(f"missing_{name.removesuffix('_id')}_id")
        person = self.users.get(params["recipient_user_id"])
        if person is None or person["team_id"] != params["recipient_team_id"]:
            raise Refused("user_not_found")
        text, blocks = self._streamed(params)
        message = self._said(place, params.get("thread_ts", ""), text=text, blocks=blocks, streaming=time.monotonic())
        self.tell_message(place, {key: value for key, value in message.items() if key != "streaming"})
        return {"channel": place.id, "ts": message["ts"]}

    def _stream(self, params: Json) -> tuple[Channel, Json]:
        place = self._place(params)
        message = self._own(place, params, "message_not_owned_by_app")
        if not self._is_streaming(message):
            raise Refused("stopped_by_user" if message.get("stopped_by_user") else "message_not_in_streaming_state")
        return place, message

    async def _append(self, params: Json) -> Json:
        place, message = self._stream(params)
        text, blocks = self._streamed(params)
        if not text and not blocks:
            raise Refused("no_text")
        message["text"] += text
        message["blocks"] += blocks
        return {"channel": place.id, "ts": message["ts"]}

    async def _stop(self, params: Json) -> Json:
        place, message = self._stream(params)
        text, blocks = self._streamed(params)
        self._check(params.get("blocks") or [])
        message["text"] += text
        message["blocks"] += [*blocks, *(params.get("blocks") or [])]
        if params.get("metadata"):
            message["metadata"] = params["metadata"]
        if status := params.get("session_status"):
            await self._session({"channel_id": place.id, "thread_ts": message["thread_ts"], "status": status})
        del message["streaming"]
        return {"channel": place.id, "ts": message["ts"]}

    # Statuses, prompts, views

    async def _status(self, params: Json) -> Json:
        place = self._place(params, "channel_id")
        if params.get("thread_ts") not in place.messages:
            raise Refused("invalid_thread_ts")
        self.statuses.append((place.id, params["thread_ts"], params["status"]))
        return {}

    async def _session(self, params: Json) -> Json:
        if not self.agent:
            raise Refused("not_an_agent")
        place = self._place(params, "channel_id")
        if params.get("status") not in ("active", "processing", "suspended", "closed"):
            raise Refused("invalid_status")
        if len(params.get("title") or "") > 200:
            raise Refused("invalid_title")
        self.sessions[place.id, params["thread_ts"]] = params["status"]
        deaf = {} if self.subscribed else {"warning": "missing_agent_session_stopped_event_subscription"}
        return {"status": params["status"], **deaf}

    async def _suggest(self, params: Json) -> Json:
        self._place(params, "channel_id")
        if not 1 <= len(params.get("prompts") or []) <= 4:
            raise Refused("invalid_prompts")
        self.prompts.append(params)
        return {}

    async def _open_view(self, params: Json) -> Json:
        born = self._triggers.pop(params.get("trigger_id", ""), None)
        if born is None:
            raise Refused("exchanged_trigger_id")
        if time.monotonic() - born > TRIGGER_SECONDS:
            raise Refused("expired_trigger_id")
        name = f"V{next(self._numbers)}"
        self._check_view(params["view"])
        self.views[name] = params["view"]
        return {"view": {"id": name}}

    async def _update_view(self, params: Json) -> Json:
        if params.get("view_id") not in self.views:
            raise Refused("not_found")
        self._check_view(params["view"])
        self.views[params["view_id"]] = params["view"]
        return {}

    def _check_view(self, view: Json) -> None:
        if not 1 <= len(view["title"]["text"]) <= 24:
            raise Refused("invalid_arguments")
        self._check(view["blocks"], MAX_VIEW_BLOCKS)

    def _trigger(self) -> str:
        trigger = f"trigger-{next(self._numbers)}"
        self._triggers[trigger] = time.monotonic()
        return trigger

    # Reading

    async def _history(self, params: Json) -> Json:
        place = self._place(params)
        said = [m for m in place.messages.values() if m.get("thread_ts", m["ts"]) == m["ts"]]
        return _page([m for m in reversed(said) if _within(m, params)], params)

    async def _replies(self, params: Json) -> Json:
        place = self._place(params)
        thread = params.get("ts", "")
        if thread not in place.messages:
            raise Refused("thread_not_found")
        said = [m for m in place.messages.values() if m.get("thread_ts") == thread and m["ts"] != thread]
        return _page([place.messages[thread], *(m for m in said if _within(m, params))], params)

    async def _info(self, params: Json) -> Json:
        place = self.channels.get(params.get("channel", ""))
        if place is None:
            raise Refused("channel_not_found")
        return {"channel": {"id": place.id, "is_ext_shared": place.shared, "is_im": place.kind == "im"}}

    async def _member_list(self, params: Json) -> Json:
        place = self._place(params)
        names = sorted(place.members)
        start, limit = int(params.get("cursor") or 0), int(params.get("limit") or 100)
        following = str(start + limit) if start + limit < len(names) else ""
        return {"members": names[start : start + limit], "response_metadata": {"next_cursor": following}}

    async def _open(self, params: Json) -> Json:
        if params.get("users") not in self.users:
            raise Refused("user_not_found")
        return {"channel": {"id": self._direct(params["users"])}}

    def _direct(self, user: str) -> str:
        channel = f"D{user[1:]}"
        self.channel(channel).members.add(user)
        return channel

    async def _user(self, params: Json) -> Json:
        if params.get("user") not in self.users:
            raise Refused("user_not_found")
        return {"user": self.users[params["user"]]}

    async def _file(self, params: Json) -> Json:
        if params.get("file") not in self.files:
            raise Refused("file_not_found")
        name = params["file"]
        return {"file": {"id": name, "size": len(self.files[name]), "url_private_download": f"{self.url}/files/{name}"}}

    async def download(self, request: web.Request) -> web.StreamResponse:
        """Give a file to who has the token."""
        if request.headers.get("Authorization") != f"Bearer {self.bot_token}":
            return web.Response(status=302, headers={"Location": "/login"})
        return web.Response(body=self.files[request.match_info["name"]])

    # Response URLs

    def _address(self, channel: str, user: str, shown: Shown | None) -> str:
        name = f"R{next(self._numbers)}"
        self._addresses[name] = _Address(channel=channel, user=user, shown=shown, born=time.monotonic())
        return f"{self.url}/response/{name}"

    async def respond(self, request: web.Request) -> web.StreamResponse:
        """Take an answer by response URL: five within 30 minutes."""
        address = self._addresses[request.match_info["name"]]
        params = await request.json()
        self.calls.append((time.monotonic(), "response_url", params))
        fault = self.faults.take("response_url")
        if fault is not None and not fault.done:
            return self._faulty(fault, request)
        if time.monotonic() - address.born > self.response_seconds:
            return web.json_response({"ok": False, "error": "expired_url"}, status=404)
        if address.used >= RESPONSES:
            return web.json_response({"ok": False, "error": "used_url"}, status=404)
        address.used += 1
        if params.get("delete_original"):
            self._unshow(address)
            return web.Response(text="ok")
        try:
            content = self._content(params)
        except Refused as refused:
            self.refused.append(("response_url", refused.error))
            return web.Response(status=400, text=refused.error)
        if params.get("response_type") == "in_channel":
            message = self._said(self.channel(address.channel), "", **content)
            message["unfurl"] = (params.get("unfurl_links", True), params.get("unfurl_media", True))
        else:
            if params.get("replace_original"):
                self._unshow(address)
            shown = Shown(channel=address.channel, user=address.user, url=str(request.url), **content)
            address.shown = shown
            self.shown.append(shown)
        return web.Response(text="ok")

    def _unshow(self, address: _Address) -> None:
        if address.shown is not None and address.shown in self.shown:
            self.shown.remove(address.shown)
        address.shown = None

    async def close(self) -> None:
        """Let go of what is connected."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for socket in list(self._sockets):
            await socket.close()


@asynccontextmanager
async def slack_server(*, rates: Rates | None = None, agent: bool = True) -> AsyncIterator[SlackServer]:
    """Serve on a port of its own, on the loopback, until left."""
    server = SlackServer(rates=rates, agent=agent)
    app = web.Application(client_max_size=2**22)
    app.router.add_route("*", "/api/{method}", server.handle)
    app.router.add_get("/link", server.link)
    app.router.add_get("/files/{name}", server.download)
    app.router.add_post("/response/{name}", server.respond)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    server.url = f"http://{host}:{port}"
    try:
        yield server
    finally:
        await server.close()
        await runner.cleanup()


async def _params(request: web.Request) -> Json:
    if request.content_type == "application/json":
        body: Json = await request.json()
        return body
    return dict(request.query) | {key: str(value) for key, value in (await request.post()).items()}


def _refusal(refused: Refused) -> web.Response:
    headers = {"Retry-After": str(max(1, round(refused.wait + 0.5)))} if refused.status == 429 else {}
    return web.json_response(
        {"ok": False, "error": refused.error, **refused.more}, status=refused.status, headers=headers
    )


def _within(message: Json, params: Json) -> bool:
    at = float(message["ts"])
    oldest, latest = params.get("oldest"), params.get("latest")
    return not (oldest and at <= float(oldest)) and not (latest and at >= float(latest))


def _page(messages: list[Json], params: Json) -> Json:
    start, limit = int(params.get("cursor") or 0), int(params.get("limit") or 100)
    hidden = {"streaming", "unfurl", "stopped_by_user"}
    if str(params.get("include_all_metadata", "")).lower() not in ("1", "true"):
        hidden |= {"metadata"}
    shown = [{k: v for k, v in m.items() if k not in hidden} for m in messages[start : start + limit]]
    following = str(start + limit) if start + limit < len(messages) else ""
    return {"messages": shown, "response_metadata": {"next_cursor": following}}
