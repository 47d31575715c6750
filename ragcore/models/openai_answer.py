"""One answer of an OpenAI-compatible endpoint, gathered from its parts: its text, its calls, and how it ended."""

from typing import Literal

from ragcore.errors import ModelBadOutput, ModelRefused, ModelUnreachable
from ragcore.models.llm import Finish, Piece, ReasoningPiece, TextPiece
from ragcore.models.openai_calls import Calls
from ragcore.models.openai_stream import Part
from ragcore.models.thinking import ThinkSplitter
from ragcore.types import ToolCall, Usage


class GatheredAnswer:
    """Gathers the parts of one answer, and says how it ended."""

    def __init__(self, splitter: ThinkSplitter, *, tools: bool = False) -> None:
        """Split what is thought aloud off by this; ``tools``: some were offered, and may be asked for."""
        self.splitter = splitter
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.usage: Usage | None = None
        self.finish = ""
        self._tools = tools
        self._calls = Calls()
        self._refusal = ""
        self._last = False

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Return the calls that it asks for; of tools that were not offered none."""
        return self._calls.whole() if self._tools else ()

    def take(self, part: Part) -> list[Piece]:
        """Return the pieces that the part brings."""
        self._refusal += part.refusal
        self._calls.take(part.calls)
        self.finish = part.finish or self.finish
        self._last = self._last or part.last
        self.usage = part.usage or self.usage
        pieces: list[Piece] = [ReasoningPiece(text=part.reasoning)] if part.reasoning else []
        return self._kept([*pieces, *self.splitter.feed(part.text)])

    def close(self, *, tells_ends: bool) -> list[Piece]:
        """Return the last pieces; raise ModelUnreachable when the stream ended before the answer did.

        ``tells_ends``: the endpoint says why answers end; where it doesn't, it broke one off (llama-cpp-python's server
        does so when another request comes).
        """
        if not self.finish and (tells_ends or not self._last):
            raise ModelUnreachable("the stream ended before the answer did")
        return self._kept([*self.splitter.close()])

    def reason(self) -> Literal["stop", "length", "refused"]:
        """Return how it ended; ModelRefused or ModelBadOutput when it ended without any text or call."""
        refused = self.finish == "content_filter" or bool(self._refusal)
        cut = self.finish in ("length", "max_tokens")
        if any(self.text) or self.calls:
            return "refused" if refused else "length" if cut else "stop"
        if refused:
            raise ModelRefused(self._refusal or "the endpoint's content filter stopped the answer")
        if cut:
            return "length"
        raise ModelBadOutput(f"the answer is empty (finish reason {self.finish or 'none'})", raw="")

    def _kept(self, pieces: list[Piece]) -> list[Piece]:
        for piece in pieces:
            if isinstance(piece, TextPiece):
                self.text.append(piece.text)
            elif isinstance(piece, ReasoningPiece):
                self.reasoning.append(piece.text)
            elif not isinstance(piece, Finish):
                self.text.clear()
                self.reasoning.append(piece.text)
        return pieces
