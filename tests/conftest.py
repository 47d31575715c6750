"""What every test sees: where the public data stands, if it is there at all."""

import gc
import pathlib
import signal

import pytest
from hypothesis import settings

from tests.fakes.chroma_server import chroma_url
from tests.fakes.postgres import postgres_server, postgres_tables_url, postgres_url
from tests.soak import FACTOR, FIXED, in_half, scaled

__all__ = ["bench", "chroma_url", "postgres_server", "postgres_tables_url", "postgres_url"]

BENCH = pathlib.Path(__file__).resolve().parents[2] / "shared" / "bench"

# Whoever starts the tests in the background may leave them a Ctrl-C that is ignored, and every process under test too.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("citebot", max_examples=scaled(60), deadline=None, derandomize=FIXED)
settings.load_profile("citebot")

# Thousands of collected tests stay to the end: left to itself the collector looks through them again and again, for a
# tenth of the whole time.
gc.disable()


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take half of what is marked ``grid`` in a run that is shorter than usual."""
    if FACTOR >= 1:
        return
    left = {item for item in items if item.get_closest_marker("grid") and not in_half(_place(item))}
    if left:
        config.hook.pytest_deselected(items=list(left))
        items[:] = [item for item in items if item not in left]


def _place(item: pytest.Item) -> list[int]:
    """Return which value of each axis a test has."""
    assert isinstance(item, pytest.Function)
    return list(item.callspec.indices.values())


@pytest.fixture
def bench() -> pathlib.Path:
    """Return the folder of public data, or skip: it isn't part of the repository."""
    if not BENCH.is_dir():
        pytest.skip("the public data sets are not beside this checkout (../shared/bench)")
    return BENCH
