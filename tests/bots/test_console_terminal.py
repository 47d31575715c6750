"""The conversation on a real terminal (a pseudo-terminal): what keys do, and what is left on the screen."""

import codecs
import contextlib
import fcntl
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = """
import sys
from bots.cli.output import results
from bots.console import Chat, chatting
from tests.fakes.operations import Scripted
scripted = Scripted(pause=float(sys.argv[1]))
with chatting(scripted.opened) as (backend, loop):
    Chat(backend, loop, results()).talk()
print("left, having asked", sum(type(request).__name__ == "Ask" for request in scripted.asked))
"""


class Terminal:
    """A process on a pseudo-terminal of 24 lines by 80 columns."""

    def __init__(self, *args: str) -> None:
        self._main, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        # A session of its own with the terminal in control, so that Ctrl-C becomes SIGINT.
        take_control = "import os, fcntl, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
        run = f"os.execv({sys.executable!r}, [{sys.executable!r}, '-c', *__import__('sys').argv[1:]])"
        self.process = subprocess.Popen(
            [sys.executable, "-c", take_control + run, *args],
            stdin=child,
            stdout=child,
            stderr=child,
            cwd=ROOT,
            env={**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT), "COLUMNS": "80", "LINES": "24"},
        )
        os.close(child)
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.shown = ""

    def type(self, keys: str) -> None:
        os.write(self._main, keys.encode())

    def wait_for(self, pattern: str, *, seconds: float = 20) -> None:
        """Read until the pattern is met in what came since the last call; then forget that."""
        until = time.monotonic() + seconds
        while not (found := re.search(pattern, self.shown)):
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._main], [], [], left)[0]:
                pytest.fail(f"{pattern!r} never came; there was {self.shown[-800:]!r}")
            with contextlib.suppress(OSError):
                data = os.read(self._main, 65536)
                self.shown += self._decoder.decode(data)
                if data:
                    continue
            pytest.fail(f"the process ended before {pattern!r}; there was {self.shown[-800:]!r}")
        self.shown = self.shown[found.end() :]

    def close(self) -> int:
        code = self.process.wait(20)
        os.close(self._main)
        return code


@pytest.fixture
def terminal(request: pytest.FixtureRequest) -> Iterator[Terminal]:
    started = Terminal(SCRIPT, str(getattr(request, "param", 0.01)))
    yield started
    if started.process.poll() is None:
        started.process.kill()
        started.process.wait()


def test_what_is_pasted_is_one_question_and_its_answer_links_its_sources(terminal: Terminal) -> None:
    terminal.wait_for("3 documents")
    terminal.wait_for("› ")
    time.sleep(0.5)
    terminal.type("\x1b[200~How many?\nAnd until when?\x1b[201~\n")
    terminal.wait_for(re.escape("\x1b]8;") + r"[^;]*;file:///srv/leave-2\.md#carry-over" + re.escape("\x1b\\"))
    terminal.wait_for(r"\[2\] .*Leave, Carry-over")
    terminal.wait_for("› ")
    terminal.type("\x04")
    terminal.wait_for("left, having asked 1")
    assert terminal.close() == 0


@pytest.mark.parametrize("terminal", [0.6], indirect=True)
def test_ctrl_c_stops_an_answer_without_leaving(terminal: Terminal) -> None:
    terminal.wait_for("› ")
    terminal.type("How many?\n")
    terminal.wait_for("You may")
    terminal.type("\x03")
    terminal.wait_for(r"\(stopped\)")
    terminal.wait_for("› ")
    terminal.type("/help\n")
    terminal.wait_for("/reset")
    terminal.wait_for("› ")
    # The prompt is shown a moment before input() heeds signals; no hand is as fast.
    time.sleep(0.5)
    terminal.type("\x03")
    terminal.wait_for("left")
    assert terminal.close() == 0


@pytest.mark.parametrize("terminal", [0.4], indirect=True)
def test_what_is_typed_during_an_answer_waits_for_the_prompt(terminal: Terminal) -> None:
    terminal.wait_for("› ")
    terminal.type("How many?\n")
    terminal.wait_for("You may")
    terminal.type("Until when?\n")
    terminal.wait_for(r"(?s)\A(?:(?!Until).)*\[2\] .*Leave, Carry-over")
    terminal.wait_for("› Until when\\?")
    terminal.wait_for(r"\[2\] .*Leave, Carry-over")
    terminal.wait_for("› ")
    terminal.type("\x04")
    terminal.wait_for("left, having asked 2")
    assert terminal.close() == 0
