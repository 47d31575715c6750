"""Whether the Bot API server has rich messages: only what it says for certain counts, and it is asked until it does."""

import asyncio
import itertools
import logging

from aiogram.exceptions import AiogramError, TelegramBadRequest, TelegramNotFound
from aiogram.methods import SendRichMessage
from aiogram.types import InputRichMessage

from bots.telegram.calling import Calls, ours
from ragcore.errors import PlatformRefused

log = logging.getLogger(__name__)

WAITS = (2.0, 10.0, 60.0, 300.0)
"""Seconds between two questions that had no answer; the last of them from then on."""


class RichMessages:
    """What is known of them: ``there`` is False until the server has said that it knows the method."""

    def __init__(self, calls: Calls) -> None:
        """Know nothing yet."""
        self._calls = calls
        self.there = False

    async def ask(self) -> bool:
        """Ask for one in no chat at all, and return whether that was answered.

        A server without them doesn't know the method (404), one with them not the chat (400). Whatever else comes (a
        limit, a fault, a dropped line) tells nothing.
        """
        try:
            await self._calls.bot(SendRichMessage(chat_id=0, rich_message=InputRichMessage(html="-")))
        except TelegramNotFound:
            self.there = False
        except TelegramBadRequest:
            self.there = True
        except AiogramError as error:
            log.info("whether this server has rich messages is not known yet: %s", ours(error))
            return False
        else:
            self.there = True
        return True

    async def learn(self) -> None:
        """Ask again, less and less often, until it is known."""
        for tried in itertools.count():
            await asyncio.sleep(WAITS[min(tried, len(WAITS) - 1)])
            if await self.ask():
                return

    def was_refused(self, error: PlatformRefused) -> None:
        """Send no more of them where the server, by now an older one, doesn't know the method."""
        if isinstance(error.__cause__, TelegramNotFound):
            self.there = False
