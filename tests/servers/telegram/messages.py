"""``sendMessage``, drafts, edits, and the answers to presses."""

import time

from tests.servers.telegram.rules import (
    MAX_CALLBACK_ANSWER,
    MAX_DOCUMENT_BYTES,
    Json,
    Refused,
    caption_of,
    check_photo,
    markup_of,
    rich_of,
    text_of,
)
from tests.servers.telegram.world import Chat, Draft, World

_CONTENT = ("text", "entities", "rich_message", "reply_markup")


class Messages:
    """Takes the calls about messages."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def send(self, params: Json) -> object:
        chat = self._world.known_chat(params)
        self._world.pace(chat)
        text, entities = text_of(params)
        content = {"text": text, "entities": entities, "link_preview_options": params.get("link_preview_options", {})}
        return self._keep(chat, params, content)

    async def send_photo(self, params: Json) -> object:
        chat = self._world.known_chat(params)
        self._world.pace(chat)
        width, height = check_photo(params["photo"])
        size = {"file_id": self._kept(params["photo"]), "file_unique_id": "u", "width": width, "height": height}
        return self._keep(chat, params, {"photo": [size], **caption_of(params)})

    async def send_document(self, params: Json) -> object:
        chat = self._world.known_chat(params)
        self._world.pace(chat)
        if len(params["document"]) > MAX_DOCUMENT_BYTES:
            raise Refused(413, "Request Entity Too Large")
        told = {"file_id": self._kept(params["document"]), "file_unique_id": "u"}
        return self._keep(chat, params, {"document": told, **caption_of(params)})

    def _kept(self, content: bytes) -> str:
        name = f"sent-{self._world.next_message()}"
        self._world.files[name] = content
        return name

    async def send_rich(self, params: Json) -> object:
        chat = self._world.known_chat(params)
        self._world.pace(chat)
        return self._given_back(self._keep(chat, params, rich_of(params)))

    def _keep(self, chat: Chat, params: Json, content: Json) -> Json:
        reply = _replied(chat, params)
        message: Json = {
            "message_id": self._world.next_message(),
            "date": int(time.time()),
            "chat": chat.as_json(),
            "from": self._world.bot,
            **content,
        }
        if params.get("message_thread_id"):
            message |= {"message_thread_id": params["message_thread_id"], "is_topic_message": True}
        if reply:
            message["reply_to_message"] = {key: reply[key] for key in ("message_id", "date", "chat", "from")}
        message |= markup_of(params)
        chat.messages[message["message_id"]] = message
        chat.drafts.clear()
        return message

    def _given_back(self, message: Json) -> Json:
        """Return a rich message as the call is answered: by a newer server with a kind of block that is new."""
        if not self._world.is_newer:
            return message
        blocks = [*message["rich_message"]["blocks"], {"type": "hologram", "depth": 3}]
        return {**message, "rich_message": {"blocks": blocks}}

    async def send_draft(self, params: Json) -> object:
        chat = self._world.known_chat(params)
        if chat.type != "private":
            raise Refused(400, "Bad Request: TEXTDRAFT_PEER_INVALID")
        if not params.get("draft_id"):
            raise Refused(400, "Bad Request: DRAFT_ID_INVALID")
        self._world.pace(chat)
        text = text_of(params)[0] if params.get("text") else ""
        can_stop = bool(params.get("can_stop"))
        chat.drafts[params["draft_id"]] = Draft(text=text, at=self._world.clock(), can_stop=can_stop)
        return True

    async def edit(self, params: Json) -> object:
        chat = self._world.known_chat(params)
        message = self._world.own(chat, params)
        self._world.pace(chat)
        # A server without rich messages does not know the field, and misses the text.
        is_rich = self._world.has_rich and bool(params.get("rich_message"))
        content = rich_of(params) if is_rich else dict(zip(("text", "entities"), text_of(params), strict=True))
        content |= markup_of(params)
        if content == {key: message[key] for key in _CONTENT if key in message}:
            raise Refused(400, "Bad Request: message is not modified: specified new message content and reply markup are "
                               "exactly the same as a current content and reply markup of the message")  # fmt: skip
        for key in _CONTENT:
            message.pop(key, None)
        message |= content | {"edit_date": int(time.time())}
        message["link_preview_options"] = params.get("link_preview_options", {})
        return self._given_back(message) if is_rich else message

    async def edit_markup(self, params: Json) -> object:
        chat = self._world.known_chat(params)
        message = self._world.own(chat, params)
        self._world.pace(chat)
        message.pop("reply_markup", None)
        message |= markup_of(params)
        return message

    async def delete(self, params: Json) -> object:
        chat = self._world.known_chat(params)
        self._world.pace(None)
        if chat.messages.pop(params.get("message_id", 0), None) is None:
            raise Refused(400, "Bad Request: message to delete not found")
        return True

    async def chat_action(self, params: Json) -> object:
        self._world.known_chat(params)
        self._world.pace(None)
        return True

    async def answer_query(self, params: Json) -> object:
        self._world.pace(None)
        if params.get("callback_query_id") not in self._world.queries:
            raise Refused(400, "Bad Request: query is too old and response timeout expired or query ID is invalid")
        if len(params.get("text", "")) > MAX_CALLBACK_ANSWER:
            raise Refused(400, "Bad Request: MESSAGE_TOO_LONG")
        self._world.queries.discard(params["callback_query_id"])
        self._world.callback_answers.append(params)
        return True


def _replied(chat: Chat, params: Json) -> Json | None:
    wanted = params.get("reply_parameters") or {}
    if not wanted:
        return None
    found = chat.messages.get(wanted["message_id"])
    if found is None and not wanted.get("allow_sending_without_reply"):
        raise Refused(400, "Bad Request: message to be replied not found")
    return found
