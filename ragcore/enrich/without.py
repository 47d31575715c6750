"""What stays without its enrichment: the model was asked as often as it is, and nothing that it wrote can be used."""

from collections.abc import Mapping
from types import MappingProxyType

from ragcore.enrich.asking import MOST_ATTEMPTS, TASK
from ragcore.enrich.options import EnrichOptions
from ragcore.library import Library
from ragcore.reports import Without
from ragcore.stores.model_results import ModelResults

SETTINGS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "keywords": ("auto_keywords", "chunk"),
        "questions": ("auto_questions", "chunk"),
        "tags": ("tags_from", "chunk"),
        "graph": ("graph", "chunk"),
        "graph_same": ("graph", "group"),
        "community": ("graph_communities", "report"),
        "contents": ("contents", "passage"),
        "document_metadata": ("metadata", "document"),
        "summary": ("raptor", "part"),
        "overview": ("raptor", "part"),
    }
)
"""By template the setting that switches it on, and what it is asked about, or for, each time."""


def setting_of(template: str) -> str:
    """Return the name of the setting that switches on what a template asks for."""
    return SETTINGS[template][0]


async def without(library: Library, knowledge_base: str, options: EnrichOptions) -> tuple[Without, ...]:
    """Return what a knowledge base stays without, of what is wanted of it now; equal chunks count as one."""
    given_up = await ModelResults(library.database).given_up(knowledge_base, TASK, attempts=MOST_ATTEMPTS)
    found: list[Without] = []
    for template, (setting, of) in SETTINGS.items():
        unusable, refused = given_up.get(template, (0, 0))
        if getattr(options, setting) and (unusable or refused):
            found.append(Without(setting=setting, of=of, count=unusable + refused, refused=refused))
    return tuple(found)
