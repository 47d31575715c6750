"""How long a command takes as a whole process: `citebot ask --help`, and `citebot ask` on the examples.

    python -m benchmarks.start

"cold" is the first run after the bytecode and the index were made anew; "warm" is the median of the following ones.
"""

import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
RUNS = 7
QUESTION = "How many unused leave days can I carry over, and until when?"


def seconds(*command: object) -> float:
    """Return the wall time of a command; its failure is ours."""
    started = time.perf_counter()
    subprocess.run([str(part) for part in command], check=True, capture_output=True, cwd=ROOT)
    return time.perf_counter() - started


def main() -> None:
    citebot = [sys.executable, "-m", "bots"]
    bare = statistics.median(seconds(sys.executable, "-c", "pass") for _ in range(RUNS))
    helps = [seconds(*citebot, "ask", "--help") for _ in range(RUNS + 1)][1:]
    print(f"python -c pass           {bare:.2f} s")
    print(f"citebot ask --help       {statistics.median(helps):.2f} s (min {min(helps):.2f}, max {max(helps):.2f})")
    with tempfile.TemporaryDirectory() as folder:
        examples = pathlib.Path(folder) / "examples"
        shutil.copytree(ROOT / "examples", examples, ignore=shutil.ignore_patterns(".citebot"))
        config = ["--config", examples / "citebot.toml"]
        print(f"citebot sync (examples)  {seconds(*citebot, *config, 'sync'):.2f} s")
        print(f"citebot sync (again)     {seconds(*citebot, *config, 'sync'):.2f} s")
        asks = [seconds(*citebot, *config, "ask", QUESTION) for _ in range(RUNS)]
        print(f"citebot ask, first       {asks[0]:.2f} s")
        print(
            f"citebot ask, then        {statistics.median(asks[1:]):.2f} s (min {min(asks[1:]):.2f}, max {max(asks[1:]):.2f})"
        )


if __name__ == "__main__":
    main()
