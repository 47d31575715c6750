"""What stands of one reply on the platform: its messages, sent for good or taken back, each recorded with the claim.

Each part is recorded as intended before it is sent and as done afterwards, so that whoever takes over after a crash
finds what stands and goes on in it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Generic, TypeVar

from bots.platform import Call, Limit, R, Sent
from bots.retrying import until_kept
from bots.turn.claims.claim import Claim, Outcome, Send, State
from bots.turn.replying.means import Means
from bots.turn.replying.withdrawing import CALL_SECONDS, take_back
from ragcore.errors import (
    ClaimLost,
    MessageGone,
    PlatformError,
    PlatformNotReached,
    PlatformRateLimited,
    PlatformUnreachable,
    SendInDoubt,
    StoreError,
    StreamEnded,
)

log = logging.getLogger(__name__)
T = TypeVar("T")

SENDS = 10
"""How often one final part is tried, waits that the platform asks for aside."""
WAITS = 30
"""How often the platform may ask to wait with one final part."""
SHORTEST_BACKOFF, LONGEST_BACKOFF = 0.5, 20.0
LOOK_SECONDS, LOOKS = 2.0, 150
"""How often, and how many times, it is looked what became of a turn that another process has taken over."""


class Standing(Generic[R]):
    """The messages of one reply; for one task at a time."""

    def __init__(self, means: Means[R], *, sign: Callable[[], None]) -> None:
        """Go on with what the claim says was begun and sent; ``sign`` is called at each part."""
        self._means = means
        self._platform = means.platform
        self._claim = claim = means.claim
        self._incoming = claim.incoming
        self._claims = means.claims
        self._pacer = means.pacer
        self._meter = means.meter
        self._sign = sign
        manner = means.platform.manner(claim.incoming)
        self._finds_sent, self._doubtful = manner.finds_sent, manner.doubtful
        self._changes = not manner.doubtful
        # Whether somebody who is gone may have sent the reply, where nobody can look for it or change it.
        self._in_doubt = self._doubtful and any(not part.done for part in claim.sends)
        self._parts: dict[int, Send] = {part.number: part for part in claim.sends}
        # A part that was sent whole is newer than the message that it began as.
        self._begun: Sent | None = None if 0 in self._parts and self._parts[0].sent else claim.begun
        self._sends = 0

    @property
    def messages(self) -> tuple[Sent, ...]:
        """Return the messages that are known to stand, in order."""
        parts = {number: part.sent for number, part in self._parts.items()}
        if self._begun is not None and parts.get(0) is None and not self._begun.draft:
            parts[0] = self._begun
        return tuple(sent for _, sent in sorted(parts.items()) if sent is not None)

    @property
    def is_final(self) -> bool:
        """Return whether the reply was taken, where nobody can change it: sent again it would stand twice."""
        return not self._changes and any(part.done for part in self._parts.values())

    async def find_begun(self) -> None:
        """After a crash: look for what was sent and not recorded."""
        for part in list(self._parts.values()):
            if part.done or part.sent is not None or not self._finds_sent:
                continue
            if part.number == 0 and self._begun is not None:
                continue
            try:
                found = await self.call(self._platform.find(self._incoming, part.key))
            except PlatformError as error:
                log.warning("turn %s: what was sent could not be looked for: %s", self._claim.reference, error)
                continue
            if found is not None:
                self._parts[part.number] = Send(number=part.number, key=part.key, done=False, sent=found)

    async def adopt(self, earlier: Claim) -> None:
        """Answer over the messages of an earlier answer to the same question, also after a crash."""
        found = [part for part in earlier.sends if part.sent is not None and part.number not in self._parts]
        parts = [replace(part, key=self.key(part.number), done=True) for part in found]
        if parts:
            await until_kept(lambda: self._claims.adopt(self._claim, parts), StoreError)
            self._parts.update((part.number, part) for part in parts)

    def over(self, number: int) -> Sent | None:
        """Return what a part takes the place of."""
        if number == 0 and self._begun is not None:
            return self._begun
        part = self._parts.get(number)
        return part.sent if part else None

    def key(self, number: int) -> str:
        """Return the key of a part: that of a try whose end nobody knows, else a new one."""
        known = self._parts.get(number)
        if known is not None and not known.done and known.key:
            return known.key
        self._sends += 1
        return f"{self._claim.reference}a{self._claim.attempts}s{self._sends}p{number}"

    async def intend(self, number: int, key: str) -> None:
        """Record that a part is about to be sent; ClaimLost: don't send."""
        known = self._parts.get(number)
        await until_kept(lambda: self._claims.intend(self._claim, number, key), StoreError)
        self._parts[number] = Send(number=number, key=key, done=False, sent=known.sent if known else None)

    async def begin(self, sent: Sent) -> None:
        """Record the message in which the answer grows; ClaimLost, and taken back, when somebody else answers."""
        if sent == self._begun:
            return
        self._begun = sent
        if not sent.draft:
            try:
                await until_kept(lambda: self._claims.begun(self._claim, sent), StoreError)
            except ClaimLost:
                self._begun = None
                if not await self._is_anothers(sent):
                    await take_back(self._platform, self._incoming, sent)
                raise

    async def _is_anothers(self, sent: Sent) -> bool:
        """Return whether who has the claim by now answers in a message of ours.

        As long as its turn goes on it may still find the message by its key; or it looked before that was there, and
        never will: then the message goes when the turn has ended, for it would stand beside the answer.
        """
        for _ in range(LOOKS):
            claim = await until_kept(lambda: self._claims.by_reference(self._claim.reference), StoreError)
            if claim is None or claim.outcome is Outcome.WITHDRAWN:
                return False
            known = (claim.begun, *(part.sent for part in claim.sends))
            if any(one is not None and one.id == sent.id for one in known):
                return True
            if not (self._finds_sent and claim.state is State.RUNNING):
                return False
            await asyncio.sleep(LOOK_SECONDS)
        return True

    def end_stream(self, begun: Sent) -> None:
        """Note that what was begun takes no more text, but can be changed."""
        self._begun = replace(begun, ended=True)

    def forget(self, number: int) -> None:
        """Note that a part is gone."""
        if number == 0:
            self._begun = None
        self._parts.pop(number, None)

    async def look(self, number: int, key: str) -> None:
        """Look whether a part that seemed not to go did arrive: it is written over then, not sent again."""
        if not self._finds_sent:
            return
        try:
            found = await self.call(self._platform.find(self._incoming, key))
        except PlatformError:
            return
        if found is not None:
            self._parts[number] = Send(number=number, key=key, done=False, sent=found)
            if self._is_draft(number):
                self._begun = None

    def dare(self) -> None:
        """Send from now on also what may have been taken already."""
        self._doubtful = self._in_doubt = False

    async def send_all(self, parts: tuple[R, ...]) -> None:
        """Send the parts in place of whatever stands; what is left of that is taken back.

        Raises SendInDoubt where one may have been taken already, and nobody can look for it or change it.
        """
        if self._in_doubt:
            raise SendInDoubt("the reply may have been taken before")
        for number, part in enumerate(parts):
            key = self.key(number)
            await self.intend(number, key)
            await self._done(number, key, await self._deliver(number, part, key))
        await self._drop_from(len(parts))

    async def place(self, part: R) -> bool:
        """Let one message stand for the time being, in place of all that does; False when another try may do it."""
        key = self.key(0)
        if not self._doubtful:  # else it stands for itself: what becomes of it says nothing of the answer
            await self.intend(0, key)
        try:
            sent = await self._try(0, part, key)
        except PlatformRateLimited:
            return False
        except PlatformUnreachable:
            await asyncio.sleep(SHORTEST_BACKOFF)
            if self._call_for(0) is Call.SEND:
                await self.look(0, key)
            return False
        if sent is None:
            return False
        if self._doubtful:
            self._sign()
            return True
        await self._done(0, key, sent)
        await self._drop_from(1)
        return True

    async def withdraw(self) -> None:
        """Take back whatever stands of a question that is gone; what cannot be taken back is only logged."""
        for sent in self.messages:
            await take_back(self._platform, self._incoming, sent)
        self._forget_all()

    async def clear(self) -> None:
        """Take back whatever stands, to send it anew; ClaimLost where somebody else may write in it by now."""
        for sent in self.messages:
            await take_back(self._platform, self._incoming, sent, check=self._means.check)
        self._forget_all()

    def _forget_all(self) -> None:
        self._begun = None
        self._parts.clear()

    async def call(self, call: Awaitable[T]) -> T:
        """Return what a call of the platform gives; PlatformUnreachable when it takes too long."""
        try:
            async with asyncio.timeout(CALL_SECONDS):
                return await call
        except TimeoutError as error:
            raise PlatformUnreachable(f"no answer within {CALL_SECONDS:.0f} seconds") from error

    async def _drop_from(self, count: int) -> None:
        for number in sorted(self._parts):
            if number < count:
                continue
            if (extra := self._parts[number].sent) is not None:
                # Whoever has the claim by then may write its own answer there.
                await take_back(self._platform, self._incoming, extra, check=self._means.check)
            self.forget(number)

    async def _deliver(self, number: int, part: R, key: str) -> Sent:
        """Send one part until it is taken, or is refused for good."""
        tries = waits = 0
        backoff = SHORTEST_BACKOFF
        while True:
            going = await self._pacer.take(self.limits(number))
            try:
                with going:
                    if (sent := await self._try(number, part, key)) is not None:
                        return sent
            except PlatformRateLimited:
                waits += 1
                if waits > WAITS:
                    raise
                continue
            except PlatformUnreachable as error:
                if self._doubtful and not isinstance(error, PlatformNotReached):
                    raise SendInDoubt("the reply may have been taken") from error
                if tries + 1 >= SENDS:
                    raise
                await asyncio.sleep(backoff)
                backoff = min(LONGEST_BACKOFF, 2 * backoff)
                if self._call_for(number) is Call.SEND:
                    await self.look(number, key)
            tries += 1
            if tries >= SENDS:
                raise PlatformUnreachable("it was tried too often")

    async def _try(self, number: int, part: R, key: str) -> Sent | None:
        """Send one part once; None when another try may take it. Raises as the platform does, and ClaimLost."""
        self._means.check()
        over, limits, call = self.over(number), self.limits(number), self._call_for(number)
        self._meter.sends[call] += 1
        try:
            return await self.call(self._platform.send(self._incoming, part, begun=over, key=key, number=number))
        except PlatformRateLimited as error:
            self._meter.refused[type(error).__name__] += 1
            self._pacer.pause(limits, error.retry_after)
            raise
        except StreamEnded:
            if over is None or over.ended:
                raise
            self.end_stream(over)
        except MessageGone:
            if over is None:
                raise
            self.forget(number)
        except PlatformUnreachable as error:
            log.info("turn %s: part %d did not go: %s", self._claim.reference, number, error)
            self._meter.refused[type(error).__name__] += 1
            raise
        return None

    def _call_for(self, number: int) -> Call:
        return Call.END if self.over(number) is not None and not self._is_draft(number) else Call.SEND

    def limits(self, number: int) -> tuple[Limit, ...]:
        """Return what sending a part counts against."""
        return self._platform.limits(self._incoming, self._call_for(number), self.over(number))

    def _is_draft(self, number: int) -> bool:
        """Return whether what was begun is only a draft, which a message takes the place of."""
        return number == 0 and self._begun is not None and self._begun.draft

    async def _done(self, number: int, key: str, sent: Sent) -> None:
        self._sign()
        if number == 0:
            self._begun = None
        self._parts[number] = Send(number=number, key=key, done=True, sent=sent)
        await until_kept(lambda: self._claims.done(self._claim, number, sent), StoreError)
