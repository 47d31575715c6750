"""One file that holds everything: the database. The indexes derive from it, and are filled again after a restore."""

import asyncio
import contextlib
import hashlib
import json
import os
import shutil
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from ragcore.errors import ConfigError, StoreError
from ragcore.library import DATABASE, DERIVED
from ragcore.stores.database import SCHEMA_VERSION, Database, create_private

FORMAT = 1
MANIFEST = "manifest.json"
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a backup says of itself. ``bytes`` and ``sha256`` are those of the database in it."""

    format: int
    schema: str
    taken_at: str
    documents: int
    chunks: int
    bytes: int
    sha256: str


async def backup(database: Database, file: Path) -> Manifest:
    """Copy the database into one file, as it stands at one moment; others may go on writing meanwhile.

    The file appears whole or not at all; one of that name is replaced.

    Raises:
        ConfigError: the database is PostgreSQL, which has better tools of its own.
        StoreError: the file cannot be written.
    """
    source = database.path
    if source is None:
        raise ConfigError(
            "this database is PostgreSQL: back it up with pg_dump and restore it with pg_restore; "
            "the indexes are filled from it again"
        )
    try:
        return await asyncio.to_thread(_backup, source, file)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"the backup {file} could not be written: {error}") from error


async def restore(file: Path, data_dir: Path) -> Manifest:
    """Put a backup's database in the place of the one in ``data_dir``; hold the data directory's lock meanwhile.

    Nothing is touched before the backup is found to be whole. The indexes go: the next start fills them again.

    Raises:
        StoreError: the file is no backup, is damaged, or was made by a newer Citebot; or the folder cannot be written.
    """
    try:
        return await asyncio.to_thread(_restore, file, data_dir)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise StoreError(
            f"{file} is no backup of Citebot, or is damaged ({error}); take a file that `citebot backup` wrote"
        ) from error
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"the backup {file} could not be restored: {error}") from error


def _backup(source: Path, file: Path) -> Manifest:
    if not file.parent.is_dir():
        raise ConfigError(f"there is no folder {file.parent} to write a backup to; create it, or name another file")
    with _scratch(file.with_name(f".{file.name}.{os.getpid()}.sqlite")) as copy:
        with contextlib.closing(sqlite3.connect(source)) as live, contextlib.closing(sqlite3.connect(copy)) as target:
            live.backup(target)
        manifest = _describe(copy)
        with _scratch(file.with_name(f".{file.name}.{os.getpid()}.zip")) as packed:
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                archive.writestr(MANIFEST, json.dumps(asdict(manifest), indent=2))
                archive.write(copy, DATABASE)
            _flush(packed)
            packed.replace(file)
    return manifest


def _describe(copy: Path) -> Manifest:
    with contextlib.closing(sqlite3.connect(copy)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")  # a single file, without a log beside it
        (schema,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        documents, chunks = connection.execute(
            "SELECT count(*), coalesce(sum(chunk_count), 0) FROM documents WHERE NOT deleted"
        ).fetchone()
    with copy.open("rb") as stream:
        digest = _hash(stream)
    return Manifest(
        format=FORMAT,
        schema=schema,
        taken_at=datetime.now(UTC).isoformat(timespec="seconds"),
        documents=documents,
        chunks=chunks,
        bytes=copy.stat().st_size,
        sha256=digest,
    )


def _restore(file: Path, data_dir: Path) -> Manifest:
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    database = data_dir / DATABASE
    with _scratch(data_dir / f".{DATABASE}.{os.getpid()}") as copy:
        with zipfile.ZipFile(file) as archive:
            manifest = _manifest(file, archive)
            if shutil.disk_usage(data_dir).free < manifest.bytes:
                raise StoreError(f"{data_dir} has no room for the {manifest.bytes} bytes of the backup")
            with archive.open(DATABASE) as packed, copy.open("wb") as target:
                shutil.copyfileobj(packed, target, _BLOCK)
        _verify(file, copy, manifest)
        _flush(copy)
        # In this order: whenever this stops, there is a whole database, and no index that belongs to another one.
        for name in DERIVED:
            shutil.rmtree(data_dir / name, ignore_errors=True)
        _fold_log(database)
        copy.replace(database)
    return manifest


def _manifest(file: Path, archive: zipfile.ZipFile) -> Manifest:
    try:
        manifest = Manifest(**json.loads(archive.read(MANIFEST)))
    except (KeyError, ValueError, TypeError) as error:
        raise StoreError(
            f"{file} is no backup of Citebot (it has no manifest); take a file that `citebot backup` wrote"
        ) from error
    if manifest.format != FORMAT or manifest.schema > SCHEMA_VERSION:
        raise StoreError(
            f"{file} was made by a newer Citebot (schema {manifest.schema}, this one knows {SCHEMA_VERSION})"
        )
    return manifest


def _verify(file: Path, copy: Path, manifest: Manifest) -> None:
    with copy.open("rb") as stream:
        whole = _hash(stream) == manifest.sha256
    if whole:
        with contextlib.closing(sqlite3.connect(copy)) as connection:
            whole = connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
    if not whole:
        raise StoreError(f"the backup {file} is damaged: its database is not what was written")


def _fold_log(database: Path) -> None:
    """Let the old database's log become part of its file, so that no log is left for the new one."""
    if not database.exists():
        return
    with contextlib.suppress(sqlite3.DatabaseError), contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for suffix in ("-wal", "-shm"):  # still there when the old file is no database, perhaps the reason to restore
        database.with_name(database.name + suffix).unlink(missing_ok=True)


@contextlib.contextmanager
def _scratch(path: Path) -> Iterator[Path]:
    """Give the name of an empty file that only its owner may open, and take away at the end whatever is still there."""
    try:
        path.unlink(missing_ok=True)
        create_private(path)
        yield path
    finally:
        path.unlink(missing_ok=True)


def _hash(stream: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while block := stream.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()


def _flush(path: Path) -> None:
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())
