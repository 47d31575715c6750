"""The sources of what people said: one for each knowledge base that has owners, without settings of its own."""

from collections.abc import Mapping

PEOPLE = "people"
"""The type of these sources."""
_SCHEDULE = "1h"
"""They are read whenever something is kept or removed; this is for what went wrong then."""


def with_people(table: object) -> object:
    """Return the settings as they were given, with a source of what people said for each knowledge base with owners."""
    bases = table.get("knowledge_bases") if isinstance(table, Mapping) else None
    if not isinstance(table, Mapping) or not isinstance(bases, Mapping):
        return table
    owned = [str(name) for name, base in bases.items() if _owners(base)]
    sources = table.get("sources") or []
    if not owned or not isinstance(sources, list | tuple):
        return table
    named = ({"name": source_of(name), "type": PEOPLE, "knowledge_base": name, "schedule": _SCHEDULE} for name in owned)
    return {**table, "sources": [*sources, *named]}


def source_of(knowledge_base: str) -> str:
    """Return the name of the source of what people said."""
    return f"people-{knowledge_base.replace(':', '-')}"


def _owners(base: object) -> object:
    return base.get("owners") if isinstance(base, Mapping) else getattr(base, "owners", ())
