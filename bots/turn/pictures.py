"""The passages that an answer cites as pictures: few, of a bounded size, and in time for whoever pressed."""

import asyncio
import base64
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import cast

from bots.pictures import Picture
from bots.requests import Recall, Show, Shown
from bots.service import Backend
from bots.turn.quotes import label_of, recall
from ragcore.errors import CitebotError

log = logging.getLogger(__name__)

LONGEST_LABEL = 200
"""Characters; a caption of Telegram takes 1,024, and what a screen reader is told in Slack 1,000."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureLimits:
    """What one press may cost: how many pictures, of how many bytes each, in how many seconds, ``at_once`` presses.

    Discord takes files of 10 MiB and Telegram photos of 10 MB
    (https://core.telegram.org/bots/api#sendphoto, https://docs.discord.com/developers/reference#uploading-files); three
    of these also stay below the 25 MiB of one request to Discord.
    """

    count: int = 3
    bytes: int = 8_000_000
    seconds: float = 30.0
    at_once: int = 2


class Pictures:
    """Has passages drawn, by the process that parses; shared by all presses of a platform."""

    def __init__(self, backend: Backend, limits: PictureLimits | None) -> None:
        """Draw by ``backend``; nothing without ``limits``."""
        self._backend = backend
        self._limits = limits
        self._places = asyncio.Semaphore(limits.at_once if limits else 1)

    async def of(self, request: Recall) -> tuple[Picture, ...]:
        """Return the pictures by their numbers, as many as came in time; nothing here fails."""
        found: list[Picture] = []
        if self._limits is None:
            return ()
        try:
            async with asyncio.timeout(self._limits.seconds), self._places:
                await self._draw(request, self._limits, found)
        except (CitebotError, TimeoutError) as error:
            log.info("turn %s: passages are shown without pictures: %s", request.reference, error or "it took too long")
        return tuple(sorted(found, key=lambda one: one.number))

    async def _draw(self, request: Recall, limits: PictureLimits, found: list[Picture]) -> None:
        recalled = await recall(self._backend, request)
        cited = sorted(recalled.citations, key=lambda one: one.number) if recalled else ()
        by_chunk = {citation.chunk_id: citation for citation in reversed(cited)}
        if not by_chunk:
            return
        # Whoever draws looks again at who may read each of them: when they were recalled is a moment ago.
        show = Show(chunks=tuple(dict.fromkeys(one.chunk_id for one in cited)), audience=request.audience)
        async with aclosing(cast("AsyncGenerator[Shown]", self._backend.run(show))) as events:
            async for shown in events:
                if shown.image is None:
                    log.debug("turn %s: no picture of %s: %s", request.reference, shown.chunk_id, shown.reason)
                    continue
                png = await asyncio.to_thread(base64.b64decode, shown.image.data)
                if len(png) > limits.bytes:
                    log.info("turn %s: the picture of %s is too large", request.reference, shown.chunk_id)
                    continue
                citation = by_chunk[shown.chunk_id]
                label = label_of(citation, LONGEST_LABEL)
                found.append(Picture(number=citation.number, label=label, png=png))
                if len(found) == limits.count:
                    return
