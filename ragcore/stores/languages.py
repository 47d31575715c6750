"""In which languages knowledge bases are written.

What tells is kept at ingest: of each chunk the language that its script suggests, and how many chunks of a knowledge
base there are of each (``vector_sums``). Languages that share a script, such as English and German, are told by their
small words in chunks drawn at random, once in a while.
"""

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, and_, bindparam, select

from ragcore.citations.languages import LATIN, tongue
from ragcore.citations.small_words import SMALL_WORDS
from ragcore.stores.database import Database
from ragcore.stores.schema import chunks, documents, vector_sums

LEAST = 0.05
"""Share of the chunks of a knowledge base from which a language counts: each one more is a search more, and a call."""
FRESH_SECONDS = 600.0
"""How long what was told of a script is used, unless the number of its chunks changes by a quarter."""
MOST_KEPT = 256
"""Knowledge bases that are remembered."""
DRAWN = 64
"""Places at which chunks are drawn, ..."""
AT_EACH = 3
"""... and so many at each. Generations are hashes: these are documents at random, and few chunks of one."""
NEAR = 100
"""Chunks that are looked through at each place: where those of a script are of one long document alone, looking on
from each place took 2.2 s with 26,000 chunks. So it takes 0.2 s, and 0.5 s at most."""
ENOUGH = 24
"""Where fewer are found so, the first ones of the knowledge base are taken, ..."""
LOOKED_THROUGH = 50_000
"""... of so many chunks."""
READ = 1_500
"""Characters of a chunk that are read."""

_SEVERAL = "en"
"""What a script is called that several of the languages we tell share."""
_COUNTS = select(vector_sums.c.knowledge_base, vector_sums.c.language, vector_sums.c.count).where(
    vector_sums.c.knowledge_base.in_(bindparam("names", expanding=True))
)
_SOME = (
    select(chunks.c.id, chunks.c.document_id, chunks.c.generation, chunks.c.language)
    .where(chunks.c.knowledge_base == bindparam("name"), chunks.c.id >= bindparam("start"))
    .order_by(chunks.c.id)
    .limit(bindparam("near"))
    .subquery()
)
_FROM = (
    select(_SOME.c.id, chunks.c.text)
    .join(documents, and_(documents.c.id == _SOME.c.document_id, documents.c.generation == _SOME.c.generation))
    .join(chunks, chunks.c.id == _SOME.c.id)
    .where(_SOME.c.language == _SEVERAL)
    .order_by(_SOME.c.id)
    .limit(bindparam("most"))
)


@dataclass(frozen=True, slots=True)
class _Told:
    """The shares of languages in one script, of how many chunks, and when that was told."""

    shares: Mapping[str, float]
    count: int
    at: float


class HeldLanguages:
    """Tells the languages of knowledge bases, and remembers what took a look at their text."""

    def __init__(self, database: Database) -> None:
        """Read from an open database."""
        self._database = database
        self._told: OrderedDict[str, _Told] = OrderedDict()

    async def of(self, knowledge_bases: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the codes of the languages that each of these knowledge bases holds, that of most chunks first.

        One counts that ``LEAST`` of the chunks are in. Of a knowledge base without any nothing is told.

        Raises:
            StoreError: The database failed.
        """
        if not knowledge_bases:
            return {}

        def work(connection: Connection) -> dict[str, dict[str, int]]:
            counts: dict[str, dict[str, int]] = {}
            for name, language, count in connection.execute(_COUNTS, {"names": list(knowledge_bases)}):
                counts.setdefault(name, {})[language] = count
            return counts

        counts = await self._database.read(work)
        return {name: await self._held(name, counts[name]) for name in knowledge_bases if name in counts}

    async def _held(self, name: str, scripts: Mapping[str, int]) -> tuple[str, ...]:
        """Return the languages of a knowledge base with so many chunks in each script."""
        least = LEAST * sum(scripts.values())
        held: dict[str, float] = {}
        for script, count in scripts.items():
            if count >= least:
                shares = await self._shares(name, count) if script == _SEVERAL else {script: 1.0}
                held |= {one: share * count for one, share in shares.items() if share * count >= least}
        return tuple(sorted(held, key=lambda code: (-held[code], code)))

    async def _shares(self, name: str, count: int) -> Mapping[str, float]:
        """Return the shares of the languages that share a script in a knowledge base."""
        told = self._told.get(name)
        if told is None or time.monotonic() - told.at > FRESH_SECONDS or abs(count - told.count) > told.count // 4:
            texts = await self._drawn(name)
            told = _Told(await asyncio.to_thread(_shares_of, texts), count, time.monotonic())
            self._told[name] = told
            if len(self._told) > MOST_KEPT:
                self._told.popitem(last=False)
        self._told.move_to_end(name)
        return told.shares

    async def _drawn(self, name: str) -> list[str]:
        """Draw chunks at random, the same ones while the knowledge base stays the same."""

        def work(connection: Connection) -> list[str]:
            found: dict[str, str] = {}

            def look(start: str, near: int, most: int) -> None:
                given = {"name": name, "start": start, "near": near, "most": most}
                found.update((row[0], row[1][:READ]) for row in connection.execute(_FROM, given))

            for place in range(DRAWN):
                look(f"{place * 256 // DRAWN:02x}", NEAR, AT_EACH)
            if len(found) < ENOUGH:
                look("", LOOKED_THROUGH, ENOUGH)
            return list(found.values())

        return await self._database.read(work)


def _shares_of(texts: Sequence[str]) -> Mapping[str, float]:
    """Return the share of each language among texts whose language their small words tell."""
    told = Counter(language for text in texts if (language := tongue(text)) in SMALL_WORDS and language != LATIN)
    # Tables and lists of names tell nothing: of such texts alone we say what their script suggests.
    return {language: count / told.total() for language, count in told.items()} or {_SEVERAL: 1.0}
