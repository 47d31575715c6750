"""Asks a model which names of the knowledge graph mean the same thing, of those that the rules leave in doubt.

    names of one set of readers -> doubtful pairs -> one call about a few of them, asked once -> what means the same

What chunks of other readers say plays no part: who may not read a chunk shall not learn by it what a name means, nor
shall a closed one change what everybody is told. A pair of which the model says nothing of use stays apart.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from ragcore.enrich.asking import FATAL, Asker, Call, together
from ragcore.enrich.options import setting_of
from ragcore.enrich.same_reply import same_of
from ragcore.errors import ContextTooSmall, ModelError
from ragcore.graph.doubtful import Pair, batches, pairs_of
from ragcore.library import Library
from ragcore.stores.graph_same import Evidence, Finding, Sameness
from ragcore.stores.rows import digest

TEMPLATE = "graph_same"
REPLY_TOKENS = 30
"""About what the numbers of a few pairs take, for an estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    """Pairs of names that are asked about together, and what is said of each."""

    reader_set: str
    pairs: Sequence[Pair]
    said: dict[str, Evidence]

    @property
    def call(self) -> Call:
        lines = [
            f"{number}. {self.said[pair.key].said or pair.key}\n   {self.said[pair.other].said or pair.other}"
            for number, pair in enumerate(self.pairs, 1)
        ]
        return Call(template=TEMPLATE, text="\n".join(lines))


async def resolve(library: Library, knowledge_base: str, asker: Asker) -> str:
    """Have it found out which names of a knowledge base mean the same, in place of what was found before.

    Where nothing has changed since the last time, it costs a look at that.

    Returns:
        Why a part of it failed, "" where none did; what it was about stays apart until the next time.

    Raises:
        ModelUnreachable, ModelAuthError, ModelRateLimited: The model can't be asked at present; all stays as it was.
        StoreError: A store failed.
    """
    stored = Sameness(library.database)
    mark = await _mark(stored, knowledge_base, asker)
    if await stored.is_marked(knowledge_base, mark):
        return ""
    asked = [batch async for batch in _doubtful(stored, knowledge_base)]
    answers = await together([_answered(batch, asker) for batch in asked])
    found = [
        Finding(reader_set=batch.reader_set, pair=pair, first=batch.said[pair.key], second=batch.said[pair.other])
        for batch, answer in zip(asked, answers, strict=True)
        for number, pair in enumerate(batch.pairs, 1)
        if not isinstance(answer, Exception) and number in answer
    ]
    failed = next((f"{setting_of(TEMPLATE)}: {answer}" for answer in answers if isinstance(answer, Exception)), "")
    await stored.put(knowledge_base, found, mark="" if failed else mark)
    return failed


async def is_settled(library: Library, knowledge_base: str, asker: Asker) -> bool:
    """Return whether this was found out of all that is there now, and nothing of it failed."""
    stored = Sameness(library.database)
    return await stored.is_marked(knowledge_base, await _mark(stored, knowledge_base, asker))


async def _mark(stored: Sameness, knowledge_base: str, asker: Asker) -> str:
    """Return the digest of all that decides what is found."""
    return digest(asker.identity, asker.prompts.render(TEMPLATE), str(await stored.revision(knowledge_base)))


async def resolving_calls(library: Library, knowledge_base: str) -> AsyncGenerator[tuple[Call, int], None]:
    """Yield what would be asked now, each with about how many tokens the reply takes."""
    async for batch in _doubtful(Sameness(library.database), knowledge_base):
        yield batch.call, REPLY_TOKENS


async def _doubtful(stored: Sameness, knowledge_base: str) -> AsyncGenerator[_Batch, None]:
    for reader_set, told in sorted((await stored.told(knowledge_base)).items()):
        pairs = await asyncio.to_thread(pairs_of, told.chunks, told.related)
        said = await stored.evidence(knowledge_base, reader_set, {key for one in pairs for key in (one.key, one.other)})
        # What was replaced meanwhile is not there any more.
        for some in batches(pair for pair in pairs if pair.key in said and pair.other in said):
            yield _Batch(reader_set=reader_set, pairs=some, said=said)


async def _answered(batch: _Batch, asker: Asker) -> frozenset[int] | Exception:
    """Return the numbers of the pairs that mean the same, or why they could not be told."""
    try:
        found = await asker.ask(batch.call, lambda reply: same_of(reply, len(batch.pairs)))
    except FATAL:
        raise
    except (ModelError, ContextTooSmall) as error:
        return error
    return found or frozenset()
