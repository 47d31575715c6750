"""Everything that is stored, opened together: the database, its two derived indexes, and what brings them in line."""

import asyncio
import secrets
import shutil
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from ragcore.enrich.describing import Describer
from ragcore.errors import IndexDamaged, StoreError
from ragcore.library.allocator import return_freed_memory
from ragcore.models.embeddings import Embedder
from ragcore.stores.chroma import Chroma
from ragcore.stores.database import Database, scalar
from ragcore.stores.entries import Entries
from ragcore.stores.failures import Failures
from ragcore.stores.health import Health
from ragcore.stores.keywords import TantivyKeywords
from ragcore.stores.registry import Registry
from ragcore.stores.staging import Staging
from ragcore.stores.vector_rows import Vectors
from ragcore.stores.vectors import ChromaIndex

DATABASE = "citebot.sqlite"
CHROMA = "chroma"
KEYWORDS = "keywords"
DERIVED = (CHROMA, f"{CHROMA}.state", KEYWORDS)
"""What is filled anew from the database when it is missing."""


class Library:
    """The stores of one data directory. Hold its lock (ragcore.stores.lock) while one is open."""

    def __init__(self, *, data_dir: Path, database: Database, chroma: Chroma, embedder: Embedder, owner: str) -> None:
        """Bundle open stores; use Library.open."""
        self.data_dir = data_dir
        self.database = database
        self.embedder = embedder
        self.health = Health()
        self.registry = Registry(database)
        self.staging = Staging(database, owner=owner)
        self.failures = Failures(database)
        self.vector_rows = Vectors(database)
        self.entries = Entries(database)
        self.keywords = TantivyKeywords(data_dir / KEYWORDS)
        self.describer: Describer | None = None
        """Puts pictures into words, where a model is set that reads them."""
        self.following = asyncio.Lock()
        """Held by whoever lets the keyword index follow the database, or clears it."""
        self.vectors = ChromaIndex(
            chroma,
            self.registry,
            self.staging,
            self.vector_rows,
            self.entries,
            embedder=embedder,
            health=self.health,
        )

    @property
    def writing(self) -> AbstractAsyncContextManager[None]:
        """Held by whoever changes rows and indexes together: one document batch, one sweep, one page of a rebuild."""
        return self.database.changing()

    @classmethod
    async def open(
        cls, data_dir: Path, *, embedder: Embedder, database_url: str = "", chroma_url: str = ""
    ) -> "Library":
        """Open the stores of a data directory, creating what is missing.

        Nothing is repaired here: ``ragcore.library.recovery.recover`` comes next wherever something may be written.

        Args:
            data_dir: holds the SQLite file and the indexes.
            embedder: its name and dimension decide which vectors are read and written.
            database_url: PostgreSQL's address; empty means SQLite in ``data_dir``.
            chroma_url: a Chroma server's address; empty means embedded in ``data_dir``.

        Raises:
            ConfigError: an address cannot be read.
            StoreError: the database or Chroma cannot be opened.
        """
        return_freed_memory()
        try:
            await asyncio.to_thread(data_dir.mkdir, 0o700, True, True)
        except OSError as error:
            raise StoreError(f"{data_dir} cannot be used: {error.strerror or error}") from error
        database = await Database.open(database_url or data_dir / DATABASE)
        async with database.connect() as connection:
            instance = f"{await scalar(connection, 'instance'):012x}"
        owner = "" if database.is_sqlite else await asyncio.to_thread(_owner, data_dir)
        try:
            chroma = await _open_chroma(chroma_url or data_dir / CHROMA, instance)
        except BaseException:
            await database.close()
            raise
        return cls(data_dir=data_dir, database=database, chroma=chroma, embedder=embedder, owner=owner)

    async def close(self) -> None:
        """Close everything; the write-ahead log is folded into the database's file."""
        await self.keywords.close()
        await self.vectors.close()
        await self.database.close()


async def _open_chroma(where: Path | str, instance: str) -> Chroma:
    try:
        return await Chroma.open(where, instance=instance)
    except IndexDamaged:
        if not isinstance(where, Path):
            raise
    # Not one collection but Chroma's own database is unreadable. All it held stands in SQL: begin afresh, and the
    # probes of the recovery find every collection missing and fill it.
    aside = where.with_name(f"{where.name}.damaged")
    await asyncio.to_thread(shutil.rmtree, aside, True)
    await asyncio.to_thread(where.rename, aside)
    return await Chroma.open(where, instance=instance)


def _owner(data_dir: Path) -> str:
    """Return the name of this data directory among those that share a database, drawn once."""
    file = data_dir / "owner"
    if not file.exists():
        file.write_text(secrets.token_hex(16), encoding="ascii")
    return file.read_text(encoding="ascii").strip()
