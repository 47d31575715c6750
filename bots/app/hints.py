"""What an answer of nothing, or of nothing certain, tells beside it to those who can mend that."""

from collections.abc import Sequence
from dataclasses import replace

from bots.access import line_to_add, narrowest
from bots.requests import Ask
from bots.settings import Settings
from ragcore.stores.registry import Registry
from ragcore.types import Answer, Support


async def with_hints(
    settings: Settings, registry: Registry, answer: Answer, request: Ask, names: Sequence[str]
) -> Answer:
    """Return the answer with what keeps it from saying more: nothing is indexed, or nothing may be read.

    Args:
        settings: Tell who may read what.
        registry: Knows what is indexed.
        answer: To the request.
        request: Says for whom it is, and whether they can mend the settings.
        names: The knowledge bases that were searched.
    """
    answer = _with_owners(settings, await _with_empty_index(settings, registry, answer, request, names), request, names)
    return _with_refusal(settings, answer, request, names)


async def _with_empty_index(
    settings: Settings, registry: Registry, answer: Answer, request: Ask, names: Sequence[str]
) -> Answer:
    """Tell the operator that there is nothing to find anything in, not only that nothing was found."""
    if not answer.abstained or request.audience is not None:
        return answer
    if not settings.all_knowledge_bases:
        hint = "No source is set up yet: `citebot init` writes a citebot.toml to name one in."
        return replace(answer, notes=(*answer.notes, hint))
    counts = await registry.counts_by_knowledge_base()
    if any(name in counts for name in names):
        return answer
    return replace(answer, notes=(*answer.notes, "Nothing is indexed yet: `citebot sync` reads the sources."))


def _with_refusal(settings: Settings, answer: Answer, request: Ask, names: Sequence[str]) -> Answer:
    """Tell whoever can mend it, and asked as or among others, the very line that is missing."""
    bases = list(request.knowledge_bases or settings.all_knowledge_bases)
    if names or not request.audience or not request.may_mend or not bases:
        return answer
    readers, reader = settings.all_knowledge_bases[bases[0]].readers, narrowest(request.audience)
    line = line_to_add(bases[0], readers, reader)
    note = f"{reader} may read none of: {', '.join(bases)}. To change that, write {line}"
    return replace(answer, notes=(*answer.notes, note))


def _with_owners(settings: Settings, answer: Answer, request: Ask, names: Sequence[str]) -> Answer:
    """Return an uncertain answer with where a person could be asked: the operator's terminal has no button for it."""
    bases = settings.all_knowledge_bases
    owned = [f"{bases[name].owners[0]} ({name})" for name in names if bases[name].owners]
    uncertain = answer.support not in (Support.CITED, Support.EXEMPT)
    if request.audience is not None or not owned or not uncertain:
        return answer
    note = f"On the chat platforms this question could be taken to a person: {', '.join(owned)}."
    return replace(answer, notes=(*answer.notes, note))
