"""What one chunk says of things and of how they are related, as it is kept with the chunk. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LIGHTEST, HEAVIEST = 1, 10
"""How much a relation says of its chunk, as a model weighs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A thing that a chunk names: of what type it is, what is said of it, and what else the chunk calls it.

    ``also`` are pairs of a short and a long form, one of them its name.
    """

    name: str
    type: str = ""
    said: str = ""
    also: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """How two entities are related: their places in the list, what is said of it, and how much that weighs, 1 to 10."""

    source: int
    target: int
    said: str
    weight: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkGraph:
    """What a chunk says; of a chunk that names nothing there is none."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()

    def line_of(self, relation: Relation) -> str:
        """Return a relation as a model is shown it."""
        source, target = self.entities[relation.source].name, self.entities[relation.target].name
        return f"{source} – {target}: {relation.said}"


def line_of(entity: Entity) -> str:
    """Return what is said of an entity as a model is shown it, "" where nothing is."""
    name = f"{entity.name} ({entity.type})" if entity.type else entity.name
    return f"{name}: {entity.said}" if entity.said else ""


def to_json(graph: ChunkGraph) -> dict[str, Any]:
    """Return it as it stands in JSON."""
    return {
        "entities": [[one.name, one.type, one.said, list(map(list, one.also))] for one in graph.entities],
        "relations": [[one.source, one.target, one.said, one.weight] for one in graph.relations],
    }


def from_json(said: Mapping[str, Any] | None) -> ChunkGraph | None:
    """Return what JSON says; None where it says nothing."""
    if not said:
        return None
    entities = (
        Entity(name=name, type=kind, said=told, also=tuple((short, long) for short, long in also))
        for name, kind, told, also in said["entities"]
    )
    relations = (
        Relation(source=source, target=target, said=told, weight=weight)
        for source, target, told, weight in said["relations"]
    )
    return ChunkGraph(entities=tuple(entities), relations=tuple(relations))
