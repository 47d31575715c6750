"""What every client of an OpenAI-compatible endpoint shares: its errors mapped to ours, and when to try again."""

import email.utils
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_random_exponential

from ragcore.errors import (
    ModelAuthError,
    ModelContextTooLong,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelUnreachable,
)

if TYPE_CHECKING:
    import openai

T = TypeVar("T")

ATTEMPTS = 5
ATTEMPTS_TO_CONNECT = 3
"""Of a call to an endpoint that takes no connection: a question waits meanwhile, and words alone find much."""
LONGEST_WAIT = 20.0
"""The longest wait between two attempts, in seconds; an endpoint that asks for more ends the call."""

_TOO_LONG = ("context_length_exceeded", "context length", "maximum context", "too many tokens", "input is too large")
_POLICY = ("content_filter", "content_policy_violation")
_BACKOFF = wait_random_exponential(multiplier=0.5, max=LONGEST_WAIT)


async def with_retries(call: Callable[[], Awaitable[T]], attempts: int = ATTEMPTS) -> T:
    """Await the call; on a fault that may pass, wait and call again.

    The wait is the one that the endpoint asks for, up to 20 s, else random and growing, as in "full jitter" backoff.

    Raises:
        ModelError: Of the kind that fits, when it cannot pass, was asked to pass too late, or did not.
    """
    import openai

    retrying = AsyncRetrying(retry=retry_if_exception(_may_pass), wait=_wait, stop=_stop_after(attempts), reraise=True)
    try:
        return await retrying(call)
    except openai.OpenAIError as error:
        raise mapped(error) from error


def mapped(error: "openai.OpenAIError") -> ModelError:
    """Return our error for one of the library's; its text holds no key, so nothing that a refused login said."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return ModelUnreachable("the endpoint did not answer in time")
    if isinstance(error, openai.APIConnectionError):
        return ModelUnreachable(f"the endpoint cannot be reached: {type(error.__cause__ or error).__name__}")
    if not isinstance(error, openai.APIStatusError):
        return ModelError(f"the endpoint's client failed: {type(error).__name__}")
    if error.status_code == 429:
        reason = "the quota is used up" if error.code == "insufficient_quota" else "too many requests"
        return ModelRateLimited(f"the endpoint refused for now: {reason}", retry_after=asked_wait(error))
    return _of_status(error.status_code, f"{error.code or ''} {error.message}".strip())


def _of_status(status: int, text: str) -> ModelError:
    if status in (401, 403):
        return ModelAuthError(f"the endpoint refused the key (status {status}); check embedding.api_key")
    if status >= 500 or status in (408, 409):
        return ModelUnreachable(f"the endpoint failed with status {status}")
    if status == 413 or any(sign in text.lower() for sign in _TOO_LONG):
        return ModelContextTooLong(f"the endpoint found the input too long: {text[:200]}")
    if any(sign in text for sign in _POLICY):
        return ModelRefused("the endpoint's content policy refused the input")
    return ModelError(f"the endpoint refused the request with status {status}: {text[:200]}")


def asked_wait(error: BaseException) -> float | None:
    """Return the seconds that the endpoint asked to wait, None when it did not say."""
    import openai

    return retry_after(error.response.headers) if isinstance(error, openai.APIStatusError) else None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read ``retry-after-ms`` or ``Retry-After``, in seconds or as a date (RFC 9110, 10.2.3); None if absent or bad."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if value.replace(".", "", 1).isdecimal():
            return float(value) / unit
    date = email.utils.parsedate_tz(headers.get("retry-after", ""))
    return max(0.0, email.utils.mktime_tz(date) - time.time()) if date else None


def _may_pass(error: BaseException) -> bool:
    import openai

    if isinstance(error, openai.APIConnectionError):
        return True
    if not isinstance(error, openai.APIStatusError) or error.code == "insufficient_quota":
        return False
    if (asked_wait(error) or 0.0) > LONGEST_WAIT:
        return False
    return error.status_code >= 500 or error.status_code in (408, 409, 429)


def _stop_after(attempts: int) -> Callable[[RetryCallState], bool]:
    """Return what ends the attempts; it takes fewer where nobody answers at all."""

    def stop(state: RetryCallState) -> bool:
        import openai

        error = state.outcome.exception() if state.outcome else None
        refused = isinstance(error, openai.APIConnectionError) and not isinstance(error, openai.APITimeoutError)
        return state.attempt_number >= (min(attempts, ATTEMPTS_TO_CONNECT) if refused else attempts)

    return stop


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = asked_wait(error) if error else None
    return _BACKOFF(state) if asked is None else asked
