"""What was said in a thread before a mention: read from the platform, or kept as it was heard where nothing can be."""

import logging
from dataclasses import replace
from typing import Generic

from bots.platform import ASKING, Incoming, Platform, R, Reach
from bots.turn.claims import Claims
from bots.turn.claims.claim import Claim
from bots.turn.options import TurnOptions
from ragcore.errors import PlatformError
from ragcore.types import Message

log = logging.getLogger(__name__)


class Threads(Generic[R]):
    """The threads of one platform."""

    def __init__(self, platform: Platform[R], claims: Claims, options: TurnOptions) -> None:
        """Ask ``platform``, and ``claims`` for what was heard and what has a history already."""
        self._platform = platform
        self._claims = claims
        self._options = options

    async def placed(self, incoming: Incoming) -> Incoming:
        """Return a reply in the conversation of the message that it replies to, where that was heard."""
        if not incoming.replied_to or incoming.private or self._platform.manner(incoming).reads_threads:
            return incoming
        thread = await self._claims.heard.thread_of(incoming.conversation, incoming.replied_to)
        if thread is None:
            return incoming
        return replace(incoming, conversation=replace(incoming.conversation, thread=thread))

    async def hear(self, incoming: Incoming) -> None:
        """Keep what is said where it can't be read back, if the bot may answer there and has something to read."""
        if incoming.private or incoming.asker.is_bot or not incoming.text.strip():
            return
        if incoming.command not in ASKING or self._platform.manner(incoming).reads_threads:
            return
        silent = self._options.rule(incoming.conversation).respond == "off"
        if not silent and self._options.readable_in(replace(incoming, knowledge_bases=()), incoming.seen_by):
            await self._claims.heard.keep(incoming)

    async def before(self, claim: Claim) -> tuple[Message, ...]:
        """Return what a thread said before a mention in its middle, as far as the history does not hold it."""
        incoming, limit = claim.incoming, self._options.thread_messages
        if incoming.reach is not Reach.MENTION or not incoming.conversation.thread:
            return ()
        if not self._platform.manner(incoming).reads_threads:
            return await self._heard_before(incoming, limit)
        # Where the bot was before it has its history, and in a thread that it takes part in it answers whatever is
        # said, so nothing is missing there; or it was told to forget, and that must not come back by another way.
        if await self._claims.past.has_history(await self._claims.line_of(claim)):
            return ()
        return await self._read(incoming, limit)

    async def _heard_before(self, incoming: Incoming, limit: int) -> tuple[Message, ...]:
        """Return what was heard; what it replies to comes with the message itself if it was not."""
        said = await self._claims.heard.before(incoming, limit=limit)
        replied = incoming.replied_to
        if not replied or await self._claims.heard.thread_of(incoming.conversation, replied) is not None:
            return said
        return (*await self._read(incoming, limit), *said)[-limit:] if limit else ()

    async def _read(self, incoming: Incoming, limit: int) -> tuple[Message, ...]:
        try:
            return await self._platform.thread(incoming, limit=limit)
        except PlatformError as error:
            log.info("a thread could not be read: %s: %s", type(error).__name__, error)
            return ()
