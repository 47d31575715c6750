"""An answer that stands, told again to whoever asks: its quotes, its pictures, its pages, and to a whole channel."""

import logging
from collections.abc import Callable
from dataclasses import replace

from bots.pictures import Picture
from bots.platform import Share, View
from bots.requests import Recall
from bots.service import Backend
from bots.turn.claims import Claims
from bots.turn.claims.claim import Claim
from bots.turn.commands import command_of, listed
from bots.turn.options import TurnOptions
from bots.turn.pictures import Pictures
from bots.turn.quotes import all_open, quotes_view, shared_view
from bots.words.sentences import language_for
from ragcore.errors import CitebotError

log = logging.getLogger(__name__)


class Retelling:
    """Tells answers again, as far as those who see them then may read them; safe to use from many tasks."""

    def __init__(
        self, backend: Backend, claims: Claims, options: TurnOptions, *, alone: bool, closing: Callable[[], bool]
    ) -> None:
        """Tell what ``backend`` remembers of the turns of ``claims``.

        ``alone``: no other process shares answers. ``closing``: whether it is too late to cut pictures.
        """
        self._backend = backend
        self._claims = claims
        self._options = options
        self._alone = alone
        self._closing = closing
        self._pictures = Pictures(backend, options.pictures)

    async def quotes(self, reference: str, readers: frozenset[str]) -> View | None:
        """Return the cited passages, as far as these readers may read them."""
        claim = await self._claims.by_reference(reference)
        request = self._recall(claim, readers) if claim is not None else None
        if claim is None or request is None:
            return None
        return await quotes_view(self._backend, request, self._language(claim))

    async def pictures(self, reference: str, readers: frozenset[str]) -> tuple[Picture, ...]:
        """Return the cited passages as pictures, as far as these readers may read them; none while closing."""
        try:
            claim = await self._claims.by_reference(reference)
        except CitebotError as error:
            log.info("turn %s: passages are shown without pictures: %s", reference, error)
            return ()
        request = self._recall(claim, readers) if claim is not None and not self._closing() else None
        return await self._pictures.of(request) if request is not None else ()

    async def share(self, reference: str, by: str, readers: frozenset[str]) -> Share:
        """Begin to share an answer once, if its asker does it and these readers may read all of it."""
        claim = await self._claims.by_reference(reference)
        request = self._recall(claim, readers) if claim is not None and claim.incoming.asker.id == by else None
        if claim is None or request is None:
            return Share(state="refused")
        prompt = await self._claims.prompt_of(claim.reference)
        view = await shared_view(self._backend, request, prompt, self._language(claim))
        if view is None:
            return Share(state="refused")
        begun = await self._claims.shares.begin(claim.reference, alone=self._alone)
        return replace(begun, view=view) if begun.state == "now" else begun

    async def page(self, reference: str, by: str, number: int, readers: frozenset[str]) -> View | None:
        """Return a page of a reply that stays one message, if these readers may still read what it was made from.

        What a command lists is listed anew for them, as long as it is known what that was.
        """
        claim, whole = await self._claims.by_reference(reference), await self._claims.whole_of(reference)
        if claim is None or whole is None or (claim.incoming.private and claim.incoming.asker.id != by):
            return None
        bases = self._options.readable_in(claim.incoming, readers)
        if not set(whole.knowledge_bases) <= set(bases):
            return None
        command = command_of(claim.incoming, claim.incoming.text)
        if command is not None and command.lists:
            only = self._options.rule(claim.incoming.conversation).filter
            document = await listed(self._backend, command, readers, bases, whole.view.language, only=only)
            return replace(whole.view, document=document, page=number)
        if (request := self._recall(claim, readers)) is not None and not await all_open(self._backend, request):
            return None
        return replace(whole.view, page=number)

    def _recall(self, claim: Claim, readers: frozenset[str]) -> Recall | None:
        """Return what tells an answer again to these readers, where it was given; None when they may read nothing."""
        bases = self._options.readable_in(claim.incoming, readers)
        return Recall(reference=claim.reference, audience=readers, knowledge_bases=bases) if bases else None

    def _language(self, claim: Claim) -> str:
        return language_for(claim.incoming.text, claim.incoming.asker.language, self._options.language)
