"""What a model is shown of things that belong together, and what the report rests on. Pure.

    ties -> communities of things -> the chunks that tell most of their relations -> lines and passages

All that a model is shown of a community stands in chunks that its report cites: at most ``MOST_CHUNKS``. So the report
is given out only while each of them may be read, and nothing of any other chunk can be in it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ragcore.chunking import embedding_text
from ragcore.graph.communities import communities_of, strengths_of
from ragcore.graph.names import key_of
from ragcore.stores.graph_ties import ToldTie
from ragcore.stores.rows import StoredChunk

MOST_CHUNKS = 24
"""Chunks that a report rests on. They are read for each question that finds it."""
_MOST_READ = 64
"""Chunks of a community that are looked at for these."""
MOST_LINES = 48
FEWEST_LINES = 3
"""Relations of a community of which a report is written; what fewer say, they say themselves."""
MOST_REPORTS = 1_000
"""Communities of documents with the same readers of which a report is written: those of which most is told."""
FEWEST_CHUNKS = 2
"""What a single chunk tells is found with it."""
_MOST_NAMES = 8
_LONGEST_NAMES = 200
"""Names that stand over a report, and their characters."""
_NAMES_TOKENS = 256
"""Tokens that are kept free for these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Community:
    """Things that belong together, and the chunks that tell so: those first that tell most of their relations."""

    keys: tuple[str, ...]
    chunk_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a model is shown of a community, the chunks that it stands in, and the names of its things."""

    text: str
    chunks: tuple[StoredChunk, ...]
    names: tuple[str, ...]


def communities(ties: Sequence[ToldTie], same: Mapping[str, str], *, most: int = MOST_REPORTS) -> list[Community]:
    """Return the communities of which a report may be written, in the order of their names.

    Args:
        ties: What is told.
        same: By a name's key the one that stands for all that mean the same thing, where it is another.
        most: How many are wanted at most.
    """
    within: dict[str, int] = {}
    found = communities_of(strengths_of(_as(tie, same) for tie in ties))
    for at, keys in enumerate(found):
        within.update(dict.fromkeys(keys, at))
    told: list[dict[str, int]] = [{} for _ in found]
    places: dict[str, tuple[str, int]] = {}
    counts = [0] * len(found)
    for tie in ties:
        ends = _as(tie, same)
        place = within.get(ends.source, -1)
        if place >= 0 and ends.source != ends.target and within.get(ends.target) == place:
            told[place][tie.chunk_id] = told[place].get(tie.chunk_id, 0) + tie.weight
            places[tie.chunk_id] = tie.place
            counts[place] += 1
    wanted = [at for at in range(len(found)) if counts[at] >= FEWEST_LINES and len(told[at]) >= FEWEST_CHUNKS]
    most_told = frozenset(sorted(wanted, key=lambda at: (-counts[at], found[at]))[:most])
    kept: list[Community] = []
    for at, (keys, some) in enumerate(zip(found, told, strict=True)):
        if at in most_told:
            ranked = sorted(some, key=lambda chunk_id, some=some: (-some[chunk_id], places[chunk_id]))  # type: ignore[misc]
            kept.append(Community(keys=keys, chunk_ids=tuple(ranked[:_MOST_READ])))
    return kept


def material_of(
    community: Community,
    same: Mapping[str, str],
    chunks: Mapping[str, StoredChunk],
    *,
    room: int,
    count: Callable[[str], int],
) -> Material | None:
    """Return what a model is shown of a community, None where that is too little for a report.

    It does not depend on the ids of chunks, which change with anything that their documents are given.

    Args:
        community: Its things, and its chunks.
        same: As for ``communities``.
        chunks: The chunks by id, as far as they are there.
        room: Tokens that it may have.
        count: Counts tokens.
    """
    wanted = frozenset(community.keys)
    held = [chunks[chunk_id] for chunk_id in community.chunk_ids if chunk_id in chunks]
    told = [(stored, said) for stored in held if (said := _lines(stored, wanted, same))]
    told.sort(key=lambda one: (-sum(weight for weight, _, _ in one[1]), one[0].chunk.document_id, one[0].chunk.ordinal))
    told = told[:MOST_CHUNKS]
    room -= _NAMES_TOKENS
    shown: dict[int, None] = {}
    lines: dict[str, None] = {}
    ranked = sorted((-weight, line, at) for at, (_, some) in enumerate(told) for weight, line, _ in some)
    for _, line, at in ranked:  # the line of two chunks stands once, and rests on both
        if line in lines:
            shown[at] = None
        elif len(lines) < MOST_LINES and (cost := count(line) + 2) <= room:
            room -= cost
            lines[line] = shown[at] = None
    passages: list[str] = []
    for at in sorted(shown):
        chunk = told[at][0].chunk
        passage = embedding_text(chunk.title, chunk.heading_path, chunk.text)
        if (cost := count(passage) + 2) <= room:
            room -= cost
            passages.append(passage)
    if len(lines) < FEWEST_LINES or len(shown) < FEWEST_CHUNKS:
        return None
    names = _names((told[at] for at in sorted(shown)), community.keys)
    return Material(
        text="\n\n".join((heading_of(names), "\n".join(f"- {line}" for line in lines), *passages)),
        chunks=tuple(told[at][0] for at in sorted(shown)),
        names=names,
    )


def heading_of(names: Sequence[str]) -> str:
    """Return the names of the things that most is said of, on one line."""
    found = ""
    for name in names[:_MOST_NAMES]:
        longer = f"{found}, {name}" if found else name
        if len(longer) > _LONGEST_NAMES:
            break
        found = longer
    return found


def _as(tie: ToldTie, same: Mapping[str, str]) -> ToldTie:
    source, target = same.get(tie.source, tie.source), same.get(tie.target, tie.target)
    return replace(tie, source=source, target=target)


_Line = tuple[int, str, tuple[tuple[str, str], tuple[str, str]]]
"""The weight of a relation, as a model is shown it, and the key and name of either end."""


def _lines(stored: StoredChunk, wanted: frozenset[str], same: Mapping[str, str]) -> list[_Line]:
    """Return what a chunk says of the things of a community together."""
    graph = stored.graph
    if graph is None:
        return []
    found: list[_Line] = []
    for relation in graph.relations:
        written = [graph.entities[end].name for end in (relation.source, relation.target)]
        source, target = (same.get(key, key) for key in map(key_of, written))
        if source != target and {source, target} <= wanted:
            found.append((relation.weight, graph.line_of(relation), ((source, written[0]), (target, written[1]))))
    return found


def _names(told: Iterable[tuple[StoredChunk, Sequence[_Line]]], keys: Iterable[str]) -> tuple[str, ...]:
    """Return the names of things as chunks write them, those that most is said of first."""
    counts = dict.fromkeys(keys, 0)
    names: dict[str, dict[str, int]] = {}
    for _, lines in told:
        for weight, _, ends in lines:
            for key, written in ends:
                counts[key] += weight
                some = names.setdefault(key, {})
                some[written] = some.get(written, 0) + 1
    ranked = sorted((key for key in counts if key in names), key=lambda key: (-counts[key], key))
    return tuple(min(names[key], key=lambda name: (-names[key][name], name)) for key in ranked)
