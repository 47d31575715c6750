"""Every error of the openai SDK and of what lies under it, as one of ours; and whether another try may help.

Chat and embeddings both end here. ``section`` is the section of the settings that names the endpoint, for the mend.
"""

import math
import random
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from ragcore.errors import (
    ModelAuthError,
    ModelBadOutput,
    ModelContextTooLong,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelUnreachable,
)
from ragcore.models.error_text import without_words

LONGEST_WAIT = 20.0
"""The longest that an endpoint may keep us, and the longest step of our own, in seconds."""

TRIES_WHERE_NOBODY_ANSWERS = 2
"""Tries of a call to an endpoint that takes no connection, or says nothing in time: one more, in case that it is just
being restarted. Whoever asked waits meanwhile, and has the documents' own words to fall back on."""
BREATH = 0.2
"""Seconds until the second of these tries."""

FIRST_BACKOFF = 0.5
"""Seconds of the first step of our own, where the endpoint does not say how long; each further step doubles it."""
CONNECT_SECONDS = 5.0
"""How long a connection may take to stand, unless the settings say otherwise."""
SHOWN_CHARACTERS = 300

# The codes and wordings of OpenAI and Azure, vLLM, llama.cpp, Ollama, LM Studio, Anthropic and the gateways to them.
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length|context (?:length|size|window)"
    r"|maximum model length|max_model_len|(?:prompt|input)(?: \w+){0,3} too long|too many (?:input )?tokens"
    r"|input (?:token )?(?:length|count)[^.]{0,40}exceed|exceed[^.]{0,40}(?:token|context)|reduce the length",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"content_filter|content_policy|content management policy|responsible ?ai|content policy|moderation|safety system"
    r"|flagged|invalid_prompt",
    re.IGNORECASE,
)
_RATE = re.compile(r"rate.?limit|too many requests|overloaded|quota", re.IGNORECASE)
_SPENT = re.compile(
    r"insufficient_quota|billing|exceeded your current quota|insufficient (?:balance|credit)", re.IGNORECASE
)
_KEY = re.compile(r"\b(?:sk|key|pk|gsk|xai|hf)[-_][\w*.-]{4,}|Bearer\s+\S+|(?<=://)[^\s/]+(?=@)")
_RETRIED = frozenset({408, 409, 425, 429})
# What endpoints answer to tools that they don't take: 400 (Ollama, vLLM), 404 (OpenRouter), 422 (those that check each
# field), and llama.cpp's server 500, as "tools param requires --jinja flag" or "Unsupported param: tools".
_WITHOUT_TOOLS = frozenset({400, 404, 422})
_TOOLS = re.compile(
    r"\btools? param|\bparam\w*:? .?tools?\b|support\w* (?:for )?tools?\b|tools? .{0,20}support", re.IGNORECASE
)
# What is said where a stream broke off, or where tools are not to be had in one.
_STREAM = re.compile(r"\bstream(?:ing|ed)?\b|\bchunked read\b|\AAPIConnectionError\b", re.IGNORECASE)

