"""One post after the other is let stand: sent, changed or taken away, or done, or put off, or given up."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Generic

from bots.platform import Incoming, Platform, R, Sent, View
from bots.requests import ReadChunk, Recall, Recalled, Sync
from bots.service import Backend
from bots.turn.claims import Claims
from bots.turn.claims.claim import Outcome
from bots.turn.options import TurnOptions, person
from bots.turn.people.ledger import Ledger
from bots.turn.people.posts import part_key
from bots.turn.people.values import Ask, Kind, Post, Reply, written_in
from bots.turn.people.views import card_view, note_view, reply_view, sorry_view
from bots.turn.quotes import answer_of
from bots.turn.replying.fallbacks import forms, rendered
from bots.words.sentences import language_for
from ragcore.errors import (
    CitebotError,
    MessageGone,
    PlatformAuthError,
    PlatformError,
    PlatformNotReached,
    PlatformRateLimited,
    PlatformRefused,
    SourceError,
    StoreError,
)
from ragcore.reports import SyncReport
from ragcore.types import Answer

log = logging.getLogger(__name__)

CALL_SECONDS = 40.0
"""How long one post may take; below what it is left to its taker."""
_SHORTEST, _LONGEST = 2.0, 600.0
"""Seconds between two tries, doubled each time."""
MOST_FAULTS = 100
"""Tries in vain after which a post is given up: most of a day."""


class _GivenUp(Exception):
    """There is nothing to let stand any more; why, for the log."""


class Poster(Generic[R]):
    """Lets stand on one platform what questions to people call for."""

    def __init__(
        self, platform: Platform[R], claims: Claims, backend: Backend, options: TurnOptions, ledger: Ledger
    ) -> None:
        """Post on ``platform``; ``backend`` recalls answers, and reads what is kept into the index."""
        self._platform = platform
        self._claims = claims
        self._backend = backend
        self._options = options
        self._ledger = ledger

    async def do(self, post: Post) -> None:
        """Do what a post asks for; raises StoreError alone, and then whoever comes next does it."""
        try:
            async with asyncio.timeout(CALL_SECONDS):
                sent = await self._done(post)
        except (PlatformRefused, MessageGone, PlatformAuthError, _GivenUp) as error:
            await self._give_up(post, error)
            return
        except StoreError:
            raise
        except (CitebotError, TimeoutError) as error:
            if post.faults + 1 >= MOST_FAULTS:
                await self._give_up(post, error)
                return
            wait = min(_LONGEST, _SHORTEST * 2 ** min(post.faults, 10))
            if isinstance(error, PlatformRateLimited):
                wait = max(error.retry_after or 0.0, _SHORTEST)
            log.info("post %s is put off for %.0f s: %s: %s", post.key, wait, type(error).__name__, error)
            await self._ledger.posts.later(
                post, wait, doubtful=not isinstance(error, PlatformNotReached | PlatformRateLimited)
            )
            return
        if await self._ledger.posts.stands(post, sent) and post.kind is Kind.COPY:
            await self._note(post)

    async def _give_up(self, post: Post, error: Exception) -> None:
        log.warning("post %s is given up: %s: %s", post.key, type(error).__name__, error)
        if not await self._ledger.posts.give_up(post, type(error).__name__):
            return
        if post.kind is Kind.COPY:
            await self._note(post)
        ask = await self._ledger.ask_of(post.reference) if post.kind is Kind.CARD else None
        if ask is not None:
            await self._ledger.not_reached(ask)

    async def _note(self, post: Post) -> None:
        reply = await self._ledger.reply_of(post.reply)
        if reply is not None:
            await self._ledger.noted(reply)

    async def _done(self, post: Post) -> tuple[Sent, ...]:
        """Do it, and return what stands then."""
        reply = await self._ledger.reply_of(post.reply) if post.reply else None
        ask = await self._ledger.ask_of(post.reference)
        match post.kind:
            case Kind.KEPT if reply is not None:
                await self._index(reply)
                return ()
            case Kind.NOTE if reply is not None:
                view = None if reply.deleted_at is not None else await self._note_of(reply)
                return await self._shown(post, reply.incoming, view)
            case Kind.CARD if ask is not None:
                return await self._card(post, ask)
            case Kind.COPY if ask is not None and reply is not None:
                await self._still_asked(ask)
                view = None if reply.deleted_at is not None else reply_view(reply, self._language(ask.incoming))
                return await self._shown(post, await self._back(ask), view)
            case Kind.SORRY if ask is not None:
                await self._still_asked(ask)
                return await self._shown(post, await self._back(ask), sorry_view(ask, self._language(ask.incoming)))
            case _:
                raise _GivenUp("what it is about is gone")

    async def _still_asked(self, ask: Ask) -> None:
        """Leave alone whoever has taken their question back."""
        claim = await self._claims.by_reference(ask.reference)
        if claim is not None and claim.outcome is Outcome.WITHDRAWN:
            raise _GivenUp("the question was taken back")

    async def _back(self, ask: Ask) -> Incoming:
        """Return what is answered so that it reaches whoever asked, and nobody who did not see the question."""
        if not ask.direct:
            return ask.incoming
        return written_in(await self._platform.direct(person(ask.incoming)), ask.asked_at)

    async def _card(self, post: Post, ask: Ask) -> tuple[Sent, ...]:
        owners = self._options.owners.get(ask.knowledge_base)
        if owners is None or owners.platform != self._platform.name:
            raise _GivenUp("nobody looks after its knowledge base any more")
        here = owners.conversation
        seen_by = await self._platform.seen_in(here)
        answer, passages = await self._answer(ask, seen_by)
        view = card_view(ask, answer, passages, self._options.language or "en")
        return await self._shown(post, written_in(here, ask.asked_at, seen_by), view)

    async def _answer(self, ask: Ask, seen_by: frozenset[str]) -> tuple[Answer | None, tuple[ReadChunk, ...]]:
        """Return the answer and what its prompt held, as far as all may read it who see the card."""
        held = await self._claims.prompt_of(ask.reference)
        request = Recall(reference=ask.reference, audience=seen_by, chunks=tuple(chunk.chunk_id for chunk in held))
        found = [event async for event in self._events(request) if isinstance(event, Recalled)]
        if not found or found[0].withheld:
            return None, ()
        return answer_of(found[0]), held

    async def _events(self, request: Recall | Sync) -> AsyncIterator[object]:
        async for event in self._backend.run(request):
            yield event

    async def _note_of(self, reply: Reply) -> View:
        return note_view(reply, self._options.language or "en", sent=await self._ledger.was_sent(reply.id))

    async def _shown(self, post: Post, to: Incoming, view: View | None) -> tuple[Sent, ...]:
        """Let a view stand where a message is answered, in place of what stood; None: nothing stands any more."""
        if view is None:
            for sent in post.sent:
                await self._platform.withdraw(to, sent)
            return ()
        refused: PlatformRefused | None = None
        for form in forms(view):
            try:
                return await self._sent(post, to, await rendered(self._platform.render, form))
            except PlatformRefused as error:
                refused = error
        assert refused is not None
        raise refused

    async def _sent(self, post: Post, to: Incoming, parts: tuple[R, ...]) -> tuple[Sent, ...]:
        stands = list(post.sent)
        for number, part in enumerate(parts):
            key = part_key(post, number)
            begun = stands[number] if number < len(stands) else None
            if begun is None and post.doubtful:
                begun = await self._found(to, key)
            try:
                sent = await self._platform.send(to, part, begun=begun, key=key, number=number)
            except MessageGone:
                if begun is None:
                    raise
                sent = await self._platform.send(to, part, begun=None, key=key, number=number)
            stands[number : number + 1] = [sent]
            await self._ledger.posts.stands(post, stands, done=False)
        for left in stands[len(parts) :]:
            await self._platform.withdraw(to, left)
        return tuple(stands[: len(parts)])

    async def _found(self, to: Incoming, key: str) -> Sent | None:
        try:
            return await self._platform.find(to, key)
        except PlatformError as error:
            log.info("what was sent could not be looked for: %s: %s", type(error).__name__, error)
            return None

    async def _index(self, reply: Reply) -> None:
        """Read what is kept into the index; CitebotError when that failed."""
        source = self._options.kept_in.get(reply.knowledge_base)
        if source is None:
            raise _GivenUp("its knowledge base has no owners any more")
        async for event in self._events(Sync(sources=(source,))):
            if isinstance(event, SyncReport) and event.error:
                raise SourceError(event.error)

    def _language(self, incoming: Incoming) -> str:
        return language_for("", incoming.asker.language, self._options.language)
