"""The question put to a reranker about the chunks that passed the gate, and what stands where it does not answer.

The gate has judged by then, by a relevance that does not depend on what else was found: a reranker changes the order,
and drops nothing unless the operator sets a threshold of its own. When it fails, or is late, the fused order stands.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

from ragcore.errors import ConfigError, ContextTooSmall, ModelBadOutput, ModelError
from ragcore.models.rerankers import Reranked, Reranker
from ragcore.trace import degraded
from ragcore.types import Chunk, Usage

log = logging.getLogger(__name__)

FAILURES = 3
"""After so many failures in a row a reranker is left alone for a while: else each question would wait for nothing."""
REST_SECONDS = 30.0


class Reranking:
    """Asks one reranker, never longer than may be waited, and not at all for a while where it fails again and again."""

    def __init__(self, reranker: Reranker, *, now: Callable[[], float] = time.monotonic) -> None:
        """Start with none failed."""
        self._reranker = reranker
        self._now = now
        self._failures = 0
        self._rests_until = 0.0

    async def verdict(self, query: str, chunks: Sequence[Chunk], seconds: float) -> tuple[Reranked | None, Usage]:
        """Return the order of chunks and their scores, None where it failed, was late, or is left alone; and the cost.

        An answer of a model that names no order has its cost, too; of one that failed or was not waited for, the call
        is counted alone.

        Args:
            query: The question, as it was asked.
            chunks: In the fused order.
            seconds: How long it is waited for.
        """
        if len(chunks) < 2:
            return None, Usage()
        if self._now() < self._rests_until:
            degraded("the order of the search was kept: the reranker is left alone after failing")
            return None, Usage()
        texts = [text_of(chunk) for chunk in chunks]
        try:
            async with asyncio.timeout(seconds):
                found = await self._reranker.rerank(query, texts)
            if max(found.order, default=0) >= len(chunks):
                raise ModelBadOutput("the reranker named a text that there is not", raw=str(found.order)[:200])
        except (ModelError, ContextTooSmall, ConfigError, TimeoutError) as error:
            self._failed(f"{type(error).__name__}: {error}" if str(error) else f"no answer within {seconds:g} s")
            return None, self._spent(error)
        self._failures = 0
        return found, found.usage

    def _spent(self, error: Exception) -> Usage:
        """Return what asking took that came to nothing."""
        if isinstance(error, ModelBadOutput) and error.usage:
            return error.usage
        asked = isinstance(error, ModelError | TimeoutError)
        return Usage(calls=self._reranker.calls if asked else 0)

    def _failed(self, reason: str) -> None:
        """Count a failure, and tell of it."""
        degraded("the order of the search was kept: the reranker failed")
        self._failures += 1
        if self._failures % FAILURES == 0:
            self._rests_until = self._now() + REST_SECONDS
            reason = f"{reason}; it is asked again in {REST_SECONDS:.0f} s"
        log.warning("keeping the order of the search: the reranker %s failed: %s", self._reranker.name, reason)


def text_of(chunk: Chunk) -> str:
    """Return what a reranker reads of a chunk: title and headings, its text, and its keywords."""
    headings = " › ".join(part.strip() for part in (chunk.title, *chunk.heading_path) if part.strip())
    return "\n".join(part for part in (headings, chunk.text.strip(), ", ".join(chunk.keywords)) if part)
