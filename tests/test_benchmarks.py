"""The benchmarks that need no public data run on a small scale: what they call may change under them unseen."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("latency", "--chunks", "300", "--questions", "16"), "one at a time"),
        (("memory", "--pages", "3"), "a document a page"),
        (("sync", "--documents", "30"), "nothing changed"),
        (("turns", "telegram", "--conversations", "2", "--rounds", "1", "--at-once", "3"), "answered once 3"),
        (("ingest", "--documents", "20", "--no-embedding"), "0 texts embedded"),
    ],
)
def test_a_benchmark_runs(arguments: tuple[str, ...], told: str) -> None:
    name, *options = arguments
    command = [sys.executable, "-m", f"benchmarks.{name}", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    if done.stdout.startswith("skipped"):
        pytest.skip(done.stdout.strip())
    assert told in done.stdout
