"""A step as a line of JSON, and back: of documents it keeps where they stand, never their text. Pure.

Passages of the web stand nowhere else, so they are kept as they were read.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ragcore.research.values import Claim, Contradiction, Finding, Outcome, Plan, Step, StepKind, Verdict
from ragcore.types import Chunk, Location, ScoredChunk, SectionKind, Usage

_PLACES = ("page", "slide", "sheet", "first_row", "last_row", "first_line", "last_line", "anchor")
"""What is kept of where a passage stands on its page: what its link needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A chunk that was read: its id and its score; ``chunk`` is there for a passage of the web alone."""

    chunk_id: str
    score: float
    chunk: Chunk | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A step whose chunks are yet to be read again: ``held`` are those of its finding, in its order."""

    step: Step
    held: tuple[Held, ...] = ()

    def whole(self, chunks: Mapping[str, ScoredChunk]) -> Step | None:
        """Return the step with its chunks; None where one of them is not there any more, or closed."""
        if self.step.finding is None:
            return self.step
        found = [_of_web(held) if held.chunk else chunks.get(held.chunk_id) for held in self.held]
        kept = tuple(one for one in found if one is not None)
        if len(kept) < len(found):
            return None
        return replace(self.step, finding=replace(self.step.finding, chunks=kept))


def to_json(step: Step, documents: Sequence[str]) -> str:
    """Return a step as a line.

    Args:
        step: That is done.
        documents: The ids of the chunks that stand in documents, and can be read again.
    """
    said: dict[str, Any] = {
        "kind": step.kind,
        "round": step.round,
        "number": step.number,
        "asked": step.asked,
        "outcome": step.outcome,
        "reason": step.reason,
        "wordings": step.wordings,
        "usage": [step.usage.calls, step.usage.prompt_tokens, step.usage.completion_tokens],
    }
    if step.plan is not None:
        said["plan"] = {
            "questions": step.plan.questions,
            "cut": step.plan.cut,
            "analysis": step.plan.analysis,
        }
    if step.finding is not None:
        held = [_held(scored, scored.chunk.id in documents) for scored in step.finding.chunks]
        said["finding"] = {
            "question": step.finding.question,
            "text": step.finding.text,
            "direct": step.finding.direct,
            "chunks": held,
        }
    if step.verdict is not None:
        said["verdict"] = {
            "enough": step.verdict.enough,
            "missing": step.verdict.missing,
            "cut": step.verdict.cut,
            "told": step.verdict.told,
            "again": step.verdict.again,
            "contradictions": [
                [[one.one.text, one.one.chunk_id], [one.other.text, one.other.chunk_id]]
                for one in step.verdict.contradictions
            ],
        }
    return json.dumps(said)


def from_json(line: str) -> Record | None:
    """Return the step of a line; None for one that another version wrote in another form."""
    try:
        return _record(json.loads(line))
    except (ValueError, KeyError, TypeError, IndexError):
        return None


def _record(said: Any) -> Record:
    if not isinstance(said, dict):
        raise TypeError("a step is an object")
    plan, finding, verdict = said.get("plan"), said.get("finding"), said.get("verdict")
    calls, prompt, completion = said["usage"]
    step = Step(
        kind=StepKind(said["kind"]),
        round=int(said["round"]),
        number=int(said["number"]),
        asked=said["asked"],
        outcome=Outcome(said["outcome"]),
        reason=said["reason"],
        plan=_plan(plan) if plan else None,
        finding=_finding(finding) if finding else None,
        verdict=_verdict(verdict) if verdict else None,
        usage=Usage(calls=calls, prompt_tokens=prompt, completion_tokens=completion),
        wordings=tuple(said.get("wordings", ())),
    )
    return Record(step=step, held=tuple(map(_held_again, finding["chunks"])) if finding else ())


def _plan(said: Any) -> Plan:
    return Plan(questions=tuple(said["questions"]), cut=tuple(said["cut"]), analysis=said["analysis"])


def _finding(said: Any) -> Finding:
    return Finding(question=said["question"], text=said["text"], direct=bool(said.get("direct")))


def _verdict(said: Any) -> Verdict:
    pairs = [[Claim(text=text, chunk_id=chunk_id) for text, chunk_id in pair] for pair in said["contradictions"]]
    return Verdict(
        enough=said["enough"],
        missing=tuple(said["missing"]),
        contradictions=tuple(Contradiction(one=one, other=other) for one, other in pairs),
        cut=tuple(said["cut"]),
        told=said["told"],
        again=tuple(said.get("again", ())),
    )


def _held(scored: ScoredChunk, in_documents: bool) -> dict[str, Any]:
    held: dict[str, Any] = {"id": scored.chunk.id, "score": scored.score}
    if not in_documents:
        chunk = scored.chunk
        held["web"] = {
            "document_id": chunk.document_id,
            "knowledge_base": chunk.knowledge_base,
            "ordinal": chunk.ordinal,
            "text": chunk.text,
            "title": chunk.title,
            "token_count": chunk.token_count,
            "url": chunk.url,
            "media_type": chunk.media_type,
            "kind": chunk.kind,
            "heading_path": chunk.heading_path,
            "location": {name: getattr(chunk.location, name) for name in _PLACES},
            "overlap": chunk.overlap,
            "updated_at": chunk.updated_at.isoformat() if chunk.updated_at else None,
        }
    return held


def _held_again(said: Any) -> Held:
    web = said.get("web")
    if not web:
        return Held(chunk_id=said["id"], score=said["score"])
    at = web["updated_at"]
    fields = web | {
        "kind": SectionKind(web["kind"]),
        "heading_path": tuple(web["heading_path"]),
        "location": Location(**{name: web["location"][name] for name in _PLACES}),
        "updated_at": datetime.fromisoformat(at) if at else None,
    }
    return Held(chunk_id=said["id"], score=said["score"], chunk=Chunk(id=said["id"], **fields))


def _of_web(held: Held) -> ScoredChunk | None:
    return ScoredChunk(chunk=held.chunk, score=held.score) if held.chunk else None
