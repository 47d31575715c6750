"""The benchmarks that need no public data run on a small scale: what they call may change under them unseen."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]
ALL_ANSWERED = "answered once 20, whole 20, not at all 0, twice or more 0; calls refused by a limit: 0"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(("latency", "--chunks", "300", "--questions", "16"), "one at a time", marks=pytest.mark.soak),
        pytest.param(("memory", "--pages", "3"), "a document a page", marks=pytest.mark.soak),
        pytest.param(
            ("sync", "--documents", "30", "--beside", "3", "--questions", "2"),
            "to nothing found of it",
            marks=pytest.mark.soak,
        ),
        pytest.param(("turns", "slack", "--rounds", "0", "--at-once", "20"), ALL_ANSWERED, marks=pytest.mark.soak),
        pytest.param(("turns", "discord", "--rounds", "0", "--at-once", "20"), ALL_ANSWERED, marks=pytest.mark.soak),
        pytest.param(("turns", "telegram", "--rounds", "0", "--at-once", "20"), ALL_ANSWERED, marks=pytest.mark.soak),
        pytest.param(
            ("own_questions", "--part", "mended", "--every", "9"), "| mended | answer | ", marks=pytest.mark.soak
        ),
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


@pytest.mark.parametrize(
    "arguments",
    [
        ("parsing", "--pages", "0"),
        ("citations",),
        *(
            pytest.param((one,), marks=pytest.mark.soak)
            for one in ("retrieval", "chunking", "ingest", "answers", "steps", "model_steps", "embedded_fields")
        ),
    ],
    ids=lambda arguments: arguments[0],
)
def test_what_needs_the_public_data_says_so_without_it(arguments: tuple[str, ...], tmp_path: pathlib.Path) -> None:
    # Beside this copy of the benchmarks lies no data.
    shutil.copytree(ROOT / "benchmarks", tmp_path / "checkout" / "benchmarks")
    name, *options = arguments
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", *options],
        cwd=tmp_path / "checkout",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("skipped: ")
    assert "../shared/bench" in done.stdout
