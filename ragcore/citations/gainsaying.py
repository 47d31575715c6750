"""Which sources say in words the contrary of a claim: every sentence of theirs that is near enough is compared."""

from collections.abc import Iterator, Sequence

from ragcore.citations.contrary import Said, bears_out, says_other
from ragcore.citations.evidence import Claim, Source

_NEAR = 0.5
"""A sentence that has less of the terms of a claim is not compared with it."""


def gainsaid_by(claim: Claim, sources: Sequence[Source]) -> list[bool]:
    """Return of each source whether a sentence of it contradicts a claim, which no sentence of any bears out."""
    if not claim.compared.comparable or claim.compared.stance.asks:
        return [False] * len(sources)
    near = [list(_near(claim, source)) for source in sources]
    if any(bears_out(claim.compared, one) for said in near for one in said):
        return [False] * len(sources)
    whole = "\n".join(source.full_text for source in sources)
    return [
        any(says_other(claim.compared, one, whole=whole, context=source.titles) for one in said)
        for source, said in zip(sources, near, strict=True)
    ]


def _near(claim: Claim, source: Source) -> Iterator[Said]:
    wanted = set(claim.words) - source.context
    for index, passage in enumerate(source.passages):
        if wanted and len(wanted.intersection(passage.sequence)) >= _NEAR * len(wanted):
            yield source.said(index)
