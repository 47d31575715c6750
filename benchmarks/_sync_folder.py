"""What a sync costs on a folder of many documents."""

import pathlib
import tempfile
import time
from dataclasses import dataclass

from connectors.base import Origin
from connectors.files import FilesConnector, FilesOptions
from connectors.sync import SyncJob, SyncReport, sync
from ragcore.library import Library
from ragcore.library.recovery import recover
from tests.fakes.embedding import HashEmbedder

PARAGRAPH = "A sentence of a document that is long enough to be a paragraph of its own, number {number}.\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One run, and what it came to."""

    name: str
    seconds: float
    embedded: int
    report: SyncReport


async def measure(count: int) -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "documents"
        for number in range(count):
            write(root, number, f"# Document {number}\n\n" + PARAGRAPH.format(number=number) * 3)
        embedder = HashEmbedder(dimension=384)
        library = await Library.open(pathlib.Path(folder) / "data", embedder=embedder)
        await recover(library)

        async def timed(name: str) -> None:
            before, start = len(embedder.texts), time.perf_counter()
            report = await run(library, root)
            rows.append(
                Row(
                    name=name,
                    seconds=time.perf_counter() - start,
                    embedded=len(embedder.texts) - before,
                    report=report,
                )
            )

        await timed("first sync")
        await timed("nothing changed")
        for number in range(10):
            write(root, number, f"# Document {number}\n\nChanged.")
        await timed("10 changed")
        for number in range(10):
            path(root, number).unlink()
        await timed("10 deleted")
        await library.close()
    return rows


async def run(library: Library, root: pathlib.Path) -> SyncReport:
    connector = FilesConnector(Origin(source="bench", folder=root), FilesOptions(path=str(root)))
    job = SyncJob(source="bench", type="files", knowledge_base="bench", connector=connector)
    report = [event async for event in sync(library, job)][-1]
    assert isinstance(report, SyncReport)
    assert report.is_success, report
    return report


def path(root: pathlib.Path, number: int) -> pathlib.Path:
    return root / f"{number % 100:02}" / f"{number}.md"


def write(root: pathlib.Path, number: int, text: str) -> None:
    path(root, number).parent.mkdir(parents=True, exist_ok=True)
    path(root, number).write_text(text, encoding="utf-8")


def show(count: int, rows: list[Row]) -> None:
    print(f"| {count:,} files | seconds | of the first | added | changed | deleted | texts embedded |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        told = row.report
        share = row.seconds / rows[0].seconds
        print(
            f"| {row.name} | {row.seconds:.2f} | {share:.4f} | {told.added} | {told.changed} | {told.deleted} "
            f"| {row.embedded} |"
        )
