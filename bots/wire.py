"""Requests and events as JSON lines: the one place that knows how a value crosses the socket."""

import json
from functools import cache
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from bots.requests import Event, Request
from ragcore import errors
from ragcore.errors import CitebotError, StoreError

PROTOCOL = 20
"""Raised whenever a value changes its form, so that an older process is told apart."""

_REQUESTS = {kind.__name__: kind for kind in get_args(Request)}
_EVENTS = {kind.__name__: kind for kind in get_args(Event)}
_ERRORS: dict[str, type[CitebotError]] = {
    name: kind
    for name, kind in vars(errors).items()
    # Only those that can be made of their text alone.
    if isinstance(kind, type)
    and issubclass(kind, CitebotError)
    and ("__init__" not in vars(kind) or kind is errors.SourceError)
}


def encode_request(request: Request) -> bytes:
    """Return the request as one line."""
    return _line({"protocol": PROTOCOL, "request": type(request).__name__, "value": _plain(request)})


def decode_request(line: bytes) -> Request:
    """Return the request of a line; StoreError when this version cannot read it."""
    message = _message(line)
    kind = _REQUESTS.get(str(message.get("request")))
    if message.get("protocol") != PROTOCOL or kind is None:
        raise StoreError("the process that holds the data is of another version of Citebot: restart it")
    return _value(kind, message.get("value"))  # type: ignore[no-any-return]


def encode_event(event: Event) -> bytes:
    """Return the event as one line."""
    return _line({"event": type(event).__name__, "value": _plain(event)})


def encode_error(error: CitebotError) -> bytes:
    """Return the line that ends a stream in an error."""
    return _line({"error": type(error).__name__, "message": str(error)})


def encode_end() -> bytes:
    """Return the line that ends a stream."""
    return _line({"end": True})


def decode_event(line: bytes) -> Event | None:
    """Return the event of a line, None at the end; raise the error that the line carries."""
    message = _message(line)
    if "error" in message:
        raise _error(str(message["error"]), str(message.get("message", "")))
    if message.get("end"):
        return None
    kind = _EVENTS.get(str(message.get("event")))
    if kind is None:
        raise StoreError("the process that holds the data is of another version of Citebot: restart it")
    return _value(kind, message.get("value"))  # type: ignore[no-any-return]


def _error(name: str, text: str) -> CitebotError:
    kind = _ERRORS.get(name)
    if kind is None:
        # An error with facts of its own: its nearest kin that is text alone.
        named = getattr(errors, name, None)
        kin = named.__mro__ if isinstance(named, type) else ()
        kind = next((k for k in kin if k.__name__ in _ERRORS), CitebotError)
    return kind(text)


@cache
def _adapter(kind: Any) -> Any:
    return TypeAdapter(kind)


def _plain(value: Request | Event) -> Any:
    # dict: a read-only mapping is what pydantic cannot name.
    kind: Any = type(value)
    return _adapter(kind).dump_python(value, mode="json", fallback=dict, warnings=False)


def _value(kind: type, plain: object) -> Any:
    try:
        return _adapter(kind).validate_python(plain, strict=False)
    except ValidationError as error:
        raise StoreError("the process that holds the data is of another version of Citebot: restart it") from error


def _message(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError as error:
        raise StoreError("the other process sent something that is no message") from error
    if not isinstance(message, dict):
        raise StoreError("the other process sent something that is no message")
    return message


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"
