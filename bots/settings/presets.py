"""Presets: chunk method and size for a kind of documents under one name; what a knowledge base sets itself stands.

The sizes are those that RAGFlow's practice recommends for each kind. Delimiters are left to the default, which cuts at
paragraphs first, then at lines and sentences: the places that those recommendations name, in the better order.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """What a knowledge base's own settings are taken to be where they are left out, and the line that explains it."""

    meaning: str
    chunking: str
    chunk_tokens: int
    chunk_overlap: float = 0.0
    delimiters: str | None = None

    def table(self) -> dict[str, object]:
        """Return the settings."""
        return {
            "chunking": self.chunking,
            "chunk_tokens": self.chunk_tokens,
            "chunk_overlap": self.chunk_overlap,
            "delimiters": self.delimiters,
        }


PRESETS: Mapping[str, Preset] = {
    "technical_docs": Preset(
        meaning="manuals, guides, wikis: section by section, long enough for a step with its example",
        chunking="naive",
        chunk_tokens=256,
    ),
    "customer_service": Preset(
        meaning="questions with their answers, each pair by itself; a long answer in short parts below its question",
        chunking="qa",
        chunk_tokens=64,
    ),
    "law": Preset(
        meaning="laws, statutes, contracts: an article with all its clauses as one passage",
        chunking="laws",
        chunk_tokens=512,
    ),
    "novels": Preset(
        meaning="novels and other books: long passages that carry their chapter",
        chunking="book",
        chunk_tokens=512,
    ),
    "papers": Preset(
        meaning="scientific papers: abstract, sections and references apart",
        chunking="paper",
        chunk_tokens=256,
    ),
    "tables": Preset(
        meaning="sheets and csv files: a few rows a passage, with the names of their columns",
        chunking="table",
        chunk_tokens=128,
    ),
}


def with_preset(table: object) -> object:
    """Return a knowledge base's table with what its preset adds; as it is without one."""
    name = table.get("preset") if isinstance(table, Mapping) else None
    preset = PRESETS.get(name) if isinstance(name, str) else None
    if not isinstance(table, Mapping) or preset is None:
        return table
    return preset.table() | {key: value for key, value in table.items() if value is not None}


def known_preset(name: str) -> str:
    """Return the name of a preset, or none; ValueError that names those there are."""
    if name and name not in PRESETS:
        raise ValueError(f'"{name}" is none of those there are: {", ".join(PRESETS)}')
    return name
