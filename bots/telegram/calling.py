"""Every call to Telegram, its errors mapped once."""

import asyncio
import hashlib
import hmac
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any, TypeVar

import aiohttp
from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.session.middlewares.base import NextRequestMiddlewareType
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import (
    AiogramError,
    ClientDecodeError,
    TelegramAPIError,
    TelegramBadRequest,
    TelegramConflictError,
    TelegramForbiddenError,
    TelegramNetworkError,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramServerError,
    TelegramUnauthorizedError,
)
from aiogram.methods import (
    EditMessageText,
    GetFile,
    Response,
    SendDocument,
    SendMessage,
    SendPhoto,
    SendRichMessage,
    TelegramMethod,
)
from aiogram.types import (
    BufferedInputFile,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputRichMessage,
    LinkPreviewOptions,
    Message,
    ReplyParameters,
)
from aiogram.utils.token import TokenValidationError

from bots.newest_messages import Newest
from bots.pictures import Picture
from bots.platform import Sent
from bots.refusals import Refusals
from bots.rendering.telegram import TelegramButton, TelegramMessage, TelegramRich
from ragcore.errors import (
    MessageGone,
    PlatformAuthError,
    PlatformError,
    PlatformRateLimited,
    PlatformRefused,
    PlatformUnreachable,
)

T = TypeVar("T")

log = logging.getLogger(__name__)

TELEGRAM_URL = "https://api.telegram.org"
_WAITS = 3
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
_GONE = (
    "message to edit not found",
    "message to delete not found",
    "message can't be edited",
    "message can't be deleted",
    "chat not found",
    "message thread not found",
    "MESSAGE_ID_INVALID",
)
_SAME = "message is not modified"
_NO_PHOTO = ("PHOTO_INVALID_DIMENSIONS", "IMAGE_PROCESS_FAILED")


@asynccontextmanager
async def mapped() -> AsyncGenerator[None]:
    """Let what aiogram raises leave as an error of ours."""
    try:
        yield
    except AiogramError as error:
        raise ours(error) from error


def ours(error: AiogramError) -> PlatformError:  # noqa: PLR0911 (one return a kind)
    """Return the error of ours that says the same; its text holds no token."""
    told = error.message if isinstance(error, TelegramAPIError) else type(error).__name__
    match error:
        case TelegramRetryAfter():
            return PlatformRateLimited("Telegram asks to wait", retry_after=float(error.retry_after))
        case TelegramUnauthorizedError():
            return PlatformAuthError("Telegram refused the token; set TELEGRAM_BOT_TOKEN to the one @BotFather gave")
        case TelegramForbiddenError():
            return MessageGone(f"Telegram: {told}")
        case TelegramConflictError():
            return PlatformUnreachable(
                "Telegram gives this bot's updates to another process that polls for them; run one alone, or use a "
                "webhook (docs/telegram.md)"
            )
        case TelegramBadRequest() | TelegramNotFound():
            return MessageGone(f"Telegram: {told}") if any(w in told for w in _GONE) else PlatformRefused(told)
        case TelegramNetworkError() | TelegramServerError() | ClientDecodeError():
            return PlatformUnreachable(f"Telegram cannot be reached ({type(error).__name__})")
        case _:
            return PlatformRefused(f"Telegram: {told}")


async def when_allowed(work: Callable[[], Awaitable[T]]) -> T:
    """Do what somebody asked for by a button, after the waits that Telegram asks for; no turn waits for it.

    Raises:
        PlatformRateLimited: it was asked to wait too often.
    """
    for _ in range(_WAITS):
        try:
            return await work()
        except PlatformRateLimited as error:
            await asyncio.sleep(error.retry_after)
    return await work()


def open_calls(token: str, api_url: str) -> "Calls":
    """Return the calls of a bot; at the default address the library is left as it is.

    Raises:
        PlatformAuthError: The token doesn't look like one.
    """
    session = None
    if api_url.rstrip("/") != TELEGRAM_URL:
        session = AiohttpSession(api=TelegramAPIServer.from_base(api_url))
    try:
        return Calls(Bot(token, session=session))
    except TokenValidationError as error:
        raise PlatformAuthError("TELEGRAM_BOT_TOKEN is no token; @BotFather gives one like 123456:ABC…") from error


