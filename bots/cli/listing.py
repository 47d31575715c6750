"""``sources``."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bots.cli.forms import state_form
from bots.cli.output import print_json, results, say
from bots.cli.reach import reach, read_settings
from bots.counting import counted
from bots.rendering.clean import clean_line
from bots.requests import ListSources, SourceState
from bots.words.sentences import age

_COLUMNS = ("source", "type", "knowledge base", "documents", "chunks", "last success", "next run")
_MOST_FAILED = 10
"""Documents that could not be read that are named of one source."""
_NUMBERS = frozenset({"documents", "chunks"})


async def run_sources(config: Path | None, *, as_json: bool) -> int:
    """Show how each source stands."""
    settings = read_settings(config)
    async with reach(settings, command="sources") as gateway:
        states = [event async for event in gateway.run(ListSources()) if isinstance(event, SourceState)]
    if as_json:
        print_json([state_form(state) for state in states])
    elif states:
        show_states(states, results())
    else:
        say("No source is set up. `citebot init` writes a citebot.toml to begin with.")
    return 0


def show_states(states: Sequence[SourceState], console: Console) -> None:
    """Print a table and the errors below it; where the table would not fit, a few lines for each source."""
    table = _table(states)
    if table.__rich_measure__(console, console.options.update(width=10_000)).maximum > console.width:
        for state in states:
            _show_one(state, console)
        return
    console.print(table)
    for state in states:
        if state.last_error:
            console.print(Text(f"✗ {clean_line(state.name)}: {clean_line(state.last_error)}", style="red"))
        _show_failed(state, console)


def _table(states: Sequence[SourceState]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in _COLUMNS:
        table.add_column(title, justify="right" if title in _NUMBERS else "left", no_wrap=True)
    for state in states:
        cells = [state.name, state.type, state.knowledge_base, f"{state.documents:,}", f"{state.chunks:,}"]
        cells += [_ago(state.last_success), _ahead(state)]
        table.add_row(*(Text(clean_line(cell)) for cell in cells))
    return table


def _show_one(state: SourceState, console: Console) -> None:
    head = Text(clean_line(state.name), style="bold")
    head.append(f" ({clean_line(state.type)}, into {clean_line(state.knowledge_base)})", "not bold")
    console.print(head)
    console.print(Text(f"  {counted(state.documents, 'document')} in {counted(state.chunks, 'chunk')}"))
    console.print(Text(f"  last success {_ago(state.last_success)}, next run {_ahead(state)}"))
    if state.last_error:
        console.print(Text(f"  ✗ {clean_line(state.last_error)}", style="red"))
    _show_failed(state, console)


def _show_failed(state: SourceState, console: Console) -> None:
    """Name the documents that could not be read, with the mend, and when they are tried again."""
    for failed in state.failed[:_MOST_FAILED]:
        line = Text("  ✗ ", style="red")
        line.append(f"{clean_line(failed.id)}: {clean_line(failed.reason)}", "default")
        if failed.mend:
            line.append(f" → {clean_line(failed.mend)}", "default")
        if failed.next_try_at is not None:
            line.append(f" (next try {_until(failed.next_try_at)})", "dim")
        console.print(line)
    if more := len(state.failed[_MOST_FAILED:]):
        console.print(Text(f"  ✗ {more:,} more; `--json` names each", style="red"))


def _ago(moment: datetime | None) -> str:
    return f"{age((datetime.now(UTC) - moment).total_seconds())} ago" if moment else "–"


def _ahead(state: SourceState) -> str:
    if state.is_paused:
        return "paused"
    return _until(state.next_run) if state.next_run else "–"


def _until(moment: datetime) -> str:
    seconds = (moment - datetime.now(UTC)).total_seconds()
    return f"in {age(seconds)}" if seconds > 0 else "now"
