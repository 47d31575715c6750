"""The calls of a reply by an endpoint's function calling: which are made, and what the others are answered. Pure."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ragcore.errors import ModelBadOutput
from ragcore.json_replies import MOST_MENDED, value_of
from ragcore.research.queries import MOST_READ
from ragcore.research.tools.calls import LONGEST_ID, WHAT, Call, Tool, call_in, calls_left_over, is_new
from ragcore.research.values import Plan
from ragcore.types import ToolCall

LONGEST_KEPT_ID = 64
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
LONGEST_NAME = 64
"""Characters of a function's name, and which they may be: what OpenAI's reference says of ``tools``."""


class State(StrEnum):
    """What became of a call, as ``tool_result`` puts it to the model."""

    FOUND = "found"
    NOTHING = "nothing"
    FAILED = "failed"
    REPEATED = "repeated"
    BEYOND = "beyond"
    """More were asked for than are made at once."""
    BROKEN = "broken"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A call as it is sent back: ``line`` is that of one that is made, ``fault`` why one is not."""

    call: ToolCall
    line: str = ""
    fault: State | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read of a reply's calls: the lines of those that are made, and all that are answered, in order."""

    plan: Plan
    said: tuple[Said, ...]


def read_calls(
    calls: Sequence[ToolCall],
    most: int,
    tools: Sequence[Tool],
    asked: Sequence[str],
    *,
    ids: Sequence[str] = (),
    cut: bool = False,
) -> Reading:
    """Tell which calls are made: those that are new, at most ``most``.

    Takes up to seconds where arguments have to be mended: call it in a thread.

    Args:
        calls: As the endpoint gave them. Of those that are not made at most ``most`` are answered: the rest is as if it
            had not been said, and only counted.
        most: How many are made.
        tools: Those that there are.
        asked: The lines of what was asked before.
        ids: Those of earlier calls of the same conversation; a call gets another one where it has one of them.
        cut: The reply was cut, so arguments that are not whole are half a question, and not mended.
    """
    read = _Arguments(cut)
    lines: list[str] = []
    beyond: list[str] = []
    faults = 0
    said: list[Said] = []
    for given in calls[:MOST_READ]:
        arguments = read.of(given.arguments)
        call = _call(given.name, arguments)
        fault = _fault(given, call, tools, [*asked, *lines])
        if fault is None and call is not None and len(lines) == most:
            fault = State.BEYOND
            beyond.append(call.line)
        if fault is not None and (faults := faults + 1) > most:
            continue
        line = "" if fault is not None or call is None else call.line
        if line:
            lines.append(line)
        echoed = {WHAT: call.what} if line and call else arguments
        said.append(Said(call=_echo(given, echoed, [*ids, *(one.call.id for one in said)]), line=line, fault=fault))
    unmended = _Arguments(True)
    unread = ((given.name, unmended.of(given.arguments)) for given in calls[MOST_READ:] if given.name in set(tools))
    beyond += (call.line for name, arguments in unread if (call := _call(name, arguments)) is not None)
    plan = Plan(questions=tuple(lines), cut=calls_left_over(beyond, [*asked, *lines]))
    return Reading(plan=plan, said=tuple(said))


def _call(name: str, arguments: Any) -> Call | None:
    """Return the call; its argument is named, or the first text among others."""
    named = {WHAT: arguments[WHAT]} if isinstance(arguments, Mapping) and WHAT in arguments else {}
    return None if arguments is None else call_in({"name": name, "arguments": arguments, **named})


def _fault(given: ToolCall, call: Call | None, tools: Sequence[Tool], asked: Sequence[str]) -> State | None:
    if given.name not in set(tools):
        return State.UNKNOWN
    if call is None:
        return State.BROKEN
    return None if is_new(call, asked) else State.REPEATED


class _Arguments:
    """Reads arguments; all of one reply that are mended are together no longer than one that is."""

    def __init__(self, cut: bool) -> None:
        self._room = 0 if cut else MOST_MENDED

    def of(self, text: str) -> Any:
        """Return what they say, None where that is nothing to be read."""
        try:
            said = json.loads(text) if len(text) <= 10 * LONGEST_ID else None
        except (RecursionError, ValueError):
            self._room -= len(text)
            if self._room < 0:
                return None
            if not {"{", "["} & set(text):
                return text  # a bare word, where an object was due
            try:
                said = value_of(text, waited_for=True)
            except ModelBadOutput:
                return None
        # An object written as a text, and that as JSON.
        return self.of(said) if isinstance(said, str) and said.lstrip().startswith("{") else said


def _echo(given: ToolCall, arguments: Any, taken: Sequence[str]) -> ToolCall:
    """Return a call in a form that every endpoint takes back: their templates read the arguments as JSON."""
    name = _NOT_IN_NAMES.sub("_", given.name)[:LONGEST_NAME] or "unknown"
    text = json.dumps(arguments, ensure_ascii=False) if isinstance(arguments, Mapping) else "{}"
    kept = given.id if 0 < len(given.id) <= LONGEST_KEPT_ID and given.id.isprintable() else ""
    if not kept or kept in taken:
        # Nine letters and digits: Mistral's take no others.
        kept = next(one for at in range(len(taken) + 1) if (one := f"call{at:05d}") not in taken)
    return ToolCall(id=kept, name=name, arguments=text if len(text) <= 2 * LONGEST_ID else "{}")
