"""One reply on the platform: it grows while the answer is written, and ends as one whole message or its parts.

Words that are shown on the way may fail as they like; the end may not.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Generic

from bots.platform import Button, Call, Limit, R, Sent, View
from bots.rendering.parse import parse_partial
from bots.rendering.tree import Steps
from bots.turn.beside import beside
from bots.turn.claims.claim import Claim
from bots.turn.claims.whole import Whole
from bots.turn.ending import end, to_its_end
from bots.turn.replying.fallbacks import forms, rendered
from bots.turn.replying.means import Means
from bots.turn.replying.pacing import Going
from bots.turn.replying.paging import paged
from bots.turn.replying.saying import Saying
from bots.turn.replying.standing import Standing
from ragcore.errors import (
    MessageGone,
    PlatformError,
    PlatformRateLimited,
    PlatformRefused,
    PlatformUnreachable,
    SendInDoubt,
    StreamEnded,
)

log = logging.getLogger(__name__)

SHOWS_REFUSED = 3
"""After so many refusals in a row a reply grows no more: its end is what counts."""
TOLD_AGAIN = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds between two tries to tell a reason while the answer is not there; after the last it is left."""
DRAFT_SECONDS = 20.0
"""After so long a draft is shown again that says nothing new: Telegram takes it away after 30 (sendMessageDraft)."""
LONGEST_SHOWN = 20_000
"""Characters of what is being written that are looked at: no platform shows more of them in one message."""


