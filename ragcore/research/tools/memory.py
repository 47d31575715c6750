"""What was found, ranked and shortened by a model where it fills more of a prompt than it may."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.errors import ModelBadOutput
from ragcore.json_replies import whole_number
from ragcore.research.asking import Asker
from ragcore.research.findings import LONGEST, Noting
from ragcore.research.memory import all_chunks, numbering, ranked, renumbered, written
from ragcore.research.replies import listed_in
from ragcore.research.values import Finding
from ragcore.types import Usage

KEPT_SHARE = 0.6
"""Of the room so much goes to the findings that matter most, as they are; the rest to what is left of the others."""
MOST_SENTENCES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What a prompt is told was found, best first, and what it took to put it so."""

    findings: tuple[Finding, ...]
    usage: Usage = Usage()


class Memory:
    """Fits the findings of one research into prompts; what citations rest on stays as it was found."""

    def __init__(self, asker: Asker, noting: Noting) -> None:
        """Ask the model through ``asker``; ``noting`` checks what it writes against what was read."""
        self._asker = asker
        self._noting = noting

    async def fitted(self, question: str, findings: Sequence[Finding], budget: int) -> Remembered:
        """Return the findings that say something, in about so many tokens; where the model fails, as they are."""
        said = ranked(question, findings)
        sizes = await asyncio.to_thread(lambda: [self._asker.tokenizer.count(one.text) for one in said])
        if sum(sizes) <= budget or len(said) < 2:
            return Remembered(findings=said)
        order, usage = await self._order(question, said)
        room, kept = int(budget * KEPT_SHARE), 1
        room -= sizes[order[0]]
        while kept < len(order) and (room := room - sizes[order[kept]]) >= 0:
            kept += 1
        first, rest = [said[at] for at in order[:kept]], [said[at] for at in order[kept:]]
        shortened, spent = await self._shortened(question, rest)
        return Remembered(findings=(*first, *shortened), usage=usage + spent)

    async def _order(self, question: str, said: Sequence[Finding]) -> tuple[list[int], Usage]:
        """Return the places of the findings, the most useful first; those that the model leaves out come last."""
        notes = "\n\n".join(f"{number}: {one.text[:LONGEST]}" for number, one in enumerate(said))
        reply = await self._asker.ask("rank_memory", f"Task: {self._asker.short(question)}\n\n{notes}")
        try:
            numbers = [whole_number(one) for one in await asyncio.to_thread(listed_in, reply.text or "")]
        except ModelBadOutput:
            numbers = []
        named = [number for number in numbers if number is not None and 0 <= number < len(said)]
        return list(dict.fromkeys((*named, *range(len(said))))), reply.usage

    async def _shortened(self, question: str, rest: Sequence[Finding]) -> tuple[Sequence[Finding], Usage]:
        """Return one finding in the place of several; its sentences are checked against what those rest on."""
        chunks = all_chunks(rest)
        numbers = numbering(chunks)
        lines = "\n".join(line for finding in rest for line in renumbered(finding, numbers))
        reply = await self._asker.ask(
            "summary4memory", f"Task: {self._asker.short(question)}\n\n{lines}", most=MOST_SENTENCES
        )
        if not reply.text:
            return rest, reply.usage
        text = await self._noting.verified(reply.text[:LONGEST], chunks, question, unfinished=reply.cut)
        return ([Finding(question=question, text=text, chunks=chunks)] if text else rest), reply.usage


def in_prompt(remembered: Remembered, findings: Sequence[Finding], budget: int, asker: Asker) -> str:
    """Return what a prompt is told was found: numbered as the chunks of all findings are, in so many tokens at most."""
    return written(remembered.findings, numbering(all_chunks(findings)), budget, asker.tokenizer)
