"""Chroma's manners, all in one place: embedded in a folder, or a server.

Its calls block, so they run in threads of their own. Its exceptions are told apart here and nowhere else:
``IndexDamaged`` is a collection that must be built anew, ``StoreError`` a disk, a network or a server at fault.
Names of collections are drawn at random and kept in SQL: Chroma takes 3-512 of ``[a-zA-Z0-9._-]`` only.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import ConfigError, IndexDamaged, StoreError
from ragcore.stores.chroma_files import ChromaFiles
from ragcore.stores.chroma_probe import dead_collections
from ragcore.stores.indexes import Permitted
from ragcore.stores.waiting import uninterrupted

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection as ChromaCollection

MAX_BATCH = 5_461
"""Most rows that Chroma takes in one call."""
PAGE = 5_000
"""Rows of one ``get``; 36,000 were too many SQL variables for Chroma."""
MOST_VALUES = 30_000
"""Most values of a filter: Chroma asks SQLite with a variable for each, which takes 32,766."""
LAYOUT = 3
"""Grows when what stands in a collection changes its meaning: one of another layout is built anew."""
WITHOUT_READERS = 2
"""The layout before this one. It knew no readers; where no source told any, the two are the same."""
THREADS = 4
SERVER_SECONDS = 60.0
"""How long a server may take to answer one call, or to be reached."""

# What an InternalError says when the surroundings are at fault rather than the collection.
_SURROUNDINGS = (
    "disk is full",
    "no space left",
    "database is locked",
    "unable to open database file",
    "too many open files",
    "too many sql variables",
    "permission denied",
    "readonly database",
    "disk i/o error",
)
# What a server's InternalError says when it is the collection.
_DAMAGE = ("hnsw", "apply logs", "segment", "finding id", "getting embedding", "compactor", "compaction")

T = TypeVar("T")


class Chroma:
    """A Chroma client and the collections of one database in it."""

    def __init__(
        self, client: "ClientAPI", *, instance: str, files: ChromaFiles | None = None, dead: Collection[str] = ()
    ) -> None:
        """Wrap a client; use Chroma.open. ``files`` are those of an embedded Chroma, None for a server."""
        self._client = client
        self._files = files
        self._writing = asyncio.Lock()
        self._dead = set(dead)
        self._instance = instance
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="chroma")
        self._collections: dict[str, ChromaCollection] = {}

    @classmethod
    async def open(cls, where: Path | str, *, instance: str) -> "Chroma":
        """Open the embedded Chroma of a folder, or connect to a server.

        Args:
            where: a folder, created when missing, or a server's address ``http(s)://host:port``.
            instance: the database that owns the collections; others on the same server are left alone.

        Raises:
            ConfigError: a server's address holds more than that, such as a password or a path.
            IndexDamaged: the folder cannot be opened; it must be emptied, and everything in it built anew.
            StoreError: the server cannot be reached, or the disk is at fault.
        """
        files = ChromaFiles(where) if isinstance(where, Path) else None
        dead: set[str] = set()
        if files is not None and isinstance(where, Path):
            in_order, dead = await asyncio.to_thread(files.opened)
            if not in_order:
                dead |= await dead_collections(where, skip=dead)
        opening = asyncio.get_running_loop().run_in_executor(None, _client, where)
        client = await _outcome(opening, embedded=files is not None)
        return cls(client, files=files, instance=instance, dead=dead)

    async def close(self) -> None:
        """Release the client and its files."""
        await self._run(_close, self._client)
        self._collections.clear()
        self._threads.shutdown(wait=False)
        if self._files is not None:
            await asyncio.to_thread(self._files.closed)

    async def create(self, *, embedder: str, dimension: int, knowledge_base: str) -> str:
        """Create an empty collection for vectors of one embedder and return its name."""
        name = f"citebot-{secrets.token_hex(8)}"
        metadata = {
            "citebot_instance": self._instance,
            "knowledge_base": knowledge_base,
            "embedder": embedder,
            "dimension": dimension,
            "layout": LAYOUT,
            "created": int(time.time()),
        }

        def call() -> "ChromaCollection":
            return self._client.create_collection(
                name, metadata=metadata, configuration=self._configuration(), embedding_function=None
            )

        self._collections[name] = await self._run(call)
        return name

    def _configuration(self) -> Any:
        return {"hnsw": {"space": "cosine"}}

    async def names(self, *, older_than: float = 0.0) -> list[str]:
        """Return the names of this database's collections, dead ones too, made at least so many seconds ago."""

        def call() -> list[str]:
            found: list[Any] = []
            while page := self._client.list_collections(limit=100, offset=len(found)):
                found.extend(page)
            labels = {c.name: c.metadata or {} for c in found}
            before = time.time() - older_than
            return [
                name
                for name, label in labels.items()
                if label.get("citebot_instance") == self._instance and int(label.get("created", 0)) <= before
            ]

        return await self._run(call)

    async def label(self, name: str) -> tuple[str, int, int]:
        """Return the embedder and the dimension that a collection was made for, and its layout."""
        metadata = (await self._collection(name)).metadata or {}
        return str(metadata.get("embedder", "")), int(metadata.get("dimension", 0)), int(metadata.get("layout", 1))

    @property
    def is_embedded(self) -> bool:
        """Whether the collections stand in a folder of this process alone, rather than on a server."""
        return self._files is not None

    async def add(
        self, name: str, ids: Sequence[str], vectors: NDArray[np.float32], reader_sets: Sequence[str] = ()
    ) -> None:
        """Add vectors, float32 ``(len(ids), dim)``; ids that are there already stay as they are.

        ``reader_sets`` has one for each id, or is empty where nobody told any: then no metadata is written.
        """
        collection = await self._collection(name)
        for start in range(0, len(ids), MAX_BATCH):
            part = slice(start, start + MAX_BATCH)
            told = [_metadata(reader_set) for reader_set in reader_sets[part]]
            kept = {"metadatas": told} if any(told) else {}
            await self._write(name, collection.add, ids=list(ids[part]), embeddings=vectors[part], **kept)

    async def delete(self, name: str, ids: Sequence[str]) -> None:
        """Delete vectors; ids that are not there are passed over."""
        collection = await self._collection(name)
        for start in range(0, len(ids), MAX_BATCH):
            await self._write(name, collection.delete, ids=list(ids[start : start + MAX_BATCH]))

    async def query(
        self, name: str, vector: NDArray[np.float32], k: int, only: Permitted | None = None
    ) -> list[tuple[str, float]]:
        """Return ids and cosines of the ``k`` nearest to a unit vector float32 ``(dim,)``, best first.

        ``only`` names at most ``MOST_VALUES`` reader sets.
        """
        collection = await self._collection(name)
        where = {"where": _where(only)} if only is not None else {}
        asked = {"query_embeddings": [vector], "n_results": k, "include": ["distances"], **where}
        found = await self._run(collection.query, **asked)
        distances = (found["distances"] or [[]])[0]
        hits = [(entry, 1.0 - float(distance)) for entry, distance in zip(found["ids"][0], distances, strict=True)]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))

    async def count(self, name: str) -> int:
        """Return how many vectors a collection holds."""
        return await self._run((await self._collection(name)).count)

    async def ids(self, name: str) -> set[str]:
        """Return all ids of a collection."""
        collection = await self._collection(name)
        found: set[str] = set()
        offset = 0
        while page := (await self._run(collection.get, limit=PAGE, offset=offset, include=[]))["ids"]:
            found.update(page)
            offset += len(page)
        return found

    async def vectors(self, name: str, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of those of the ids that a collection holds, by id."""
        collection = await self._collection(name)
        found: dict[str, NDArray[np.float32]] = {}
        for start in range(0, len(ids), PAGE):
            page = await self._run(collection.get, ids=list(ids[start : start + PAGE]), include=["embeddings"])
            embeddings = np.asarray(page["embeddings"], dtype=np.float32)
            found.update(zip(page["ids"], embeddings, strict=True))
        return found

    async def drop(self, name: str) -> None:
        """Delete a collection through the client, a dead one too; one that is not there is passed over."""
        self._collections.pop(name, None)
        if name in await self.names():
            await self._run(self._client.delete_collection, name)
        self._dead.discard(name)
        if self._files is not None:
            await asyncio.to_thread(self._files.forget, name)

    async def _collection(self, name: str) -> "ChromaCollection":
        if name in self._dead:  # touching it could crash this process
            raise IndexDamaged(f"the Chroma collection {name} was left damaged")
        if name not in self._collections:
            collection = await self._run(self._client.get_collection, name, embedding_function=None)
            # The first use of a collection replays what its files lack, and may write them.
            await self._write(name, collection.get, limit=1, include=["embeddings"])
            self._collections[name] = collection
        return self._collections[name]

    async def _write(self, name: str, call: Callable[..., T], **kwargs: Any) -> T:
        """Make a call that may write a collection's files."""
        files = self._files
        if files is None:
            return await self._run(call, **kwargs)

        def work() -> T:
            with files.writing(name):
                return call(**kwargs)

        async def turn() -> T:
            async with self._writing:
                return await self._run(work)

        return await uninterrupted(turn())

    async def _run(self, call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        loop = asyncio.get_running_loop()
        running = loop.run_in_executor(self._threads, lambda: call(*args, **kwargs))
        return await _outcome(running, embedded=self._files is not None)


def _client(where: Path | str) -> "ClientAPI":
    import chromadb
    from chromadb.config import Settings

    # No telemetry leaves, and a .env file of whoever starts us is none of Chroma's business.
    settings = Settings(anonymized_telemetry=False, _env_file=None)  # type: ignore[call-arg]
    if isinstance(where, Path):
        where.mkdir(parents=True, exist_ok=True)
        return chromadb.PersistentClient(path=str(where), settings=settings)
    host, port, secure = _server(where)
    client = chromadb.HttpClient(host=host, port=port, ssl=secure, settings=settings)
    for session in _sessions(client):  # Chroma waits for ever, and offers no setting for it
        session.timeout = SERVER_SECONDS
    return client


def _metadata(reader_set: str) -> dict[str, str | bool] | None:
    """Return what an entry carries besides its vector: nothing where the knowledge base decides who reads."""
    return {"reader_set": reader_set, "told": True} if reader_set else None


def _where(only: Permitted) -> dict[str, Any]:
    """Return the filter, by the shorter of the two lists; an entry without metadata passes both ways."""
    if len(only.closed) <= len(only.sets):
        return {"reader_set": {"$nin": sorted(only.closed)}}
    open_to_all = {"told": {"$ne": True}}
    return {"$or": [open_to_all, {"reader_set": {"$in": sorted(only.sets)}}]} if only.sets else open_to_all


def _server(url: str) -> tuple[str, int, bool]:
    """Return host, port and whether TLS is spoken; ConfigError for what else an address can hold, never showing it."""
    form = "write the server's address alone, such as http://host:8000"
    if "@" in url:
        raise ConfigError(f"chroma.url holds a user or a password, which no Chroma server is sent: {form}")
    try:
        address = urlsplit(url)
        host, port = address.hostname, address.port
    except ValueError:  # its text quotes the address
        raise ConfigError(f"chroma.url has a host or a port that cannot be: {form}") from None
    if address.scheme not in {"http", "https"} or not host:
        raise ConfigError(f"chroma.url is no address of a Chroma server: {form}")
    if address.path.strip("/") or address.query or address.fragment:
        raise ConfigError(f"chroma.url holds more than host and port, and a Chroma server is asked at its root: {form}")
    secure = address.scheme == "https"
    return host, port or (443 if secure else 8000), secure


def _sessions(client: "ClientAPI") -> list[Any]:
    """Return the HTTP sessions of a server's client, which Chroma neither bounds nor closes; none if embedded."""
    admin = getattr(client, "_admin_client", None)
    servers = (getattr(part, "_server", None) for part in (client, admin))
    return [session for server in servers if (session := getattr(server, "_session", None)) is not None]


def _close(client: "ClientAPI") -> None:
    sessions = _sessions(client)
    client.close()  # type: ignore[attr-defined]
    for session in sessions:
        session.close()


async def _outcome(running: "asyncio.Future[T]", *, embedded: bool) -> T:
    """Wait for a call and return its result, or raise its error as ours."""
    await asyncio.wait({running}, timeout=None if embedded else 2 * SERVER_SECONDS)
    if not running.done():
        raise StoreError("the Chroma server does not answer")
    error = running.exception()
    if error is None:
        return running.result()
    raise _translated(error, embedded=embedded) from error


def _translated(error: BaseException, *, embedded: bool) -> BaseException:
    """Map an error of Chroma, once and for all.

    Chroma's own tree is ChromaError; its HTTP client also raises ValueError for a refused connection, httpx's errors
    for a broken one and a bare Exception for a proxy's page; its native part panics with a BaseException.
    """
    from chromadb.errors import ChromaError, InternalError, NotFoundError

    said = str(error).strip() or type(error).__name__
    if isinstance(error, NotFoundError):
        return IndexDamaged(f"a Chroma collection is missing: {said}")
    if type(error).__name__ == "PanicException":
        return IndexDamaged(f"Chroma's native part failed: {said}")
    if isinstance(error, InternalError):
        at_fault = any(sign in said.lower() for sign in _SURROUNDINGS)
        damaged = not at_fault if embedded else any(sign in said.lower() for sign in _DAMAGE)
        return (IndexDamaged if damaged else StoreError)(f"Chroma failed: {said}")
    if isinstance(error, ChromaError | ConnectionError | OSError) or not embedded:
        return error if isinstance(error, ConfigError) else StoreError(f"Chroma failed: {said}")
    return error
