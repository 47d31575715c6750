"""Reads a chat completion from an OpenAI-compatible endpoint, streamed or whole, into its parts."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from ragcore.errors import ModelBadOutput
from ragcore.models.openai_calls import CallPart, call_parts
from ragcore.types import Usage

MAX_LINE = 4_000_000
"""More bytes without a line end are no stream of answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One event of the answer; each field is empty when the event does not have it."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    finish: str = ""
    failure: str = ""
    """What the endpoint said went wrong; nothing follows."""
    usage: Usage | None = None
    last: bool = False
    calls: tuple[CallPart, ...] = ()


async def parts(data: AsyncIterator[bytes], *, whole: bool) -> AsyncIterator[Part]:
    """Yield the parts of a response body: of a whole completion, or of server-sent events.

    Lines are split as bytes: a decoded answer may hold characters that Python counts as line ends.

    Raises:
        ModelBadOutput: If what comes is not JSON of the expected form.
    """
    if whole:
        for part in _read(b"".join([chunk async for chunk in data])):
            yield part
        yield Part(last=True)
        return
    async for line in _lines(data):
        if not line.startswith(b"data:"):
            continue
        payload = line[5:].strip()
        if payload.startswith(b"[DONE]"):
            yield Part(last=True)
            return
        if payload:
            for part in _read(payload):
                yield part


async def _lines(data: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    pending = b""
    async for chunk in data:
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            yield line
        if len(pending) > MAX_LINE:
            raise ModelBadOutput("the endpoint sent no event stream", raw="")
    if pending:
        yield pending


def _read(payload: bytes) -> list[Part]:
    try:
        event = json.loads(payload)
    except ValueError as error:
        raise ModelBadOutput(
            "the endpoint sent an event that is not JSON", raw=payload[:500].decode(errors="replace")
        ) from error
    if not isinstance(event, Mapping):
        raise ModelBadOutput("the endpoint sent an event that is no object", raw=str(event)[:500])
    if failure := event.get("error"):
        return [Part(failure=_words(failure))]
    found = [_choice(choice) for choice in event.get("choices") or () if isinstance(choice, Mapping)]
    usage = event.get("usage")
    if isinstance(usage, Mapping):
        found.append(Part(usage=_usage(usage)))
    return found


def _choice(choice: Mapping[str, object]) -> Part:
    delta = choice.get("delta") or choice.get("message") or {}
    if not isinstance(delta, Mapping):
        delta = {}
    return Part(
        text=_text(delta.get("content")),
        reasoning=_text(delta.get("reasoning_content")) or _text(delta.get("reasoning")),
        refusal=_text(delta.get("refusal")),
        finish=_text(choice.get("finish_reason")),
        calls=call_parts(delta.get("tool_calls")),
    )


def _text(value: object) -> str:
    """Return text as endpoints give it: a string, null, or a list of ``{"type": "text", "text": ...}``."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(_text(item.get("text")) for item in value if isinstance(item, Mapping))
    return ""


def _usage(usage: Mapping[str, object]) -> Usage:
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    return Usage(
        calls=1,
        prompt_tokens=prompt if isinstance(prompt, int) else 0,
        completion_tokens=completion if isinstance(completion, int) else 0,
    )


def _words(failure: object) -> str:
    if isinstance(failure, Mapping):
        return " | ".join(str(failure[name]) for name in ("message", "code", "type") if failure.get(name))
    return str(failure)
