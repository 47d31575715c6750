"""What a model writes where it was asked for the things that a text names and how they are related. Pure.

Only what stands in the text is kept: an entity by its name, a relation by its two entities, and what is said of either
by sharing a word with the text.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from ragcore.enrich.replies import shares_words
from ragcore.errors import ModelBadOutput
from ragcore.graph.names import Text, key_of, parted
from ragcore.graph.values import HEAVIEST, LIGHTEST, ChunkGraph, Entity, Relation
from ragcore.json_replies import says_none, value_of
from ragcore.stores.rows import storable

MOST_ENTITIES = 16
MOST_RELATIONS = 24
"""Of one chunk: of more, models write what any two words have to do with each other."""
LONGEST_SAID = 240
LONGEST_TYPE = 40
"""Characters. What is longer is cut off."""
_USUAL_WEIGHT = 5


def graph_of(reply: str, material: str) -> ChunkGraph:
    """Return what a reply says of the things in a text; nothing, where it says that there are none.

    Raises:
        ModelBadOutput: It holds no object with entities, or none of them stands in the text.
    """
    said = value_of(reply)
    if isinstance(said, list) and len(said) == 1:
        said = said[0]
    if not isinstance(said, Mapping) or not isinstance(said.get("entities"), list):
        raise ModelBadOutput("it is no object with entities", raw=reply)
    text = Text(material)
    places: dict[str, int] = {}
    entities = _entities(said["entities"], material, text, places)
    if not entities and not says_none(reply, said["entities"]):
        raise ModelBadOutput("none of its entities stands in the text", raw=reply)
    told = said.get("relations")
    relations = _relations(told if isinstance(told, list) else (), material, places)
    return ChunkGraph(entities=entities, relations=relations)


def _entities(said: Iterable[Any], material: str, text: Text, places: dict[str, int]) -> tuple[Entity, ...]:
    """Return the entities; ``places`` gets the place of each by the keys of its names."""
    found: list[Entity] = []
    for one in said:
        if len(found) == MOST_ENTITIES:
            break
        name, beside = parted(_line(one.get("name"))) if isinstance(one, Mapping) else ("", "")
        key = key_of(name)
        if not text.has(key) or key in places:
            continue
        also = tuple(dict.fromkeys(text.short_forms(name)))
        told = _line(one.get("description"))[:LONGEST_SAID]
        for other in (name, *(form for pair in also for form in pair)):
            places.setdefault(key_of(other), len(found))
        places.setdefault(key_of(beside), len(found))
        found.append(
            Entity(
                name=name,
                type=_line(one.get("type"))[:LONGEST_TYPE],
                said=told if shares_words(told, material) else "",
                also=also,
            )
        )
    places.pop("", None)
    return tuple(found)


def _relations(said: Iterable[Any], material: str, places: Mapping[str, int]) -> tuple[Relation, ...]:
    found: dict[tuple[int, int, str], Relation] = {}
    for one in said:
        if len(found) == MOST_RELATIONS:
            break
        if not isinstance(one, Mapping):
            continue
        source, target = (_place(one.get(end), places) for end in ("source", "target"))
        told = _line(one.get("description"))[:LONGEST_SAID]
        if source is None or target is None or source == target or not shares_words(told, material):
            continue
        relation = Relation(source=source, target=target, said=told, weight=_weight(one.get("weight")))
        found.setdefault((source, target, told.casefold()), relation)
    return tuple(found.values())


def _place(said: object, places: Mapping[str, int]) -> int | None:
    """Return the place of the entity that a relation names."""
    return places.get(key_of(parted(_line(said))[0]))


def _line(said: object) -> str:
    """Return a text on one line, "" for anything else."""
    return " ".join(storable(said).split()) if isinstance(said, str) else ""


def _weight(said: object) -> int:
    """Return a weight of 1 to 10; the usual one for what is none."""
    if isinstance(said, bool) or not isinstance(said, int | float | str):
        return _USUAL_WEIGHT
    try:
        number = float(said)
    except (ValueError, OverflowError):
        return _USUAL_WEIGHT
    return round(min(max(number, LIGHTEST), HEAVIEST)) if math.isfinite(number) else _USUAL_WEIGHT
