"""A process of its own for parsing what could crash, hang or eat the memory: PDFs, office files, anything large.

A native parser that crashes on a bad file takes only the worker along; one that hangs is killed; and Python's global
lock is not held for seconds while somebody waits for an answer in chat. The worker starts with the first such
document (0.3 s), stays for the next ones, and ends when its input does.

Frames on both pipes: eight bytes of length, little-endian, then a pickled value; both ends are this module. A request
is two frames, the second of them the document's bytes as they are. It is answered by any number of ``Step``, and then
by the document without its sections and these in ``Part`` after ``Part``, or by the reason why there is none. Where
boxes are asked for, it is answered by their ``Cutout``.
"""

import asyncio
import contextlib
import os
import pickle
import signal
import sys
import threading
import time
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import BinaryIO

from ragcore.errors import ParseError
from ragcore.parsing.media import Media
from ragcore.parsing.options import ParseOptions
from ragcore.parsing.pdf.cutout import Cutout, cut_out
from ragcore.parsing.registry import parse
from ragcore.types import Box, ParsedDocument, Section

if sys.platform == "linux":
    import resource

SMALL = 200_000
"""Bytes up to which plain text is parsed in a thread: sending it would take longer."""
_CONTAINERS = (
    *(b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"%PDF", b"{\\rtf"),
    *(b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM", b"II*\x00", b"MM\x00*"),
)
_HEADER = 8
_PIECE = 1 << 18
"""Bytes of a document that are on their way to the worker at once."""
_PART = 100_000
"""Characters from which on the sections of a part are enough."""
_STEP_SECONDS = 0.2
"""Between two steps that are told: a bar needs no more, and a page takes 30 ms."""
_WATCH_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """So much of one document is read, in the format's own unit (pages, sheets, slides, chapters)."""

    done: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Sections of a document that follow each other; with them, ``done`` of its ``total`` have been told."""

    sections: tuple[Section, ...]
    done: int
    total: int

    @property
    def is_last(self) -> bool:
        """Whether no section is left."""
        return self.done == self.total


@dataclass(frozen=True, slots=True, kw_only=True)
class _Refused:
    """A document could not be read; an exception's own pickle would carry the worker's traceback."""

    reason: str
    mend: str
    kind: type[ParseError]


_Request = tuple[bytes, str, str, ParseOptions, frozenset[Media] | None] | tuple[bytes, tuple[Box, ...]]
_Reply = Step | ParsedDocument | Part | Cutout | _Refused


def needs_process(content: bytes) -> bool:
    """Whether a document is parsed in the worker: it is large, or a format with a native or complex parser."""
    return len(content) > SMALL or content.startswith(_CONTAINERS) or b"%PDF" in content[:1024] or b"\0" in content


class ParseWorker:
    """Parses documents one at a time, in a thread or in the worker process."""

    def __init__(self, *, memory: int | None = None) -> None:
        """Start nothing yet; ``memory`` is how many bytes the process may take, where the system knows such a limit."""
        self._memory = memory
        self._process: Process | None = None
        self._turn = asyncio.Lock()

    async def parse(
        self,
        content: bytes,
        *,
        name: str,
        media_type: str,
        options: ParseOptions,
        seconds: float,
        only: frozenset[Media] | None = None,
    ) -> AsyncGenerator[Step | ParsedDocument | Part, None]:
        """Parse one document: yield how far it is, then the document without its sections, then these part by part.

        Closing the iterator stops the work at once.

        Args:
            content: its bytes.
            name: its file name.
            media_type: what its source claims.
            options: limits.
            seconds: how long it may take until it gets on by a step.
            only: the formats that are read of a document that anybody may have written: such a one is told and parsed
                in the process, whatever it is. None: all are.

        Raises:
            ParseError: it cannot be read, does not get on, or crashed its parser; EmptyDocument if it holds no text.
        """
        if only is None and not needs_process(content):
            parsed = await asyncio.to_thread(parse, content, name=name, media_type=media_type, options=options)
            for told in _told(parsed):
                yield told
            return
        last: Part | None = None
        async with self._turn, aclosing(self._replies((content, name, media_type, options, only), seconds)) as replies:
            async for reply in replies:
                if isinstance(reply, _Refused):
                    raise reply.kind(reply.reason, mend=reply.mend)
                if isinstance(reply, Part) and reply.is_last:
                    last = reply  # told when the worker is free for the next document
                elif not isinstance(reply, Cutout):
                    yield reply
        if last is not None:
            yield last

    async def cut_out(self, content: bytes, boxes: Sequence[Box], *, seconds: float) -> Cutout:
        """Draw the passage of a PDF that stands in the boxes, within so many seconds.

        Raises:
            ParseError: It cannot be drawn; NoSuchPage where it is another version than that of the boxes.
        """
        async with self._turn, aclosing(self._replies((content, tuple(boxes)), seconds)) as replies:
            async for reply in replies:
                if isinstance(reply, _Refused):
                    raise reply.kind(reply.reason, mend=reply.mend)
                if isinstance(reply, Cutout):
                    return reply
        raise AssertionError("each request has an answer")

    async def _replies(self, request: _Request, seconds: float) -> AsyncGenerator[_Reply, None]:
        """Ask the process; one that is left before its last reply is ended, for nobody will read what it still says."""
        is_done = False
        try:
            async with asyncio.timeout(seconds):
                process = await self._asked(request)
            while not is_done:
                async with asyncio.timeout(seconds):
                    reply = await _received(process)
                is_done = isinstance(reply, _Refused | Cutout) or (isinstance(reply, Part) and reply.is_last)
                yield reply
        except TimeoutError as error:
            raise ParseError(
                f"reading it got no further for {seconds:.0f} seconds", mend="split it, or save it in another format"
            ) from error
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            assert self._process is not None
            ending = _ending(await self._process.wait())
            raise ParseError(
                f"its parser crashed ({ending})", mend="repair it, or save it in another format"
            ) from error
        finally:
            if not is_done:
                await self.close()

    async def _asked(self, request: _Request) -> Process:
        process = self._process = self._process or await _start(self._memory)
        assert process.stdin is not None
        content, *said = request
        for data in (pickle.dumps(said), content):
            process.stdin.write(len(data).to_bytes(_HEADER, "little"))
            for start in range(0, len(data), _PIECE):
                process.stdin.write(data[start : start + _PIECE])
                await process.stdin.drain()
        return process

    @property
    def runs(self) -> bool:
        """Whether the process is there: the next document needn't wait for its start."""
        return self._process is not None

    async def close(self) -> None:
        """End the process; the next document starts another one."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        if process.stdin is not None:
            process.stdin.close()
        await process.wait()


async def _start(memory: int | None) -> Process:
    # The paths go along: whoever runs us may have found this package by other means than an installation.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",  # as "-m" this module would be another one there, with another Step
        f"from {__name__} import main; main({memory})",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=environment,
        start_new_session=True,  # Ctrl-C is for us to handle
    )


async def _received(process: Process) -> _Reply:
    assert process.stdout is not None
    size = int.from_bytes(await process.stdout.readexactly(_HEADER), "little")
    reply: _Reply = pickle.loads(await process.stdout.readexactly(size))
    return reply


def _told(parsed: ParsedDocument) -> Iterator[ParsedDocument | Part]:
    """Yield a document without its sections, and then these in parts; the last part is there also without any."""
    yield replace(parsed, sections=())
    part: list[Section] = []
    total, size = len(parsed.sections), 0
    for done, section in enumerate(parsed.sections, start=1):
        part.append(section)
        size += len(section.text)
        if size >= _PART and done < total:
            yield Part(sections=tuple(part), done=done, total=total)
            part, size = [], 0
    yield Part(sections=tuple(part), done=total, total=total)


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


class _Answers:
    """The worker's end of the answering pipe."""

    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe = pipe
        self._told = time.monotonic()

    def send(self, reply: _Reply) -> None:
        data = pickle.dumps(reply)
        self._pipe.write(len(data).to_bytes(_HEADER, "little"))
        self._pipe.write(data)
        self._pipe.flush()

    def step(self, done: int, total: int) -> None:
        if time.monotonic() - self._told >= _STEP_SECONDS:
            self.send(Step(done=done, total=total))
            self._told = time.monotonic()


def _answer(request: _Request, answers: _Answers) -> None:
    try:
        if len(request) == 2:
            answers.send(cut_out(*request))
            return
        content, name, media_type, options, only = request
        parsed = parse(content, name=name, media_type=media_type, options=options, progress=answers.step, only=only)
    except ParseError as error:
        answers.send(_Refused(reason=error.reason, mend=error.mend, kind=type(error)))
        return
    for told in _told(parsed):
        answers.send(told)


def serve(requests: BinaryIO, pipe: BinaryIO) -> None:
    """Answer requests until there are no more; the worker's main loop."""
    answers = _Answers(pipe)
    while said := _frame(requests):
        _answer((_frame(requests), *pickle.loads(said)), answers)


def _frame(requests: BinaryIO) -> bytes:
    """Read one frame; b"" when there are no more."""
    return requests.read(int.from_bytes(requests.read(_HEADER), "little"))


def end_with_parent() -> None:
    """End this process when the one that started it is gone, whatever it is doing: nobody waits for the answer."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _limit(memory: int | None) -> None:
    """Let this process take so many bytes of its own, not counting what is mapped from files."""
    if memory is not None and sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def main(memory: int | None = None) -> None:
    """Run as the worker: what any library prints goes to stderr, for stdout carries the answers."""
    _limit(memory)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")  # when memory runs out, the worker goes, not the bot
    end_with_parent()
    serve(sys.stdin.buffer, answers)
