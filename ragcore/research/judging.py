"""After each round: is it enough, what is missing, and what contradicts what? By a model, or by names that lead on."""

import asyncio
import re
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import product
from typing import Any

from ragcore.errors import ModelBadOutput
from ragcore.extractive.words import content
from ragcore.json_replies import whole_number
from ragcore.research.asking import NOT_USABLE, Asker
from ragcore.research.contradicting import MOST_CONTRADICTIONS
from ragcore.research.findings import claims_of
from ragcore.research.memory import all_chunks, numbering, ranked, written
from ragcore.research.parts import bridges
from ragcore.research.queries import LONGEST, plan_of
from ragcore.research.replies import said_in
from ragcore.research.values import Claim, Contradiction, Finding, Plan, Step, StepKind, Verdict

MOST_MISSING = 4
"""Questions that one round asks anew."""
FINDINGS_SHARE = 0.5
"""Of the model's window that findings may fill."""
ASKED_PART = 8
"""Of the window what was asked fills at most one part of so many; the last ones are told."""
_FRAME = re.compile(r"<(?=\s*+/?+\s*+(?:question|asked|found)\b)", re.IGNORECASE)
"""What would look like the frame around what is shown."""
_NUMBER = re.compile(r"\d{1,6}")


async def judge(round_: int, question: str, findings: Sequence[Finding], asked: Sequence[str], asker: Asker) -> Step:
    """Return the step of judging a round; its verdict asks for nothing that was asked before."""
    verdict = None
    material = await asyncio.to_thread(_material, question, findings, asked, asker)
    reply = await asker.ask("research_judge", material, most=MOST_MISSING, today=_today())
    reason = reply.reason
    if reply.text is not None:
        try:
            verdict = await asyncio.to_thread(verdict_of, reply.text, findings, asked)
        except ModelBadOutput:
            reason = NOT_USABLE
    if verdict is None:
        missing = await asyncio.to_thread(bridges, question, findings, asked, MOST_MISSING)
        verdict = Verdict(enough=not missing, missing=missing, told=False)
    return Step(kind=StepKind.JUDGE, round=round_, reason=reason, verdict=verdict, usage=reply.usage)


def verdict_of(reply: str, findings: Sequence[Finding], asked: Sequence[str]) -> Verdict:
    """Return what a model's reply says of the findings.

    Raises:
        ModelBadOutput: It is no such object.
    """
    said = said_in(reply)
    if not isinstance(said, Mapping) or not {"enough", "missing"} & said.keys():
        raise ModelBadOutput("it is no verdict", raw=reply)
    contradictions = contradictions_of(said.get("contradictions"), findings)
    enough = said.get("enough") is True or str(said.get("enough")).strip().casefold() == "true"
    listed = said.get("missing")
    if enough or not isinstance(listed, list) or not listed:
        # It may be that not all was found, and nothing more can be asked.
        return Verdict(enough=enough, contradictions=contradictions)
    plan: Plan = plan_of(reply, MOST_MISSING, asked, key="missing")
    again = () if plan.questions else plan_of(reply, MOST_MISSING, key="missing").questions
    return Verdict(enough=False, missing=plan.questions, contradictions=contradictions, cut=plan.cut, again=again)


def contradictions_of(said: Any, findings: Sequence[Finding]) -> tuple[Contradiction, ...]:
    """Return the pairs of statements that a model says cannot both be true, as they stand in the findings.

    A number that no finding cites is dropped, and so are pairs that have no word in common or say the same.
    """
    chunks = all_chunks(findings)
    by_chunk: dict[str, list[Claim]] = {}
    for claim in (claim for finding in findings for claim in claims_of(finding)):
        by_chunk.setdefault(claim.chunk_id, []).append(claim)
    found: dict[frozenset[str], Contradiction] = {}
    for pair in said if isinstance(said, list) else ():
        numbers = [number for number in map(_number, _pair(pair)) if number is not None and number < len(chunks)]
        if len(numbers) != 2 or numbers[0] == numbers[1]:
            continue
        one, other = (by_chunk.get(chunks[number].chunk.id, ()) for number in numbers)
        best = max(((_common(a, b), a, b) for a, b in product(one, other)), key=lambda it: it[0], default=None)
        if best is not None and best[0] and best[1].text.casefold() != best[2].text.casefold():
            contradiction = Contradiction(one=best[1], other=best[2])
            found.setdefault(frozenset((best[1].chunk_id, best[2].chunk_id)), contradiction)
    return tuple(found.values())[:MOST_CONTRADICTIONS]


def _pair(said: Any) -> Sequence[Any]:
    if isinstance(said, Mapping):
        return [said.get("one"), said.get("other")]
    return said if isinstance(said, list) else ()


def _number(said: object) -> int | None:
    """Return the number of a chunk, also out of "[ID:3]"."""
    if isinstance(said, str):
        found = _NUMBER.findall(said)
        return int(found[0]) if len(found) == 1 else None
    number = whole_number(said)
    return number if number is not None and number >= 0 else None


def _common(one: Claim, other: Claim) -> int:
    return len(frozenset(content(one.text)) & frozenset(content(other.text)))


def _material(question: str, findings: Sequence[Finding], asked: Sequence[str], asker: Asker) -> str:
    if asker.model is None:
        return ""
    window = asker.model.context_window
    numbers = numbering(all_chunks(findings))
    said = written(ranked(question, findings), numbers, int(window * FINDINGS_SHARE), asker.tokenizer)
    room, listed = window // ASKED_PART, deque[str]()
    for line in (f"- {one[:LONGEST]}" for one in reversed(asked) if one != question):
        room -= asker.tokenizer.count(line) + 1
        if room < 0:
            break
        listed.appendleft(line)
    inputs = {"question": asker.short(question), "asked": "\n".join(listed), "findings": said}
    return asker.prompts.render("research_state", **{name: _FRAME.sub("‹", text) for name, text in inputs.items()})


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
