"""Issues and merge requests: what stands in their documents, and how changes of every kind are seen."""

from datetime import timedelta

import pytest
from aiohttp import web

from tests.connectors.gitlabs import Runs
from tests.connectors.helpers import collect
from tests.connectors.rounds import links
from tests.servers.gitlab import GitlabServer

THREADS = {"kinds": ("issues", "merge_requests")}
ISSUES = {"kinds": ("issues",)}


@pytest.fixture
async def server():
    async with GitlabServer().serving() as server:
        yield server


@pytest.fixture
def project(server):
    return server.project()


@pytest.fixture
def pages(monkeypatch):
    monkeypatch.setattr("connectors.gitlab.threads.PER_PAGE", 5)


def opened(project, count):
    return [project.open(f"Issue {number}", "text") for number in range(1, count + 1)]


def native(*numbers):
    return {f"acme/docs/-/issues/{number}" for number in numbers}


async def test_an_issue_is_a_document_with_its_threads(server, project, tmp_path):
    issue = project.open("The door sticks", "It sticks since *Monday*.")
    issue.labels, issue.state = ["bug", "door"], "closed"
    first = project.note(issue, "Oil it.\r\nThen wait.")
    project.note(issue, "Which oil?", author="carla")
    project.note(issue, "That helped!", author=None, to=first)
    project.note(issue, "changed the description", system=True)
    project.note(issue, "Only for us: a secret.", internal=True)
    runs = Runs(server, tmp_path, **THREADS)
    assert await runs() == native(1)
    document = runs.document("acme/docs/-/issues/1")
    assert document.content.decode() == (
        "Issue #1 of acme/docs, closed. Labels: bug, door.\n\n"
        "**Ann**, 2026-01-01:\n\nIt sticks since *Monday*.\n\n"
        "**Bob**, 2026-01-01:\n\nOil it.\nThen wait.\n\n"
        "**ghost**, 2026-01-01, in reply:\n\nThat helped!\n\n"
        "**Carla**, 2026-01-01:\n\nWhich oil?\n"
    )
    assert (document.title, document.author, document.updated_at) == ("The door sticks", "Ann", issue.updated)
    assert document.url == "https://gitlab.example.org/acme/docs/-/issues/1"


async def test_a_comment_is_cited_by_its_own_address(server, project, tmp_path):
    merge = project.open("Oil the door", "Adds oil to the hinges.", is_merge=True)
    merge.state = "merged"
    comment = project.note(merge, "The upper hinge needs more of it.")
    line = project.note(merge, "This number is in litres.", path="oil.py")
    runs = Runs(server, tmp_path, **THREADS)
    await runs()
    text = runs.text("acme/docs/-/merge_requests/1")
    assert text.startswith("Merge request !1 of acme/docs, merged.")
    assert "on `oil.py`" in text
    place = "https://gitlab.example.org/acme/docs/-/merge_requests/1"
    found = await links(tmp_path, runs.connect(), "Adds oil", "The upper hinge", "in litres")
    assert found == [place, f"{place}#note_{comment.id}", f"{place}#note_{line.id}"]


async def test_a_short_list_unchanged_costs_a_conditional_request(server, project, tmp_path):
    first, *_ = opened(project, 4)
    comment = project.note(first, "before")
    runs = Runs(server, tmp_path, **THREADS)
    assert await runs() == native(1, 2, 3, 4)
    assert await runs() == set()
    assert [(one.status, one.is_conditional) for one in runs.asked] == [(304, True)] * 3
    assert runs.names == native(1, 2, 3, 4)
    first.threads.clear()
    assert await runs() == native(1), "though a deleted comment leaves the time of its issue as it was"
    assert comment.body not in runs.text("acme/docs/-/issues/1")


async def test_of_a_long_list_what_changed_is_asked_for_by_time(server, project, tmp_path, pages):
    issues = opened(project, 12)
    comment = project.note(issues[3], "before")
    project.clock.now += timedelta(hours=2)
    project.edit(issues[9], "later")
    runs = Runs(server, tmp_path, **ISSUES)
    assert len(await runs()) == 12
    assert await runs() == set()
    assert len(runs.asked) == 3, "project, what changed by time, how many there are"
    newest = (project.clock.now - timedelta(minutes=10)).strftime("%Y-%m-%dT%H:%M")
    assert f"updated_after={newest}" in runs.asked[1].path
    assert await runs() == set()
    assert [one.status for one in runs.asked] == [304, 304, 200]
    comment.body, issues[3].updated = "after", project.clock.tick()
    assert await runs() == native(4)
    assert "after" in runs.text("acme/docs/-/issues/4")
    del project.issues[7]
    assert await runs() == set()
    assert runs.names == native(*range(1, 13)) - native(7)
    del project.issues[8]
    opened(project, 1)
    assert await runs() == native(13), "as many as there were, and yet one is gone"
    assert runs.names == native(*range(1, 14)) - native(7, 8)
    project.clock.now += timedelta(minutes=30)
    project.edit(issues[0], "changed")
    assert await runs() == native(1)
    issues[3].threads.clear()
    assert await runs() == set()
    project.clock.now += timedelta(hours=2)
    assert await runs() == native(4), "what has no time of its own is seen within the hour"


