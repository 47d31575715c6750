"""A whole call to an OpenAI-compatible endpoint, tried again while that may help."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from ragcore.models.openai_errors import failure_of, transport_errors

T = TypeVar("T")

ATTEMPTS = 5


async def with_retries(
    call: Callable[[], Awaitable[T]],
    attempts: int = ATTEMPTS,
    *,
    section: str,
    secrets: Sequence[str] = (),
    words: Sequence[str] = (),
) -> T:
    """Await the call; on a fault that may pass, wait and call again.

    Args:
        call: makes one request; the SDK's and the transport's errors come out of it as they are.
        attempts: calls at most; fewer where nobody answers at all.
        section: the section of the settings that names the endpoint.
        secrets: what no error may tell.
        words: what is sent; nor may an error repeat it.

    Raises:
        ModelError: Of the kind that fits, when it cannot pass, was asked to pass too late, or did not.
    """
    attempt = 0
    while True:
        attempt += 1
        try:
            return await call()
        except transport_errors() as error:
            failure = failure_of(error, section=section, secrets=secrets, words=words)
        wait = failure.pause(attempt, attempts)
        if wait is None:
            raise failure.error from None  # the SDK's own error may hold the key
        await asyncio.sleep(wait)
