"""What stays without its enrichment, or is still to get it, and why that failed last."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ragcore.enrich.asking import MOST_ATTEMPTS, TASK
from ragcore.enrich.options import SETTINGS, EnrichOptions
from ragcore.enrich.reasons import REFUSED_CONTENT, UNKNOWN, mend_of
from ragcore.library import Library
from ragcore.reports import Why, Without
from ragcore.stores.model_results import REFUSED, Lacking, ModelResults

WHOLE = "document"
"""What stands in the place of a template for a document of which something went wrong that nobody foresaw."""
PASS = "pass"
"""And for a pass that ended early."""
MOST_REASONS = 3
"""Reasons that are told apart; the others are counted together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What is lacking of what is wanted now, and why the last pass ended early, "" where it did not."""

    without: tuple[Without, ...] = ()
    ended: str = ""


async def undone(library: Library, knowledge_base: str, options: EnrichOptions) -> Undone:
    """Return what a knowledge base lacks of what is wanted of it now; equal chunks count as one."""
    found = await ModelResults(library.database).lacking(knowledge_base, TASK)
    told: list[Without] = []
    for template, (setting, of) in (*SETTINGS.items(), (WHOLE, ("enrichment", "document"))):
        if template == WHOLE or getattr(options, setting):
            some = [one for one in found if one.task == template]
            parts = {again: [one for one in some if _is_due(one) == again] for again in (False, True)}
            told += [_told(setting, of, part, again=again) for again, part in parts.items() if part]
    ended = next((one.reason for one in found if one.task == PASS), "")
    return Undone(without=tuple(told), ended=ended)


async def without(library: Library, knowledge_base: str, options: EnrichOptions) -> tuple[Without, ...]:
    """Return of that what the knowledge base stays without: the model is asked about it no more."""
    found = await undone(library, knowledge_base, options)
    return tuple(one for one in found.without if not one.again)


def _is_due(one: Lacking) -> bool:
    return one.attempts != REFUSED and one.attempts < MOST_ATTEMPTS


def _told(setting: str, of: str, some: Iterable[Lacking], *, again: bool) -> Without:
    counts, refused = Counter[str](), 0
    for one in some:
        refused += one.count if one.attempts == REFUSED else 0
        counts[one.reason or (REFUSED_CONTENT if one.attempts == REFUSED else UNKNOWN)] += one.count
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    reasons = [Why(reason=reason, count=count, mend=mend_of(reason)) for reason, count in ranked[:MOST_REASONS]]
    if others := sum(count for _, count in ranked[MOST_REASONS:]):
        reasons.append(Why(reason="other reasons", count=others))
    return Without(setting=setting, of=of, count=counts.total(), refused=refused, reasons=tuple(reasons), again=again)
