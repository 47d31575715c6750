import asyncio
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from ragcore.errors import BusyError
from ragcore.stores.lock import hold

HOLDER = """
import asyncio, pathlib, sys
from ragcore.stores.lock import hold
async def main():
    async with hold(pathlib.Path(sys.argv[1]), command="run"):
        print("held", flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""


def other_process(folder: pathlib.Path) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(folder)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def end(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


async def test_a_second_process_is_refused_with_a_reason_and_a_dead_one_lets_go(tmp_path: pathlib.Path) -> None:
    process = await asyncio.to_thread(other_process, tmp_path)
    try:
        with pytest.raises(BusyError, match=rf"`citebot run` \(process {process.pid}\) is working in"):
            async with hold(tmp_path, command="sync"):
                pass
        began = time.monotonic()
        with pytest.raises(BusyError):
            async with hold(tmp_path, command="sync", wait=0.5):
                pass
        assert time.monotonic() - began >= 0.5
    finally:
        await asyncio.to_thread(end, process)
    async with hold(tmp_path, command="sync"):
        assert f'"pid": {os.getpid()}' in await asyncio.to_thread((tmp_path / "lock.json").read_text)


async def test_waiting_ends_when_the_holder_does(tmp_path: pathlib.Path) -> None:
    order: list[str] = []

    async def take(name: str, seconds: float) -> None:
        async with hold(tmp_path / "new" / "folder", command=name, wait=10):
            order.append(name)
            await asyncio.sleep(seconds)
            order.append(name)

    first = asyncio.create_task(take("first", 0.3))
    await asyncio.sleep(0.1)
    await asyncio.gather(first, take("second", 0))
    assert order == ["first", "first", "second", "second"]
