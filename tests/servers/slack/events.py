"""The Events API: what the app hears of, by Socket Mode or by signed request, again until it acknowledges it."""

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import urlencode

from aiohttp import ClientError, ClientSession, ClientTimeout

from tests.servers.slack.rules import Json
from tests.servers.slack.sockets import Sockets
from tests.servers.slack.world import Channel, World

Taken = Callable[[Json], None]


def _nothing(said: Json) -> None:
    pass


class Events:
    """Delivers events, commands and presses."""

    def __init__(self, world: World, sockets: Sockets) -> None:
        self._world = world
        self._sockets = sockets
        self._tasks: set[asyncio.Task[object]] = set()

    def tell_message(self, place: Channel, message: Json) -> None:
        """Deliver the events of a message: a mention comes twice, under two ids."""
        if (
            place.kind in {"channel", "group"}
            and f"<@{self._world.user}>" in message["text"]
            and not message.get("bot_id")
        ):
            self.emit({**message, "type": "app_mention", "channel": place.id}, shared=place.shared)
        if place.has_bot:
            self.emit({**message, "channel": place.id, "channel_type": place.kind}, shared=place.shared)

    def changed(self, place: Channel, message: Json, before: Json) -> None:
        """Deliver the event of a changed message."""
        event = {
            "type": "message",
            "subtype": "message_changed",
            "hidden": True,
            "channel": place.id,
            "ts": self._world.ts(),
        }
        more = {"channel_type": place.kind, "message": dict(message), "previous_message": before}
        if place.has_bot:
            self.emit({**event, **more}, shared=place.shared)

    def emit(self, event: Json, *, shared: bool = False, event_id: str = "") -> str:
        """Deliver an event, again until it is acknowledged; returns its id."""
        event_id = event_id or f"Ev{self._world.number():06d}"
        authorization = {
            "team_id": self._world.team,
            "user_id": self._world.user,
            "is_bot": True,
            "is_enterprise_install": False,
        }
        payload = {
            "token": "legacy",
            "team_id": self._world.team,
            "api_app_id": "A1",
            "type": "event_callback",
            "event": event,
            "event_id": event_id,
            "event_time": int(time.time()),
            "is_ext_shared_channel": shared,
            "authorizations": [authorization],
        }
        self.deliver("events_api", payload, name=event_id)
        return event_id

    def deliver(self, kind: str, payload: Json, *, name: str, taken: Taken = _nothing) -> None:
        """Deliver a payload; what acknowledged it is told to ``taken``."""
        if self._world.delivers:
            self.spawn(self._deliver_until_taken(kind, payload, name, taken))

    def spawn(self, work: Coroutine[Any, Any, object]) -> None:
        """Let something go on by itself, until ``close``."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _deliver_until_taken(self, kind: str, payload: Json, name: str, taken: Taken) -> None:
        pauses = self._world.redelivery if kind == "events_api" else ()
        for attempt, pause in enumerate((*pauses, None)):
            send = self._send_signed if self._world.request_url else self._sockets.send
            try:
                said = await send(kind, payload, attempt)
            except (TimeoutError, ClientError, OSError):
                said = None
            if said is not None:
                self._world.acknowledged.append((name, attempt))
                taken(said)
                return
            if pause is None:
                break
            await asyncio.sleep(pause)
        self._world.unacknowledged.append(name)

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
            ClientSession(timeout=ClientTimeout(total=self._world.ack_seconds)) as session,
            session.post(self._world.request_url, data=body, headers=headers) as answer,
        ):
            text = await answer.text()
            if answer.status != 200:
                return None
            return json.loads(text) if text.startswith("{") else {"text": text}

    def signed(self, body: str, *, at: float | None = None) -> dict[str, str]:
        """Return the headers that prove a body to be ours."""
        stamp = str(int(time.time() if at is None else at))
        digest = hmac.new(
            self._world.signing_secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256
        ).hexdigest()
        return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}

    async def close(self) -> None:
        """Give up what is on its way."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