# By name, because which of them exist depends on the SDK's release. A test fails on one that isn't here.
MAPPED: Mapping[str, type[ModelError]] = {
    "OpenAIError": ModelError,
    "APIError": ModelUnreachable,
    "APIStatusError": ModelError,
    "APIResponseValidationError": ModelBadOutput,
    "APIConnectionError": ModelUnreachable,
    "APITimeoutError": ModelUnreachable,
    "BadRequestError": ModelError,
    "AuthenticationError": ModelAuthError,
    "OAuthError": ModelAuthError,
    "SubjectTokenProviderError": ModelAuthError,
    "PermissionDeniedError": ModelAuthError,
    "NotFoundError": ModelError,
    "ConflictError": ModelUnreachable,
    "UnprocessableEntityError": ModelError,
    "RateLimitError": ModelRateLimited,
    "InternalServerError": ModelUnreachable,
    "LengthFinishReasonError": ModelBadOutput,
    "ContentFilterFinishReasonError": ModelRefused,
    "WebSocketConnectionClosedError": ModelUnreachable,
    "WebSocketQueueFullError": ModelUnreachable,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What went wrong, whether another try may help, and how long to wait for it (None: nobody said how long).

    ``tries`` is the most that make sense, None for as many as the caller allows. ``refuses_tools``: a request with
    tools may have failed because of these.
    """

    error: ModelError
    retry: bool = False
    wait: float | None = None
    tries: int | None = None
    refuses_tools: bool = False

    def pause(self, attempt: int, attempts: int, *, first: float = FIRST_BACKOFF) -> float | None:
        """Return the seconds to wait after a failed attempt, counted from 1; None when no other makes sense.

        The wait is the one that the endpoint asked for, else doubles from ``first`` up to 20 s, with jitter.
        """
        if not self.retry or attempt >= min(attempts, self.tries or attempts):
            return None
        step: float = min(LONGEST_WAIT, first * 2.0 ** (attempt - 1))
        return self.wait if self.wait is not None else step * random.uniform(0.5, 1.0)


def nobody_answers(text: str) -> Failure:
    """Return the failure of an endpoint that takes no connection, or says nothing in time."""
    return Failure(error=ModelUnreachable(text), retry=True, wait=BREATH, tries=TRIES_WHERE_NOBODY_ANSWERS)


def transport_errors() -> tuple[type[Exception], ...]:
    """Return what a call may raise: the SDK's errors, those of the HTTP library under it, and unreadable JSON."""
    import openai

    # The SDK moved from httpx to httpx2, and its older releases let the library's own errors through in a stream.
    http = sys.modules[openai.Timeout.__init__.__module__.partition(".")[0]]
    errors = [getattr(http, name) for name in ("HTTPError", "InvalidURL", "StreamError")]
    return (openai.OpenAIError, *errors, OSError, ValueError)


def failure_of(error: Exception, *, section: str, secrets: Sequence[str] = (), words: Sequence[str] = ()) -> Failure:
    """Return an SDK's or transport's error as ours; none of the secrets, and of the words sent, is in its text."""
    import openai

    if isinstance(error, openai.APIStatusError):
        said, asked = _said(str(error.message), error.body), retry_after(error.response.headers)
        return of_status(error.status_code, said, section=section, asked=asked, secrets=secrets, words=words)
    text = clean(f"{type(error).__name__}: {error}", secrets, words)
    if _connects_not(error):
        return nobody_answers(f"the endpoint takes no connection; check that it runs, and {section}.base_url ({text})")
    if isinstance(error, openai.APITimeoutError) or "Timeout" in type(error).__name__:
        return nobody_answers(f"the model did not answer in time ({text})")
    if type(error) is openai.APIError:
        return of_text(_said(str(error.message), error.body), secrets=secrets, words=words)
    kind = next((MAPPED[cls.__name__] for cls in type(error).__mro__ if cls.__name__ in MAPPED), None)
    if kind is None:
        kind = ModelBadOutput if isinstance(error, ValueError) else ModelUnreachable
    return Failure(error=_made(kind, text), retry=kind is ModelUnreachable)


def _connects_not(error: BaseException) -> bool:
    """Whether no connection came about at all: refused, no such host, no way to it, or not in time."""
    chain = (error, error.__cause__, error.__context__)
    names = {cls.__name__ for one in chain if one is not None for cls in type(one).__mro__}
    return not names.isdisjoint({"ConnectError", "ConnectTimeout"})


def of_status(
    status: int,
    said: str,
    *,
    section: str,
    asked: float | None = None,
    secrets: Sequence[str] = (),
    words: Sequence[str] = (),
) -> Failure:
    """Return what a status means; ``said`` is the response's message, code and type, ``asked`` its wait in seconds."""
    text = clean(f"HTTP {status}: {said}", secrets, words)
    if status == 429 and _SPENT.search(said):
        return Failure(error=ModelRateLimited(f"the account's quota is used up ({text})", retry_after=None))
    if _TOO_LONG.search(said) and status != 429:
        return Failure(error=ModelContextTooLong(text))
    if status in _RETRIED or status >= 500:
        return replace(_busy(status, text, asked), refuses_tools=status >= 500 and bool(_TOOLS.search(said)))
    kind: type[ModelError] = ModelError
    if _REFUSED.search(said):
        kind, text = ModelRefused, f"the endpoint's policy refused the input ({text})"
    elif status in (401, 402, 403):
        kind, text = ModelAuthError, f"{text}; check the key, OPENAI_API_KEY or {section}.api_key"
    elif status == 404:
        text = f"{text}; check {section}.base_url and {section}.model"
    elif status == 413:
        kind = ModelContextTooLong
    return Failure(error=kind(text), refuses_tools=kind is ModelError and status in _WITHOUT_TOOLS)


def _busy(status: int, text: str, wait: float | None) -> Failure:
    too_long = wait is not None and wait > LONGEST_WAIT
    if status == 429 or too_long:
        return Failure(error=ModelRateLimited(text, retry_after=wait), retry=not too_long, wait=wait)
    return Failure(error=ModelUnreachable(text), retry=True, wait=wait)


def of_text(said: str, *, secrets: Sequence[str] = (), words: Sequence[str] = ()) -> Failure:
    """Return what an error without a status means, as one sent within a stream."""
    text = clean(said, secrets, words)
    if _TOO_LONG.search(said):
        return Failure(error=ModelContextTooLong(text))
    if _REFUSED.search(said):
        return Failure(error=ModelRefused(text))
    if _RATE.search(said):
        return Failure(error=ModelRateLimited(text, retry_after=None), retry=not _SPENT.search(said))
    return Failure(error=ModelUnreachable(text), retry=True)


def is_of_streams(said: str) -> bool:
    """Tell whether it is the stream that failed: it broke off, or the endpoint has none of what was asked for."""
    return bool(_STREAM.search(said))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an endpoint asks to wait, None when it does not say, or not so that it can be read.

    Args:
        headers: with names in lower case, or of any case where the mapping finds them so. Read are OpenAI's
            ``retry-after-ms`` first, then ``Retry-After`` in seconds or as a date (RFC 9110, 10.2.3).
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if value.replace(".", "", 1).isdecimal() and math.isfinite(float(value)):
            return float(value) / unit
    try:
        then = parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0.0, ((then if then.tzinfo else then.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return None


def clean(text: str, secrets: Sequence[str] = (), words: Iterable[str] = ()) -> str:
    """Return the text on one short line, without the secrets and without anything that looks like a key.

    Nor is any line in it of the ``words`` that were sent: some endpoints repeat a request that they refuse, and errors
    go to the log, where nobody's question belongs.
    """
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[key]")
    text = without_words(" ".join(text.split()), words)
    text = _KEY.sub("[key]", text)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def _said(message: str, body: object) -> str:
    """Return the endpoint's own words: OpenAI's ``{"error": {"message", "code", "type"}}``, flatter forms, or text."""
    fields: list[str] = []
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(error, Mapping):
        fields = [str(error[name]) for name in ("message", "detail", "code", "type") if error.get(name)]
    elif isinstance(error, str):
        fields = [error]
    return " | ".join(fields) or message


def _made(kind: type[ModelError], text: str) -> ModelError:
    if kind is ModelBadOutput:
        return ModelBadOutput(text, raw="")
    if kind is ModelRateLimited:
        return ModelRateLimited(text, retry_after=None)
    return kind(text)
