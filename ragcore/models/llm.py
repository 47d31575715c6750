"""What every chat model does; ragcore/models/openai_chat.py holds the client for OpenAI-compatible endpoints."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ragcore.types import Message, ToolCall, Usage

TASKS = (
    "answer", "cite", "check", "enrich", "vision", "contents", "rerank", "filter", "rewrite", "research", "summarise",
)  # fmt: skip
"""What a chat model is asked to do; options may differ by task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPiece:
    """Some text of the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningPiece:
    """Some text that the model thought aloud; never part of the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Discard:
    """All text so far was thought aloud, by a model whose template leaves the opening tag out: show none of it.

    Comes at most once in the life of a client, which from then on waits for the closing tag; ``text`` is what it was.
    """

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """The end of the output: ``length`` when the limit cut it. ``calls`` are the tools that it asks for, if offered."""

    reason: Literal["stop", "length", "refused"]
    usage: Usage
    calls: tuple[ToolCall, ...] = ()


Piece = TextPiece | ReasoningPiece | Discard | Finish


class ChatModel(Protocol):
    """Writes text from messages."""

    @property
    def name(self) -> str:
        """Return the model's name."""
        ...

    @property
    def context_window(self) -> int:
        """Return how many tokens question and answer may take together."""
        ...

    @property
    def max_tokens(self) -> int:
        """Return how many tokens an answer may take: the reserve that the fit leaves."""
        ...

    def stream(self, messages: Sequence[Message], *, task: str = "answer") -> AsyncIterator[Piece]:
        """Yield the output piece by piece, ending in one Finish; raise ModelError."""
        ...

    async def complete(self, messages: Sequence[Message], *, task: str) -> tuple[str, Usage]:
        """Return the whole text (reasoning dropped) and what it took; raise ModelError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """What a tool is to be given: a text."""

    name: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool that a model may ask for; all of its parameters must be given."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """What a model that was offered tools wrote, and the calls that it asks for, in its order; either may be empty.

    ``cut``: the length limit ended it, and the last call may not be whole.
    """

    text: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    cut: bool = False


class CallingModel(ChatModel, Protocol):
    """A chat model whose endpoint may have a form of its own for calls of tools."""

    @property
    def takes_tools(self) -> bool:
        """Return whether the endpoint may take tools; False once it went on without them, or seems to ignore them."""
        ...

    async def call(self, messages: Sequence[Message], *, task: str, tools: Sequence[ToolSpec]) -> Called:
        """Return the whole text and the calls; raise ModelWithoutTools where it takes no tools, or another ModelError.

        Every message with calls must have their results right behind it (``Message``).
        """
        ...
