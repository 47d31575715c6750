"""Answers that are kept for a while: who asks the same of the same documents is told the same, and no model is asked.

An answer is kept under a key that holds all that it was written from: the question with its conversation, who may read
it, where was looked, the state of these knowledge bases, the settings, the templates and the day. What is not the same
in all of that is another question. The state is read before the search, so an answer into which a change fell is kept
under a state that nobody asks for any more. And each chunk is looked up again before an answer is told again: all of
them are live, and open to those who read it.
"""

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path

from bots.app.options import homes, link_hosts, tag_sources
from bots.app.parts import Parts
from bots.requests import Ask
from bots.settings import Settings
from bots.wire import PROTOCOL, decode_event, encode_event
from ragcore.errors import CitebotError, ConfigError, StoreError
from ragcore.filter_grammar import print_filter
from ragcore.links import allowed_urls
from ragcore.prompts import OWN, Prompts
from ragcore.retrieval.by_graph import LEG as GRAPH
from ragcore.stores.answer_cache import AnswerCache
from ragcore.stores.rows import generation_of
from ragcore.trace import Recorder
from ragcore.types import Answer, AnswerEvent, Chunk, ConversationKey, Delta, Question, Support, Usage

MOST_BYTES = 500_000
"""Of one answer with its chunks: a larger one is not kept."""
_APART = frozenset({"data_dir", "admins", "slack", "discord", "telegram", "turns", "monitoring", "database", "sync"})
"""Settings that change no answer; all others do, or may."""

log = logging.getLogger(__name__)


class Keeping:
    """Keeps the answers of one process's questions, in the database that all processes share."""

    def __init__(
        self, settings: Settings, parts: Parts, *, today: Callable[[], date] = lambda: datetime.now(UTC).date()
    ) -> None:
        """Keep as the settings say; ``today`` tells the day, which prompts name."""
        answer = settings.answer
        keeps = answer.cache_seconds > 0 and answer.history_days > 0 and parts.chat_model is not None
        self._kept = AnswerCache(parts.library.database, seconds=answer.cache_seconds) if keeps else None
        self._settings = settings
        self._registry = parts.library.registry
        self._prompts = parts.prompts
        self._today = today
        self._basis = basis_of(settings)
        self._homes = homes(settings)

    async def answered(
        self,
        answering: Callable[[], AsyncGenerator[AnswerEvent]],
        question: Question,
        request: Ask,
        recorder: Recorder,
    ) -> AsyncGenerator[AnswerEvent]:
        """Yield what comes of answering, or at once the answer that was kept.

        Args:
            answering: Begins to answer, where nothing is kept.
            question: With all that it is answered from.
            request: Says what else was asked for.
            recorder: Takes down how it went; what did not go well is not kept.
        """
        began = time.perf_counter()
        key = await self._key(question, request)
        known = await self._known(key, question) if key else None
        if known is not None:
            recorder.kept = True
            recorder.given(known.chunks, len(known.chunks))
            took = round((time.perf_counter() - began) * 1000, 1)
            yield Delta(text=known.raw_text)
            yield replace(known, usage=Usage(), timings_ms={"kept": took, "total": took})
            return
        async with aclosing(answering()) as events:
            async for event in events:
                if key and isinstance(event, Answer) and recorder.went_well and is_kept(event, question):
                    await self._keep(key, event)
                yield event

    async def forget(self, conversation: ConversationKey, reference: str = "") -> None:
        """Drop what was answered in a conversation, or in one turn of it; asked before these are forgotten."""
        if self._kept is not None:
            await self._kept.forget(conversation, reference)

    async def expire(self) -> None:
        """Drop what is too old: what was kept before a stop would stand until the next answer is."""
        if self._kept is not None:
            try:
                await self._kept.expire()
            except StoreError as error:
                log.warning("kept answers could not be swept: %s", error)

    async def _key(self, question: Question, request: Ask) -> str:
        """Return the key of a question, "" where its answer is not to be kept.

        What hangs on files beside it, or on the web, and what was researched in rounds, is answered anew.
        """
        on_web = request.web and self._settings.web is not None
        if self._kept is None or request.attached or request.research or on_web or not question.knowledge_bases:
            return ""
        sources = tag_sources(self._settings)
        tags = [name for one in question.knowledge_bases if one in sources for name in sources[one].tags_from]
        named = [self._settings.all_knowledge_bases[name].prompt for name in question.knowledge_bases]
        files = [one for one in named if one is not None]
        try:
            revisions = await self._registry.revisions(list(dict.fromkeys((*question.knowledge_bases, *tags))))
            templates = await asyncio.to_thread(
                templates_of, self._prompts, self._settings.prompts, files, quote=self._settings.answer.quote
            )
        except (StoreError, ConfigError) as error:
            log.warning("an answer is neither looked for nor kept: %s", error)
            return ""
        return key_of(question, revisions, basis=f"{self._basis} {templates}", day=self._today())

    async def _known(self, key: str, question: Question) -> Answer | None:
        """Return what is kept under the key, as far as all that it rests on is live and may be read now."""
        assert self._kept is not None
        try:
            written = await self._kept.find(key)
            if written is None:
                return None
            answer = decode_event(written.encode())
            if not isinstance(answer, Answer):
                raise StoreError("it is no answer")
            chunks = [chunk for scored in answer.chunks for chunk in (scored.chunk, *scored.copies)]
            ids = list(dict.fromkeys(one for chunk in chunks for one in _rows_of(chunk)))
            live = await self._registry.readable_chunks(
                ids, question.knowledge_bases, readers=question.readers, homes=self._homes
            )
            if len(live) < len(ids):
                await self._kept.drop(key)
                return None
        except CitebotError as error:
            log.warning("a kept answer cannot be used: %s", error)
            return None
        return _made_anew(answer, live, link_hosts(self._settings))

    async def _keep(self, key: str, answer: Answer) -> None:
        """Keep an answer; one that cannot be is given all the same."""
        assert self._kept is not None
        try:
            written = encode_event(answer).decode()
            if len(written) <= MOST_BYTES:
                await self._kept.keep(key, answer.raw_text, written)
        except StoreError as error:
            log.warning("an answer is not kept: %s", error)


