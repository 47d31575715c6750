"""A local Bot API server: what the real one documents and refuses, in one process, with faults on demand.

Limits and wordings: core.telegram.org/bots/api and the server's source (tdlib/telegram-bot-api). Chats with a positive
id are private, those with a negative one groups. Messages live in ``server.chats``.
"""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.servers.serving import served
from tests.servers.telegram.bot_api import BotApi
from tests.servers.telegram.rules import Json, words_of
from tests.servers.telegram.updates import Updates
from tests.servers.telegram.world import Chat, Draft, Rates, World

__all__ = ["Chat", "Draft", "Json", "Rates", "TelegramServer", "telegram_server", "words_of"]


class TelegramServer(World):
    """The server; use ``telegram_server``."""

    def __init__(self, *, token: str = "123456:LOCAL", rates: Rates | None = None, has_rich: bool = False) -> None:
        super().__init__(token=token, rates=rates or Rates(), has_rich=has_rich)
        self._updates = Updates(self)
        self._bot_api = BotApi(self, self._updates)

    def say(self, chat_id: int, text: str, *, user: int = 42, language: str = "en", **more: Any) -> Json:
        """Let somebody write; the bot gets what privacy mode lets through. Returns the message."""
        chat = self.chat(chat_id)
        chat.members.setdefault(user, "member")
        message: Json = {
            "message_id": self.next_message(),
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

    def join(self, chat_id: int, user: int) -> None:
        """Let somebody come to a group: bots hear of it in privacy mode too."""
        person = {"id": user, "is_bot": False, "first_name": f"User {user}"}
        chat = self.chat(chat_id)
        chat.members.setdefault(user, "member")
        told = {"message_id": self.next_message(), "date": int(time.time()), "chat": chat.as_json(), "from": person}
        self.push({"message": {**told, "new_chat_members": [person]}})

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
        query = str(self.next_update())
        self.queries.add(query)
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
        return self._updates.push(update)

    def redeliver(self, update: Json) -> None:
        """Queue an update under its own id (again)."""
        self._updates.redeliver(update)

    def count(self, method: str) -> int:
        """Return how often a method was called."""
        return sum(name == method for _, name, _ in self.calls)

    def serve(self, app: web.Application) -> None:
        """Answer under the paths of an application."""
        app.router.add_route("*", "/bot{token}/{method}", self._bot_api.handle)
        app.router.add_get("/file/bot{token}/{path}", self._bot_api.download)

    def close(self) -> None:
        """Let go of what is on its way."""
        self._updates.close()

    def _reaches_bot(self, message: Json) -> bool:
        """Tell whether the bot hears of it: in privacy mode commands, replies to the bot and mentions."""
        if message["chat"]["type"] == "private" or self.bot["can_read_all_group_messages"]:
            return True
        text = message.get("text", "") or message.get("caption", "")
        replied = message.get("reply_to_message", {}).get("from", {}).get("id")
        return text.startswith("/") or f"@{self.bot['username']}" in text or replied == self.bot["id"]


@asynccontextmanager
async def telegram_server(
    *, port: int = 0, rates: Rates | None = None, has_rich: bool = False
) -> AsyncIterator[TelegramServer]:
    """Serve on a port of its own, on the loopback, until left."""
    server = TelegramServer(rates=rates, has_rich=has_rich)
    app = web.Application(client_max_size=2**25)
    server.serve(app)
    async with served(app, port) as where:
        server.url = f"http://{where}"
        try:
            yield server
        finally:
            server.close()


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
