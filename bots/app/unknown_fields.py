"""What is said of a filter that no document meets because none has such a field: most often its name is mistyped."""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from bots.access import Audience
from bots.words.sentences import word
from ragcore.filters import Filter
from ragcore.library import Library
from ragcore.phrases import LANGUAGES, phrase
from ragcore.stores.document_values import DocumentValues

NAMED = 5
"""Fields that are named, those most like the one that was asked for first."""
LOOKED_AT = 200
"""Fields of a knowledge base that are looked at for them."""


async def with_unknown_fields(
    library: Library,
    notes: Sequence[str],
    filters: Mapping[str, Sequence[Filter]],
    audience: Audience,
    homes: Mapping[str, str],
) -> tuple[str, ...]:
    """Return the notes, and for "No document meets the filter" which field there is none of, in the same language.

    Args:
        library: knows the documents.
        notes: what an answer or a search tells beside it.
        filters: those of each knowledge base that was searched.
        audience: who is told: a field of documents that are closed to them is none.
        homes: the knowledge base of each source.
    """
    missed = {phrase("filter_without_match", language): language for language in reversed(LANGUAGES)}
    if missed.keys().isdisjoint(notes) or not filters:
        return tuple(notes)
    values, unknown, known = DocumentValues(library.database), set[str](), set[str]()
    permitted = await library.registry.permitted(list(filters), audience)
    for name, own in filters.items():
        asked = sorted(frozenset[str]().union(*(one.fields for one in own)))
        only = permitted.get(name)
        known |= {one.name for one in await values.fields(name, only, asked, homes=homes)}
        known |= {one.name for one in await values.fields(name, only, most=LOOKED_AT, homes=homes)}
        unknown |= set(asked)
    unknown -= known
    if not unknown or not known:
        return tuple(notes)
    told = ", ".join(f"`{name}`" for name in sorted(unknown)[:NAMED])
    there = ", ".join(f"`{name}`" for name in _nearest(known, sorted(unknown)[0])[:NAMED])
    return tuple(
        word("no_such_field", missed[note], field=told, fields=there) if note in missed else note for note in notes
    )


def _nearest(names: set[str], name: str) -> list[str]:
    """Return the names, those most like another first."""
    return sorted(names, key=lambda one: (-SequenceMatcher(None, one, name).ratio(), one))