class Reply(Generic[R]):
    """The reply of one turn; for one task, and the one that shows its words meanwhile."""

    def __init__(self, means: Means[R], *, spoken: asyncio.Event, started: float, earlier: Claim | None = None) -> None:
        """Go on with what the claim says was begun and sent.

        Args:
            means: Whose reply it is, and what it works with.
            spoken: Set once words of the answer are on the platform, or may be.
            started: When the message came, by the running loop.
            earlier: The turn in whose messages this one answers: its question was edited.
        """
        self._means = means
        self._platform = platform = means.platform
        self._claim = means.claim
        self._incoming = incoming = means.claim.incoming
        self._pacer = means.pacer
        self._meter = means.meter
        self._manner = platform.manner(incoming)
        self._standing = Standing(means, sign=self._sign)
        self._text = ""
        self._steps: Steps | None = None
        self._fresh = asyncio.Event()
        self._shower: asyncio.Task[None] | None = None
        self._showing = self._manner.streaming != "none"
        self._language = "en"
        self._spoken = spoken
        self._started = started
        self._earlier = earlier
        self._recovered = False
        # Held by whatever changes what stands: words that are shown, and a reason that is told meanwhile.
        self._calling = asyncio.Lock()
        self._telling: asyncio.Task[None] | None = None
        self._finishing = False
        self.has_words = False
        """Whether words of the answer are known to have been shown."""
        self._signed = False
        self._saying = Saying(means, spoken=spoken, sign=self._sign)

    async def recover(self) -> None:
        """Find what a crash left, and take over the messages of an earlier answer to the same question; once."""
        async with self._calling:
            if self._recovered:
                return
            if self._claim.attempts > 1:
                await self._standing.find_begun()
            if self._earlier is not None:
                await self._standing.adopt(self._earlier)
            self._recovered = True

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
        if text.strip():
            self._grow()

    def follow(self, steps: Steps | None, language: str) -> None:
        """Show these steps, all until now, as soon as the limits allow: until there are words, in their place."""
        self._steps, self._language = steps, language
        if steps is not None:
            self._grow()

    def _grow(self) -> None:
        self._fresh.set()
        if self._showing and self._shower is None:
            self._shower = asyncio.create_task(self._show_all())

    def tell(self, view: View) -> None:
        """Let a plain reason stand until words of the answer, or all of it, take its place; the first one alone."""
        if self._telling is None and not self._finishing:
            self._telling = asyncio.create_task(self._tell(self._platform.render(view)[0]))

    async def settle(self) -> None:
        """Show no more; a call under way comes to its end."""
        await self._saying.end()
        shower, self._shower = self._shower, None
        await end(shower, self._telling)

    async def leave(self) -> None:
        """Show no more, and no status either: this turn ends without a message."""
        await self.settle()
        await self._saying.clear()

    async def _tell(self, reason: R) -> None:
        await self.recover()
        for wait in TOLD_AGAIN:
            going = await self._pacer.take(self._standing.limits(0))
            # As with words: once begun a call is not cancelled.
            if await to_its_end(self._place(reason, going)):
                self._saying.renew()
                return
            await asyncio.sleep(wait)

    async def _place(self, reason: R, going: Going) -> bool:
        """Try to send a reason; return whether that is over."""
        async with self._calling:
            with going:
                stands = self._standing.over(0) is not None and self._earlier is None
                if self._finishing or self.has_words or stands:
                    return True
                try:
                    return await self._standing.place(reason)
                except PlatformError as error:
                    self._meter.refused[type(error).__name__] += 1
                    log.warning("turn %s: a reason did not go: %s", self._claim.reference, error)
                    return True

    async def _show_all(self) -> None:
        shown: R | None = None
        refused = 0
        while self._showing:
            if not await self._news():
                shown = None  # what it showed goes by itself
            self._fresh.clear()
            await self._room()
            has_words, part = await self._growing()
            if part == shown:
                continue
            # Once begun a call is not cancelled: nobody would know what stands.
            went = await to_its_end(self._show(part, has_words=has_words))
            shown, refused = (part, 0) if went else (shown, refused + 1)
            if not went:
                self._fresh.set()
                self._showing = self._showing and refused < SHOWS_REFUSED
            await asyncio.sleep(self._manner.every)

    async def _news(self) -> bool:
        """Wait for something new to show; False where it is time to show a draft again, which lasts half a minute."""
        try:
            async with asyncio.timeout(DRAFT_SECONDS if self._manner.streaming == "draft" else None):
                await self._fresh.wait()
        except TimeoutError:
            return False
        return True

    async def _room(self) -> None:
        while True:
            limits = self._platform.limits(self._incoming, self._next_call(), self._standing.over(0))
            if (delay := self._pacer.delay(limits)) <= 0:
                return
            await asyncio.sleep(delay)

    def _next_call(self) -> Call:
        return Call.BEGIN if self._standing.over(0) is None else Call.CHANGE

    async def _growing(self) -> tuple[bool, R]:
        """Return whether there are words of the answer yet, and what is written so far as the platform shows it."""
        text, steps, language = self._text[:LONGEST_SHOWN], self._steps, self._language

        def render() -> R:
            view = View(
                document=replace(parse_partial(text), steps=steps),
                reference=self._claim.reference,
                buttons=(Button.STOP,),
                language=language,
            )
            return self._platform.render_partial(view)

        return bool(text.strip()), await beside(text, render)

    async def _show(self, part: R, *, has_words: bool) -> bool:
        """Show words once; return whether they went, and decide what an error means for the next ones."""
        async with self._calling:
            return await self._show_now(part, has_words=has_words)

    async def _show_now(self, part: R, *, has_words: bool) -> bool:
        begun, call = self._standing.over(0), self._next_call()
        limits = self._platform.limits(self._incoming, call, begun)
        going = self._pacer.take_now(limits)
        if going is None:
            return True  # another reply was faster; the next round shows newer words
        key = self._standing.key(0)
        try:
            with going:
                if begun is None and self._manner.streaming != "draft":
                    await self._standing.intend(0, key)
                self._means.check()
                self._spoken.set()
                self._meter.sends[call] += 1
                sent = await self._standing.call(self._platform.show(self._incoming, part, begun=begun, key=key))
        except PlatformError as error:
            self._after(error, limits, begun)
            if begun is None and isinstance(error, PlatformUnreachable) and self._manner.streaming != "draft":
                await self._standing.look(0, key)
            return False
        self._sign()
        first, self.has_words = has_words and not self.has_words, self.has_words or has_words
        if first:
            self._meter.first_words.add(asyncio.get_running_loop().time() - self._started)
        await self._standing.begin(sent)
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
                self._standing.end_stream(begun)
            case MessageGone():
                self._standing.forget(0)
                self._showing = False
            case PlatformUnreachable():
                pass
            case _:
                self._showing = False

    async def finish(self, view: View, *, knowledge_bases: Sequence[str] = ()) -> None:
        """Send the whole reply, in place of whatever stands; ``knowledge_bases`` are those that it was made from.

        Raises:
            PlatformError: the platform takes it in no form.
            ClaimLost: somebody else answers, or the question is gone.
        """
        self._finishing = True
        await self.settle()
        if self._standing.is_final:
            return  # a process that is gone had it sent
        first, in_doubt = await paged(self._means, Whole(view=view, knowledge_bases=tuple(knowledge_bases)))
        try:
            await self._send(first)
        except SendInDoubt as error:
            if in_doubt is None:
                raise
            log.info("turn %s: %s; its asker is told so", self._claim.reference, error)
            self._standing.dare()
            await self._send(in_doubt)

    async def _send(self, view: View) -> None:
        refused: PlatformRefused | None = None
        parts: tuple[R, ...] = ()
        for form in forms(view):
            before, parts = parts, await rendered(self._platform.render, form)
            if parts == before:
                continue  # the platform has no older form
            try:
                await self._standing.send_all(parts)
                return
            except PlatformRefused as error:
                self._meter.refused[type(error).__name__] += 1
                log.warning("turn %s: a form of the answer was refused: %s", self._claim.reference, error)
                refused = error
        if refused is not None and not self._standing.messages:
            raise refused
        log.warning("turn %s: sent anew, for what stands cannot be changed: %s", self._claim.reference, refused)
        await self._standing.clear()
        await self._standing.send_all(parts)

    async def withdraw(self) -> None:
        """Take back whatever stands of a question that is gone; what cannot be taken back is only logged."""
        await self._standing.withdraw()