class Calls:
    """The calls of one bot; all raise PlatformError."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.refusals = Refusals()
        self.newest = Newest()
        bot.session.middleware.register(self._count)

    async def _count(
        self, make_request: NextRequestMiddlewareType[Any], bot: Bot, method: TelegramMethod[Any]
    ) -> Response[Any]:
        """Count the refusals of all calls, those that aiogram makes itself included."""
        try:
            return await make_request(bot, method)
        except TelegramRetryAfter:
            self.refusals.add()
            raise

    def webhook_secret(self) -> str:
        """Return what Telegram proves itself with: the same in every process of this bot, so any takes any update."""
        return hmac.new(self.bot.token.encode(), b"citebot webhook", hashlib.sha256).hexdigest()

    async def do(self, method: TelegramMethod[T]) -> T:
        """Make any call."""
        async with mapped():
            return await self.bot(method)

    async def post(
        self, chat: str, message: TelegramMessage, *, topic: str = "", reply_to: str = "", silent: bool = False
    ) -> Sent:
        """Send a message of its own; a reply to a message that is gone is sent all the same."""
        reply = ReplyParameters(message_id=int(reply_to), allow_sending_without_reply=True) if reply_to else None
        common: dict[str, Any] = {
            "chat_id": chat,
            "message_thread_id": int(topic) if topic else None,
            "reply_parameters": reply,
            "reply_markup": keyboard(message.keyboard),
            "disable_notification": silent or None,
        }
        send: TelegramMethod[Message]
        if message.rich is not None:
            send = SendRichMessage(rich_message=rich_content(message.rich), **common)
        else:
            send = SendMessage(text=message.html, parse_mode="HTML", link_preview_options=_NO_PREVIEW, **common)
        try:
            sent = (await self.bot(send)).message_id
        except ClientDecodeError as error:
            # What the server tells of a message that it took may be newer than the library: not to be sent again.
            sent = _taken(error)
        except AiogramError as error:
            raise ours(error) from error
        self.newest.saw(f"{chat}/{topic}", sent)
        return Sent(channel=chat, id=str(sent))

    async def show(self, chat: str, picture: Picture, caption: str, *, topic: str, reply_to: str) -> None:
        """Send a picture with a caption in HTML; as a file where Telegram takes it for no photo.

        A photo has sides that are 10,000 pixels together, the longer at most 20 times the other
        (https://core.telegram.org/bots/api#sendphoto).
        """
        file = BufferedInputFile(picture.png, picture.name)
        common: dict[str, Any] = {
            "chat_id": chat,
            "message_thread_id": int(topic) if topic else None,
            "reply_parameters": ReplyParameters(message_id=int(reply_to), allow_sending_without_reply=True),
            "caption": caption,
            "parse_mode": "HTML",
            "disable_notification": True,
        }
        try:
            sent = await self.do(SendPhoto(photo=file, **common))
        except PlatformRefused as error:
            if not any(words in str(error) for words in _NO_PHOTO):
                raise
            sent = await self.do(SendDocument(document=file, **common))
        self.newest.saw(f"{chat}/{topic}", sent.message_id)

    async def draft(self, chat: str, number: int, message: TelegramMessage, *, topic: str = "") -> None:
        """Show what is written so far in a private chat, with a button that stops it."""
        async with mapped():
            await self.bot.send_message_draft(
                chat_id=int(chat),
                draft_id=number,
                text=message.html,
                parse_mode="HTML",
                message_thread_id=int(topic) if topic else None,
                can_stop=True,
            )

    async def change(self, sent: Sent, message: TelegramMessage) -> None:
        """Rewrite a message; nothing happens when it says the same already."""
        content = (
            {"rich_message": rich_content(message.rich)}
            if message.rich is not None
            else {"text": message.html, "parse_mode": "HTML", "link_preview_options": _NO_PREVIEW}
        )
        edit = EditMessageText(
            chat_id=sent.channel, message_id=int(sent.id), reply_markup=keyboard(message.keyboard), **content
        )
        try:
            await self.bot(edit)
        except ClientDecodeError as error:
            _taken(error)
        except AiogramError as error:
            if _SAME not in str(error):
                raise ours(error) from error

    async def rekey(self, message: Message, rows: InlineKeyboardMarkup) -> None:
        """Change a message's buttons alone."""
        try:
            async with mapped():
                await self.bot.edit_message_reply_markup(
                    chat_id=message.chat.id, message_id=message.message_id, reply_markup=rows
                )
        except PlatformRefused as error:
            if _SAME not in str(error):
                raise

    async def delete(self, sent: Sent) -> None:
        """Take a message back; nothing happens when it is gone."""
        try:
            async with mapped():
                await self.bot.delete_message(sent.channel, int(sent.id))
        except MessageGone:
            pass

    async def download(self, file: str, limit: int) -> bytes:
        """Return a file's content; PlatformRefused when it is larger than ``limit`` bytes."""
        found = await self.do(GetFile(file_id=file))
        if (found.file_size or 0) > limit or found.file_path is None:
            raise PlatformRefused(f"the file is larger than {limit} bytes")
        session = self.bot.session
        content = bytearray()
        try:
            async with aclosing(
                session.stream_content(session.api.file_url(self.bot.token, found.file_path))
            ) as pieces:
                async for piece in pieces:
                    content += piece
                    if len(content) > limit:  # its size need not be told
                        raise PlatformRefused(f"the file is larger than {limit} bytes")
        except (aiohttp.ClientError, TimeoutError) as error:
            # These are not the library's own, and their text names the address, which holds the token.
            raise PlatformUnreachable(f"Telegram did not give the file ({type(error).__name__})") from None
        return bytes(content)

    async def quietly(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do what only shows progress: its failure is nobody's business but the log's."""
        try:
            async with mapped():
                await work()
        except PlatformError as error:
            log.debug("left out: %s", error)


def keyboard(rows: tuple[tuple[TelegramButton, ...], ...]) -> InlineKeyboardMarkup | None:
    """Return rows of buttons as the SDK takes them, None for none."""
    if not rows:
        return None
    return InlineKeyboardMarkup(
        inline_keyboard=[[InlineKeyboardButton(text=b.text, callback_data=b.data) for b in row] for row in rows]
    )


def _taken(error: ClientDecodeError) -> int:
    """Return the number of the message that an answer tells of, though nobody could read the rest of it."""
    told = error.data if isinstance(error.data, dict) else {}
    result = told.get("result")
    number = result.get("message_id") if isinstance(result, dict) else None
    if not told.get("ok") or not isinstance(number, int):
        raise ours(error) from error
    return number


def rich_content(rich: TelegramRich) -> InputRichMessage:
    """Return a rich message as the SDK takes it; the server is to make no entities of its own."""
    # Unchecked: of text within text within text the library tries every kind at every depth, which takes seconds at
    # the fourth. What we write is held to the library's types by the tests.
    return InputRichMessage.model_construct(
        blocks=list(rich.blocks), is_rtl=rich.is_rtl or None, skip_entity_detection=True
    )
