"""The REST calls that a bot makes, their limits and their refusals."""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.servers.discord import listing
from tests.servers.discord.interactions import Interactions
from tests.servers.discord.rules import Refused, check_commands, check_message, invalid, pings, previews
from tests.servers.discord.world import (
    APPLICATION,
    BOT,
    BOT_ROLE,
    SUPPRESS_EMBEDS,
    Channel,
    Json,
    member_json,
    message_json,
    moment,
    snowflake,
    spoken,
    user_json,
    without_content,
)
from tests.servers.faults import Fault, Window

if TYPE_CHECKING:
    from tests.servers.discord import State

Tell = Callable[[str, Json], Awaitable[None]]
_BUCKETS = {
    "POST /channels/{}/messages": "create",
    "PATCH /channels/{}/messages/{}": "edit",
    "GET /channels/{}/messages": "history",
}
_FREE = ("POST /interactions", "POST /webhooks", "PATCH /webhooks", "GET /webhooks", "DELETE /webhooks")


class Rest:
    """Takes the calls under ``/api/v10``."""

    def __init__(
        self, state: "State", interactions: Interactions, tell: Tell, direct: Callable[[int], Channel]
    ) -> None:
        self._state = state
        self._interactions = interactions
        self._tell = tell
        self._direct = direct
        self.gateway_url = ""
        self.content_intent = True
        """Whether history shows what is not meant for the bot."""
        self.tells_nonces = False
        """Whether history tells the nonces of messages: nobody promises it."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        parts = request.match_info["path"].strip("/").split("/")
        name = f"{request.method} /" + "/".join("{}" if _is_id(part) else part for part in _named(parts))
        body: Json = await _body(request) if request.can_read_body else {}
        self._state.calls.append((time.monotonic(), name, body if isinstance(body, dict) else {"": body}))
        self._state.asked.append(request.path_qs)
        self._state.watch("before", name)
        if (instead := self._state.interfere(name, request.path)) is not None:
            return instead
        fault = self._state.faults.take(name)
        if fault is not None and fault.delay:
            await asyncio.sleep(fault.delay)
        if fault is not None and not fault.done and fault.status != 200:
            return self._faulty(name, fault, request)
        headers: dict[str, str] = {}
        try:
            free = name.startswith(_FREE)
            if not free and request.headers.get("Authorization") != f"Bot {self._state.token}":
                raise Refused(401, 0, "401: Unauthorized")
            headers = {} if free else self._pace(name, parts)
            result = self._state.edit(name, await self._call(name, parts, body, request))
        except _Slow as slow:
            return self._too_many(name, slow)
        except Refused as refused:
            self._state.refused.append((name, refused.code))
            return _json(refused.body(), status=refused.status, headers=headers)
        self._state.watch("after", name)
        if self._state.clock_ahead:
            headers["Date"] = formatdate(time.time() + self._state.clock_ahead, usegmt=True)
        if fault is not None and fault.done:
            return self._faulty(name, fault, request)
        return web.Response(status=204, headers=headers) if result is None else _json(result, headers=headers)

    async def download(self, request: web.Request) -> web.StreamResponse:
        content = self._state.files.get(request.match_info["path"])
        return web.Response(status=404) if content is None else web.Response(body=content)

    def _faulty(self, name: str, fault: Fault, request: web.Request) -> web.StreamResponse:
        if fault.status == 0 and request.transport is not None:
            request.transport.abort()
        if fault.status == 429:
            return self._too_many(name, _Slow(fault.wait, everywhere=False))
        code, _, words = fault.error.partition(" ")
        body = {"code": int(code or 0), "message": words or "500: Internal Server Error"}
        return _json(body, status=fault.status or 500)

    def _too_many(self, name: str, slow: "_Slow") -> web.Response:
        self._state.refused.append((name, 429))
        body = {"message": "You are being rate limited.", "retry_after": slow.seconds, "global": slow.everywhere}
        headers = {"Retry-After": str(round(slow.seconds + 0.5)), "X-RateLimit-Scope": "user"}
        return _json(body, status=429, headers=headers | ({"Via": "1.1 google"} if self._state.via else {}))

    def _pace(self, name: str, parts: list[str]) -> dict[str, str]:
        """Count the call; return what its headers tell of the bucket."""
        rates, now = self._state.rates, time.monotonic()
        if wait := self._window("everything", rates.everything).take(now):
            raise _Slow(wait, everywhere=True)
        kind = _BUCKETS.get(name)
        if kind is None:
            return {}
        calls, seconds = getattr(rates, kind)
        window = self._window(f"{kind} {parts[1]}", (calls, seconds))
        if wait := window.take(now):
            raise _Slow(wait, everywhere=False)
        oldest, used = window._times[0], len(window._times)
        reset = max(0.001, oldest + seconds - now)
        return {
            "X-RateLimit-Limit": str(calls),
            "X-RateLimit-Remaining": str(calls - used),
            "X-RateLimit-Reset-After": f"{reset:.3f}",
            "X-RateLimit-Reset": f"{time.time() + reset:.3f}",
            "X-RateLimit-Bucket": f"bucket-{kind}",
        }

    def _window(self, name: str, limit: tuple[int, float]) -> Window:
        return self._state.windows.setdefault(name, Window(*limit))

    async def _call(self, name: str, parts: list[str], body: Json, request: web.Request) -> Any:  # noqa: PLR0911
        match name:
            case "GET /users/@me":
                return self._state.bot
            case "GET /users/@me/guilds":
                return [_partial(guild) for guild in self._state.guilds][: int(request.query.get("limit", 200))]
            case "GET /oauth2/applications/@me" | "GET /applications/@me":
                return self._application()
            case "GET /guilds/{}" | "GET /guilds/{}/channels" | "GET /guilds/{}/threads/active":
                return listing.of_guild(self._state, int(parts[1]), name.rpartition("}")[2].strip("/"))
            case "GET /gateway/bot":
                limits = {"total": 1000, "remaining": 1000, "reset_after": 0, "max_concurrency": 1}
                return {"url": self.gateway_url, "shards": self._state.shards, "session_start_limit": limits}
            case "POST /users/@me/channels":
                return self._direct(int(body["recipient_id"])).as_json(self._state.bot)
            case "GET /guilds/{}/members/{}":
                return self._member(int(parts[1]), int(parts[3]))
            case "GET /applications/{}/commands":
                localized = request.query.get("with_localizations") in ("1", "true")
                return [_listed(one, localized=localized) for one in self._state.commands]
            case "PUT /applications/{}/commands":
                return self._set_commands(body)
            case "POST /interactions/{}/{}/callback":
                answered = await self._interactions.answer(parts[1], parts[2], body)
                return answered if request.query.get("with_response") == "1" else None
            case "POST /webhooks/{}/{}":
                return await self._interactions.call("POST", parts[2], "", body)
            case _ if re.fullmatch(r"(GET|PATCH|DELETE) /webhooks/\{\}/\{\}/messages/\S+", name):
                return await self._interactions.call(request.method, parts[2], parts[4], body)
            case _ if parts[0] == "channels":
                return await self._in_channel(name, parts, body, request)
        raise Refused(404, 0, "404: Not Found")

    async def _in_channel(self, name: str, parts: list[str], body: Json, request: web.Request) -> Any:  # noqa: PLR0911
        channel = self._state.channels.get(int(parts[1]))
        if channel is None:
            raise Refused(404, 10003, "Unknown Channel")
        if channel.closed:
            raise Refused(403, channel.closed, "Missing Access" if channel.closed == 50001 else "Missing Permissions")
        if name.endswith(("/archived/public", "/archived/private")):
            return listing.archived(self._state, channel, name.removeprefix("GET /channels/{}/"), request.query)
        match name:
            case "GET /channels/{}":
                return channel.as_json(self._state.bot)
            case "POST /channels/{}/typing":
                self._state.typing.append((time.monotonic(), channel.id))
                return None
            case "POST /channels/{}/messages":
                return await self._create(channel, body)
            case "GET /channels/{}/messages":
                return self._history(channel, request)
            case "GET /channels/{}/thread-members/{}":
                if int(parts[3]) not in channel.thread_members:
                    raise Refused(404, 10007, "Unknown Member")
                return {"id": parts[1], "user_id": parts[3], "join_timestamp": moment(), "flags": 0}
        message = channel.messages.get(int(parts[3]))
        if message is None:
            raise Refused(404, 10008, "Unknown Message")
        match name:
            case "GET /channels/{}/messages/{}":
                return self._shown(message)
            case "PATCH /channels/{}/messages/{}":
                return await self._change(message, body)
            case "DELETE /channels/{}/messages/{}":
                del channel.messages[int(parts[3])]
                self._state.deleted_nonces.add(str(message.get("nonce")))
                return None
        raise Refused(404, 0, "404: Not Found")

    async def _create(self, channel: Channel, said: Json) -> Json:
        check_message(said)
        nonce = said.get("nonce")
        if nonce is not None and said.get("enforce_nonce"):
            for known in channel.messages.values():
                if known.get("nonce") == nonce:
                    return known
            if str(nonce) in self._state.deleted_nonces:
                raise Refused(404, 10008, "Unknown Message")
        message = message_json(channel, self._state.bot, said["content"])
        message |= {"components": said.get("components") or [], "flags": said.get("flags", 0)}
        if nonce is not None:
            message["nonce"] = nonce
        if said.get("message_reference"):
            message |= _reply(channel, said["message_reference"])
        channel.messages[int(message["id"])] = message
        self._seen(message, said)
        await self._tell("MESSAGE_CREATE", message)
        return message

    async def _change(self, message: Json, said: Json) -> Json:
        if message["author"]["id"] != str(BOT):
            raise Refused(403, 50005, "Cannot edit a message authored by another user")
        check_message(said, edit=True)
        if said.get("content") is not None:
            message |= spoken(said["content"])
        if "components" in said:
            message["components"] = said["components"] or []
        if "flags" in said:
            message["flags"] = (message["flags"] & ~SUPPRESS_EMBEDS) | (said["flags"] & SUPPRESS_EMBEDS)
        message["edited_timestamp"] = moment()
        self._seen(message, said)
        await self._tell("MESSAGE_UPDATE", message)
        return message

    def _seen(self, message: Json, said: Json) -> None:
        self._state.pings += pings(message, said.get("allowed_mentions"))
        if previews(message):
            self._state.previewed.append(message["id"])

    def _history(self, channel: Channel, request: web.Request) -> list[Json]:
        if not listing.may_read_history(self._state, channel):
            return []  # documented: "no messages will be returned"
        found = sorted(channel.messages)
        limit = int(request.query.get("limit", 50))
        if not 1 <= limit <= 100:
            raise invalid("limit", "NUMBER_TYPE_MAX", "int value should be less than or equal to 100.")
        if "before" in request.query:
            found = [one for one in found if one < int(request.query["before"])][-limit:]
        elif "after" in request.query:
            found = [one for one in found if one > int(request.query["after"])][:limit]
        else:
            found = found[-limit:]
        return [self._shown(channel.messages[one]) for one in reversed(found)]

    def _shown(self, message: Json) -> Json:
        shown = message if self.content_intent else without_content(message)
        return shown if self.tells_nonces else {key: value for key, value in shown.items() if key != "nonce"}

    def _member(self, guild: int, person: int) -> Json:
        known = self._state.guilds.get(guild)
        if known is None:
            raise Refused(403, 50001, "Missing Access")
        if person == BOT:
            return member_json() | {"user": self._state.bot, "roles": [str(BOT_ROLE)]}
        if person not in known.members:
            raise Refused(404, 10007, "Unknown Member")
        return member_json(known.members[person]) | {"user": user_json(person)}

    def _set_commands(self, commands: Any) -> list[Json]:
        check_commands(commands)
        self._state.syncs += 1
        shared = {"application_id": str(APPLICATION), "version": "1", "default_member_permissions": None}
        # Discord tells nothing of what is left at its default.
        self._state.commands = [
            shared | {key: value for key, value in one.items() if value not in ([], False)} | {"id": str(snowflake())}
            for one in commands
        ]
        return self._state.commands

    def _application(self) -> Json:
        return {
            "id": str(APPLICATION),
            "name": "Citebot",
            "description": "",
            "icon": None,
            "bot": self._state.bot,
            "bot_public": True,
            "bot_require_code_grant": False,
            "owner": user_json(1),
            "team": None,
            "verify_key": "",
            "flags": self._state.application_flags,
        }


class _Slow(Exception):
    """A call beyond a limit."""

    def __init__(self, seconds: float, *, everywhere: bool) -> None:
        super().__init__()
        self.seconds = seconds
        self.everywhere = everywhere


async def _body(request: web.Request) -> Json:
    """Return what a call says; of a form its JSON, with the contents of the files that come along in ``attachments``."""
    if request.content_type != "multipart/form-data":
        told: Json = await request.json()
        return told
    form = await request.post()
    body: Json = json.loads(str(form["payload_json"]))
    files = {int(key[6:-1]): value for key, value in form.items() if isinstance(value, web.FileField)}
    for one in body.get("attachments") or []:
        one["content"] = files[int(one["id"])].file.read()
    return body


def _reply(channel: Channel, reference: Json) -> Json:
    known = channel.messages.get(int(reference["message_id"]))
    if known is None and reference.get("fail_if_not_exists", True):
        raise invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
    if known is None:
        return {}
    return {
        "type": 19,
        "referenced_message": known,
        "message_reference": {"message_id": known["id"], "channel_id": str(channel.id)},
    }


def _partial(guild: int) -> Json:
    return {
        "id": str(guild),
        "name": f"Server {guild}",
        "icon": None,
        "owner": False,
        "permissions": "0",
        "features": [],
    }


def _listed(command: Json, *, localized: bool) -> Json:
    if localized:
        return command
    bare = {key: value for key, value in command.items() if not key.endswith("_localizations")}
    if "options" in bare:
        bare["options"] = [_listed(option, localized=False) for option in bare["options"]]
    return bare


def _named(parts: list[str]) -> list[str]:
    """Return the path with tokens left out: they are no numbers."""
    if parts[0] in ("webhooks", "interactions") and len(parts) > 2:
        return [*parts[:2], "0", *parts[3:]]
    return parts


def _is_id(part: str) -> bool:
    return part.isdigit()


def _json(value: object, *, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    # With a charset behind it discord.py would not read it as JSON.
    body = json.dumps(value).encode()
    return web.Response(body=body, status=status, headers={"Content-Type": "application/json", **(headers or {})})
