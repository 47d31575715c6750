"""One reply on the platform: it grows while the answer is written, and ends as one whole message or its parts.

Each part is recorded as intended before it is sent and as done afterwards, so that whoever takes over after a crash
finds what stands and goes on in it. Words that are shown on the way may fail as they like; the end may not.
"""

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from bots.patience import until_kept
from bots.platform import Button, Call, Limit, Platform, R, Sent, View
from bots.rendering.parse import parse_partial
from bots.turn.claim import Claim, Send
from bots.turn.claims import Claims
from bots.turn.forms import forms
from bots.turn.meter import Meter
from bots.turn.pacing import Pacer
from bots.turn.saying import Saying
from bots.turn.withdrawing import CALL_SECONDS, take_back
from ragcore.errors import (
    ClaimLost,
    MessageGone,
    PlatformError,
    PlatformRateLimited,
    PlatformRefused,
    PlatformUnreachable,
    StoreError,
    StreamEnded,
)

log = logging.getLogger(__name__)
T = TypeVar("T")

SHOWS_REFUSED = 3
"""After so many refusals in a row a reply grows no more: its end is what counts."""
LONGEST_SHOWN = 20_000
"""Characters of what is being written that are looked at: no platform shows more of them in one message."""
SENDS = 10
"""How often one final part is tried, waits that the platform asks for aside."""
WAITS = 30
"""How often the platform may ask to wait with one final part."""
LONGEST_BACKOFF = 20.0


