"""``citebot run`` as a real process over a copy of the examples."""

import asyncio
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tests.fakes import preloaded
from tests.soak import FACTOR

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETTINGS = """
data_dir = ".citebot"

[knowledge_bases.handbook]
readers = ["*"]

[[sources]]
name = "documents"
type = "files"
knowledge_base = "handbook"
path = "./documents"
base_url = "https://wiki.example/{path}"
schedule = "1h"
"""


def environment(**more: str) -> dict[str, str]:
    """Return that of a process which has no tokens and no settings but those given."""
    known = {key: value for key, value in os.environ.items() if not is_setting(key)}
    return {**known, "PYTHONPATH": str(ROOT), **more}


def is_setting(variable: str) -> bool:
    """Tell whether the settings read an environment variable of this name."""
    return variable.startswith("CITEBOT_") or variable.endswith(("_TOKEN", "_SECRET", "_API_KEY"))


def start_command(folder: pathlib.Path, *args: str, stdin: int | None = None) -> "subprocess.Popen[str]":
    """Begin a command in a folder, whose output is piped as text."""
    return subprocess.Popen(
        [sys.executable, "-m", "bots", *args],
        cwd=folder,
        env=environment(),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def prepare(folder: pathlib.Path, settings: str = SETTINGS) -> pathlib.Path:
    """Write settings and the documents of the examples into a folder, and index them."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(ROOT / "examples" / "documents", folder / "documents")
    (folder / "citebot.toml").write_text(settings, encoding="utf-8")
    command = [sys.executable, "-m", "bots", "sync", "--json"]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return folder


def begin(folder: pathlib.Path) -> pathlib.Path:
    """Write settings and one short document into a folder; a process indexes it as soon as it runs."""
    (folder / "documents").mkdir(parents=True)
    leave = "# Leave\n\nUp to five unused leave days may be carried over until 31 March.\n"
    (folder / "documents" / "leave.md").write_text(leave, encoding="utf-8")
    (folder / "citebot.toml").write_text(SETTINGS, encoding="utf-8")
    return folder


@dataclass(slots=True)
class Running:
    """A process under test."""

    process: asyncio.subprocess.Process | preloaded.Forked
    folder: pathlib.Path
    env: Mapping[str, str]

    async def end(self, how: signal.Signals = signal.SIGTERM, seconds: float = 20.0) -> int:
        """Send a signal and return the exit status; TimeoutError when it doesn't end in time."""
        self.process.send_signal(how)
        async with asyncio.timeout(seconds):
            return await self.process.wait()

    def log(self) -> str:
        """Return what it has logged so far."""
        return (self.folder / "run.log").read_text(encoding="utf-8")

    async def command(self, *args: str) -> tuple[int, str, str]:
        """Run another command beside it; return its status, its output and its remarks."""
        return await command(self.folder, self.env, *args)


async def command(folder: pathlib.Path, env: Mapping[str, str], *args: str) -> tuple[int, str, str]:
    """Run a command in a folder; return its status, its output and its remarks."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = await _begin(folder, env, args, out.fileno(), err.fileno(), anew=False)
        status = await process.wait()
        out.seek(0)
        err.seek(0)
        return status, out.read().decode(), err.read().decode()


@asynccontextmanager
async def running(folder: pathlib.Path, *, anew: bool = False, **env: str) -> AsyncIterator[Running]:
    """Begin ``citebot run``; whatever is left of it in the end is killed.

    It is forked with its libraries loaded; in a long run, and when ``anew``, as its start is looked at, it loads them itself.
    """
    known = environment(**env)
    with (folder / "run.log").open("ab") as log:
        process = await _begin(folder, known, ("run",), log.fileno(), log.fileno(), anew=anew)
    started = Running(process, folder, known)
    try:
        yield started
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@asynccontextmanager
async def begun(folder: pathlib.Path, *args: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Begin a command in a folder, whose output nobody reads; whatever is left of it in the end is killed at once."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bots", *args),
        cwd=folder,
        env=environment(),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _begin(
    folder: pathlib.Path, env: Mapping[str, str], args: tuple[str, ...], out: int, err: int, *, anew: bool
) -> asyncio.subprocess.Process | preloaded.Forked:
    if not anew and FACTOR <= 1:
        return await preloaded.start(args, folder, env, out, err)
    words = (sys.executable, "-m", "bots", *args)
    return await asyncio.create_subprocess_exec(*words, cwd=folder, env=dict(env), stdout=out, stderr=err)