def is_kept(answer: Answer, question: Question) -> bool:
    """Return whether an answer is worth keeping: cited, whole, by a model, and from the documents alone."""
    bases = frozenset(question.knowledge_bases)
    return (
        answer.support is Support.CITED
        and not answer.notes
        and answer.usage.calls > 0
        and all(scored.chunk.knowledge_base in bases for scored in answer.chunks)
    )


def key_of(question: Question, revisions: Mapping[str, int], *, basis: str, day: date) -> str:
    """Return what names a question with all that its answer depends on. Pure.

    Args:
        question: With its conversation, its readers, and where to look.
        revisions: The state of each knowledge base that takes part.
        basis: Stands for the settings and the templates.
        day: Which "yesterday" and "this year" are told from.
    """
    told = {
        "question": question.text,
        "knowledge_bases": question.knowledge_bases,
        "readers": None if question.readers is None else sorted(question.readers),
        "documents": question.document_ids,
        "filters": {name: [print_filter(one) for one in each] for name, each in question.filters.items()},
        "history": [
            [one.role, one.author, one.text, one.sent_at.isoformat() if one.sent_at else ""] for one in question.history
        ],
        "beside": question.beside,
        "wordings": question.wordings,
        "keywords": question.keywords,
        "revisions": revisions,
        "basis": basis,
        "day": day.isoformat(),
        "protocol": PROTOCOL,
    }
    return _hash(json.dumps(told, sort_keys=True))


def basis_of(settings: Settings) -> str:
    """Return what stands for the settings that an answer may depend on; a secret is in none of them as it is."""
    told = settings.model_dump(mode="json", exclude=set(_APART))
    return _hash(json.dumps([told, _stamp(settings.answer.synonyms)], sort_keys=True, default=str))


def templates_of(prompts: Prompts, folder: Path | None, files: Sequence[Path], *, quote: bool) -> str:
    """Return what stands for the templates as they are now: a changed one writes other answers.

    Args:
        prompts: Renders the files.
        folder: Holds templates that take the place of the package's own; None: there is none.
        files: The system prompts of knowledge bases, with what they include.
        quote: What these are rendered with.

    Raises:
        ConfigError: A file cannot be used.
    """
    own = sorted(one for one in folder.rglob("*") if one.is_file()) if folder is not None else []
    rendered = [prompts.render_file(file, quote=quote) for file in dict.fromkeys(files)]
    return _hash(json.dumps([_sources(OWN), rendered, *map(_stamp, own)]))


@lru_cache(maxsize=1)
def _sources(prompts: Prompts) -> str:
    """Return what stands for the package's own templates, which change with it alone."""
    return _hash(json.dumps([prompts.source(name) for name in prompts.names()]))


def _stamp(path: Path | None) -> list[object]:
    """Return what tells a file from what it was before."""
    if path is None:
        return []
    try:
        told = path.stat()
    except OSError:
        return [str(path)]
    return [str(path), told.st_mtime_ns, told.st_size, told.st_ino]


def _rows_of(chunk: Chunk) -> Iterator[str]:
    """Yield the ids of the chunks that stand in the database for one of an answer: its own, and what it was made of."""
    generation = generation_of(chunk.id)
    if chunk.id != f"{generation}-{GRAPH}":
        yield chunk.id
    yield from (f"{generation}-{ordinal}" for ordinal in chunk.leaves)
    yield from (f"{generation}-{part.ordinal}" for part in chunk.parts)
    yield from (leaf.chunk_id for leaf in chunk.rests_on)


def _made_anew(answer: Answer, live: Mapping[str, Chunk], hosts: frozenset[str]) -> Answer:
    """Return the answer with what may have changed beside the text of its chunks: dates, and what may be linked."""
    return replace(
        answer,
        citations=tuple(
            replace(one, updated_at=live[one.chunk_id].updated_at) if one.chunk_id in live else one
            for one in answer.citations
        ),
        allowed_urls=answer.allowed_urls | allowed_urls((scored.chunk for scored in answer.chunks), hosts),
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
