"""The lock of a data directory: one writing process, and a second one is told who holds it.

Chroma and Tantivy in one folder do not bear two processes. The operating system gives the lock back when its holder
dies, however it dies.
"""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from ragcore.errors import BusyError, StoreError

FILE = "lock"
HOLDER = "lock.json"
POLL_SECONDS = 0.1


@asynccontextmanager
async def hold(data_dir: Path, *, command: str, wait: float = 0.0) -> AsyncIterator[None]:
    """Hold the data directory's lock for the length of the block.

    Args:
        data_dir: created when missing, readable by its owner alone.
        command: what to call this process when another one asks who holds the lock.
        wait: seconds to wait for another process to finish.

    Raises:
        BusyError: another process holds it; names its command and its process id.
        StoreError: the folder cannot be written.
    """
    lock = FileLock(data_dir / FILE, thread_local=False)
    await _acquire(lock, data_dir, wait)
    try:
        await asyncio.to_thread(_sign, data_dir, command)
        yield
    finally:
        lock.release()


def holder(data_dir: Path) -> str:
    """Return who holds or last held the lock, in words."""
    try:
        said = json.loads((data_dir / HOLDER).read_text(encoding="utf-8"))
        return f"`citebot {said['command']}` (process {said['pid']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


async def _acquire(lock: FileLock, data_dir: Path, wait: float) -> None:
    end = time.monotonic() + wait
    while True:
        try:
            await asyncio.to_thread(_try, lock, data_dir)
            return
        except Timeout:
            if time.monotonic() >= end:
                raise BusyError(f"{holder(data_dir)} is working in {data_dir}") from None
        except OSError as error:
            raise StoreError(f"{data_dir} cannot be used: {error.strerror or error}") from error
        await asyncio.sleep(POLL_SECONDS)


def _try(lock: FileLock, data_dir: Path) -> None:
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock.acquire(timeout=0)


def _sign(data_dir: Path, command: str) -> None:
    text = json.dumps({"pid": os.getpid(), "command": command})
    fresh = data_dir / f"{HOLDER}.{os.getpid()}"
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(data_dir / HOLDER)
