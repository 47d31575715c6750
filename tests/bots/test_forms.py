"""The JSON that scripts rely on."""

import io
from dataclasses import replace

from rich.console import Console

from bots.cli.asking import show_chunks
from bots.cli.forms import chunk_forms, report_form
from bots.counting import by_document
from ragcore.reports import SyncReport
from tests.fakes.operations import CHUNKS


def test_a_report_has_the_form_that_is_promised() -> None:
    form = report_form(SyncReport(source="wiki", added=1, seconds=1.23456))
    assert list(form)[:7] == ["source", "added", "changed", "deleted", "unchanged", "failed", "seconds"]
    assert (form["source"], form["added"], form["failed"], form["seconds"]) == ("wiki", 1, [], 1.235)


def test_a_run_that_broke_off_is_a_failure_named_like_its_source() -> None:
    form = report_form(SyncReport(source="wiki", error="the token has expired"))
    assert form["failed"] == [{"id": "wiki", "reason": "the token has expired", "mend": "mend it, then sync again"}]


def test_a_dry_run_names_the_documents() -> None:
    assert report_form(SyncReport(source="s", dry_run=True, deleted_ids=("s:b",)))["deleted_ids"] == ["s:b"]


def test_copies_are_told_with_what_they_copy_and_chunks_counted_by_document() -> None:
    one, two, three = CHUNKS
    copy = replace(two.chunk, document_id="wiki:old/leave.md", url="https://wiki.example/leave")
    # A document is told by its id: two of one title stay apart.
    again = replace(three, chunk=replace(three.chunk, document_id=one.chunk.document_id))
    chunks = (replace(one, copies=(copy,)), two, again)
    forms = chunk_forms(chunks)
    assert [form["document_chunks"] for form in forms] == [2, 1, 2]
    told = {"chunk_id": copy.id, "document_id": copy.document_id, "title": "Leave"}
    assert forms[0]["copies"] == [{**told, "url": "https://wiki.example/leave#carry-over"}]
    assert [(each.document_id, each.chunks) for each in by_document(chunks)] == [
        ("handbook:leave-0.md", 2),
        ("handbook:leave-1.md", 1),
    ]
    out = io.StringIO()
    show_chunks(chunks, Console(file=out, width=100))
    assert "   The same in: Leave, Carry-over  wiki:old/leave.md\n" in out.getvalue()
    assert out.getvalue().endswith("3 passages from 2 documents: handbook:leave-0.md 2, handbook:leave-1.md 1\n")


def test_what_a_reranker_put_in_order_is_told_so() -> None:
    out = io.StringIO()
    show_chunks((replace(CHUNKS[0], ranks={"dense": 2, "rerank": 1}), CHUNKS[1]), Console(file=out, width=100))
    assert "0.90 reranked  handbook:leave-0.md" in out.getvalue()
    assert "0.80  handbook:leave-1.md" in out.getvalue()


def test_what_no_answer_would_rest_on_is_told_so() -> None:
    out = io.StringIO()
    show_chunks((CHUNKS[0], CHUNKS[1]), Console(file=out, width=100), gate=0.85)
    assert "0.90  handbook:leave-0.md" in out.getvalue()
    assert "0.80 below the gate  handbook:leave-1.md" in out.getvalue()
