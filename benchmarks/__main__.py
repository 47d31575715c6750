"""Run every benchmark, one after the other, each in a process of its own: ``python -m benchmarks [NAME ...]``."""

import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def main() -> int:
    # "answers" asks the indexes that "retrieval" makes.
    every = sorted((path.stem for path in HERE.glob("[a-z]*.py")), key=lambda name: (name != "retrieval", name))
    unknown = set(sys.argv[1:]) - set(every)
    if unknown:
        print(f"no such benchmark: {', '.join(sorted(unknown))}; there are {', '.join(every)}", file=sys.stderr)
        return 2
    failed = []
    for name in sys.argv[1:] or every:
        print(f"\n== python -m benchmarks.{name}", flush=True)
        started = time.perf_counter()
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], cwd=HERE.parent, check=False).returncode:
            failed.append(name)
        print(f"== {time.perf_counter() - started:.0f} s", flush=True)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