class Reply(Generic[R]):
    """The reply of one turn; for one task, and the one that shows its words meanwhile."""

    def __init__(
        self,
        platform: Platform[R],
        claim: Claim,
        *,
        claims: Claims,
        pacer: Pacer,
        meter: Meter,
        spoken: asyncio.Event,
        started: float,
    ) -> None:
        """Go on with what the claim says was begun and sent.

        Args:
            platform: Where.
            claim: Whose; it must be held.
            claims: Where sends are recorded.
            pacer: Keeps the platform's limits.
            meter: Counts.
            spoken: Set once words of the answer are on the platform, or may be.
            started: When the message came, by the running loop.
        """
        self._platform = platform
        self._incoming = incoming = claim.incoming
        self._claim = claim
        self._claims = claims
        self._pacer = pacer
        self._meter = meter
        self._manner = platform.manner(incoming)
        self._parts: dict[int, Send] = {part.number: part for part in claim.sends}
        # A part that was sent whole is newer than the message that it began as.
        self._begun: Sent | None = None if 0 in self._parts and self._parts[0].sent else claim.begun
        self._text = ""
        self._fresh = asyncio.Event()
        self._shower: asyncio.Task[None] | None = None
        self._showing = self._manner.streaming != "none"
        self._language = "en"
        self._sends = 0
        self._spoken = spoken
        self._started = started
        self._signed = False
        self._saying = Saying(platform, incoming, pacer=pacer, meter=meter, spoken=spoken, sign=self._sign)

    @property
    def standing(self) -> tuple[Sent, ...]:
        """Return the messages that are known to stand, in order."""
        parts = {number: part.sent for number, part in self._parts.items()}
        if self._begun is not None and parts.get(0) is None and not self._begun.draft:
            parts[0] = self._begun
        return tuple(sent for _, sent in sorted(parts.items()) if sent is not None)

    async def find_begun(self) -> None:
        """After a crash: look for what was sent and not recorded."""
        for part in list(self._parts.values()):
            if part.done or part.sent is not None or not self._manner.finds_sent:
                continue
            if part.number == 0 and self._begun is not None:
                continue
            try:
                found = await self._call(self._platform.find(self._incoming, part.key))
            except PlatformError as error:
                log.warning("turn %s: what was sent could not be looked for: %s", self._claim.reference, error)
                continue
            if found is not None:
                self._parts[part.number] = Send(number=part.number, key=part.key, done=False, sent=found)

    async def adopt(self, earlier: Claim) -> None:
        """Answer over the messages of an earlier answer to the same question, also after a crash."""
        found = [part for part in earlier.sends if part.sent is not None and part.number not in self._parts]
        parts = [replace(part, key=self._key(part.number), done=True) for part in found]
        if parts:
            await until_kept(lambda: self._claims.adopt(self._claim, parts), StoreError)
            self._parts.update((part.number, part) for part in parts)

    @property
    def shown(self) -> str:
        """Return what was written until now."""
        return self._text

    def say(self, words: str) -> None:
        """Show that something is under way, until words of the answer are shown."""
        self._saying.say(words)

    def _sign(self) -> None:
        if not self._signed:
            self._signed = True
            self._meter.first_sign.add(asyncio.get_running_loop().time() - self._started)

    def write(self, text: str, language: str) -> None:
        """Show these words, all that is written so far, as soon as the limits allow."""
        self._text, self._language = text, language
        self._fresh.set()
        if self._showing and self._shower is None and text.strip():
            self._shower = asyncio.create_task(self._show_all())

    async def settle(self) -> None:
        """Show no more; a call under way comes to its end."""
        await self._saying.end()
        shower, self._shower = self._shower, None
        if shower is not None:
            shower.cancel()
            await asyncio.gather(shower, return_exceptions=True)

    async def _show_all(self) -> None:
        shown: R | None = None
        refused = 0
        while self._showing:
            await self._fresh.wait()
            self._fresh.clear()
            await self._room()
            part = self._platform.render_partial(self._view())
            if part == shown:
                continue
            # Once begun a call is not cancelled: nobody would know what stands.
            step = asyncio.ensure_future(self._show(part))
            try:
                went = await asyncio.shield(step)
            except asyncio.CancelledError:
                await asyncio.wait({step})
                raise
            shown, refused = (part, 0) if went else (shown, refused + 1)
            if not went:
                self._fresh.set()
                self._showing = self._showing and refused < SHOWS_REFUSED
            await asyncio.sleep(self._manner.every)

    async def _room(self) -> None:
        while True:
            limits = self._platform.limits(self._incoming, self._next_call(), self._over(0))
            if (delay := self._pacer.delay(limits)) <= 0:
                return
            await asyncio.sleep(delay)

    def _next_call(self) -> Call:
        return Call.BEGIN if self._over(0) is None else Call.CHANGE

    def _view(self) -> View:
        return View(
            document=parse_partial(self._text[:LONGEST_SHOWN]),
            reference=self._claim.reference,
            buttons=(Button.STOP,),
            language=self._language,
        )

    async def _show(self, part: R) -> bool:
        """Show words once; return whether they went, and decide what an error means for the next ones."""
        begun, call, first = self._over(0), self._next_call(), not self._spoken.is_set()
        limits = self._platform.limits(self._incoming, call, begun)
        going = self._pacer.take_now(limits)
        if going is None:
            return True  # another reply was faster; the next round shows newer words
        key = self._key(0)
        try:
            with going:
                if begun is None and self._manner.streaming != "draft":
                    await self._intend(0, key)
                self._spoken.set()
                self._meter.sends[call] += 1
                sent = await self._call(self._platform.show(self._incoming, part, begun=begun, key=key))
        except PlatformError as error:
            self._after(error, limits, begun)
            if begun is None and isinstance(error, PlatformUnreachable) and self._manner.streaming != "draft":
                await self._look(0, key)
            return False
        self._sign()
        if first:
            self._meter.first_words.add(asyncio.get_running_loop().time() - self._started)
        await self._take_begun(sent)
        return True

    def _after(self, error: PlatformError, limits: Sequence[Limit], begun: Sent | None) -> None:
        self._meter.refused[type(error).__name__] += 1
        log.info("turn %s: words were not taken: %s: %s", self._claim.reference, type(error).__name__, error)
        if begun is None and not isinstance(error, PlatformUnreachable):
            self._spoken.clear()  # nothing stands, so nobody has more patience for it
        match error:
            case PlatformRateLimited():
                self._pacer.pause(limits, error.retry_after)
            case StreamEnded() if begun is not None and not begun.ended:
                self._begun = replace(begun, ended=True)
            case MessageGone():
                self._forget(0)
                self._showing = False
            case PlatformUnreachable():
                pass
            case _:
                self._showing = False

    async def _take_begun(self, sent: Sent) -> None:
        if sent == self._begun:
            return
        self._begun = sent
        if not sent.draft:
            try:
                await until_kept(lambda: self._claims.begun(self._claim, sent), StoreError)
            except ClaimLost:
                # Whoever has the claim now cannot know of it.
                self._begun = None
                await take_back(self._platform, self._incoming, sent)
                raise

    async def finish(self, view: View) -> None:
        """Send the whole reply, in place of whatever stands.

        Raises:
            PlatformError: the platform takes it in no form.
            ClaimLost: somebody else answers, or the question is gone.
        """
        await self.settle()
        refused: PlatformRefused | None = None
        for parts in forms(self._platform, view):
            try:
                await self._send_all(parts)
                return
            except PlatformRefused as error:
                self._meter.refused[type(error).__name__] += 1
                log.warning("turn %s: a form of the answer was refused: %s", self._claim.reference, error)
                refused = error
        if refused is not None and not self.standing:
            raise refused
        log.warning("turn %s: sent anew, for what stands cannot be changed: %s", self._claim.reference, refused)
        await self.withdraw()
        await self._send_all(parts)

    async def withdraw(self) -> None:
        """Take back whatever stands; what cannot be taken back is only logged."""
        for sent in self.standing:
            await take_back(self._platform, self._incoming, sent)
        self._begun = None
        self._parts.clear()

    async def _send_all(self, parts: tuple[R, ...]) -> None:
        for number, part in enumerate(parts):
            await self._send(number, part)
        for number in sorted(self._parts):
            if number >= len(parts) and (extra := self._parts.pop(number).sent) is not None:
                await take_back(self._platform, self._incoming, extra)

    async def _send(self, number: int, part: R) -> None:
        key = self._key(number)
        await self._intend(number, key)
        sent = await self._deliver(number, part, key)
        self._sign()
        if number == 0:
            self._begun = None
        await self._done(number, key, sent)

    async def _deliver(self, number: int, part: R, key: str) -> Sent:
        """Send one part until it is taken, or is refused for good."""
        tries = waits = 0
        backoff = 0.5
        while True:
            over = self._over(number)
            stands = over is not None and not self._is_draft(number)
            call = Call.END if stands else Call.SEND
            limits = self._platform.limits(self._incoming, call, over)
            going = await self._pacer.take(limits)
            self._meter.sends[call] += 1
            try:
                with going:
                    send = self._platform.send(self._incoming, part, begun=over, key=key, number=number)
                    return await self._call(send)
            except PlatformRateLimited as error:
                self._meter.refused[type(error).__name__] += 1
                self._pacer.pause(limits, error.retry_after)
                waits += 1
                if waits > WAITS:
                    raise
                continue
            except StreamEnded:
                if over is None or over.ended:
                    raise
                self._begun = replace(over, ended=True)
            except MessageGone:
                if over is None:
                    raise
                self._forget(number)
            except PlatformUnreachable as error:
                log.info("turn %s: part %d did not go: %s", self._claim.reference, number, error)
                self._meter.refused[type(error).__name__] += 1
                if tries + 1 >= SENDS:
                    raise
                await asyncio.sleep(backoff)
                backoff = min(LONGEST_BACKOFF, 2 * backoff)
                if not stands:
                    await self._look(number, key)
            tries += 1
            if tries >= SENDS:
                raise PlatformUnreachable("it was tried too often")

    async def _look(self, number: int, key: str) -> None:
        """Look whether a part that seemed not to go did arrive: it is written over then, not sent again."""
        if not self._manner.finds_sent:
            return
        try:
            found = await self._call(self._platform.find(self._incoming, key))
        except PlatformError:
            return
        if found is not None:
            self._parts[number] = Send(number=number, key=key, done=False, sent=found)
            if self._is_draft(number):
                self._begun = None

    def _is_draft(self, number: int) -> bool:
        """Return whether what was begun is only a draft, which a message takes the place of."""
        return number == 0 and self._begun is not None and self._begun.draft

    def _over(self, number: int) -> Sent | None:
        if number == 0 and self._begun is not None:
            return self._begun
        part = self._parts.get(number)
        return part.sent if part else None

    def _forget(self, number: int) -> None:
        if number == 0:
            self._begun = None
        self._parts.pop(number, None)

    async def _intend(self, number: int, key: str) -> None:
        known = self._parts.get(number)
        if known is not None and not known.done and known.key == key:
            return
        await until_kept(lambda: self._claims.intend(self._claim, number, key), StoreError)
        self._parts[number] = Send(number=number, key=key, done=False, sent=known.sent if known else None)

    async def _done(self, number: int, key: str, sent: Sent) -> None:
        self._parts[number] = Send(number=number, key=key, done=True, sent=sent)
        await until_kept(lambda: self._claims.done(self._claim, number, sent), StoreError)

    def _key(self, number: int) -> str:
        """Return the key of a part: that of a try whose end nobody knows, else a new one."""
        known = self._parts.get(number)
        if known is not None and not known.done and known.key:
            return known.key
        self._sends += 1
        return f"{self._claim.reference}a{self._claim.attempts}s{self._sends}p{number}"

    async def _call(self, call: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(CALL_SECONDS):
                return await call
        except TimeoutError as error:
            raise PlatformUnreachable(f"no answer within {CALL_SECONDS:.0f} seconds") from error
