"""``python -m bots`` as processes whose libraries are loaded already: a start takes 2 s of a core in place of 5 or 6.

One process imports the libraries, aiogram alone in 3.5 s, and forks. What it forks is a process of its own, which can
be killed as any other; it has its own folder, environment and output, and imports Citebot's own modules itself.
"""

import asyncio
import atexit
import functools
import importlib
import json
import os
import pathlib
import runpy
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEAVY = (
    *("aiogram", "aiohttp.web", "aiosqlite", "apscheduler.schedulers.asyncio", "asyncpg", "discord", "jinja2"),
    *("openai", "prometheus_client", "pydantic_settings", "rich.console", "slack_bolt.async_app"),
    *("sqlalchemy.ext.asyncio", "typer"),
)
"""None that begins a thread when it is imported, as numpy and onnxruntime do: it would be missing after the fork."""
_LARGEST = 1 << 17
"""Bytes of one order: arguments, folder and environment."""


class Forked:
    """A forked process as its test sees it; the calls are those of asyncio's own ``Process``."""

    def __init__(self, pid: int, reports: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._writer = writer
        self._watching = asyncio.create_task(self._watch(reports))

    def send_signal(self, how: int) -> None:
        """Send a signal; nothing happens if it has ended."""
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, how)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Wait until it has ended, and return its exit status, a signal as a negative number."""
        return await asyncio.shield(self._watching)

    async def _watch(self, reports: asyncio.StreamReader) -> int:
        self.returncode = int(await reports.readline())
        self._writer.close()
        return self.returncode


async def start(args: Sequence[str], folder: pathlib.Path, env: Mapping[str, str], out: int, err: int) -> Forked:
    """Begin ``python -m bots`` in a folder, with all of its environment and the descriptors of its output."""
    here, there = socket.socketpair()
    with there:
        order = json.dumps({"args": args, "folder": str(folder), "env": dict(env)}).encode()
        socket.send_fds(_orders(), [order], [out, err, there.fileno()])
    reports, writer = await asyncio.open_connection(sock=here)
    return Forked(int(await reports.readline()), reports, writer)


@functools.cache
def _orders() -> socket.socket:
    """Start the process that forks, once, and return what it takes its orders from; it ends when that is closed."""
    here, there = socket.socketpair(type=socket.SOCK_SEQPACKET)
    with there:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.fakes.preloaded", str(there.fileno())],
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            pass_fds=[there.fileno()],
        )

    def end() -> None:
        here.close()
        process.wait(10)

    atexit.register(end)
    return here


def _serve(orders: socket.socket) -> None:
    """Fork for each order one that forks the process and tells its id and its end; return in the process itself."""
    for heavy in HEAVY:
        importlib.import_module(heavy)
    assert len(os.listdir("/proc/self/task")) == 1, "a thread would be missing after the fork"
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who tell
    while True:
        order, received, _, _ = socket.recv_fds(orders, _LARGEST, 3)
        if not order:
            os._exit(0)
        if os.fork() == 0:
            break
        for descriptor in received:
            os.close(descriptor)
    orders.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    out, err, reports = received
    if pid := os.fork():
        os.close(out)
        os.close(err)
        os.write(reports, f"{pid}\n".encode())
        _, status = os.waitpid(pid, 0)
        os.write(reports, f"{os.waitstatus_to_exitcode(status)}\n".encode())
        os._exit(0)
    os.close(reports)
    _become(out, err, **json.loads(order))


def _become(out: int, err: int, args: list[str], folder: str, env: dict[str, str]) -> None:
    """Take on a folder, an environment, arguments and output, as a process that has just been started has them."""
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.close(out)
    os.close(err)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    sys.argv[1:] = args
    sys.path[0] = folder


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module("bots", run_name="__main__", alter_sys=True)
