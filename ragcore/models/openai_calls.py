"""Calls of tools as OpenAI-compatible endpoints send them, whole or in fragments, gathered into whole ones."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragcore.types import ToolCall

MOST_CHARACTERS = 200_000
"""Characters of all calls of a reply that are kept: what goes on after that is a model that can't stop."""
FRAME = 400
"""Characters that a call counts beside its name and arguments: so there are at most 500 of a reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPart:
    """A call, or a piece of one; ``index`` is None where the endpoint leaves it out."""

    index: int | None = None
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class _Call:
    index: int | None
    id: str
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class Calls:
    """Puts the pieces of one reply's calls together.

    A piece belongs to the call of its index. Endpoints that give each of several calls the index 0, or none (Ollama,
    Gemini and gateways did), still give each an id of its own, or begin each with its name: where another id or name
    stands already, that begins a call. What tells neither goes on with the last one.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._calls: list[_Call] = []
        self._room = MOST_CHARACTERS

    def take(self, parts: Sequence[CallPart]) -> None:
        """Add the pieces of one event, in order."""
        for part in parts:
            if self._room < 0:
                return
            call = next((one for one in reversed(self._calls) if self._goes_on(one, part)), None)
            # Some send the whole name with each piece.
            name = "" if call is not None and part.name == call.name else part.name
            self._room -= len(name) + len(part.arguments) + (FRAME if call is None else 0)
            if self._room < 0:
                return
            if call is None:
                call = _Call(part.index, part.id)
                self._calls.append(call)
            call.id = call.id or part.id
            call.name += name
            if part.arguments:
                call.arguments.append(part.arguments)

    def whole(self) -> tuple[ToolCall, ...]:
        """Return the calls that there are now; ids may be empty or stand twice, as the endpoint gave them."""
        return tuple(ToolCall(id=one.id, name=one.name, arguments="".join(one.arguments)) for one in self._calls)

    def _goes_on(self, call: _Call, part: CallPart) -> bool:
        """Tell whether a piece belongs to a call."""
        if part.index is not None and call.index is not None and part.index != call.index:
            return False
        if part.id:
            return part.id == call.id or (not call.id and part.index is not None and part.index == call.index)
        if part.name and part.name != call.name and call.arguments:
            return False
        if part.index is not None:
            return part.index == call.index
        return not part.name and call is self._calls[-1]


def call_parts(said: object) -> tuple[CallPart, ...]:
    """Return the calls, or the pieces of calls, in what a message or a delta has as ``tool_calls``."""
    if not isinstance(said, list):
        return ()
    return tuple(_part(one) for one in said if isinstance(one, Mapping))


def _part(said: Mapping[str, object]) -> CallPart:
    function = said.get("function")
    if not isinstance(function, Mapping):
        function = {}
    index, id_, name = said.get("index"), said.get("id"), function.get("name")
    arguments = function.get("arguments")
    if arguments is not None and not isinstance(arguments, str):
        # An object, where its text was due.
        arguments = json.dumps(arguments, ensure_ascii=False)
    return CallPart(
        index=index if isinstance(index, int) else None,
        id=id_ if isinstance(id_, str) else "",
        name=name if isinstance(name, str) else "",
        arguments=arguments or "",
    )
