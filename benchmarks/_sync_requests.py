"""What a sync asks of a source over HTTP.

The source is a server on this machine that tells changes since a time and lists ids, a hundred a page, read by the
connector of ``connectors/README.md``.
"""

import pathlib
import re
import sys
import tempfile
import time
import types
from datetime import timedelta

from connectors.base import Origin, SourceType
from connectors.cursors import OVERLAP
from connectors.sync import SyncJob, SyncReport, sync
from ragcore.library import Library
from ragcore.library.recovery import recover
from tests.connectors import notes
from tests.fakes.embedding import HashEmbedder

PAGE = pathlib.Path(__file__).resolve().parents[1] / "connectors" / "README.md"


def kind() -> SourceType:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    module = types.ModuleType("notes_of_the_readme")
    sys.modules[module.__name__] = module
    exec(compile(code, str(PAGE), "exec"), module.__dict__)
    found = module.__dict__["NOTES"]
    assert isinstance(found, SourceType)
    return found


async def measure(count: int) -> None:
    notes.PAGE = 100
    source, server, embedder = kind(), notes.NotesServer(), HashEmbedder(dimension=384)
    for number in range(count):
        server.put(f"n{number}", f"Note {number} tells how valve {number} was serviced, and by whom.")
    print(f"| {count:,} notes | requests | seconds | of the first | added | changed | deleted | texts embedded |")
    print("|---|---|---|---|---|---|---|---|")
    first = 0.0
    with tempfile.TemporaryDirectory() as folder:
        library = await Library.open(pathlib.Path(folder), embedder=embedder)
        await recover(library)
        async with server.serving() as url:
            options = source.options.model_validate({"url": url, "token": server.token})
            for name in ("first sync", "nothing changed", "10 changed", "10 deleted"):
                server.clock += OVERLAP + timedelta(minutes=1)
                for number in range(10):
                    if name == "10 changed":
                        server.put(f"n{number}", f"Changed: note {number}.")
                    elif name == "10 deleted":
                        del server.notes[f"n{number}"]
                asked, embedded, began = server.requests, len(embedder.texts), time.perf_counter()
                connector = source.create(Origin(source="s", folder=pathlib.Path()), options)
                job = SyncJob(source="s", type="notes", knowledge_base="kb", connector=connector)
                report = [event async for event in sync(library, job)][-1]
                assert isinstance(report, SyncReport)
                assert report.is_success, report
                seconds = time.perf_counter() - began
                first = first or seconds
                print(
                    f"| {name} | {server.requests - asked:,} | {seconds:.2f} | {seconds / first:.4f} | {report.added} "
                    f"| {report.changed} | {report.deleted} | {len(embedder.texts) - embedded} |"
                )
        await library.close()
