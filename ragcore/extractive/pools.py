"""By which words a unit is found: its own, those of its list's heading or its row's kind, and what stands above it."""

from collections.abc import Collection, Mapping, Sequence

from ragcore.extractive.form import denies, selects
from ragcore.extractive.units import Unit
from ragcore.extractive.words import content
from ragcore.terms import gaps
from ragcore.types import Chunk, ScoredChunk


def opening(units: Sequence[Unit], pools: Sequence[Mapping[str, str]], chunk: int) -> Mapping[str, str]:
    """Return the words of a chunk's first sentence; rows of a table have no such."""
    return next((pools[i] for i, unit in enumerate(units) if unit.chunk == chunk and not unit.alone), {})


def pool(text: str) -> dict[str, str]:
    """Return the terms of a text, with what long Chinese words are called for short (年假 for 年休假)."""
    return {**content(text), **{gap: gap for gap in gaps(text)}}


def place(chunk: Chunk) -> str:
    """Return title and headings that a chunk stands under, each once."""
    return " > ".join(dict.fromkeys((chunk.title, *chunk.heading_path)))


def speaks(unit: Unit, chunks: Sequence[ScoredChunk], question: str, *, named: bool) -> str:
    """Return the words by which a unit is found: a list under a heading by that too, a row by the kind of its name.

    Of rows to select from, a cell that says no doesn't speak of its column: "which errors need service?".
    """
    if unit.row is not None:
        said = unit.row.so(denied=denies(question)) if selects(question) and not named else unit.text
        return f"{unit.row.name_column} {said}"
    heading = chunks[unit.chunk].chunk.heading_path[-1:]
    return " ".join((*heading, unit.text)) if unit.items else unit.text


def names_of(unit: Unit) -> Collection[str]:
    """Return the terms of a row's name and of what such names are called, none of anything else.

    That a cow is an animal doesn't make her row one of sheep.
    """
    return content(f"{unit.row.name_column} {unit.row.name}") if unit.row is not None else ()


def is_named(unit: Unit, asked: Collection[str]) -> bool:
    """Whether a unit is a table's row whose whole name is among the terms asked for."""
    name = content(unit.row.name) if unit.row is not None else {}
    return bool(name) and all(term in asked for term in name)
