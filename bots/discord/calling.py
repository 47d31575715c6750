"""Every call to Discord, its errors mapped once. Embeds are always suppressed, and nobody is ever notified."""

import asyncio
import logging
import secrets
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TypeVar
from weakref import WeakValueDictionary

import aiohttp
import discord

from bots.newest_messages import Newest
from bots.platform import Sent
from bots.refusals import Refusals
from bots.rendering.discord import DiscordButton, DiscordMessage
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

_GONE = {10003, 10008, 10015, 10062, 50027}
"""Unknown channel, message, webhook and interaction; a token whose 15 minutes are over."""
_CLOSED = "Session is closed"
"""What aiohttp raises for a call that comes too late."""
_UNREADABLE = "160002"
"""Whoever may not read what was said before may not reply to it either."""
_WALL_SECONDS = 60.0
_REMEMBERED = 2_000


@asynccontextmanager
async def mapped() -> AsyncGenerator[None]:
    """Let what discord.py raises leave as an error of ours."""
    try:
        yield
    except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
        raise ours(error) from error
    except RuntimeError as error:
        if str(error) != _CLOSED:
            raise
        raise PlatformUnreachable("Discord's connection was closed meanwhile") from error


def ours(error: BaseException) -> PlatformError:  # noqa: PLR0911 (one return a kind)
    """Return the error of ours that says the same; its text holds no token and no address."""
    match error:
        case discord.LoginFailure():
            return PlatformAuthError("Discord refused the token; set DISCORD_TOKEN to the bot's (portal, Bot, Token)")
        case discord.PrivilegedIntentsRequired():
            return PlatformAuthError(
                'Discord refused the message content intent; switch it on in the portal (Bot, "Message Content '
                'Intent"), or set discord.message_content = "auto" or "off"'
            )
        case discord.RateLimited():
            return PlatformRateLimited("Discord asks to wait", retry_after=error.retry_after)
        case discord.HTTPException():
            return _of_http(error)
        case discord.ConnectionClosed() if error.code == 4004:
            return PlatformAuthError("Discord refused the token; set DISCORD_TOKEN to the bot's (portal, Bot, Token)")
        case discord.ClientException() if isinstance(error, discord.InteractionResponded):
            return PlatformRefused("Discord: the interaction was answered already")
        case _:
            return PlatformUnreachable(f"Discord cannot be reached ({type(error).__name__})")


def _of_http(error: discord.HTTPException) -> PlatformError:
    if error.status == 429:  # not from Discord itself, but from a wall before it
        wait = error.response.headers.get("Retry-After", "")
        return PlatformRateLimited(
            "Discord lets nothing through from this address",
            retry_after=float(wait) if wait.isdigit() else _WALL_SECONDS,
        )
    told = f"Discord: {error.code} {error.text[:200]}"
    if error.code in _GONE or (error.status == 404 and error.code != 10007):
        return MessageGone(told)
    if error.status == 401:
        return PlatformAuthError("Discord refused the token; set DISCORD_TOKEN to the bot's (portal, Bot, Token)")
    return PlatformUnreachable(told) if error.status >= 500 else PlatformRefused(told)


def view_of(rows: tuple[tuple[DiscordButton, ...], ...]) -> discord.ui.View:
    """Return buttons as the SDK takes them.

    The view is ended at once: presses are read from their ``custom_id`` whoever sent the button, also before a restart,
    so that the SDK need not keep a view for each message.
    """
    view = discord.ui.View(timeout=None)
    for number, row in enumerate(rows):
        for button in row:
            view.add_item(
                discord.ui.Button(
                    custom_id=button.custom_id, label=button.label or None, emoji=button.emoji or None, row=number
                )
            )
    view.stop()
    return view


