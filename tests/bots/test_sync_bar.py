"""The progress bar of ``sync`` on wide and narrow terminals."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from bots.cli.syncing import _advance, _bar
from ragcore.reports import SyncProgress


@pytest.mark.parametrize("width", [40, 60, 100, 200])
@pytest.mark.parametrize("name", ["a.md", "长" * 80, "x" * 300])
def test_the_bar_stays_one_line_with_its_count(width: int, name: str) -> None:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    progress = _bar(console)
    step = SyncProgress(
        source="handbook",
        done=170,
        total=345,
        document_id=f"handbook:{name}",
        stage="embedding",
        share=0.4,
        reached=170.4,
    )
    _advance(progress, {}, step)
    with console.capture() as captured:
        console.print(progress)
    (line,) = captured.get().splitlines()
    assert cell_len(line) <= width
    assert "170/345" in line
    assert "╸" in line or "━" in line
    assert "handbook:" not in line
