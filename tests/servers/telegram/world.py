"""Chats, their messages and drafts, and what stands on the server, in the JSON of the Bot API."""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.servers.faults import Faults, Window
from tests.servers.telegram.rules import Json, Refused

DRAFT_SECONDS = 30.0


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
    member_facts: dict[int, dict[str, object]] = field(default_factory=dict)
    """What is told of a member besides."""
    """Status by user, as ``getChatMember`` tells it."""
    is_forum: bool = False
    facts: Json = field(default_factory=dict)
    """What ``getChat`` tells besides."""

    @property
    def type(self) -> str:
        return "private" if self.id > 0 else "supergroup"

    def as_json(self) -> Json:
        named = {"first_name": f"User {self.id}"} if self.id > 0 else {"title": f"Group {self.id}"}
        return {"id": self.id, "type": self.type, **named, **({"is_forum": True} if self.is_forum else {})}


def _citebot() -> Json:
    return {
        "id": 123456,
        "is_bot": True,
        "first_name": "Citebot",
        "username": "citebot_bot",
        "can_join_groups": True,
        "can_read_all_group_messages": False,
        "supports_inline_queries": False,
    }


@dataclass(kw_only=True, eq=False, repr=False)
class World:
    """What stands on the server."""

    token: str = "123456:LOCAL"
    url: str = ""
    bot: Json = field(default_factory=_citebot)
    chats: dict[int, Chat] = field(default_factory=dict)
    calls: list[tuple[float, str, Json]] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    callback_answers: list[Json] = field(default_factory=list)
    commands: dict[str, list[Json]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    tells_sizes: bool = True
    """Whether ``getFile`` tells a file's size, which it need not."""
    faults: Faults = field(default_factory=Faults)
    webhook: Json | None = None
    webhook_error: str = ""
    """Why the webhook could not be reached, as the real server tells it of its last try."""
    webhook_answers: list[int] = field(default_factory=list)
    has_rich: bool = False
    """Whether it has rich messages (Bot API 10.1); an older one doesn't know the method."""
    is_newer: bool = False
    """Whether what it tells of a rich message is more than the library can read."""
    rates: Rates = field(default_factory=Rates)
    windows: dict[str, Window] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    """The seconds by which it counts calls, keeps drafts and holds polls."""
    watch: Callable[[str, str], None] = lambda when, method: None
    """Told of each call, ``before`` and ``after`` it takes effect."""
    queries: set[str] = field(default_factory=set)
    """Presses that nobody has answered yet."""
    update_ids: Iterator[int] = field(default_factory=lambda: itertools.count(700_000))
    message_ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which a process finds this server."""
        return {"TELEGRAM_BOT_TOKEN": self.token, "CITEBOT_TELEGRAM__API_URL": self.url}

    def chat(self, chat_id: int) -> Chat:
        """Return the chat, made when it is new."""
        return self.chats.setdefault(chat_id, Chat(id=chat_id))

    def answers(self, chat_id: int) -> list[Json]:
        """Return what the bot has said in a chat, oldest first."""
        return [message for message in self.chat(chat_id).messages.values() if message["from"]["is_bot"]]

    def draft(self, chat_id: int) -> Draft | None:
        """Return the draft that the chat shows now."""
        drafts = self.chat(chat_id).drafts
        for number in [n for n, shown in drafts.items() if self.clock() - shown.at > DRAFT_SECONDS]:
            del drafts[number]
        return next(iter(drafts.values()), None)

    def next_update(self) -> int:
        """Return the number of a new update or query."""
        return next(self.update_ids)

    def next_message(self) -> int:
        """Return the number of a new message."""
        return next(self.message_ids)

    def known_chat(self, params: Json) -> Chat:
        """Return the chat that a call names, or raise Refused where the bot can't be."""
        chat = self.chats.get(params.get("chat_id", 0))
        if chat is None:
            raise Refused(400, "Bad Request: chat not found")
        if chat.members.get(chat.id) == "kicked":
            raise Refused(403, "Forbidden: bot was blocked by the user")
        return chat

    def own(self, chat: Chat, params: Json) -> Json:
        """Return the message that a call names, or raise Refused if the bot did not write it."""
        message = chat.messages.get(params.get("message_id", 0))
        if message is None or message["from"]["id"] != self.bot["id"]:
            raise Refused(400, "Bad Request: message to edit not found")
        return message

    def pace(self, chat: Chat | None) -> None:
        """Count a call to a chat (None: one that says nothing in any), or raise Refused beyond a limit."""
        names = {"everything": self.rates.everything}
        if chat is not None:
            names[f"chat {chat.id}"] = self.rates.chat
            if chat.type != "private":
                names[f"group {chat.id}"] = self.rates.group
        waits = [self.windows.setdefault(n, Window(*limit)).take(self.clock()) for n, limit in names.items()]
        if max(waits) > 0:
            seconds = max(1, round(max(waits) + 0.5))
            raise Refused(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)
