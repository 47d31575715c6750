"""Rewrites what the tests assert, once: each worker of ``make test`` would do it for itself, for seven seconds.

It takes what pytest keeps to itself. A version of pytest that has something else there loses nothing but this time.
"""

import pathlib
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import distributions
from types import SimpleNamespace
from typing import Any

TESTS = pathlib.Path(__file__).parent


def rewritten(file: pathlib.Path) -> bool:
    """Keep a file as pytest runs it, where pytest looks for it; return whether it was to be done."""
    from _pytest.assertion import rewrite

    kept = rewrite.get_cache_dir(file) / (file.name[:-3] + rewrite.PYC_TAIL)
    if rewrite._read_pyc(file, kept) is not None:
        return False
    kept.parent.mkdir(exist_ok=True)
    # Of the settings it asks for one that we don't set; of the state, to be told what went wrong.
    nothing: Any = None
    told: Any = SimpleNamespace(trace=print)
    digest, code = rewrite._rewrite_test(file, nothing)
    return rewrite._write_pyc(told, code, digest, kept)


def plugins() -> Iterator[pathlib.Path]:
    """Yield the modules of pytest's plugins: it rewrites these too, with all that is packed with them."""
    for one in distributions():
        if any(entry.group == "pytest11" for entry in one.entry_points):
            files = (pathlib.Path(str(file.locate())) for file in one.files or () if file.suffix == ".py")
            yield from (file for file in files if file.is_file())


def main() -> None:
    """Rewrite all test files, the largest first, and the plugins' on all cores."""
    files = sorted([*TESTS.rglob("test_*.py"), *plugins()], key=lambda file: -file.stat().st_size)
    with ProcessPoolExecutor() as processes:
        sum(processes.map(rewritten, [*files, *TESTS.rglob("conftest.py")], chunksize=8))


if __name__ == "__main__":
    try:
        main()
    except (ImportError, AttributeError, TypeError, OSError) as error:
        print(f"the workers rewrite the tests themselves: {error}", file=sys.stderr)
