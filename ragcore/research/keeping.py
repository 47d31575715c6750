"""The steps of a research, kept as they are done: after a crash it goes on from the last one.

What was read is read again, with the access that the asker has by then. A step that rests on anything that is gone or
closed is forgotten, and so is what was made of it: the judgement of its round, and all later rounds.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from ragcore.filter_grammar import print_filter
from ragcore.research.meter import Meter
from ragcore.research.records import Record, from_json, to_json
from ragcore.research.values import Step, StepKind
from ragcore.retrieval.parents import siblings_of, widened
from ragcore.stores.registry import Registry
from ragcore.stores.research_steps import KeptStep
from ragcore.types import Question, ScoredChunk


class StepStore(Protocol):
    """Keeps the steps of researches (ragcore.stores.research_steps)."""

    async def steps(self, research: str, question: str) -> Sequence[KeptStep]:
        """Return what is kept of a research; nothing where it was about another question."""
        ...

    async def keep(self, research: str, question: str, step: KeptStep) -> None:
        """Keep a step, in place of one with its key; raise StoreError."""
        ...


class Reading:
    """Reads chunks again that were found before, those of them that are live and may be read now."""

    def __init__(self, registry: Registry, homes: Mapping[str, str] = MappingProxyType({})) -> None:
        """Read what the registry lets through; ``homes`` are as for the retriever."""
        self._registry = registry
        self._homes = homes

    async def again(self, question: Question, scores: Mapping[str, float]) -> dict[str, ScoredChunk]:
        """Return the chunks by id, as a search would give them out, each with its score."""
        found = await self._registry.readable_chunks(
            list(scores), question.knowledge_bases, readers=question.readers, homes=self._homes
        )
        beside = siblings_of(found.values())
        siblings = await self._registry.readable_chunks(
            beside, question.knowledge_bases, readers=question.readers, homes=self._homes
        )
        # Each by itself: two children of one parent that were found in different searches both stay.
        return {
            chunk_id: widened([ScoredChunk(chunk=chunk, score=scores[chunk_id])], siblings)[0]
            for chunk_id, chunk in found.items()
        }


class NotKept:
    """Keeps nothing: what is broken off begins anew."""

    known: Mapping[str, Step] = MappingProxyType({})

    async def keep(self, step: Step, elapsed: float) -> None:
        """Do nothing."""


class Kept:
    """Keeps the steps of one research; ``known`` are those that were done before and still stand."""

    def __init__(self, store: StepStore, research: str, question: Question, known: Mapping[str, Step]) -> None:
        """Use ``resumed``."""
        self.known = known
        self._store = store
        self._research = research
        self._identity = identity_of(question)
        self._bases = frozenset(question.knowledge_bases)

    async def keep(self, step: Step, elapsed: float) -> None:
        """Keep a step; raise StoreError."""
        chunks = [one.chunk for one in step.finding.chunks] if step.finding else []
        # What belongs to no knowledge base was found on the web.
        documents = [chunk.id for chunk in chunks if chunk.knowledge_base in self._bases]
        kept = KeptStep(key=step.key, elapsed=elapsed, line=to_json(step, documents))
        await self._store.keep(self._research, self._identity, kept)


async def resumed(store: StepStore, reading: Reading, research: str, question: Question, meter: Meter) -> Kept:
    """Return the steps of a research that were done before, and count the time that they took.

    Raises:
        StoreError: The database failed.
    """
    kept = await store.steps(research, identity_of(question))
    records = [record for record in (from_json(one.line) for one in kept) if record is not None]
    if kept:
        meter.resumed(max(one.elapsed for one in kept))
    scores = {held.chunk_id: held.score for record in records for held in record.held if held.chunk is None}
    chunks = await reading.again(question, scores) if scores else {}
    return Kept(store, research, question, _standing(records, chunks))


def _standing(records: Sequence[Record], chunks: Mapping[str, ScoredChunk]) -> dict[str, Step]:
    """Return the steps by key, without those that rest on what is gone."""
    steps: dict[str, Step] = {}
    broken: list[int] = []
    for record in records:
        step = record.whole(chunks)
        if step is None:
            broken.append(record.step.round)
        else:
            steps[step.key] = step
    first = min(broken, default=None)
    if first is None:
        return steps
    return {
        key: step
        for key, step in steps.items()
        if step.round < first or (step.round == first and step.kind is not StepKind.JUDGE)
    }


def identity_of(question: Question) -> str:
    """Return what tells a question from others: a research is only gone on with for the very same one."""
    said = {
        "text": question.text,
        "bases": sorted(question.knowledge_bases),
        "documents": sorted(question.document_ids),
        "filters": {name: [print_filter(one) for one in of] for name, of in sorted(question.filters.items())},
        "history": [[message.role, message.text] for message in question.history],
    }
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()
