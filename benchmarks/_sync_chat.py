"""How long an answer takes while a source is being synced, and how soon what is deleted at the source is gone.

Everything is real: the folder, the embedder that Citebot brings, the indexes. There is no language model: an answer is
quoted from what is found, so nothing hides the time that the sync takes from it.
"""

import asyncio
import pathlib
import tempfile
import time
from dataclasses import dataclass

from bots.app import open_operations
from bots.app.operations import Operations
from bots.requests import Ask, Found, Search, Sync
from bots.settings import load_settings
from connectors.registry import options_model
from ragcore.reports import SyncReport

QUESTION = "How many unused leave days may be carried over?"
LEAVE = "# Leave\n\nUp to five unused leave days may be carried over into the next year.\n"
SETTINGS = """
[[sources]]
name = "small"
type = "files"
knowledge_base = "kb"
path = "small"
[[sources]]
name = "large"
type = "files"
knowledge_base = "kb"
path = "large"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Seconds, of each answer, and from a deletion at the source to nothing found."""

    idle: list[float]
    busy: list[float]
    gone: float


def paragraph(number: int, part: int) -> str:
    return (
        f"Section {part} of report {number} tells how pump {number} was serviced, by whom, and what it cost in all. "
        * 4
    )


async def measure(documents: int, questions: int) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        (home / "small").mkdir()
        (home / "large").mkdir()
        (home / "small" / "leave.md").write_text(LEAVE, encoding="utf-8")
        for number in range(documents):
            text = "\n\n".join(f"## Part {part}\n\n{paragraph(number, part)}" for part in range(4))
            (home / "large" / f"{number}.md").write_text(f"# Report {number}\n\n{text}\n", encoding="utf-8")
        (home / "citebot.toml").write_text(SETTINGS, encoding="utf-8")
        settings = load_settings(home / "citebot.toml", source_model=options_model)
        async with open_operations(settings, mending=False, warming=False) as operations:
            await sync(operations, "small")
            await answer(operations)
            idle = [await answer(operations) for _ in range(questions)]
            syncing = asyncio.create_task(sync(operations, "large"))
            await asyncio.sleep(2.0)
            busy = []
            while len(busy) < questions and not syncing.done():
                busy.append(await answer(operations))
                await asyncio.sleep(0.1)
            await syncing
            (home / "small" / "leave.md").unlink()
            (home / "small" / "other.md").write_text("# Other\n\nNothing of that matter.\n", encoding="utf-8")
            began = time.perf_counter()
            await sync(operations, "small", full=True)
            assert not await is_found(operations)
            return Figures(idle=idle, busy=busy, gone=time.perf_counter() - began)


async def sync(operations: Operations, name: str, *, full: bool = False) -> None:
    events = [event async for event in operations.run(Sync(sources=(name,), full=full))]
    assert isinstance(events[-1], SyncReport)
    assert events[-1].is_success, events[-1]


async def answer(operations: Operations) -> float:
    began = time.perf_counter()
    async for _ in operations.run(Ask(question=QUESTION)):
        pass
    return time.perf_counter() - began


async def is_found(operations: Operations) -> bool:
    found = [event async for event in operations.run(Search(query=QUESTION)) if isinstance(event, Found)]
    return any(scored.chunk.document_id == "small:leave.md" for one in found for scored in one.chunks)


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def show(found: Figures) -> None:
    print("| answers | n | p50 ms | p95 ms | p95 of idle |")
    print("|---|---|---|---|---|")
    for name, values in (("idle", found.idle), ("while a source is synced", found.busy)):
        p50, p95 = quantile(values, 0.5), quantile(values, 0.95)
        ratio = p95 / quantile(found.idle, 0.95)
        print(f"| {name} | {len(values)} | {p50 * 1000:.0f} | {p95 * 1000:.0f} | {ratio:.2f} |")
    print(f"\nFrom the sync that sees a deletion to nothing found of it: {found.gone:.2f} s.")
