"""The JSON that scripts rely on."""

from bots.cli.forms import report_form
from ragcore.reports import SyncReport


def test_a_report_has_the_form_that_is_promised() -> None:
    form = report_form(SyncReport(source="wiki", added=1, seconds=1.23456))
    assert list(form)[:7] == ["source", "added", "changed", "deleted", "unchanged", "failed", "seconds"]
    assert (form["source"], form["added"], form["failed"], form["seconds"]) == ("wiki", 1, [], 1.235)


def test_a_run_that_broke_off_is_a_failure_named_like_its_source() -> None:
    form = report_form(SyncReport(source="wiki", error="the token has expired"))
    assert form["failed"] == [{"id": "wiki", "reason": "the token has expired", "mend": "mend it, then sync again"}]


def test_a_dry_run_names_the_documents() -> None:
    assert report_form(SyncReport(source="s", dry_run=True, deleted_ids=("s:b",)))["deleted_ids"] == ["s:b"]
