"""What a reply holds: JSON in the form that is due, or the reason of a refusal."""

import json
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from connectors.http.faults import shown
from ragcore.errors import SourceBadReply

T = TypeVar("T")


def checked(kind: TypeAdapter[T], value: object, url: str, *, server: str) -> T:
    """Return a reply's value in its form; SourceBadReply, as ``malformed`` says it, when it has another one."""
    try:
        return kind.validate_python(value)
    except ValidationError:
        raise malformed(url, server=server) from None


def malformed(url: str, *, server: str) -> SourceBadReply:
    """Return the fault of a reply in another form than that of a server, which is called so."""
    return SourceBadReply(f"{shown(url)} did not answer as {server} does", mend="check `url`")


def json_object(content: bytes) -> dict[str, Any]:
    """Return what a refusal says of itself as a JSON object, {} when that can't be read."""
    try:
        told = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}
