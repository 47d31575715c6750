"""The connector of the source type ``reader``: a document is one that the reader gives.

Readers have no notion of changes: each run reads all, and the hash of each document tells whether it is the known one.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from connectors.base import Change, Checkpoint, Estimate, Failure, Origin, SourceDocument, Tombstone
from connectors.reader.documents import Documents
from connectors.reader.options import ReaderOptions
from connectors.reader.process import LARGE, told_by
from ragcore.errors import SourceBadReply

BATCH = 50
"""Documents between two Checkpoints."""


@dataclass(slots=True)
class ReaderConnector:
    """Reads what one reader gives."""

    origin: Origin
    options: ReaderOptions
    _listed: list[str] | None = field(init=False, default=None)
    """The ids that the run's reading gave, once it came to its end."""
    _unnamed: Failure | None = field(init=False, default=None)
    """What that reading says of documents that nothing tells from others."""

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        """Yield every document whose version isn't the known one."""
        self._listed = None
        ids, fresh = list[str](), 0
        async with aclosing(self._read()) as documents:
            async for found in documents:
                if found is None or known.get(found.id) == found.version:
                    yield Estimate(documents=fresh)  # a sign of life: what is the same may take long, too
                else:
                    fresh += 1
                    yield found
                if found is not None:
                    ids.append(found.id)
                    if len(ids) % BATCH == 0:
                        yield Checkpoint()
        self._listed = ids
        if self._unnamed is not None:
            yield self._unnamed
        yield Checkpoint()

    async def list_ids(self) -> AsyncIterator[str | Failure]:
        """Yield the id of every document: those that the run has read, else of a reading of its own."""
        if self._listed is None:
            async with aclosing(self._read()) as documents:
                self._listed = [found.id async for found in documents if found is not None]
        for identity in self._listed:
            yield identity
        if self._unnamed is not None:
            yield self._unnamed

    async def fetch(self, ids: Sequence[str]) -> AsyncIterator[SourceDocument | Tombstone | Failure]:
        """Yield these documents as the reader gives them now; what the run's reading didn't give is gone."""
        wanted = dict.fromkeys(ids)
        if self._listed is not None:
            for identity in wanted.keys() - self._listed:
                del wanted[identity]
                yield Tombstone(id=identity)
        if not wanted:
            return
        async with aclosing(self._read()) as documents:
            async for found in documents:
                if found is not None and found.id in wanted:
                    del wanted[found.id]
                    yield found
        for identity in wanted:
            yield Tombstone(id=identity)

    async def _read(self) -> AsyncGenerator[SourceDocument | Failure | None, None]:
        """Yield what the reader gives, None for what is left out.

        Raises:
            SourceBadReply: Nothing of it can be told from anything else.
        """
        made, count = Documents(self.origin, self.options), 0
        async with aclosing(told_by(self.options, self.origin.folder)) as documents:
            async for told in documents:
                if told["size"] > LARGE:  # its text takes a while to look through
                    found = await asyncio.to_thread(made.document, told)
                else:
                    found = made.document(told)
                count += found is not None
                yield found
        self._unnamed = made.unnamed()
        if self._unnamed is not None and not count:
            raise SourceBadReply(f"{self.options.loader}: {self._unnamed.reason}", mend=self._unnamed.mend)
