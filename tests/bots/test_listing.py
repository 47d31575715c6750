"""What ``sources`` shows on a terminal, wide and narrow."""

import io
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from bots.cli.listing import show_states
from bots.requests import SourceState

STATES = (
    SourceState(name="handbook", type="files", knowledge_base="handbook", documents=1, chunks=1_200),
    SourceState(
        name="wiki",
        type="files",
        knowledge_base="company",
        documents=0,
        chunks=0,
        last_success=datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
        last_error="/srv/wiki is not there; mend `path`",
    ),
)


def shown(width: int, states: tuple[SourceState, ...] = STATES) -> str:
    out = io.StringIO()
    show_states(states, Console(file=out, width=width, highlight=False, markup=False))
    return out.getvalue()


def test_a_wide_terminal_shows_a_table_and_errors_below_it() -> None:
    head, first, second, error = shown(100).splitlines()
    assert head.split() == [
        "source",
        "type",
        "knowledge",
        "base",
        "documents",
        "chunks",
        "last",
        "success",
        "next",
        "run",
    ]
    assert first.split()[:5] == ["handbook", "files", "handbook", "1", "1,200"]
    assert second.split()[:4] == ["wiki", "files", "company", "0"]
    assert error == "✗ wiki: /srv/wiki is not there; mend `path`"


def test_a_narrow_terminal_shows_lines() -> None:
    assert "handbook (files, into handbook)\n  1 document in 1,200 chunks\n" in shown(40)


@pytest.mark.parametrize("width", [20, 40, 80, 200])
@given(name=st.text(min_size=1, max_size=60), error=st.text(max_size=60))
def test_no_line_is_wider_than_the_terminal(width: int, name: str, error: str) -> None:
    state = SourceState(name=name, type="files", knowledge_base=name, documents=1, chunks=1, last_error=error)
    assert all(cell_len(line) <= width for line in shown(width, (state,)).split("\n"))
