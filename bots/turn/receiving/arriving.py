"""What arrives, before it becomes a turn: where it belongs, who has claimed it, and whether its asker asks too fast."""

import asyncio
import logging
import math
from collections import OrderedDict
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from datetime import timedelta
from weakref import WeakValueDictionary

from bots.platform import Incoming, Reach
from bots.turn.claims import Claims
from bots.turn.claims.claim import Claim
from bots.turn.meter import Meter
from bots.turn.options import TurnOptions, place
from bots.turn.receiving.gate import Refuse
from bots.turn.receiving.rates import Rates
from bots.turn.receiving.researching import is_research
from ragcore.errors import StoreError
from ragcore.types import ConversationKey

log = logging.getLogger(__name__)

DELETED_REMEMBERED = 1_000


class Arrivals:
    """What arrives on one platform; safe to use from many tasks of one loop."""

    def __init__(self, claims: Claims, options: TurnOptions, meter: Meter) -> None:
        """Remember of nothing that it was deleted, and of nobody that they asked."""
        self._claims = claims
        self._options = options
        self._meter = meter
        self._users, self._channels = Rates(options.user_rate), Rates(options.channel_rate)
        self._opening: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        self._deleted: OrderedDict[tuple[str, str], None] = OrderedDict()

    async def placed(self, incoming: Incoming) -> Incoming:
        """Return the message in the conversation that it belongs to, and as one of it."""
        claim = await self._claims.by_reference(incoming.goes_on) if incoming.goes_on else None
        if claim is not None and place(claim.incoming.conversation) == place(incoming.conversation):
            incoming = replace(incoming, conversation=claim.incoming.conversation)
        if incoming.reach is Reach.THREAD and not await self._claims.takes_part(incoming.conversation):
            incoming = replace(incoming, reach=Reach.CHANNEL)
        return incoming

    def turn_of(self, incoming: Incoming) -> AbstractAsyncContextManager[None]:
        """Wait for whoever opens a conversation just before, in the same channel: this one may go on with it."""
        if not incoming.opens:
            return nullcontext()
        opening = (place(incoming.conversation), incoming.asker.id)
        door = self._opening.get(opening)
        if door is None:
            door = self._opening[opening] = asyncio.Lock()
        return door

    async def claim(self, incoming: Incoming, *, replaces: str = "") -> Claim | None:
        """Claim the message; None when it was claimed before, or is deleted already."""
        claim = await self._claims.claim(incoming, replaces=replaces)
        self._meter.claims["again" if claim is None else "new"] += 1
        if claim is None:
            return None
        log.info("turn %s: %s in %s", claim.reference, incoming.reach.value, place(incoming.conversation))
        if self._options.log_questions:
            log.info("turn %s asks: %s", claim.reference, incoming.text)
        if (place(incoming.conversation), incoming.message) in self._deleted:
            await self._claims.withdraw(claim.reference)
            return None
        return claim

    async def over_rate(self, claim: Claim, now: float) -> Refuse | None:
        """Count a question for its asker and its channel; return why it comes too soon, with the wait, else None.

        ``now`` is the loop's time at which it came. The minute's limits are each process's own, in memory: they keep it
        from being flooded. That of researches, which cost, holds for all processes and across restarts.
        """
        incoming = claim.incoming
        researches, asker = is_research(incoming), f"{incoming.conversation.workspace}/{incoming.asker.id}"
        if researches and not self._options.researches:
            return Refuse("research_off")
        if wait := self._users.take(asker, now):
            return Refuse("user_limit", wait)
        wait = 0 if incoming.reach is Reach.DIRECT else self._channels.take(place(incoming.conversation), now)
        if wait:
            return Refuse("channel_limit", wait)
        wait = await self._until_research(claim) if researches else 0
        return Refuse("research_limit", wait) if wait else None

    async def _until_research(self, claim: Claim) -> int:
        """Return the whole seconds until the asker may have something researched again, 0 if now."""
        rate = self._options.research_rate
        try:
            before = await self._claims.past.researches_before(claim, seconds=rate.seconds)
        except StoreError as error:
            log.warning("researches could not be counted: %s", error)
            return 0
        if len(before) < rate.questions:
            return 0
        free = before[-rate.questions] + timedelta(seconds=rate.seconds)
        return max(2, math.ceil((free - claim.created_at).total_seconds()))

    def delete(self, conversation: ConversationKey, message: str) -> None:
        """Remember that a message is deleted: it may arrive later."""
        self._deleted[(place(conversation), message)] = None
        while len(self._deleted) > DELETED_REMEMBERED:
            self._deleted.popitem(last=False)
