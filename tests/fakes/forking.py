"""Real processes that are started in milliseconds, to be killed.

A module that imports everything once and then calls ``fork_for_each_line`` forks a worker for each line it is given: a
worker is a process of its own, which can be killed as any other.
"""

import asyncio
import json
import os
import pathlib
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Workers:
    """The process that forks workers, seen from the test."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def start(self, job: Any) -> int:
        """Start a worker for a job, a dataclass, and return its process id."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asdict(job)) + "\n")
        self._process.stdin.flush()
        return int(self._read())

    def wait(self) -> int:
        """Wait for the worker and return how many moments it had to die at, or -1 if it was killed.

        Raises:
            AssertionError: it failed of itself.
        """
        code, moments = map(int, self._read().split())
        assert code in {0, -signal.SIGKILL}, f"the worker ended with {code}"
        return moments if code == 0 else -1

    async def kill(self, pid: int) -> None:
        """Kill a worker if it still lives, and wait until it is gone."""
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        assert await asyncio.to_thread(self.wait) == -1

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the process that forks workers has died"
        return line


@contextmanager
def workers(module: str, *args: str) -> Iterator[Workers]:
    """Run the forking process, a module that calls ``fork_for_each_line``, for the length of the block."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
    process = subprocess.Popen(
        [sys.executable, "-m", module, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=ROOT,
    )
    try:
        yield Workers(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(10)
        assert process.stdout is not None
        process.stdout.close()


def fork_for_each_line(work: Callable[[str], Coroutine[Any, Any, int]]) -> None:
    """Fork a worker for each line; answer with its process id, and then with its end and what ``work`` returned."""
    for line in sys.stdin:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            moments = asyncio.run(work(line))
            os.write(writing, str(moments).encode())
            os._exit(0)
        os.close(writing)
        print(pid, flush=True)
        _, status = os.waitpid(pid, 0)
        said = os.read(reading, 20).decode() or "-1"
        os.close(reading)
        print(os.waitstatus_to_exitcode(status), said, flush=True)
