"""What was left or missed: turns that a process left which is gone, and what was asked while nobody listened."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from bots.platform import Incoming, Platform
from bots.turn.claims import Claims
from bots.turn.claims.claim import messages_of
from bots.turn.meter import Meter
from bots.turn.options import TurnOptions
from bots.turn.receiving.arriving import Arrivals
from bots.turn.receiving.gate import Refuse, is_late
from bots.turn.receiving.order import Job, Lanes
from ragcore.errors import PlatformError
from ragcore.types import ConversationKey

log = logging.getLogger(__name__)


class CatchingUp:
    """Catches up on one platform."""

    def __init__(
        self,
        platform: Platform[Any],
        claims: Claims,
        arrivals: Arrivals,
        lanes: Lanes,
        options: TurnOptions,
        meter: Meter,
        *,
        alone: bool,
        now: Callable[[], datetime],
        receive: Callable[[Incoming], Awaitable[bool]],
    ) -> None:
        """``receive`` takes a message that was read back; ``alone`` and ``now`` as in ``bots.turn.turns``."""
        self._platform = platform
        self._claims = claims
        self._arrivals = arrivals
        self._lanes = lanes
        self._options = options
        self._meter = meter
        self._alone = alone
        self._now = now
        self._receive = receive

    async def read_back(self) -> None:
        """Answer what was asked while nobody listened: of each conversation the newest that was not taken yet.

        Edits of what was taken are handed over as well.
        """
        now = self._now()
        conversations = await self._claims.active_conversations(self._platform.name, now - self._options.look_back)
        try:
            missed = await self._platform.missed(conversations, now - self._options.late_after)
        except PlatformError as error:
            log.warning("what was asked meanwhile could not be read: %s: %s", type(error).__name__, error)
            return
        newest: dict[ConversationKey, Incoming] = {}
        for incoming in sorted(missed, key=lambda one: one.sent_at):
            if not await self._claims.by_message(incoming.conversation, incoming.message):
                # One that was changed before we ever saw it is no edit to us.
                newest[(await self._arrivals.placed(incoming)).conversation] = replace(incoming, edited_at=None)
            elif incoming.edited_at is not None:
                await self._receive(incoming)
        for incoming in newest.values():
            await self._receive(incoming)

    async def resume(self) -> None:
        """Take up the turns that a process left which is gone."""
        for claim in await self._claims.abandoned([self._platform.name], alone=self._alone):
            if (job := self._lanes.find(claim.reference)) is not None:
                # Ours, without a sign of life for too long: whoever worked on it here stops.
                job.lost = True
                job.interrupt()
            log.info("turn %s: taken up after %d attempts", claim.reference, claim.attempts - 1)
            self._meter.claims["resumed"] += 1
            late = is_late(claim.incoming, now=self._now(), late_after=self._options.late_after)
            refusal = Refuse("late") if late else None
            touched = asyncio.get_running_loop().time() - self._options.merge_within
            line = await self._claims.line_of(claim)
            earlier = line[-2] if len(line) > 1 else None
            messages = messages_of(line)
            self._lanes.add(Job(claim=claim, messages=messages, touched=touched, refusal=refusal, replaces=earlier))
