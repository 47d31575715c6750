"""``citebot run`` in a process of its own, to be killed while it reads its sources; it waits a hundred times faster."""

import asyncio
import importlib
import json
import pathlib
import re
import sys
import types
from dataclasses import dataclass

from connectors.base import SourceType
from tests.fakes.embedding import HashEmbedder
from tests.fakes.forking import ROOT, fork_for_each_line

FASTER = 100
PRELOADED = (
    *("aiohttp.web", "aiosqlite", "apscheduler.schedulers.asyncio", "chromadb", "chromadb_rust_bindings"),
    *("prometheus_client", "pydantic_settings", "sqlalchemy.ext.asyncio", "tantivy", "tiktoken"),
    *(
        "bots.app.running",
        "connectors.files",
        "connectors.github",
        "connectors.sql",
        "connectors.web",
        "ragcore.ingest",
    ),
)
"""What takes most of the time of a start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """A process with the settings in ``folder``."""

    folder: str


def notes_type() -> SourceType:
    """Return the source type that ``connectors/README.md`` shows."""
    page = ROOT / "connectors" / "README.md"
    (code,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    module = sys.modules["notes_of_the_readme"] = types.ModuleType("notes_of_the_readme")
    exec(compile(code, str(page), "exec"), module.__dict__)
    found = module.__dict__["NOTES"]
    assert isinstance(found, SourceType)
    return found


async def embedder(_: object) -> HashEmbedder:
    """Take the place of the settings' embedder, which would take most of the time."""
    return HashEmbedder()


async def _hurry(seconds: float) -> None:
    await asyncio.sleep(seconds / FASTER)


async def live(life: Life) -> int:
    """Run until killed."""
    import bots.app.parts
    from bots.app.running import run
    from bots.settings import load_settings
    from connectors import registry
    from connectors.registry import options_model
    from connectors.sync.run import sync

    real, notes = registry._load, notes_type()
    registry._load = lambda name: notes if name == "notes" else real(name)
    bots.app.parts.open_embedder = embedder  # type: ignore[assignment]
    assert sync.__kwdefaults__ is not None
    sync.__kwdefaults__["sleep"] = _hurry
    return await run(load_settings(pathlib.Path(life.folder) / "citebot.toml", source_model=options_model))


def main() -> None:
    """Fork a process for each line."""
    for name in PRELOADED:
        importlib.import_module(name)
    fork_for_each_line(lambda line: live(Life(**json.loads(line))))


if __name__ == "__main__":
    main()