class Calls:
    """The calls on messages of one bot; all raise PlatformError."""

    def __init__(self) -> None:
        self.refusals = Refusals()
        self.newest = Newest()
        self._client: discord.Client | None = None
        self._edits: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._sent: OrderedDict[str, Sent] = OrderedDict()
        self._says: OrderedDict[str, DiscordMessage] = OrderedDict()

    @property
    def client(self) -> discord.Client:
        """Return the client that is connected now."""
        if self._client is None or self._client.is_closed():
            raise PlatformUnreachable("Discord is not connected yet")
        return self._client

    @client.setter
    def client(self, client: discord.Client) -> None:
        self._client = client

    def took(self, key: str, sent: Sent) -> None:
        """Remember what was sent under a key."""
        _remember(self._sent, key, sent)

    def known(self, key: str) -> Sent | None:
        """Return what is known to have been sent under a key."""
        return self._sent.get(key)

    def gone(self, message: str) -> None:
        """Forget a message that somebody deleted."""
        self._says.pop(message, None)
        for key in [key for key, sent in self._sent.items() if sent.id == message]:
            del self._sent[key]

    async def post(self, channel: str, message: DiscordMessage, *, reply_to: str = "", key: str = "") -> Sent:
        """Send a message of its own; sent again under the same key it is the first one, changed where it differs.

        A reply to a message that is gone is sent all the same.
        """
        try:
            sent = await self._send(channel, message, reply_to, key)
        except PlatformRefused as error:
            if not reply_to or _UNREADABLE not in str(error):
                raise
            sent = await self._send(channel, message, "", key)
        stands = Sent(channel=channel, id=str(sent.id))
        self.newest.saw(channel, sent.id)
        if key:
            self.took(key, stands)
        if not shows(sent, message):
            await self.edit(stands, message)
        _remember(self._says, stands.id, message)
        return stands

    async def _send(self, channel: str, message: DiscordMessage, reply_to: str, key: str) -> discord.Message:
        place = self.client.get_partial_messageable(int(channel))
        nonce = key or secrets.token_hex(8)
        async with mapped():
            if not reply_to:
                return await place.send(message.content, view=view_of(message.rows), nonce=nonce, suppress_embeds=True)
            return await place.send(
                message.content,
                view=view_of(message.rows),
                nonce=nonce,
                reference=discord.MessageReference(
                    message_id=int(reply_to), channel_id=int(channel), fail_if_not_exists=False
                ),
                mention_author=False,
                suppress_embeds=True,
            )

    async def edit(self, sent: Sent, message: DiscordMessage) -> None:
        """Rewrite a message of ours, unless it says that already; one edit at a time in a channel: Discord counts so.

        The call leaves the message's flags as they are, and so its embeds suppressed.
        """
        lock = self._edits.setdefault(sent.channel, asyncio.Lock())
        place = self.client.get_partial_messageable(int(sent.channel))
        async with lock, mapped():
            if self._says.get(sent.id) == message:
                return
            await place.get_partial_message(int(sent.id)).edit(content=message.content, view=view_of(message.rows))
        _remember(self._says, sent.id, message)

    async def delete(self, sent: Sent) -> None:
        """Take a message back; nothing happens when it is gone."""
        place = self.client.get_partial_messageable(int(sent.channel))
        self.gone(sent.id)
        try:
            async with mapped():
                await place.get_partial_message(int(sent.id)).delete()
        except MessageGone:
            pass

    async def direct(self, person: str) -> str:
        """Return the channel of direct messages with somebody."""
        async with mapped():
            channel = await self.client.create_dm(discord.Object(int(person)))
        return str(channel.id)

    async def download(self, url: str, limit: int) -> bytes:
        """Return a file's content; PlatformRefused when it is larger than ``limit`` bytes."""
        async with mapped():
            content = await self.client.http.get_from_cdn(url)
        if len(content) > limit:
            raise PlatformRefused(f"the file is larger than {limit} bytes")
        return content


def _remember(held: "OrderedDict[str, T]", key: str, value: T) -> None:
    held[key] = value
    held.move_to_end(key)
    while len(held) > _REMEMBERED:
        held.popitem(last=False)


def shows(sent: discord.Message, message: DiscordMessage) -> bool:
    """Return whether a message says what it should."""
    found = [
        item.custom_id
        for row in sent.components
        if isinstance(row, discord.ActionRow)
        for item in row.children
        if isinstance(item, discord.Button)
    ]
    return sent.content.strip() == message.content.strip() and found == [
        button.custom_id for row in message.rows for button in row
    ]
