"""The chat model client for OpenAI-compatible endpoints: OpenAI, Ollama, vLLM, LM Studio, llama.cpp and others."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ragcore.context import prompt_tokens
from ragcore.errors import (
    ConfigError,
    ModelBadOutput,
    ModelError,
    ModelInterrupted,
    ModelRefused,
    ModelUnreachable,
    ModelWithoutTools,
)
from ragcore.models.context_windows import context_window
from ragcore.models.llm import Called, Finish, Piece, ReasoningPiece, TextPiece, ToolSpec
from ragcore.models.openai_answer import GatheredAnswer
from ragcore.models.openai_errors import (
    CONNECT_SECONDS,
    FIRST_BACKOFF,
    Failure,
    failure_of,
    is_of_streams,
    of_text,
    transport_errors,
)
from ragcore.models.openai_forms import message_form, tool_form, tools_text
from ragcore.models.openai_stream import Part, parts
from ragcore.models.thinking import ThinkSplitter
from ragcore.tokens import Tokenizer, offline_tokenizer
from ragcore.trace import current
from ragcore.types import Message, Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI

log = logging.getLogger(__name__)

MOST_IGNORED = 2
"""Offers of tools without any call, from the first on, after which an endpoint is taken to ignore them, as that of
llama-cpp-python does with most models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """How to write; ``model`` is another model for one task, None as temperature leaves it to the endpoint."""

    model: str = ""
    temperature: float | None = 0.1
    max_tokens: int = 1_024
    extra_body: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatLimits:
    """Time in seconds, and how much at once; ``first_token`` is also the longest gap within a stream.

    ``total`` covers waiting for a free place, all attempts and the waits between them.
    """

    connect: float = CONNECT_SECONDS
    first_token: float = 60.0
    total: float = 300.0
    max_concurrent: int = 8
    attempts: int = 4
    first_backoff: float = FIRST_BACKOFF


