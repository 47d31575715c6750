"""A chat model whose calls are taken down for the answer that they are made for (``ragcore.trace``)."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing

from ragcore.errors import ModelError
from ragcore.models.llm import Called, CallingModel, ChatModel, Discard, Finish, Piece, TextPiece, ToolSpec
from ragcore.models.openai_forms import tools_text
from ragcore.trace import Recorder, current, told_calls
from ragcore.types import Message, Usage


class RecordedModel:
    """Does what a model does, and takes down each call while an answer is recorded."""

    def __init__(self, model: ChatModel) -> None:
        """Ask ``model``."""
        self._model = model

    @property
    def inner(self) -> ChatModel:
        """Return the model that is asked."""
        return self._model

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model.name

    @property
    def context_window(self) -> int:
        """Return how many tokens question and answer may take together."""
        return self._model.context_window

    @property
    def max_tokens(self) -> int:
        """Return how many tokens an answer may take."""
        return self._model.max_tokens

    def stream(self, messages: Sequence[Message], *, task: str = "answer") -> AsyncIterator[Piece]:
        """Yield the output piece by piece, as the model does."""
        recorder, pieces = current(), self._model.stream(messages, task=task)
        return pieces if recorder is None else self._taken_down(pieces, recorder, messages, task)

    async def _taken_down(
        self, pieces: AsyncIterator[Piece], recorder: Recorder, messages: Sequence[Message], task: str
    ) -> AsyncGenerator[Piece]:
        call = recorder.call(task, self.name, messages)
        try:
            async with aclosing(pieces):  # type: ignore[type-var]
                async for piece in pieces:
                    call.first = call.first or recorder.now() - call.began
                    if isinstance(piece, TextPiece):
                        call.reply.append(piece.text)
                    elif isinstance(piece, Discard):
                        call.reply.clear()
                    elif isinstance(piece, Finish):
                        call.usage = piece.usage
                        call.failure = "" if piece.reason == "stop" else f"ended by {piece.reason}"
                    yield piece
        except ModelError as error:
            call.failure = type(error).__name__
            raise
        finally:
            call.ended = recorder.now()

    async def complete(self, messages: Sequence[Message], *, task: str) -> tuple[str, Usage]:
        """Return the whole text, as the model does."""
        recorder = current()
        if recorder is None:
            return await self._model.complete(messages, task=task)
        call = recorder.call(task, self.name, messages)
        try:
            text, call.usage = await self._model.complete(messages, task=task)
        except ModelError as error:
            call.failure = type(error).__name__
            raise
        finally:
            call.ended = recorder.now()
        call.reply.append(text)
        call.failure = ""
        return text, call.usage


class RecordedCallingModel(RecordedModel):
    """The same for a model that can be offered tools.

    These are taken down behind the messages, and the calls that it asks for as a part of its reply.
    """

    def __init__(self, model: CallingModel) -> None:
        """Ask ``model``."""
        super().__init__(model)
        self._calling = model

    @property
    def takes_tools(self) -> bool:
        """Return whether the endpoint may take tools."""
        return self._calling.takes_tools

    async def call(self, messages: Sequence[Message], *, task: str, tools: Sequence[ToolSpec]) -> Called:
        """Return the whole text and the calls, as the model does."""
        recorder = current()
        if recorder is None:
            return await self._calling.call(messages, task=task, tools=tools)
        offer = Message(role="system", text=f"tools:\n{tools_text(tools)}")
        taken = recorder.call(task, self.name, (*messages, offer))
        try:
            called = await self._calling.call(messages, task=task, tools=tools)
        except ModelError as error:
            taken.failure = type(error).__name__
            raise
        finally:
            taken.ended = recorder.now()
        taken.usage, taken.failure = called.usage, "ended by length" if called.cut else ""
        taken.reply.append("\n".join(filter(None, (called.text, told_calls(called.calls)))))
        return called
