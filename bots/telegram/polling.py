"""Long polling that lets nobody wait in silence: aiogram tries again for ever, and tells only its own log."""

import asyncio
from typing import Any

from aiogram import Bot
from aiogram.client.session.middlewares.base import NextRequestMiddlewareType
from aiogram.exceptions import AiogramError
from aiogram.methods import GetUpdates, Response, TelegramMethod

from bots.telegram.calling import ours
from ragcore.errors import PlatformAuthError

LOST_SECONDS = 30.0
"""So long nothing is fetched before it is told."""


class Watch:
    """Sees each ``getUpdates``; a middleware of the session. ``failed`` ends with the PlatformError that lasts."""

    def __init__(self, lost: float = LOST_SECONDS) -> None:
        """Bear what fails for ``lost`` seconds; a refused token is told at once."""
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lost = lost
        self._since: float | None = None

    async def __call__(
        self, make_request: NextRequestMiddlewareType[Any], bot: Bot, method: TelegramMethod[Any]
    ) -> Response[Any]:
        """Make the request, and note how it went."""
        try:
            answer = await make_request(bot, method)
        except AiogramError as error:
            if isinstance(method, GetUpdates):
                self._note(error)
            raise
        if isinstance(method, GetUpdates):
            self._since = None
        return answer

    def _note(self, error: AiogramError) -> None:
        now = asyncio.get_running_loop().time()
        self._since = now if self._since is None else self._since
        told = ours(error)
        lasts = isinstance(told, PlatformAuthError) or now - self._since >= self._lost
        if lasts and not self.failed.done():
            self.failed.set_exception(told)
