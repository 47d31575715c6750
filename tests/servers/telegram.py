"""A local Bot API server: what the real one documents and refuses, in one process, with faults on demand.

Limits and wordings: core.telegram.org/bots/api and the server's source (tdlib/telegram-bot-api). Chats with a positive
id are private, those with a negative one groups. Messages live in ``server.chats``.
"""

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientSession, web

from tests.bots.rendering.readers.telegram import parse_html
from tests.servers.faults import Fault, Faults, Window

MAX_TEXT = 4096
MAX_RAW_BYTES = 32_768
MAX_CALLBACK_BYTES = 64
MAX_CALLBACK_ANSWER = 200
DRAFT_SECONDS = 30.0
_WORDS = frozenset({"text", "callback_query_id", "file_id", "secret_token", "url", "parse_mode", "language_code"})
"""Parameters that are text whatever they look like."""

Json = dict[str, Any]
ParseHtml = Callable[[str], tuple[str, list[Json]]]


class Refused(Exception):
    """A call that the server does not take."""

    def __init__(self, status: int, description: str, **parameters: object) -> None:
        super().__init__(description)
        self.status = status
        self.description = description
        self.parameters = parameters


@dataclass(kw_only=True)
class Rates:
    """What the documents ask bots to keep to; calls beyond get a 429."""

    chat: tuple[int, float] = (5, 5.0)
    """"About one a second, short bursts allowed"."""
    group: tuple[int, float] = (20, 60.0)
    everything: tuple[int, float] = (30, 1.0)


@dataclass(kw_only=True)
class Draft:
    """What is shown of an answer while it is written; gone after 30 s or with the next message."""

    text: str
    at: float
    can_stop: bool = False


@dataclass(kw_only=True)
class Chat:
    """One chat as its members see it."""

    id: int
    messages: dict[int, Json] = field(default_factory=dict)
    drafts: dict[int, Draft] = field(default_factory=dict)
    members: dict[int, str] = field(default_factory=dict)
    """Status by user, as ``getChatMember`` tells it."""
    is_forum: bool = False

    @property
    def type(self) -> str:
        return "private" if self.id > 0 else "supergroup"

    def as_json(self) -> Json:
        named = {"first_name": f"User {self.id}"} if self.id > 0 else {"title": f"Group {self.id}"}
        return {"id": self.id, "type": self.type, **named, **({"is_forum": True} if self.is_forum else {})}


