"""A server on loopback that speaks OpenAI's chat completions and embeddings, and does as a test scripts it.

    async with OpenAIServer() as server:
        server.queue(Reply(text="Hello [ID:0]."), Failure(status=429, headers={"Retry-After": "1"}))
        ... OpenAIChatModel(base_url=server.base_url, model="fake", ...)
        server.requests[0].body["messages"]

Behaviours are taken in order, one a request, chat and embeddings apart; when none is left, ``server.default`` answers.
``server.default`` may be a function of the request, for a model that looks at its prompt. A request whose messages break
the rules for calls of tools is refused as OpenAI refuses it (``tests/fakes/tool_rules.py``).
"""

import asyncio
import contextlib
import hashlib
import json
import math
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from tests.fakes.tool_rules import broken_rule

DIMENSION = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a client sent; header names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def texts(self) -> list[str]:
        """Return the texts of the messages, each part of text one of its own."""
        contents = [message["content"] for message in self.body.get("messages", ())]
        parts = [[{"type": "text", "text": one}] if isinstance(one, str) else one or () for one in contents]
        return [part["text"] for content in parts for part in content if part["type"] == "text"]

    @property
    def images(self) -> list[str]:
        """Return the addresses of the pictures in the messages."""
        contents = [message["content"] for message in self.body.get("messages", ())]
        parts = [part for content in contents if isinstance(content, list) for part in content]
        return [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer; in a stream, one chunk for each of ``pieces`` (default: the text, word by word).

    The first piece comes after ``first_delay`` seconds, each further one ``delay`` later, and the end as long again.
    ``break_after`` drops the connection after so many pieces; ``finish=None`` and ``done=False`` leave the last chunk
    and the last line out; ``plain`` answers a request for a stream with a whole completion; ``raw`` is sent as it is.
    ``calls`` are those of tools as a whole completion has them; ``call_deltas`` are sent in their place in a stream, one
    event each; by default each call comes as OpenAI sends it: its id and name first, then its arguments by halves.
    """

    text: str = ""
    pieces: Sequence[str] = ()
    reasoning: str = ""
    reasoning_field: str = "reasoning_content"
    refusal: str = ""
    finish: str | None = "stop"
    usage: bool = True
    first_delay: float = 0.0
    delay: float = 0.0
    break_after: int | None = None
    done: bool = True
    plain: bool = False
    raw: bytes = b""
    calls: Sequence[Mapping[str, Any]] = ()
    call_deltas: Sequence[Mapping[str, Any]] = ()

    @property
    def whole(self) -> str:
        """Return the text of the answer."""
        return self.text or "".join(self.pieces)

    def split(self) -> list[str]:
        """Return the pieces to stream."""
        if self.pieces:
            return list(self.pieces)
        words = self.text.split(" ")
        return [word if i == 0 else f" {word}" for i, word in enumerate(words)] if self.text else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An error status with a body in OpenAI's form, or as given."""

    status: int
    message: str = "it failed"
    code: str | None = None
    body: Mapping[str, Any] | str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hang:
    """No answer at all; the connection stays open until the client leaves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """The connection is closed without an answer."""


def tool_call(name: str, arguments: object, id: str = "call_1") -> dict[str, Any]:
    """Return a call as a whole completion has it; arguments that are no text are written as JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": id, "type": "function", "function": {"name": name, "arguments": text}}


Behaviour = Reply | Failure | Hang | Drop


class OpenAIServer:
    """The server; use it as an async context manager."""

    def __init__(self, default: Behaviour | Callable[[Request], Behaviour] | None = None) -> None:
        self.default: Behaviour | Callable[[Request], Behaviour] = default or Reply(text="Fine.")
        self.requests: list[Request] = []
        self.disconnects = 0
        self.streaming = 0
        self.most_at_once = 0
        self._chat: deque[Behaviour] = deque()
        self._embeddings: deque[Behaviour] = deque()
        self._serving: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def base_url(self) -> str:
        """Return the address to give to a client."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which a process takes this for its model."""
        return {"CITEBOT_LLM__BASE_URL": self.base_url, "CITEBOT_LLM__MODEL": "fake"}

    def queue(self, *behaviours: Behaviour) -> None:
        """Add behaviours for the next chat requests."""
        self._chat.extend(behaviours)

    def queue_embeddings(self, *behaviours: Behaviour) -> None:
        """Add behaviours for the next embedding requests; a Reply means vectors."""
        self._embeddings.extend(behaviours)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._serving):
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            while (request := await _read(reader)) is not None:
                self.requests.append(request)
                if not await self._answer(request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            self.disconnects += 1
        except asyncio.CancelledError:
            pass  # the server is being closed
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()
            self._serving.discard(task)

    async def _answer(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; return whether the connection stays."""
        embeddings = request.path.endswith("/embeddings")
        match self._next(request, embeddings):
            case Drop():
                return False
            case Hang():
                await self._gone(reader)
                return False
            case Failure() as failure:
                await _send(writer, failure.status, _failure_body(failure), failure.headers)
                return True
            case Reply() as reply if embeddings:
                await asyncio.sleep(reply.first_delay)
                await _send(writer, 200, _vectors(request))
                return True
            case Reply() as reply if request.body.get("stream") and not reply.plain:
                return await self._stream(request, reply, reader, writer)
            case Reply() as reply:
                await asyncio.sleep(reply.first_delay)
                await _send(writer, 200, _completion(request, reply))
                return True

    def _next(self, request: Request, embeddings: bool) -> Behaviour:
        if broken := broken_rule(request.body.get("messages", ())):
            return Failure(status=400, message=broken)
        queue = self._embeddings if embeddings else self._chat
        if queue:
            return queue.popleft()
        return self.default(request) if callable(self.default) else self.default

    async def _stream(
        self, request: Request, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        writer.write(_head(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"}))
        self.streaming += 1
        self.most_at_once = max(self.most_at_once, self.streaming)
        gone = asyncio.create_task(self._gone(reader))
        try:
            async for data in _events(request, reply):
                if gone.done():
                    return False
                if data is None:
                    return False
                writer.write(b"%x\r\n%s\r\n" % (len(data), data))
                await writer.drain()
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        finally:
            self.streaming -= 1
            gone.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await gone
        return True

    async def _gone(self, reader: asyncio.StreamReader) -> None:
        """Wait until the client has left, which is the only thing it may do while it is answered."""
        with contextlib.suppress(ConnectionError):
            await reader.read(1)
        self.disconnects += 1


async def _read(reader: asyncio.StreamReader) -> Request | None:
    start = await reader.readline()
    if not start:
        return None
    path = start.split()[1].decode()
    headers: dict[str, str] = {}
    while (line := await reader.readline()) not in (b"\r\n", b""):
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(path=path, headers=headers, body=json.loads(body) if body else {})


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Status", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def _send(
    writer: asyncio.StreamWriter, status: int, body: object, headers: Mapping[str, str] | None = None
) -> None:
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    kind = "text/plain" if isinstance(body, str) else "application/json"
    own = {"Content-Type": kind, "Content-Length": str(len(data))}
    writer.write(_head(status, {**own, **(headers or {})}) + data)
    await writer.drain()


def _failure_body(failure: Failure) -> Mapping[str, Any] | str:
    if failure.body is not None:
        return failure.body
    return {"error": {"message": failure.message, "type": "error", "code": failure.code, "param": None}}


async def _events(request: Request, reply: Reply) -> AsyncIterator[bytes | None]:
    """Yield the lines of the stream; None: drop the connection."""
    due = asyncio.get_running_loop().time() + reply.first_delay
    await asyncio.sleep(reply.first_delay)
    if reply.raw:
        yield reply.raw
        return
    yield _event(request, {"role": "assistant", "content": ""})
    if reply.reasoning:
        yield _event(request, {reply.reasoning_field: reply.reasoning})
    if reply.refusal:
        yield _event(request, {"refusal": reply.refusal})
    for index, piece in enumerate(reply.split()):
        if index == reply.break_after:
            yield None
        yield _event(request, {"content": piece})
        due += reply.delay  # on a busy machine too the whole takes as long as it says
        await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
    for delta in reply.call_deltas or _deltas(reply.calls):
        yield _event(request, {"tool_calls": [delta]})
    if reply.finish is not None:
        yield _event(request, {}, _finish(reply))
    if reply.usage and (request.body.get("stream_options") or {}).get("include_usage"):
        yield _line({**_frame(request, "chat.completion.chunk"), "choices": [], "usage": _usage(request, reply)})
    if reply.done:
        yield b"data: [DONE]\n\n"


def _deltas(calls: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    deltas: list[dict[str, Any]] = []
    for index, call in enumerate(calls):
        function = call["function"]
        half = len(function["arguments"]) // 2
        deltas.append({**call, "index": index, "function": {**function, "arguments": ""}})
        deltas += [
            {"index": index, "function": {"arguments": piece}}
            for piece in (function["arguments"][:half], function["arguments"][half:])
        ]
    return deltas


def _finish(reply: Reply) -> str | None:
    called = reply.calls or reply.call_deltas
    return "tool_calls" if called and reply.finish == "stop" else reply.finish


def _event(request: Request, delta: Mapping[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _line({**_frame(request, "chat.completion.chunk"), "choices": [choice]})


def _line(data: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n"


def _frame(request: Request, kind: str) -> dict[str, Any]:
    return {"id": "fake-1", "object": kind, "created": 1_700_000_000, "model": request.body.get("model", "fake")}


def _usage(request: Request, reply: Reply) -> dict[str, int]:
    prompt = sum(len(text.split()) for text in request.texts)
    completion = len(reply.whole.split()) + len(reply.reasoning.split())
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _completion(request: Request, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.whole}
    if reply.reasoning:
        message[reply.reasoning_field] = reply.reasoning
    if reply.refusal:
        message["refusal"] = reply.refusal
    if reply.calls:
        message |= {"content": reply.whole or None, "tool_calls": list(reply.calls)}
    body = _frame(request, "chat.completion")
    body["choices"] = [{"index": 0, "message": message, "finish_reason": _finish(reply)}]
    if reply.usage:
        body["usage"] = _usage(request, reply)
    return body


def _vectors(request: Request) -> dict[str, Any]:
    """Return a vector for each text: the same for the same text, of length 1, meaning nothing."""
    given = request.body["input"]
    texts = [given] if isinstance(given, str) else given
    data = [{"object": "embedding", "index": i, "embedding": vector(text)} for i, text in enumerate(texts)]
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return {"object": "list", "model": request.body.get("model", "fake"), "data": data, "usage": usage}


def vector(text: str) -> list[float]:
    """Return the vector that the server gives for a text."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    numbers = [byte - 127.5 for byte in digest[:DIMENSION]]
    length = math.sqrt(sum(number * number for number in numbers))
    return [number / length for number in numbers]
