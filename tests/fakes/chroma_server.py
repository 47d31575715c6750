"""A real Chroma server on a free loopback port, in a folder of its own."""

import contextlib
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import pytest

from tests.fakes.ports import free_port


@contextlib.contextmanager
def chroma_server() -> Iterator[str]:
    """Start a server and give its address; it ends with the block.

    Raises:
        FileNotFoundError: there is no ``chroma`` command beside this Python.
    """
    command = shutil.which("chroma", path=str(pathlib.Path(sys.executable).parent))
    if command is None:
        raise FileNotFoundError("chroma")
    port = free_port()
    folder = tempfile.mkdtemp(prefix="citebot-chroma-")
    process = subprocess.Popen(
        [command, "run", "--path", folder, "--host", "127.0.0.1", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def chroma_url() -> Iterator[str]:
    """Give the address of a server for the tests of a module."""
    try:
        with chroma_server() as address:
            yield address
    except FileNotFoundError:
        pytest.skip("the chroma command is not installed")


def _wait(port: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise TimeoutError("the Chroma server did not start")
