"""The command ``sync``: an admin has sources read now."""

import asyncio
import logging
from collections.abc import Collection, Sequence

from bots.rendering.clean import clean_line
from bots.rendering.tree import Block, Document, ItemList, ListItem, Paragraph, Styled, Text
from bots.requests import Sync
from bots.service import Backend
from bots.turn.ending import ended_soon
from bots.words.sentences import word
from ragcore.errors import CitebotError, ConfigError
from ragcore.reports import SyncReport

WAIT = 15.0
"""Seconds that whoever asks waits for the reports; a run that takes longer goes on, and ``sources`` tells of it."""
_SEEN_WAIT = 1.0
"""Seconds for which it is waited where others see the reply: long enough to hear that there is no such source."""

log = logging.getLogger(__name__)


class Syncs:
    """The runs that were asked for in chats."""

    def __init__(self, backend: Backend, sources: Sequence[str]) -> None:
        """Run them by ``backend``; ``sources`` are the names there are."""
        self._backend = backend
        self._sources = sources
        self._running: set[asyncio.Task[list[SyncReport]]] = set()

    async def run(self, asked: str, language: str, *, private: bool) -> Document:
        """Run the sources that are named, all when none is, and return what became of it as far as it is known soon.

        Where the reply is not ``private`` it tells only that they run: a report names sources and documents, which
        those who see it may not be allowed to read.
        """
        names = named(asked, self._sources)
        task = asyncio.create_task(self._reports(names))
        self._running.add(task)
        task.add_done_callback(self._ended)
        done, _ = await asyncio.wait({task}, timeout=WAIT if private else _SEEN_WAIT)
        begun = _said(word("sync_begun", language, names=", ".join(names)).replace("  ", " "))
        if not done:
            return begun
        try:
            reports = task.result()
        except ConfigError as error:  # there is no such source; an admin may read which there are
            return _said(str(error) if private else word("sync_none", language))
        if reports and not private:
            return begun
        if not reports:
            return _said(word("sync_none", language))
        return Document(blocks=(ItemList(items=tuple(_item(report, language) for report in reports)),))

    async def close(self) -> None:
        """Break off what runs; the timetable goes on with it."""
        running = tuple(self._running)
        for task in running:
            task.cancel()
        await ended_soon(*running)  # whatever its source or the database does: a stop has its time

    async def _reports(self, names: tuple[str, ...]) -> list[SyncReport]:
        return [event async for event in self._backend.run(Sync(sources=names)) if isinstance(event, SyncReport)]

    def _ended(self, task: "asyncio.Task[list[SyncReport]]") -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("a sync that was asked for in a chat: %s", error)
            if not isinstance(error, CitebotError):
                log.error("it failed", exc_info=error)


def named(asked: str, sources: Collection[str]) -> tuple[str, ...]:
    """Return the names in what somebody typed, parted by commas or blanks, which names of ``sources`` may also hold."""
    if asked.strip() in sources:
        return (asked.strip(),)
    found: dict[str, None] = {}
    for part in asked.split(","):
        words = part.split()
        while words:
            end = next((end for end in range(len(words), 1, -1) if " ".join(words[:end]) in sources), 1)
            found[" ".join(words[:end])] = None
            del words[:end]
    return tuple(found)


def _item(report: SyncReport, language: str) -> ListItem:
    told = word(
        "sync_done",
        language,
        added=report.added,
        changed=report.changed,
        deleted=report.deleted,
        unchanged=report.unchanged,
        failed=len(report.failed),
    )
    if report.error:
        told = f": {report.error}"
    name = Styled(style="strong", children=(Text(text=clean_line(report.source)),))
    blocks: list[Block] = [Paragraph(children=(name, Text(text=clean_line(told))))]
    blocks += [Paragraph(children=(Text(text=clean_line(warning)),)) for warning in report.warnings]
    return ListItem(blocks=tuple(blocks))


def _said(text: str) -> Document:
    return Document(blocks=(Paragraph(children=(Text(text=clean_line(text)),)),))
