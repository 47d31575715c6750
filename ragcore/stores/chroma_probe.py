"""Tries an embedded Chroma in a process of its own, when its files are not as they were left in order.

On damaged files Chroma's native part may not raise but crash the process that searches them. So the first search is
for a process that may crash.
"""

import asyncio
import os
import sys
from collections.abc import Collection
from pathlib import Path

import numpy as np

from ragcore.errors import IndexDamaged

QUERIES = 16
NEIGHBOURS = 100
SAMPLE = 500
"""Vectors read back of each collection; a file that is cut lacks its end, so these are the last ones."""
SECONDS = 120.0
"""How long trying one collection may take."""


async def dead_collections(folder: Path, *, skip: Collection[str] = ()) -> set[str]:
    """Return the names of the collections that crash, hang or fail; those to skip are not touched.

    Raises:
        IndexDamaged: the folder cannot be opened at all.
    """
    dead: set[str] = set()
    while True:
        name, ok = await _try_all(folder, skip={*skip, *dead})
        if ok:
            return dead
        if not name:
            raise IndexDamaged(f"Chroma's folder {folder} cannot be opened")
        dead.add(name)


async def _try_all(folder: Path, skip: set[str]) -> tuple[str, bool]:
    """Try all collections but those to skip; returns the one tried last, and whether all went well."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "ragcore.stores.chroma_probe",
        str(folder),
        *skip,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    assert process.stdout is not None
    name = ""
    try:
        while True:
            async with asyncio.timeout(SECONDS):
                line = await process.stdout.readline()
            if not line:
                break
            name = line.decode().strip()
        return name, await process.wait() == 0
    except TimeoutError:
        return name, False
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def main(folder: str, skip: set[str]) -> None:
    """Search every collection, each announced by a line with its name; an error ends the process."""
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False, _env_file=None)  # type: ignore[call-arg]
    client = chromadb.PersistentClient(path=folder, settings=settings)
    generator = np.random.default_rng(0)
    offset = 0
    while page := client.list_collections(limit=100, offset=offset):
        offset += len(page)
        for collection in page:
            if collection.name in skip:
                continue
            os.write(1, f"{collection.name}\n".encode())
            count = collection.count()
            dimension = int((collection.metadata or {}).get("dimension", 0))
            if not count or not dimension:
                continue
            for vector in generator.standard_normal((QUERIES, dimension)).astype(np.float32):
                collection.query(query_embeddings=[vector], n_results=NEIGHBOURS, include=["distances"])
            collection.get(limit=SAMPLE, offset=max(0, count - SAMPLE), include=["embeddings"])


if __name__ == "__main__":
    main(sys.argv[1], set(sys.argv[2:]))
