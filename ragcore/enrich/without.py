"""What stays without its enrichment: the model was asked as often as it is, and nothing that it wrote can be used."""

from ragcore.enrich.asking import MOST_ATTEMPTS, TASK
from ragcore.enrich.options import SETTINGS, EnrichOptions
from ragcore.library import Library
from ragcore.reports import Without
from ragcore.stores.model_results import ModelResults


async def without(library: Library, knowledge_base: str, options: EnrichOptions) -> tuple[Without, ...]:
    """Return what a knowledge base stays without, of what is wanted of it now; equal chunks count as one."""
    given_up = await ModelResults(library.database).given_up(knowledge_base, TASK, attempts=MOST_ATTEMPTS)
    found: list[Without] = []
    for template, (setting, of) in SETTINGS.items():
        unusable, refused = given_up.get(template, (0, 0))
        if getattr(options, setting) and (unusable or refused):
            found.append(Without(setting=setting, of=of, count=unusable + refused, refused=refused))
    return tuple(found)
