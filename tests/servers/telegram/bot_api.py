"""The Bot API: what becomes of a call; faults on demand."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aiohttp import web

from tests.servers.faults import Fault
from tests.servers.telegram.messages import Messages
from tests.servers.telegram.rules import Json, Refused, check_commands
from tests.servers.telegram.updates import Updates
from tests.servers.telegram.world import World

_WORDS = frozenset(
    {"text", "callback_query_id", "file_id", "secret_token", "url", "parse_mode", "language_code", "caption"}
)
"""Parameters that are text whatever they look like."""

_GIFTS = ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels")


class BotApi:
    """Takes the calls under ``/bot<token>``."""

    def __init__(self, world: World, updates: Updates) -> None:
        self._world = world
        messages = Messages(world)
        self._methods: dict[str, Callable[[Json], Awaitable[object]]] = {
            "getMe": self._get_me,
            "getUpdates": updates.get,
            "setWebhook": updates.set_webhook,
            "deleteWebhook": updates.delete_webhook,
            "getWebhookInfo": updates.webhook_info,
            "setMyCommands": self._set_commands,
            "sendMessage": messages.send,
            "sendPhoto": messages.send_photo,
            "sendDocument": messages.send_document,
            "sendRichMessage": messages.send_rich,
            "sendMessageDraft": messages.send_draft,
            "editMessageText": messages.edit,
            "editMessageReplyMarkup": messages.edit_markup,
            "deleteMessage": messages.delete,
            "sendChatAction": messages.chat_action,
            "answerCallbackQuery": messages.answer_query,
            "getChat": self._chat,
            "getChatMember": self._member,
            "getFile": self._file,
        }

    async def handle(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        if request.match_info["token"] != self._world.token:
            return _refusal(Refused(401, "Unauthorized"))
        given = await request.post()
        files = {key: value for key, value in given.items() if isinstance(value, web.FileField)}
        params = {key: _value(key, value) for key, value in given.items() if key not in files}
        params |= {key: files[value[9:]].file.read() for key, value in params.items() if _names_file(value)}
        self._world.calls.append((self._world.clock(), method, params))
        fault = self._world.faults.take(method)
        if fault is not None and fault.delay:
            await asyncio.sleep(fault.delay)
        if fault is not None and not fault.done and fault.status != 200:
            return self._faulty(fault, request)
        self._world.watch("before", method)
        try:
            result = await self._call(method, params)
        except Refused as refused:
            self._world.refused.append((method, refused.description))
            return _refusal(refused)
        self._world.watch("after", method)
        if fault is not None and fault.done:
            return self._faulty(fault, request)
        return web.json_response({"ok": True, "result": result})

    def _faulty(self, fault: Fault, request: web.Request) -> web.StreamResponse:
        if fault.status == 0 and request.transport is not None:
            request.transport.close()
        parameters = {"retry_after": max(1, round(fault.wait))} if fault.status == 429 else {}
        return _refusal(Refused(fault.status or 500, fault.error or _words(fault.status, parameters), **parameters))

    async def _call(self, method: str, params: Json) -> object:
        if method not in self._methods or (method == "sendRichMessage" and not self._world.has_rich):
            raise Refused(404, "Not Found: method not found")
        return await self._methods[method](params)

    async def _get_me(self, params: Json) -> object:
        return self._world.bot

    async def _set_commands(self, params: Json) -> object:
        commands = params.get("commands", [])
        check_commands(commands)
        self._world.commands[params.get("language_code", "")] = commands
        return True

    async def _chat(self, params: Json) -> object:
        chat = self._world.known_chat(params)
        gifts = dict.fromkeys(_GIFTS, False)
        told = {"accent_color_id": 0, "max_reaction_count": 11, "accepted_gift_types": gifts}
        return {**chat.as_json(), **told, **chat.facts}

    async def _member(self, params: Json) -> object:
        chat, person = self._world.known_chat(params), params["user_id"]
        status = chat.members.get(person)
        if status is None:
            raise Refused(400, "Bad Request: member not found")
        user = {"id": person, "is_bot": False, "first_name": "User"}
        return {"status": status, "user": user, **chat.member_facts.get(person, {})}

    async def _file(self, params: Json) -> object:
        if params.get("file_id") not in self._world.files:
            raise Refused(400, "Bad Request: wrong file_id or the file is temporarily unavailable")
        told: Json = {"file_id": params["file_id"], "file_unique_id": "u", "file_path": params["file_id"]}
        return told | ({"file_size": len(self._world.files[params["file_id"]])} if self._world.tells_sizes else {})

    async def download(self, request: web.Request) -> web.StreamResponse:
        if request.match_info["token"] != self._world.token or request.match_info["path"] not in self._world.files:
            return web.Response(status=404)
        if (fault := self._world.faults.take("file")) is not None:
            return self._faulty(fault, request)
        return web.Response(body=self._world.files[request.match_info["path"]])


def _value(key: str, value: object) -> Any:
    """Return a form value as what it stands for: JSON where it may be JSON, else the text."""
    text = str(value)
    if key in _WORDS:
        return text
    if text[:1] in {"{", "["} or text in {"true", "false"} or text.lstrip("-").isdigit():
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _names_file(value: object) -> bool:
    return isinstance(value, str) and value.startswith("attach://")


def _refusal(refused: Refused) -> web.Response:
    body: Json = {"ok": False, "error_code": refused.status, "description": refused.description}
    if refused.parameters:
        body["parameters"] = dict(refused.parameters)
    return web.json_response(body, status=refused.status)


def _words(status: int, parameters: Mapping[str, object]) -> str:
    if status == 429:
        return f"Too Many Requests: retry after {parameters['retry_after']}"
    return {401: "Unauthorized", 403: "Forbidden: bot was blocked by the user"}.get(status, "Internal Server Error")
