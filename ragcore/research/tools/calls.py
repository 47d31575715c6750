"""What a model asks its tools for, read from its reply. Pure.

A call is kept and told as a line: a search as what is searched for, any other with the name of its tool before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ragcore.errors import ModelBadOutput
from ragcore.json_replies import says_none
from ragcore.models.llm import Parameter, ToolSpec
from ragcore.research.queries import LONGEST, MOST_READ, distinct, left_over, shown
from ragcore.research.replies import listed_in
from ragcore.research.values import Plan

LONGEST_ID = 1_000
"""Characters of a document's id that are read."""
_SPLIT = ": "


class Tool(StrEnum):
    """What a model may ask for."""

    SEARCH = "search"
    READ = "read_document"
    LIST = "list_documents"
    WEB = "web_search"


_TOLD: Mapping[Tool, tuple[str, str]] = {
    Tool.SEARCH: ("a question", "passages of the documents that answer it"),
    Tool.READ: (
        "an id",
        "what a document says of the task; for one that was found or listed, where passages are not enough",
    ),
    Tool.LIST: ("words", "documents whose titles hold these words"),
    Tool.WEB: ("a question", "passages of pages of the web"),
}
"""Of each tool what it is given, and what it gives."""
WHAT = "what"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a tool: what is searched for, the id of a document, or the words of titles."""

    tool: Tool
    what: str

    @property
    def line(self) -> str:
        """Return the call as a line."""
        return self.what if self.tool is Tool.SEARCH else f"{self.tool}{_SPLIT}{self.what}"


def call_of(line: str) -> Call:
    """Return the call that a line is."""
    name, split, what = line.partition(_SPLIT)
    if split and what and name in set(Tool) - {Tool.SEARCH}:
        return Call(tool=Tool(name), what=what)
    return Call(tool=Tool.SEARCH, what=line)


def shown_call(line: str) -> str:
    """Return a call as a reader may see it: a document without the name of its source, a page by its path's end."""
    call = call_of(line)
    if call.tool is not Tool.READ:
        return shown(line)
    # What a model makes up for an id may name no source.
    name = call.what.partition(":")[2] if ":" in call.what else call.what
    return shown(f"{call.tool}{_SPLIT}{name if shown(name) else name.rstrip('/').rpartition('/')[2]}")


def told(tools: Sequence[Tool]) -> str:
    """Return what a prompt says of the tools that there are."""
    said = ((tool, *_TOLD[tool]) for tool in tools)
    return "\n".join(f'- {{"tool": "{tool}", "{WHAT}": "{given}"}}: {gives}' for tool, given, gives in said)


def offered(tools: Sequence[Tool]) -> tuple[ToolSpec, ...]:
    """Return the tools as an endpoint is told of them that has a form of its own for calls."""
    said = ((tool, *_TOLD[tool]) for tool in tools)
    return tuple(
        ToolSpec(name=tool, description=gives, parameters=(Parameter(name=WHAT, description=given),))
        for tool, given, gives in said
    )


def calls_of(reply: str, most: int, tools: Sequence[Tool], asked: Sequence[str]) -> Plan:
    """Return the calls of a reply that are new, as lines, at most ``most``; and those that are left over.

    Args:
        reply: What a model wrote: a JSON list, or an object that holds one.
        most: How many are made.
        tools: Those that there are; of others nothing is made.
        asked: The lines of what was asked before. Nothing of it is asked again.

    Raises:
        ModelBadOutput: It holds no list, or one of anything but calls.
    """
    said = listed_in(reply, "calls")
    calls = [call for call in map(call_in, said) if call is not None]
    if not calls and not says_none(reply, said):
        raise ModelBadOutput("there is no call in it", raw=reply)
    kept: list[str] = []
    for call in calls[:MOST_READ]:
        if call.tool in tools and is_new(call, [*asked, *kept]):
            kept.append(call.line)
    rest = [call.line for call in calls[MOST_READ:] if call.tool in tools]
    return Plan(questions=tuple(kept[:most]), cut=(*kept[most:], *calls_left_over(rest, [*asked, *kept])))


def is_new(call: Call, asked: Sequence[str]) -> bool:
    """Tell whether a call asks for something that none of these lines asked for."""
    same = [other.what for other in map(call_of, asked) if other.tool is call.tool]
    return call.what not in same if call.tool is Tool.READ else bool(distinct([call.what], same))


def calls_left_over(lines: Sequence[str], asked: Sequence[str]) -> tuple[str, ...]:
    """Return the calls that ask for nothing that these lines asked for, each once, by tool; see ``left_over``."""
    calls, before = list(map(call_of, lines)), list(map(call_of, asked))
    found: list[str] = []
    for tool in Tool:
        whats = [call.what for call in calls if call.tool is tool]
        known = [call.what for call in before if call.tool is tool]
        if tool is Tool.READ:
            new = tuple(what for what in dict.fromkeys(whats) if what not in known)
        else:
            new = left_over(whats, known)
        found += (Call(tool=tool, what=what).line for what in new)
    return tuple(found)


def call_in(said: Any) -> Call | None:
    """Return the call, however its fields are named; None for what is none."""
    if isinstance(said, str):
        said = {"tool": Tool.SEARCH, "what": said}
    if not isinstance(said, Mapping):
        return None
    name = said.get("tool", said.get("name", Tool.SEARCH))
    if not isinstance(name, str) or name not in set(Tool):
        return None
    tool = Tool(name)
    what = said.get(WHAT)
    if not isinstance(what, str):
        given = said.get("arguments", said)
        values = given.values() if isinstance(given, Mapping) else [given]
        what = next((one for one in values if isinstance(one, str) and one != name), "")
    line = " ".join(what.replace("\0", " ").split())
    longest = LONGEST_ID if tool is Tool.READ else LONGEST
    return Call(tool=tool, what=line) if len(line) <= longest and any(map(str.isalnum, line)) else None
