"""What the Bot API refuses of what a call says: its wordings, and the limits of messages and keyboards."""

import io
import itertools
from typing import Any

from PIL import Image, UnidentifiedImageError

from tests.bots.rendering.readers import telegram_rich
from tests.bots.rendering.readers.shown import Invalid
from tests.bots.rendering.readers.telegram import parse_html

Json = dict[str, Any]

MAX_TEXT = 4096
MAX_CAPTION = 1024
MAX_PHOTO_BYTES, MAX_DOCUMENT_BYTES = 10_000_000, 50_000_000
MAX_PHOTO_SIDES, MAX_PHOTO_RATIO = 10_000, 20
MAX_RAW_BYTES = 32_768
MAX_CALLBACK_BYTES = 64
MAX_CALLBACK_ANSWER = 200


class Refused(Exception):
    """A call that the server does not take."""

    def __init__(self, status: int, description: str, **parameters: object) -> None:
        super().__init__(description)
        self.status = status
        self.description = description
        self.parameters = parameters


def text_of(params: Json) -> tuple[str, list[Json]]:
    """Return the text and entities of a message, or raise Refused for what can't be one."""
    raw = params.get("text", "")
    if len(raw.encode()) > MAX_RAW_BYTES:
        raise Refused(400, "Bad Request: text is too long")
    if params.get("parse_mode", "").upper() == "HTML":
        try:
            text, entities = parse_html(raw)
        except ValueError as error:
            raise Refused(400, f"Bad Request: can't parse entities: {error}") from error
    else:
        text, entities = raw, []
    if not text.strip():
        raise Refused(400, "Bad Request: message text is empty")
    if len(text) > MAX_TEXT:
        raise Refused(400, "Bad Request: message is too long")
    return text, entities


def caption_of(params: Json) -> Json:
    """Return the caption of a picture or a file, or raise Refused for one that is too long."""
    if not params.get("caption"):
        return {}
    text, entities = text_of({"text": params["caption"], "parse_mode": params.get("parse_mode", "")})
    if len(text) > MAX_CAPTION:
        raise Refused(400, "Bad Request: message caption is too long")
    return {"caption": text, "caption_entities": entities}


def check_photo(content: bytes) -> tuple[int, int]:
    """Return the sides of a photo, or raise Refused for what is none."""
    if len(content) > MAX_PHOTO_BYTES:
        raise Refused(413, "Request Entity Too Large")
    try:
        width, height = Image.open(io.BytesIO(content)).size
    except UnidentifiedImageError as error:
        raise Refused(400, "Bad Request: IMAGE_PROCESS_FAILED") from error
    if width + height > MAX_PHOTO_SIDES or max(width, height) > MAX_PHOTO_RATIO * min(width, height):
        raise Refused(400, "Bad Request: PHOTO_INVALID_DIMENSIONS")
    return width, height


def rich_of(params: Json) -> Json:
    """Return the content of a rich message as it is stored, or raise Refused for what can't be one."""
    try:
        telegram_rich.read(params.get("rich_message", {}))
    except Invalid as error:
        raise Refused(400, f"Bad Request: can't parse rich message: {error}") from error
    asked = params["rich_message"]
    kept: Json = {"blocks": telegram_rich.stored(asked["blocks"])}
    return {"rich_message": kept | ({"is_rtl": True} if asked.get("is_rtl") else {})}


def words_of(message: Json) -> str:
    """Return the words of a message, rich or not."""
    if "rich_message" not in message:
        return str(message.get("text", ""))
    return telegram_rich.read({"blocks": message["rich_message"]["blocks"]}).plain


def markup_of(params: Json) -> Json:
    """Return the keyboard of a message, or raise Refused for one that can't be shown."""
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


def check_commands(commands: list[Json]) -> None:
    """Raise Refused for commands that can't be registered."""
    if len(commands) > 100:
        raise Refused(400, "Bad Request: BOT_COMMANDS_TOO_MUCH")
    for command in commands:
        name = command["command"]
        if not (1 <= len(name) <= 32 and all(c.islower() or c.isdigit() or c == "_" for c in name)):
            raise Refused(400, "Bad Request: BOT_COMMAND_INVALID")
        if not 1 <= len(command["description"]) <= 256:
            raise Refused(400, "Bad Request: BOT_COMMAND_DESCRIPTION_INVALID")