class TelegramServer:
    """The server; use ``telegram_server``."""

    def __init__(
        self, *, token: str = "123456:LOCAL", parse_html: ParseHtml = parse_html, rates: Rates | None = None
    ) -> None:
        self.token = token
        self.url = ""
        self.bot: Json = {
            "id": 123456,
            "is_bot": True,
            "first_name": "Citebot",
            "username": "citebot_bot",
            "can_join_groups": True,
            "can_read_all_group_messages": False,
            "supports_inline_queries": False,
        }
        self.chats: dict[int, Chat] = {}
        self.calls: list[tuple[float, str, Json]] = []
        self.refused: list[tuple[str, str]] = []
        self.callback_answers: list[Json] = []
        self.commands: dict[str, list[Json]] = {}
        self.files: dict[str, bytes] = {}
        self.faults = Faults()
        self.webhook: Json | None = None
        self.webhook_answers: list[int] = []
        self.rates = rates or Rates()
        self._parse_html = parse_html
        self._windows: dict[str, Window] = {}
        self._updates: list[Json] = []
        self._update_ids = itertools.count(700_000)
        self._message_ids = itertools.count(1)
        self._polling: asyncio.Event | None = None
        self._arrived = asyncio.Event()
        self._queries: set[str] = set()
        self._sending: set[asyncio.Task[None]] = set()

    # What people do

    def chat(self, chat_id: int) -> Chat:
        """Return the chat, made when it is new."""
        return self.chats.setdefault(chat_id, Chat(id=chat_id))

    def say(self, chat_id: int, text: str, *, user: int = 42, language: str = "en", **more: Any) -> Json:
        """Let somebody write; the bot gets what privacy mode lets through. Returns the message."""
        chat = self.chat(chat_id)
        chat.members.setdefault(user, "member")
        message: Json = {
            "message_id": next(self._message_ids),
            "date": int(time.time()),
            "chat": chat.as_json(),
            "from": {"id": user, "is_bot": False, "first_name": f"User {user}", "language_code": language},
            **more,
        }
        if text:
            message |= {"text": text, "entities": _entities_of(text)}
        chat.messages[message["message_id"]] = message
        if self._reaches_bot(message):
            self.push({"message": message})
        return message

    def edit(self, message: Json, text: str) -> None:
        """Let somebody change what they wrote."""
        message |= {"text": text, "entities": _entities_of(text), "edit_date": int(time.time())}
        if self._reaches_bot(message):
            self.push({"edited_message": message})

    def press(self, message: Json, data: str, *, user: int = 42) -> str:
        """Let somebody press the button that carries ``data``; returns the query's id."""
        held = [button.get("callback_data") for row in _keyboard(message) for button in row]
        if data not in held:
            raise AssertionError(f"no button says {data!r}: {held}")
        query = str(next(self._update_ids))
        self._queries.add(query)
        asker = {"id": user, "is_bot": False, "first_name": f"User {user}"}
        self.push(
            {"callback_query": {"id": query, "from": asker, "message": message, "chat_instance": "1", "data": data}}
        )
        return query

    def press_stop(self, chat_id: int, draft: int) -> None:
        """Let the reader stop a draft with ``can_stop``."""
        shown = self.chat(chat_id).drafts.pop(draft)
        if not shown.can_stop:
            raise AssertionError("this draft has no stop button")
        self.push({"stopped_message_generation": {"chat": self.chat(chat_id).as_json(), "draft_id": draft}})

    def push(self, update: Json) -> int:
        """Queue an update for the bot, and return its id."""
        number = next(self._update_ids)
        self.redeliver({"update_id": number, **update})
        return number

    def redeliver(self, update: Json) -> None:
        """Queue an update under its own id (again)."""
        self._updates.append(update)
        self._updates.sort(key=lambda held: held["update_id"])
        self._arrived.set()
        if self.webhook is not None:
            task = asyncio.create_task(self._post(update))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    def answers(self, chat_id: int) -> list[Json]:
        """Return what the bot has said in a chat, oldest first."""
        return [message for message in self.chat(chat_id).messages.values() if message["from"]["is_bot"]]

    def draft(self, chat_id: int) -> Draft | None:
        """Return the draft that the chat shows now."""
        drafts = self.chat(chat_id).drafts
        for number in [n for n, shown in drafts.items() if time.monotonic() - shown.at > DRAFT_SECONDS]:
            del drafts[number]
        return next(iter(drafts.values()), None)

    def count(self, method: str) -> int:
        """Return how often a method was called."""
        return sum(name == method for _, name, _ in self.calls)

    def _reaches_bot(self, message: Json) -> bool:
        """Tell whether the bot hears of it: in privacy mode commands, replies to the bot and mentions."""
        if message["chat"]["type"] == "private" or self.bot["can_read_all_group_messages"]:
            return True
        text = message.get("text", "") or message.get("caption", "")
        replied = message.get("reply_to_message", {}).get("from", {}).get("id")
        return text.startswith("/") or f"@{self.bot['username']}" in text or replied == self.bot["id"]

    # What the bot calls

    async def handle(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        if request.match_info["token"] != self.token:
            return _refusal(Refused(401, "Unauthorized"))
        params = {key: _value(key, value) for key, value in (await request.post()).items()}
        self.calls.append((time.monotonic(), method, params))
        fault = self.faults.take(method)
        if fault is not None and fault.delay:
            await asyncio.sleep(fault.delay)
        if fault is not None and not fault.done and fault.status != 200:
            return self._faulty(fault, request)
        try:
            result = await self._call(method, params)
        except Refused as refused:
            self.refused.append((method, refused.description))
            return _refusal(refused)
        if fault is not None and fault.done:
            return self._faulty(fault, request)
        return web.json_response({"ok": True, "result": result})

    def _faulty(self, fault: Fault, request: web.Request) -> web.StreamResponse:
        if fault.status == 0 and request.transport is not None:
            request.transport.close()
        parameters = {"retry_after": max(1, round(fault.wait))} if fault.status == 429 else {}
        return _refusal(Refused(fault.status or 500, fault.error or _words(fault.status, parameters), **parameters))

    async def _call(self, method: str, params: Json) -> object:
        known: dict[str, Callable[[Json], Awaitable[object]]] = {
            "getMe": self._get_me,
            "getUpdates": self._get_updates,
            "setWebhook": self._set_webhook,
            "deleteWebhook": self._delete_webhook,
            "getWebhookInfo": self._webhook_info,
            "setMyCommands": self._set_commands,
            "sendMessage": self._send,
            "sendMessageDraft": self._send_draft,
            "editMessageText": self._edit,
            "editMessageReplyMarkup": self._edit_markup,
            "deleteMessage": self._delete,
            "sendChatAction": self._action,
            "answerCallbackQuery": self._answer_query,
            "getChatMember": self._member,
            "getFile": self._file,
        }
        if method not in known:
            raise Refused(404, "Not Found: method not found")
        return await known[method](params)

    async def _get_me(self, params: Json) -> object:
        return self.bot

    async def _get_updates(self, params: Json) -> object:
        if self.webhook is not None:
            raise Refused(409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete "
                               "the webhook first")  # fmt: skip
        if self._polling is not None:
            self._polling.set()
        stopped = self._polling = asyncio.Event()
        offset = params.get("offset", 0)
        self._updates = [update for update in self._updates if update["update_id"] >= offset]
        until = time.monotonic() + min(50, params.get("timeout", 0))
        allowed = params.get("allowed_updates")
        while not self._updates and time.monotonic() < until and not stopped.is_set():
            self._arrived.clear()
            waits = [asyncio.ensure_future(self._arrived.wait()), asyncio.ensure_future(stopped.wait())]
            _, pending = await asyncio.wait(
                waits, timeout=until - time.monotonic(), return_when=asyncio.FIRST_COMPLETED
            )
            for wait in pending:
                wait.cancel()
        if stopped.is_set():
            raise Refused(409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is "
                               "running")  # fmt: skip
        self._polling = None
        ready = self._updates[: params.get("limit", 100)]
        return [u for u in ready if not allowed or any(kind in u for kind in allowed)]

    async def _set_webhook(self, params: Json) -> object:
        self.webhook = params
        self._updates.clear()
        return True

    async def _delete_webhook(self, params: Json) -> object:
        self.webhook = None
        if params.get("drop_pending_updates"):
            self._updates.clear()
        return True

    async def _webhook_info(self, params: Json) -> object:
        url = self.webhook["url"] if self.webhook else ""
        return {"url": url, "has_custom_certificate": False, "pending_update_count": len(self._updates)}

    async def _post(self, update: Json) -> None:
        """Deliver to the webhook, again until it is taken (the real server waits longer in between)."""
        assert self.webhook is not None
        headers = {"X-Telegram-Bot-Api-Secret-Token": self.webhook.get("secret_token", "")}
        async with ClientSession() as session:
            for pause in (0.05, 0.1, 0.2, 0.4, 0.8, 1.6):
                try:
                    async with session.post(self.webhook["url"], json=update, headers=headers) as answer:
                        self.webhook_answers.append(answer.status)
                        if 200 <= answer.status < 300:
                            return
                except OSError:
                    self.webhook_answers.append(0)
                await asyncio.sleep(pause)

    async def _set_commands(self, params: Json) -> object:
        commands = params.get("commands", [])
        if len(commands) > 100:
            raise Refused(400, "Bad Request: BOT_COMMANDS_TOO_MUCH")
        for command in commands:
            name = command["command"]
            if not (1 <= len(name) <= 32 and all(c.islower() or c.isdigit() or c == "_" for c in name)):
                raise Refused(400, "Bad Request: BOT_COMMAND_INVALID")
            if not 1 <= len(command["description"]) <= 256:
                raise Refused(400, "Bad Request: BOT_COMMAND_DESCRIPTION_INVALID")
        self.commands[params.get("language_code", "")] = commands
        return True

    async def _send(self, params: Json) -> object:
        chat = self._known_chat(params)
        self._pace(chat)
        text, entities = self._text(params)
        reply = self._replied(chat, params)
        message: Json = {
            "message_id": next(self._message_ids),
            "date": int(time.time()),
            "chat": chat.as_json(),
            "from": self.bot,
            "text": text,
            "entities": entities,
            "link_preview_options": params.get("link_preview_options", {}),
        }
        if params.get("message_thread_id"):
            message |= {"message_thread_id": params["message_thread_id"], "is_topic_message": True}
        if reply:
            message["reply_to_message"] = {key: reply[key] for key in ("message_id", "date", "chat", "from")}
        message |= self._markup(params)
        chat.messages[message["message_id"]] = message
        chat.drafts.clear()
        return message

    async def _send_draft(self, params: Json) -> object:
        chat = self._known_chat(params)
        if chat.type != "private":
            raise Refused(400, "Bad Request: TEXTDRAFT_PEER_INVALID")
        if not params.get("draft_id"):
            raise Refused(400, "Bad Request: DRAFT_ID_INVALID")
        self._pace(chat)
        text = self._text(params)[0] if params.get("text") else ""
        can_stop = bool(params.get("can_stop"))
        chat.drafts[params["draft_id"]] = Draft(text=text, at=time.monotonic(), can_stop=can_stop)
        return True

    async def _edit(self, params: Json) -> object:
        chat = self._known_chat(params)
        message = chat.messages.get(params.get("message_id", 0))
        if message is None or message["from"]["id"] != self.bot["id"]:
            raise Refused(400, "Bad Request: message to edit not found")
        self._pace(chat)
        text, entities = self._text(params)
        markup = self._markup(params)
        if (text, entities, markup.get("reply_markup")) == (
            message["text"],
            message["entities"],
            message.get("reply_markup"),
        ):
            raise Refused(400, "Bad Request: message is not modified: specified new message content and reply markup are "
                               "exactly the same as a current content and reply markup of the message")  # fmt: skip
        message.pop("reply_markup", None)
        message |= {"text": text, "entities": entities, "edit_date": int(time.time()), **markup}
        message["link_preview_options"] = params.get("link_preview_options", {})
        return message

    async def _edit_markup(self, params: Json) -> object:
        chat = self._known_chat(params)
        message = chat.messages.get(params.get("message_id", 0))
        if message is None or message["from"]["id"] != self.bot["id"]:
            raise Refused(400, "Bad Request: message to edit not found")
        self._pace(chat)
        message.pop("reply_markup", None)
        message |= self._markup(params)
        return message

    async def _delete(self, params: Json) -> object:
        chat = self._known_chat(params)
        if chat.messages.pop(params.get("message_id", 0), None) is None:
            raise Refused(400, "Bad Request: message to delete not found")
        return True

    async def _action(self, params: Json) -> object:
        self._known_chat(params)
        return True

    async def _answer_query(self, params: Json) -> object:
        if params.get("callback_query_id") not in self._queries:
            raise Refused(400, "Bad Request: query is too old and response timeout expired or query ID is invalid")
        if len(params.get("text", "")) > MAX_CALLBACK_ANSWER:
            raise Refused(400, "Bad Request: MESSAGE_TOO_LONG")
        self._queries.discard(params["callback_query_id"])
        self.callback_answers.append(params)
        return True

    async def _member(self, params: Json) -> object:
        status = self._known_chat(params).members.get(params["user_id"])
        if status is None:
            raise Refused(400, "Bad Request: member not found")
        return {"status": status, "user": {"id": params["user_id"], "is_bot": False, "first_name": "User"}}

    async def _file(self, params: Json) -> object:
        if params.get("file_id") not in self.files:
            raise Refused(400, "Bad Request: wrong file_id or the file is temporarily unavailable")
        size = len(self.files[params["file_id"]])
        return {"file_id": params["file_id"], "file_unique_id": "u", "file_size": size, "file_path": params["file_id"]}

    async def download(self, request: web.Request) -> web.StreamResponse:
        if request.match_info["token"] != self.token or request.match_info["path"] not in self.files:
            return web.Response(status=404)
        return web.Response(body=self.files[request.match_info["path"]])

    # What it refuses

    def _known_chat(self, params: Json) -> Chat:
        chat = self.chats.get(params.get("chat_id", 0))
        if chat is None:
            raise Refused(400, "Bad Request: chat not found")
        if chat.members.get(chat.id) == "kicked":
            raise Refused(403, "Forbidden: bot was blocked by the user")
        return chat

    def _pace(self, chat: Chat) -> None:
        names = {"everything": self.rates.everything, f"chat {chat.id}": self.rates.chat}
        if chat.type != "private":
            names[f"group {chat.id}"] = self.rates.group
        waits = [self._windows.setdefault(n, Window(*limit)).take(time.monotonic()) for n, limit in names.items()]
        if max(waits) > 0:
            seconds = max(1, round(max(waits) + 0.5))
            raise Refused(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)

    def _text(self, params: Json) -> tuple[str, list[Json]]:
        raw = params.get("text", "")
        if len(raw.encode()) > MAX_RAW_BYTES:
            raise Refused(400, "Bad Request: text is too long")
        if params.get("parse_mode", "").upper() == "HTML":
            try:
                text, entities = self._parse_html(raw)
            except ValueError as error:
                raise Refused(400, f"Bad Request: can't parse entities: {error}") from error
        else:
            text, entities = raw, []
        if not text.strip():
            raise Refused(400, "Bad Request: message text is empty")
        if len(text) > MAX_TEXT:
            raise Refused(400, "Bad Request: message is too long")
        return text, entities

    def _replied(self, chat: Chat, params: Json) -> Json | None:
        wanted = params.get("reply_parameters") or {}
        if not wanted:
            return None
        found = chat.messages.get(wanted["message_id"])
        if found is None and not wanted.get("allow_sending_without_reply"):
            raise Refused(400, "Bad Request: message to be replied not found")
        return found

    def _markup(self, params: Json) -> Json:
        markup = params.get("reply_markup")
        if not markup:
            return {}
        for button in itertools.chain(*markup.get("inline_keyboard", [])):
            if not button.get("text"):
                raise Refused(400, "Bad Request: Text buttons are unallowed in the inline keyboard")
            data = button.get("callback_data")
            if data is not None and not 1 <= len(data.encode()) <= MAX_CALLBACK_BYTES:
                raise Refused(400, "Bad Request: BUTTON_DATA_INVALID")
        return {"reply_markup": markup}


@asynccontextmanager
async def telegram_server(*, port: int = 0, rates: Rates | None = None) -> AsyncIterator[TelegramServer]:
    """Serve on a port of its own, on the loopback, until left."""
    server = TelegramServer(rates=rates)
    app = web.Application(client_max_size=2**22)
    app.router.add_route("*", "/bot{token}/{method}", server.handle)
    app.router.add_get("/file/bot{token}/{path}", server.download)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    host, bound = runner.addresses[0][:2]
    server.url = f"http://{host}:{bound}"
    try:
        yield server
    finally:
        for task in list(server._sending):
            task.cancel()
        await runner.cleanup()


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


def _refusal(refused: Refused) -> web.Response:
    body: Json = {"ok": False, "error_code": refused.status, "description": refused.description}
    if refused.parameters:
        body["parameters"] = dict(refused.parameters)
    return web.json_response(body, status=refused.status)


def _words(status: int, parameters: Mapping[str, object]) -> str:
    if status == 429:
        return f"Too Many Requests: retry after {parameters['retry_after']}"
    return {401: "Unauthorized", 403: "Forbidden: bot was blocked by the user"}.get(status, "Internal Server Error")


def _keyboard(message: Json) -> list[list[Json]]:
    rows: list[list[Json]] = message.get("reply_markup", {}).get("inline_keyboard", [])
    return rows


def _entities_of(text: str) -> list[Json]:
    """Return the entities that clients add to what people type: commands and mentions, in UTF-16 units."""
    found: list[Json] = []
    at = 0
    for word in text.split(" "):
        size = len(word.encode("utf-16-le")) // 2
        if word.startswith("/") and not at and size > 1:
            found.append({"type": "bot_command", "offset": at, "length": size})
        if word.startswith("@") and size > 1:
            found.append({"type": "mention", "offset": at, "length": len(word.rstrip(",.:;?!"))})
        at += size + 1
    return found