class OpenAIChatModel:
    """One endpoint and one model; safe for concurrent calls within one event loop."""

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str = "",
        context_window: int | None = None,
        options: ChatOptions = ChatOptions(),
        tasks: Mapping[str, ChatOptions] | None = None,
        limits: ChatLimits = ChatLimits(),
        tokenizer: Tokenizer | None = None,
    ) -> None:
        """Keep what is needed; nothing is imported or connected yet.

        Args:
            base_url: Up to and with the version: ``https://api.openai.com/v1``.
            model: The model's name at that endpoint.
            api_key: May be empty for a local server.
            context_window: In tokens; default: what is known of the model.
            options: For every task that ``tasks`` does not name.
            tasks: Whole options by task: ``{"rewrite": ChatOptions(temperature=0.0)}``.
            limits: Times and numbers.
            tokenizer: Counts what the endpoint does not; default: the offline one.
        """
        if urlsplit(base_url).scheme not in ("http", "https"):
            raise ConfigError(f"llm.base_url must begin with http:// or https://, and {base_url!r} does not")
        self._base_url = base_url
        self._model = model
        self._api_key = api_key
        self._window = context_window
        self._options = options
        self._tasks = dict(tasks or {})
        self._limits = limits
        self._tokenizer = tokenizer
        self._slots = asyncio.Semaphore(limits.max_concurrent)
        self._client: AsyncOpenAI | None = None
        self._concessions: frozenset[str] = frozenset()
        self._opens_thinking = False
        self._tells_ends = False
        # Tools were refused, which may have had another reason; they are not offered any more once it goes on without.
        self._refused_tools = False
        self._takes_tools = True
        self._has_called = False
        self._ignored = 0

    def __repr__(self) -> str:
        return f"OpenAIChatModel(model={self._model!r}, host={urlsplit(self._base_url).hostname!r})"

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model

    @property
    def context_window(self) -> int:
        """Return how many tokens question and answer may take together; the first call may take 0.3 s."""
        if self._window is None:
            self._window = context_window(self._model)
        return self._window

    @property
    def max_tokens(self) -> int:
        """Return how many tokens an answer may take."""
        return self._options.max_tokens

    @property
    def takes_tools(self) -> bool:
        """Return whether the endpoint may take tools; False once it went on without them, or seems to ignore them."""
        return self._takes_tools and (self._has_called or self._ignored < MOST_IGNORED)

    async def warm_up(self) -> None:
        """Import the SDK (a second) and look up the window now rather than during the first question."""
        await self._connect()
        await asyncio.to_thread(lambda: self.context_window)

    async def close(self) -> None:
        """Close the connections; another call opens them again."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def complete(self, messages: Sequence[Message], *, task: str) -> tuple[str, Usage]:
        """Return the whole text and what it took.

        Raises:
            ModelBadOutput: If the length limit cut it; it carries the text.
            ModelRefused: If the endpoint's policy stopped it.
            ModelError: As ``stream``; nothing was shown, so a broken stream is tried once more.
        """
        called = await self._whole(messages, task, ())
        if called.cut:
            raise _cut(called.text)
        return called.text, called.usage

    async def call(self, messages: Sequence[Message], *, task: str, tools: Sequence[ToolSpec]) -> Called:
        """Return the whole text and the calls of tools that the model asks for.

        Raises:
            ModelWithoutTools: If the endpoint takes none; how the model does otherwise is not told by it.
            ModelBadOutput: If the length limit cut it before a call; it carries the text.
            ModelError: As ``complete``.
        """
        called = await self._whole(messages, task, tools)
        self._has_called = self._has_called or bool(called.calls)
        self._ignored += not called.calls
        if called.cut and not called.calls:
            raise _cut(called.text)
        return called

    async def _whole(self, messages: Sequence[Message], task: str, tools: Sequence[ToolSpec]) -> Called:
        try:
            return await self._collect(messages, task, tools)
        except ModelInterrupted:
            return await self._collect(messages, task, tools)

    async def _collect(self, messages: Sequence[Message], task: str, tools: Sequence[ToolSpec]) -> Called:
        text: list[str] = []
        finish = Finish(reason="stop", usage=Usage(calls=1))
        async with aclosing(self._stream(messages, task, tools)) as pieces:
            async for piece in pieces:
                if isinstance(piece, TextPiece):
                    text.append(piece.text)
                elif isinstance(piece, Finish):
                    finish = piece
                elif not isinstance(piece, ReasoningPiece):
                    text.clear()
        if finish.reason == "refused":
            raise ModelRefused("the endpoint's content filter stopped the output")
        return Called(text="".join(text), calls=finish.calls, usage=finish.usage, cut=finish.reason == "length")

    def stream(self, messages: Sequence[Message], *, task: str = "answer") -> AsyncGenerator[Piece, None]:
        """Yield the output piece by piece, ending in one Finish; closing the iterator closes the HTTP stream.

        Raises:
            ModelInterrupted: If it breaks after the first text was yielded; nothing is retried then.
            ModelError: Another one of its kinds, if it fails before that for good.
        """
        return self._stream(messages, task, ())

    async def _stream(
        self, messages: Sequence[Message], task: str, tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[Piece, None]:
        deadline = asyncio.get_running_loop().time() + self._limits.total
        attempt = 1
        await self._connect()
        while True:
            shown = False
            try:
                async with aclosing(self._attempt(messages, task, tools, deadline)) as pieces:
                    async for piece in pieces:
                        shown = shown or isinstance(piece, TextPiece)
                        yield piece
                self._went_well(bool(tools))
                return
            except ModelError as error:
                failure = Failure(error=error, retry=isinstance(error, ModelUnreachable))
            except _Retryable as error:
                failure = error.failure
            except transport_errors() as error:
                words = _said(messages)
                failure = failure_of(error, section="llm", secrets=(self._api_key,), words=words)
            if shown:
                raise ModelInterrupted(str(failure.error)) from None
            if self._concede(str(failure.error), type(failure.error), messages, bool(tools)):
                continue
            if tools and failure.refuses_tools:
                self._refused_tools = True
                raise ModelWithoutTools(str(failure.error)) from None
            await self._wait_or_raise(failure, attempt, deadline)
            attempt += 1

    def _went_well(self, with_tools: bool) -> None:
        """Note whether the endpoint goes on without the tools that it refused."""
        if self._refused_tools and not with_tools:
            log.info("%s takes no tools: they are asked for in words from now on", self._model)
            self._takes_tools = False
        self._refused_tools = False

    async def _attempt(
        self, messages: Sequence[Message], task: str, tools: Sequence[ToolSpec], deadline: float
    ) -> AsyncGenerator[Piece, None]:
        """Make one call; raise the SDK's errors as they are."""
        async with asyncio.timeout_at(deadline):
            await self._slots.acquire()
        try:
            answer = GatheredAnswer(ThinkSplitter(opens_thinking=self._opens_thinking), tools=bool(tools))
            if (recorder := current()) is not None:
                recorder.requested(messages)
            async with aclosing(self._parts(self._request(messages, task, tools), deadline)) as arriving:
                async for part in arriving:
                    if part.failure:
                        words = _said(messages)
                        raise _Retryable(of_text(part.failure, secrets=(self._api_key,), words=words))
                    for piece in answer.take(part):
                        yield piece
            self._opens_thinking = self._opens_thinking or answer.splitter.saw_orphan
            for piece in answer.close(tells_ends=self._tells_ends):
                yield piece
            self._tells_ends = self._tells_ends or bool(answer.finish)
            usage = answer.usage or await self._count(messages, tools, answer)
            yield Finish(reason=answer.reason(), usage=usage, calls=answer.calls)
        finally:
            self._slots.release()

    async def _parts(self, request: Mapping[str, object], deadline: float) -> AsyncGenerator[Part, None]:
        """Yield the parts of the response within the limits of time, and close it at the end, whatever the end is."""
        client = await self._connect()
        begins = self._limits.first_token if request["stream"] else self._limits.total
        first = min(deadline, asyncio.get_running_loop().time() + begins)
        manager = client.chat.completions.with_streaming_response.create(**request)  # type: ignore[call-overload]
        async with asyncio.timeout_at(first):
            response = await manager.__aenter__()
        try:
            whole = "json" in response.headers.get("content-type", "")
            reader = parts(response.iter_bytes(), whole=whole)
            limit = first
            while (part := await _next(reader, limit)) is not None:
                if part.text or part.reasoning or part.calls:
                    limit = deadline
                yield part
        finally:
            await manager.__aexit__(None, None, None)

    def _request(self, messages: Sequence[Message], task: str, tools: Sequence[ToolSpec]) -> dict[str, object]:
        options = self._tasks.get(task, self._options)
        limit = "max_completion_tokens" if "max_completion_tokens" in self._concessions else "max_tokens"
        no_text = None if "content" in self._concessions else ""
        request: dict[str, object] = {
            "model": options.model or self._model,
            "messages": [message_form(message, no_text=no_text) for message in messages],
            "stream": not tools or "stream" not in self._concessions,
            limit: options.max_tokens,
        }
        if not request["stream"]:
            request["timeout"] = self._limits.total  # nothing comes before all of it does
        if options.temperature is not None and "temperature" not in self._concessions:
            request["temperature"] = options.temperature
        if request["stream"] and "stream_options" not in self._concessions:
            request["stream_options"] = {"include_usage": True}
        if tools:
            request["tools"] = [tool_form(tool) for tool in tools]
            if "tool_choice" not in self._concessions:
                request["tool_choice"] = "auto"
        if options.extra_body:
            request["extra_body"] = dict(options.extra_body)
        return request

    def _concede(self, said: str, kind: type[ModelError], messages: Sequence[Message], tools: bool) -> bool:
        """Leave out a field that the endpoint complains of, or a stream of calls, for good; return whether to try."""
        of_calls = tools and kind in (ModelError, ModelUnreachable) and is_of_streams(said)
        if of_calls and "stream" not in self._concessions:
            log.info("%s streams no calls of tools: they are asked for whole (%s)", self._model, said)
            self._concessions |= {"stream"}
            return True
        if kind is not ModelError:
            return False
        # Of content only an empty one can be left out: that beside calls.
        empty = ("content",) if any(message.calls and not message.text for message in messages) else ()
        for name in ("max_completion_tokens", "stream_options", "temperature", "tool_choice", *empty):
            if name in said and name not in self._concessions:
                log.info("%s does not take every field of a request: doing without (%s)", self._model, name)
                self._concessions |= {name}
                return True
        return False

    async def _wait_or_raise(self, failure: Failure, attempt: int, deadline: float) -> None:
        wait = failure.pause(attempt, self._limits.attempts, first=self._limits.first_backoff)
        if wait is None or asyncio.get_running_loop().time() + wait >= deadline:
            raise failure.error from None
        log.info("%s: %s; trying again in %.1f s", self._model, failure.error, wait)
        await asyncio.sleep(wait)

    async def _connect(self) -> "AsyncOpenAI":
        if self._client is None:
            client = await asyncio.to_thread(self._new_client)
            self._client = self._client or client
        return self._client

    def _new_client(self) -> "AsyncOpenAI":
        import openai

        limits = self._limits
        return openai.AsyncOpenAI(
            base_url=self._base_url,
            api_key=self._api_key or "none",
            max_retries=0,
            timeout=openai.Timeout(limits.first_token, connect=limits.connect),
        )

    async def _count(self, messages: Sequence[Message], tools: Sequence[ToolSpec], answer: GatheredAnswer) -> Usage:
        """Count what the endpoint did not."""

        def count() -> Usage:
            tokenizer = self._tokenizer or offline_tokenizer()
            calls = "".join(f"{one.name}{one.arguments}" for one in answer.calls)
            written = sum(map(tokenizer.count, ("".join(answer.text), "".join(answer.reasoning), calls)))
            read = prompt_tokens(messages, tokenizer) + tokenizer.count(tools_text(tools))
            return Usage(calls=1, prompt_tokens=read, completion_tokens=written)

        return await asyncio.to_thread(count)


def _said(messages: Sequence[Message]) -> list[str]:
    """Return what people said, and were told; a word of our own instructions may be what an error is about."""
    return [message.text for message in messages if message.role != "system"]


class _Retryable(Exception):
    """Carries a failure out of a stream that had begun well."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure.error))
        self.failure = failure


async def _next(reader: AsyncIterator[Part], limit: float) -> Part | None:
    """Return the next part within the limit (the loop's time), None at the end."""
    async with asyncio.timeout_at(limit):
        return await anext(reader, None)


def _cut(text: str) -> ModelBadOutput:
    return ModelBadOutput("the output was cut at its length limit", raw=text)
