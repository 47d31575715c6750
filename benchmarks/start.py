"""How long a command takes as a whole process: `citebot ask --help`, `citebot ask` on the examples, and the chat.

    python -m benchmarks.start

"cold" is the first `ask` on a new index, "warm" the following ones; of the chat the time until its prompt stands, and
from a question typed at once until its cited answer stands. Each is the median of the runs, with the fastest, for other
work on the machine only ever adds.
"""

import contextlib
import os
import pathlib
import pty
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

ROOT = pathlib.Path(__file__).resolve().parents[1]
RUNS = 7
SECONDS = 60.0
QUESTION = "How many unused leave days can I carry over, and until when?"
CITEBOT = (sys.executable, "-m", "bots")


def seconds(*command: object) -> float:
    """Return the wall time of a command; its failure is ours."""
    started = time.perf_counter()
    subprocess.run([str(part) for part in command], check=True, capture_output=True, cwd=ROOT)
    return time.perf_counter() - started


def chat_seconds(config: Sequence[object]) -> tuple[float, float]:
    """Return the time until the chat's prompt, and from a question typed at once until its cited answer."""
    ours, theirs = pty.openpty()
    started = time.perf_counter()
    command = [*CITEBOT, *map(str, config), "chat"]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=ROOT, start_new_session=True)
    os.close(theirs)
    try:
        _read_until(ours, lambda shown: "› " in shown)
        prompted = time.perf_counter()
        os.write(ours, f"{QUESTION}\n".encode())
        _read_until(ours, lambda shown: shown.count("[1]") > 1 and shown.rstrip().endswith("›"))
        answered = time.perf_counter()
        os.write(ours, b"\x04")
        with contextlib.suppress(OSError):  # Linux tells the end of a terminal as an error
            while os.read(ours, 65536):
                pass
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return prompted - started, answered - prompted


def _read_until(terminal: int, enough: Callable[[str], bool]) -> None:
    shown, until = b"", time.perf_counter() + SECONDS
    while not enough(shown.decode("utf-8", "replace")):
        if not select.select([terminal], [], [], max(0.0, until - time.perf_counter()))[0]:
            raise TimeoutError(f"the chat showed only {shown[-500:]!r}")
        shown += os.read(terminal, 65536)


def show(what: str, taken: Sequence[float]) -> None:
    """Print the median and the range."""
    print(f"{what:32} {statistics.median(taken):.2f} s (min {min(taken):.2f}, max {max(taken):.2f})")


def main() -> None:
    """Measure and print."""
    show("python -c pass", [seconds(sys.executable, "-c", "pass") for _ in range(RUNS)])
    show("citebot ask --help", [seconds(*CITEBOT, "ask", "--help") for _ in range(RUNS + 1)][1:])
    with tempfile.TemporaryDirectory() as folder:
        examples = pathlib.Path(folder) / "examples"
        shutil.copytree(ROOT / "examples", examples, ignore=shutil.ignore_patterns(".citebot"))
        config = ("--config", examples / "citebot.toml")
        show("citebot sync, the examples", [seconds(*CITEBOT, *config, "sync")])
        show("citebot sync, again", [seconds(*CITEBOT, *config, "sync")])
        asks = [seconds(*CITEBOT, *config, "ask", QUESTION) for _ in range(RUNS)]
        show("citebot ask, cold", asks[:1])
        show("citebot ask, warm", asks[1:])
        chats = [chat_seconds(config) for _ in range(RUNS)]
        show("citebot chat, until its prompt", [prompt for prompt, _ in chats])
        show("citebot chat, its first answer", [answer for _, answer in chats])


if __name__ == "__main__":
    main()
