"""``eval``: measuring on data with known answers; reads no settings and touches no data directory."""

import asyncio
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from bots.cli.output import print_json, remarks, results, say
from ragcore.errors import ConfigError
from ragcore.evaluate.citations import attribute_cases, evaluate_citations, read_cases
from ragcore.evaluate.retrieval import evaluate_retrieval
from ragcore.models.minilm import MiniLMEmbedder


async def run_retrieval(folder: Path, run_file: Path | None, *, with_history: bool, as_json: bool) -> int:
    """Index a judged corpus in a temporary folder, ask its queries, and print how well the search ranked."""
    console = remarks()
    with tempfile.TemporaryDirectory(prefix="citebot-eval-") as workspace, ExitStack() as stack:
        progress = stack.enter_context(_bar(console)) if console.is_terminal else None
        report = await evaluate_retrieval(
            folder,
            workspace=Path(workspace),
            embedder=MiniLMEmbedder(),
            history="all" if with_history else "none",
            run_file=run_file,
            progress=_steps(progress) if progress else None,
        )
    say(f"queries: {report.queries}, documents: {report.documents}, chunks: {report.chunks}")
    _print(
        {
            "ndcg@10": report.ndcg_at_10,
            "recall@10": report.recall_at_10,
            "mrr": report.mrr,
            "p50_ms": report.p50_ms,
            "p95_ms": report.p95_ms,
        },
        as_json=as_json,
    )
    return 0


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(bar_width=30), MofNCompleteColumn(), console=console, transient=True
    )


def _steps(progress: Progress) -> Callable[[int, int], None]:
    """Return what moves the bar: through the documents, then, counting from 1 again, through the queries."""
    stages = iter(("documents", "queries", "more"))
    before, task = 0, progress.add_task(next(stages))

    def step(done: int, total: int) -> None:
        nonlocal before, task
        if done < before:
            task = progress.add_task(next(stages))
        before = done
        progress.update(task, completed=done, total=total)

    return step


async def run_citations(file: Path, *, as_json: bool) -> int:
    """Insert citations into the bare answers of a file and print how right they are."""
    try:
        lines = (await asyncio.to_thread(file.read_text, encoding="utf-8")).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}") from error
    cases = read_cases(lines)
    scores = evaluate_citations(cases, await attribute_cases(cases))
    _print(
        {
            "precision": scores.precision,
            "recall": scores.recall,
            "f1": scores.f1,
            "unsupported_cited": scores.unsupported_cited,
        },
        as_json=as_json,
    )
    return 0


def _print(figures: Mapping[str, float | None], *, as_json: bool) -> None:
    rounded = {name: None if figure is None else round(figure, 4) for name, figure in figures.items()}
    if as_json:
        print_json(rounded)
        return
    for name, figure in rounded.items():
        results().print(Text(f"{name:18} {'–' if figure is None else f'{figure:.4f}'}"))
