"""A process of its own for parsing what could crash, hang or eat the memory: PDFs, office files, anything large.

A native parser that crashes on a bad file takes only the worker along; one that hangs is killed; and Python's global
lock is not held for seconds while somebody waits for an answer in chat. The worker starts with the first such
document (0.3 s), stays for the next ones, and ends when its input does.

Frames on both pipes: eight bytes of length, little-endian, then a pickled value; both ends are this module.
"""

import asyncio
import contextlib
import os
import pickle
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Callable
from typing import Any, BinaryIO

from ragcore.errors import ParseError
from ragcore.parsing import ParseOptions, parse
from ragcore.types import ParsedDocument

SMALL = 200_000
"""Bytes up to which plain text is parsed in a thread: sending it would take longer."""
_CONTAINERS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"%PDF", b"{\\rtf")
_HEADER = 8

Progress = Callable[[int, int], None]


def needs_process(content: bytes) -> bool:
    """Whether a document is parsed in the worker: it is large, or a format with a native or complex parser."""
    return len(content) > SMALL or content.startswith(_CONTAINERS) or b"%PDF" in content[:1024] or b"\0" in content


class ParseWorker:
    """Parses documents one at a time, in a thread or in the worker process."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._process: Process | None = None
        self._turn = asyncio.Lock()

    async def parse(
        self, content: bytes, *, name: str, media_type: str, options: ParseOptions, seconds: float
    ) -> ParsedDocument:
        """Parse one document.

        Raises:
            ParseError: it cannot be read, takes more than ``seconds``, or crashed its parser.
        """
        if not needs_process(content):
            return await asyncio.to_thread(parse, content, name=name, media_type=media_type, options=options)
        async with self._turn:
            try:
                async with asyncio.timeout(seconds):
                    return await self._ask((content, name, media_type, options))
            except asyncio.CancelledError:
                await self.close()
                raise
            except TimeoutError as error:
                await self.close()
                raise ParseError(
                    f"reading it took more than {seconds:.0f} seconds", mend="split it, or save it in another format"
                ) from error

    async def _ask(self, request: tuple[bytes, str, str, ParseOptions]) -> ParsedDocument:
        process = self._process = self._process or await _start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            await _send(process.stdin, request)
            answer = pickle.loads(await _receive(process.stdout))
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            ending = _ending(await process.wait())
            await self.close()
            raise ParseError(
                f"its parser crashed ({ending})", mend="repair it, or save it in another format"
            ) from error
        if isinstance(answer, ParsedDocument):
            return answer
        reason, mend = answer
        raise ParseError(reason, mend=mend)

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


async def _start() -> Process:
    # The paths go along: whoever runs us may have found this package by other means than an installation.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "ragcore.parse_worker",  # outside of ragcore.ingest, which imports every store
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=environment,
        start_new_session=True,  # Ctrl-C is for us to handle
    )


async def _send(pipe: asyncio.StreamWriter, value: object) -> None:
    data = pickle.dumps(value)
    pipe.write(len(data).to_bytes(_HEADER, "little"))
    pipe.write(data)
    await pipe.drain()


async def _receive(pipe: asyncio.StreamReader) -> bytes:
    size = int.from_bytes(await pipe.readexactly(_HEADER), "little")
    return await pipe.readexactly(size)


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _answer(request: tuple[bytes, str, str, ParseOptions]) -> Any:
    content, name, media_type, options = request
    try:
        return parse(content, name=name, media_type=media_type, options=options)
    except ParseError as error:
        return error.reason, error.mend


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more; the worker's main loop."""
    while header := requests.read(_HEADER):
        data = pickle.dumps(_answer(pickle.loads(requests.read(int.from_bytes(header, "little")))))
        answers.write(len(data).to_bytes(_HEADER, "little"))
        answers.write(data)
        answers.flush()


def main() -> None:
    """Run as the worker: what any library prints goes to stderr, for stdout carries the answers."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")  # when memory runs out, the worker goes, not the bot
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