async def test_a_list_that_is_not_counted_is_read_by_the_hour(server, project, tmp_path, pages):
    server.counted = 3
    opened(project, 12)
    runs = Runs(server, tmp_path, **ISSUES)
    await runs()
    del project.issues[2]
    await runs()
    assert len(runs.names) == 12
    project.clock.now += timedelta(hours=2)
    await runs()
    assert runs.names == native(*range(1, 13)) - native(2)


async def test_two_changes_within_a_second_are_told_apart(server, project, tmp_path):
    issue = project.open("Issue", "one")
    runs = Runs(server, tmp_path, **ISSUES)
    for text in ("two", "three"):
        await runs()
        project.edit(issue, text)
        assert await runs() == native(1)
        assert text in runs.text("acme/docs/-/issues/1")


async def test_changes_that_move_pages_under_the_run_are_not_left_out(server, project, tmp_path, pages):
    issues = opened(project, 12)
    runs = Runs(server, tmp_path, **ISSUES)
    await runs()
    project.clock.now += timedelta(hours=1)
    for issue in issues:
        project.edit(issue, "changed")
    moved = []

    def moves(path):
        """Edit an issue of the first page once that is read, so that all others come a place earlier."""
        if "updated_after" in path:
            moved.append(path)
            if len(moved) == 2:
                project.edit(issues[0], "changed again")

    server.fault = moves
    assert await runs() == native(*range(1, 13))
    assert "changed again" in runs.text("acme/docs/-/issues/1")


async def test_one_that_is_deleted_while_the_list_is_read_takes_no_other_with_it(server, project, tmp_path, pages):
    opened(project, 12)
    asked = []

    def drops(path):
        asked.append("order_by=created_at" in path)
        if sum(asked) == 2:
            project.issues.pop(1, None)

    server.fault = drops
    runs = Runs(server, tmp_path, **ISSUES)
    assert await runs() >= native(*range(2, 13))


async def test_a_moved_issue_says_so_and_a_converted_one_is_gone(server, project, tmp_path):
    issues = opened(project, 3)
    runs = Runs(server, tmp_path, **ISSUES)
    await runs()
    issues[0].state, issues[0].moved_to, issues[0].updated = "closed", 9_001, project.clock.tick()
    del project.issues[2]
    assert await runs() == native(1)
    assert runs.text("acme/docs/-/issues/1").startswith("Issue #1 of acme/docs, closed, moved.")
    assert runs.names == native(1, 3)
    ids = [f"s:{name}" for name in ("acme/docs/-/issues/2", "acme/docs/-/issues/x", "acme/docs/-/issues/3")]
    documents, _, gone, _ = await collect(runs.connect().fetch(ids))
    assert (documents.keys(), gone) == ({ids[2]}, set(ids[:2]))


async def test_a_thread_that_is_renamed_stays_the_same_document(server, project, tmp_path):
    threads = [project.open("Old issue", "text"), project.open("Old change", "text", is_merge=True)]
    runs = Runs(server, tmp_path, **THREADS)
    before = await runs()
    assert len(before) == 2
    for thread in threads:
        thread.title, thread.updated = thread.title.replace("Old", "New"), project.clock.tick()
    assert (await runs(), runs.names) == (before, before)
    assert {one.title for one in runs.held.values()} == {"New issue", "New change"}


async def test_threads_that_fail_in_a_row_hold_up_no_other(server, project, tmp_path):
    for issue in opened(project, 9):
        project.note(issue, "A comment.")
    server.fault = lambda path: web.Response(status=500) if "discussions" in path and "/9/" not in path else None
    runs = Runs(server, tmp_path, **ISSUES)
    assert await runs() == native(9)
    assert runs.names == native(*range(1, 10))
    server.fault = None
    documents, _, _, _ = await collect(runs.connect().fetch([f"s:{name}" for name in native(2)]))
    assert b"A comment." in documents["s:acme/docs/-/issues/2"].content


async def test_comments_that_are_not_there_are_a_failure_while_their_issue_is(server, project, tmp_path):
    project.note(project.open("Issue", "text"), "A comment.")
    server.fault = lambda path: web.Response(status=404) if "discussions" in path else None
    runs = Runs(server, tmp_path, **ISSUES)
    assert (await runs.failed()).keys() == native(1)


async def test_a_long_thread_is_read_to_its_end(server, project, tmp_path):
    issue = project.open("Issue", "text")
    for number in range(130):
        project.note(issue, f"comment {number}.")
    runs = Runs(server, tmp_path, **ISSUES)
    await runs()
    assert all(f"comment {number}." in runs.text("acme/docs/-/issues/1") for number in range(130))
    assert len(runs.document("acme/docs/-/issues/1").permalinks) == 131
