"""``eval``: measuring on data with known answers; reads no settings and touches no data directory."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from rich.text import Text

from bots.cli.output import print_json, results
from ragcore.errors import ConfigError
from ragcore.evaluate.citations import attribute_cases, evaluate_citations, read_cases


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
