"""The Web API: who may call, how often, and what becomes of a call; faults on demand."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from aiohttp import web

from tests.servers.faults import Fault
from tests.servers.slack.agents import Agents
from tests.servers.slack.conversations import Conversations
from tests.servers.slack.events import Events
from tests.servers.slack.messages import Messages
from tests.servers.slack.rules import Json, Refused, check_scopes
from tests.servers.slack.sockets import Sockets
from tests.servers.slack.streams import Streams
from tests.servers.slack.uploads import Uploads
from tests.servers.slack.views import Views
from tests.servers.slack.world import World


class WebApi:
    """Takes the calls under ``/api``."""

    def __init__(self, world: World, events: Events, sockets: Sockets) -> None:
        self._world = world
        self._sockets = sockets
        messages, agents, uploads = Messages(world, events), Agents(world), Uploads(world)
        views = Views(world, uploads)
        streams, conversations = Streams(world, events, agents), Conversations(world)
        self.download = conversations.download
        self.upload = uploads.take
        self._methods: dict[str, tuple[Callable[[Json], Awaitable[Json]], str]] = {
            "auth.test": (self._auth_test, ""),
            "chat.postMessage": (messages.post, "posts"),
            "chat.update": (messages.update, "change"),
            "chat.delete": (messages.delete, "change"),
            "chat.postEphemeral": (messages.whisper, "append"),
            "chat.startStream": (streams.start, "start"),
            "chat.appendStream": (streams.append, "append"),
            "chat.stopStream": (streams.stop, "start"),
            "assistant.threads.setStatus": (agents.set_status, "status"),
            "assistant.threads.setSuggestedPrompts": (agents.suggest, "append"),
            "agents.sessions.setStatus": (agents.set_session, "change"),
            "views.open": (views.open, "append"),
            "views.update": (views.update, "append"),
            "conversations.history": (conversations.history, "read"),
            "conversations.replies": (conversations.replies, "read"),
            "conversations.info": (conversations.info, "read"),
            "conversations.list": (conversations.list, "start"),
            "conversations.members": (conversations.members, "append"),
            "conversations.open": (conversations.open, "read"),
            "usergroups.list": (conversations.groups, "start"),
            "users.conversations": (conversations.mine, "read"),
            "users.info": (conversations.user, "append"),
            "users.list": (conversations.users, "start"),
            "files.info": (conversations.file, "append"),
            "files.getUploadURLExternal": (uploads.address, "append"),
            "files.completeUploadExternal": (uploads.complete, "append"),
            "files.delete": (uploads.delete, "change"),
        }

    async def handle(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        params = await _params(request)
        self._world.calls.append((time.monotonic(), method, params))
        if self._world.html:
            return web.Response(text="<!doctype html><title>Log in</title>", content_type="text/html")
        goes_on = params.get("cursor") or float(params.get("latest") or "inf") < time.time()
        fault = self._world.faults.take(f"{method} again") if goes_on else None
        fault = fault or self._world.faults.take(method)
        if fault is not None and fault.delay:
            await asyncio.sleep(fault.delay)
        if fault is not None and not fault.done and (fault.status != 200 or fault.error):
            return self.faulty(fault, request)
        self._world.watch("before", method)
        try:
            said = await self._call(method, params, request.headers.get("Authorization", ""))
        except Refused as refused:
            self._world.refused.append((method, refused.error))
            return _refusal(refused)
        self._world.watch("after", method)
        if fault is not None and fault.done:
            return self.faulty(fault, request)
        scopes = self._world.scopes
        headers = {"X-OAuth-Scopes": ",".join(scopes)} if scopes is not None else {}
        return web.json_response({"ok": True, **said}, headers=headers)

    def faulty(self, fault: Fault, request: web.Request) -> web.StreamResponse:
        """Answer as the fault wants it."""
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
            if token != self._world.app_token:
                raise Refused("invalid_auth")
            return {"url": self._sockets.ticket()}
        if token != self._world.bot_token:
            raise Refused("invalid_auth")
        if method not in self._methods:
            raise Refused("unknown_method")
        call, tier = self._methods[method]
        if tier:
            self._world.pace(method, getattr(self._world.rates, tier), self._world.rates.minute)
        if self._world.scopes is not None:
            place = self._world.channels.get(params.get("channel", ""))
            check_scopes(method, params, place.kind if place else "", self._world.scopes)
        return await call(params)

    async def _auth_test(self, params: Json) -> Json:
        return {
            "team_id": self._world.team,
            "user_id": self._world.user,
            "bot_id": self._world.bot_id,
            "url": "https://local.slack.com/",
            "team": "Local",
            "user": "citebot",
            **({"enterprise_id": self._world.organisation} if self._world.organisation else {}),
        }


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
