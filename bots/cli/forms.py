"""The JSON that commands print (design, section 4): names and types are a contract with scripts."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import TypeAdapter

from bots.counting import by_document
from bots.rendering.markdown import to_markdown
from bots.requests import Check, Judgement, PersonReply, SourceState, Unanswered
from ragcore.links import deep_link
from ragcore.on_web import is_web
from ragcore.reports import EnrichReport, SyncReport, Without
from ragcore.trace import Trace
from ragcore.types import Answer, ScoredChunk, Usage

Form = dict[str, object]


def answer_form(answer: Answer) -> Form:
    """Return what ``ask --json`` prints; a citation of the web says so, one of a document has no such field."""
    return {
        "question": answer.question,
        "answer": answer.raw_text,
        "text": to_markdown(answer),
        "abstained": answer.abstained,
        "support": answer.support.value,
        "citations": [
            {
                "number": citation.number,
                "id": citation.id,
                "chunk_id": citation.chunk_id,
                "document_id": citation.document_id,
                "title": citation.title,
                "url": citation.url,
                "location": citation.location,
                "quote": citation.quote,
            }
            | ({"web": True} if is_web(citation.document_id) else {})
            for citation in answer.citations
        ],
        "chunks": chunk_forms(answer.chunks),
        "documents": [
            {"document_id": one.document_id, "title": one.title, "url": one.url, "chunks": one.chunks}
            for one in by_document(answer.chunks)
        ],
        "notes": list(answer.notes),
        "related": list(answer.related),
        "usage": {
            "calls": answer.usage.calls,
            "prompt_tokens": answer.usage.prompt_tokens,
            "completion_tokens": answer.usage.completion_tokens,
        },
        "timings_ms": {stage: round(took, 3) for stage, took in answer.timings_ms.items()},
    }


def trace_form(trace: Trace) -> Form:
    """Return what ``ask --why --json`` prints beside the answer, as ``ragcore.trace.Trace`` tells; times in ms."""
    form: Form = TypeAdapter(Trace).dump_python(trace, mode="json", exclude={"hidden", "readers", "rests_on"})
    return form


def chunk_forms(chunks: Sequence[ScoredChunk]) -> list[Form]:
    """Return what ``search --json`` prints; ``id`` is what ``[ID:n]`` in an answer counts.

    ``document_chunks`` is how many of the list its document gave, ``copies`` are chunks of the same text elsewhere.
    """
    given = {one.document_id: one.chunks for one in by_document(chunks)}
    return [
        {
            "id": index,
            "chunk_id": scored.chunk.id,
            "document_id": scored.chunk.document_id,
            "title": scored.chunk.title,
            "url": deep_link(scored.chunk),
            "score": round(scored.score, 6),
            "text": scored.chunk.text,
            "matched": list(scored.matched),
            "document_chunks": given.get(scored.chunk.document_id, 0),
            "copies": [
                {"chunk_id": copy.id, "document_id": copy.document_id, "title": copy.title, "url": deep_link(copy)}
                for copy in scored.copies
            ],
        }
        for index, scored in enumerate(chunks)
    ]


def report_form(report: SyncReport) -> Form:
    """Return one entry of ``sync --json``; a run that broke off is a failure named like its source."""
    failed = [{"id": failed.id, "reason": failed.reason, "mend": failed.mend} for failed in report.failed]
    if report.error:
        failed.insert(0, {"id": report.source, "reason": report.error, "mend": "mend it, then sync again"})
    form: Form = {
        "source": report.source,
        "added": report.added,
        "changed": report.changed,
        "deleted": report.deleted,
        "unchanged": report.unchanged,
        "failed": failed,
        "seconds": round(report.seconds, 3),
        "warnings": list(report.warnings),
    }
    if report.usage.calls or report.cached:
        form["pictures"] = _usage_form(report.usage) | {"cached": report.cached}
    if report.dry_run:
        form["dry_run"] = True
        form["added_ids"] = list(report.added_ids)
        form["changed_ids"] = list(report.changed_ids)
        form["deleted_ids"] = list(report.deleted_ids)
    return form


def enrich_form(report: EnrichReport) -> Form:
    """Return one entry of ``sync --json`` for a knowledge base that a model enriches; they follow the sources.

    It has what each entry has; ``changed`` are the documents that were enriched.
    """
    failed = [{"id": one.document_id, "reason": one.reason, "mend": "it is tried again"} for one in report.failed]
    if report.error:
        failed.insert(0, {"id": report.knowledge_base, "reason": report.error, "mend": "mend it, then sync again"})
    form: Form = {
        "source": f"enriching {report.knowledge_base}",
        "added": 0,
        "changed": 0 if report.dry_run else report.documents,
        "deleted": 0,
        "unchanged": 0,
        "failed": failed,
        "seconds": round(report.seconds, 3),
        "warnings": [],
        "knowledge_base": report.knowledge_base,
        "enriched": report.documents,
        "chunks": report.chunks,
        "summaries": report.summaries,
        "usage": _usage_form(report.usage),
        "cached": report.cached,
        "without": [_without_form(one) for one in report.without],
    }
    return form | {"dry_run": True, "most_tag_calls": report.most_tag_calls} if report.dry_run else form


def _without_form(without: Without) -> Form:
    return {
        "setting": without.setting,
        "of": without.of,
        "count": without.count,
        "refused": without.refused,
        "reasons": [{"reason": why.reason, "count": why.count, "mend": why.mend} for why in without.reasons],
    }


def _usage_form(usage: Usage) -> Form:
    return {
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
    }


def state_form(state: SourceState) -> Form:
    """Return one entry of ``sources --json``."""
    return {
        "name": state.name,
        "type": state.type,
        "knowledge_base": state.knowledge_base,
        "documents": state.documents,
        "chunks": state.chunks,
        "last_success": _time(state.last_success),
        "last_error": state.last_error or None,
        "next_run": _time(state.next_run),
        "paused": state.is_paused,
        "stale": state.is_stale,
        "failed": [
            {"id": one.id, "reason": one.reason, "mend": one.mend, "next_try": _time(one.next_try_at)}
            for one in state.failed
        ],
    }


def judgement_form(vote: Judgement) -> Form:
    """Return one entry of ``votes`` in ``feedback --json``; ``[ID:n]`` in the answer names a chunk's ``id``."""
    return {
        "reference": vote.reference,
        "side": vote.side,
        "reason": vote.reason or None,
        "platform": vote.platform,
        "voter": vote.voter,
        "voted_at": _time(vote.voted_at),
        "question": vote.question,
        "answer": vote.answer,
        "chunks": [
            {
                "id": chunk.id,
                "number": chunk.number or None,
                "chunk_id": chunk.chunk_id,
                "document_id": chunk.document_id,
                "title": chunk.title,
                "url": chunk.url,
                "score": chunk.score,
            }
            for chunk in vote.chunks
        ],
    }


def unanswered_form(question: Unanswered) -> Form:
    """Return one entry of ``unanswered`` in ``feedback --json``."""
    return {
        "reference": question.reference,
        "outcome": question.outcome,
        "platform": question.platform,
        "asker": question.asker,
        "asked_at": _time(question.asked_at),
        "question": question.question,
    }


def check_form(check: Check) -> Form:
    """Return one entry of ``doctor --json``."""
    return {"name": check.name, "state": check.state, "found": check.found, "mend": check.mend or None}


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def reply_form(reply: PersonReply) -> Form:
    """Return one entry of what ``people --json`` prints."""
    return {
        "id": reply.id,
        "reference": reply.reference,
        "knowledge_base": reply.knowledge_base,
        "question": reply.question,
        "text": reply.text,
        "author": reply.author,
        "said_at": _time(reply.said_at),
        "document_id": reply.document_id,
        "kept": reply.is_kept,
    }
