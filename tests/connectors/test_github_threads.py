"""Issues, pull requests and discussions: what stands in their documents, and how changes of every kind are seen."""

from datetime import timedelta

import pytest
from aiohttp import web

from tests.connectors.githubs import Runs
from tests.connectors.helpers import collect
from tests.connectors.rounds import links
from tests.servers.github import GithubServer

THREADS = {"kinds": ("issues", "pulls")}
TALK = {"kinds": ("discussions",)}


@pytest.fixture
async def server():
    async with GithubServer().serving() as server:
        yield server


@pytest.fixture
def repo(server):
    return server.repo()


async def test_an_issue_is_a_document_with_all_that_was_said(server, repo, tmp_path):
    issue = repo.open("The door sticks", "It sticks since *Monday*.", author="ann")
    issue.labels, issue.state = ["bug", "door"], "closed"
    repo.comment(issue, "Oil it.\r\nThen wait.", author="bob")
    repo.comment(issue, "Thank you!", author=None)
    runs = Runs(server, tmp_path, **THREADS)
    assert await runs() == {"octo/docs/issues/1"}
    document = runs.document("octo/docs/issues/1")
    assert document.content.decode() == (
        "Issue #1 of octo/docs, closed. Labels: bug, door.\n\n"
        "**ann**, 2026-01-01:\n\nIt sticks since *Monday*.\n\n"
        "**bob**, 2026-01-01:\n\nOil it.\nThen wait.\n\n"
        "**ghost**, 2026-01-01:\n\nThank you!\n"
    )
    assert (document.title, document.author, document.updated_at) == ("The door sticks", "ann", issue.updated)
    assert document.url == "https://github.com/octo/docs/issues/1"
    assert document.readers is None


async def test_a_comment_is_cited_by_its_own_address(server, repo, tmp_path):
    pull = repo.open("Oil the door", "Adds oil to the hinges.", is_pull=True)
    comment = repo.comment(pull, "The upper hinge needs more of it.")
    line = repo.comment(pull, "This number is in litres.", path="oil.py")
    review = repo.review(pull, "I like the new colour of it.")
    repo.review(pull, "not sent yet", sent=False)
    source = Runs(server, tmp_path, **THREADS).connect()
    found = await links(tmp_path, source, "Adds oil", "The upper hinge", "This number is in litres", "the new colour")
    place = "https://github.com/octo/docs/pull/1"
    assert found == [
        place,
        f"{place}#issuecomment-{comment.id}",
        f"{place}#discussion_r{line.id}",
        f"{place}#pullrequestreview-{review.id}",
    ]


async def test_a_pull_request_is_one_document_however_it_is_listed(server, repo, tmp_path):
    repo.open("An issue", "text")
    pull = repo.open("A change", "text", is_pull=True)
    pull.merged, pull.state = pull.updated, "closed"
    runs = Runs(server, tmp_path, **THREADS)
    assert await runs() == {"octo/docs/issues/1", "octo/docs/pull/2"}
    assert runs.names == {"octo/docs/issues/1", "octo/docs/pull/2"}
    assert runs.text("octo/docs/pull/2").startswith("Pull request #2 of octo/docs, merged.")
    for kind, name in (("issues", "issues/1"), ("pulls", "pull/2")):
        alone = Runs(server, tmp_path, kinds=(kind,))
        assert await alone() == {f"octo/docs/{name}"}
        assert alone.names == {f"octo/docs/{name}"}
        other = "s:octo/docs/pull/2" if kind == "issues" else "s:octo/docs/issues/1"
        _, _, gone, _ = await collect(alone.connect().fetch([other]))
        assert gone == {other}


async def test_pull_requests_are_read_where_issues_are_switched_off(server, repo, tmp_path):
    repo.has_issues = False
    pull = repo.open("A change", "text", is_pull=True)
    repo.comment(pull, "Looks well.")
    runs = Runs(server, tmp_path, **THREADS)
    assert await runs() == {"octo/docs/pull/1"}
    assert "Looks well." in runs.text("octo/docs/pull/1")
    assert await runs() == set()
    repo.comment(pull, "No, it leaks.")
    assert await runs() == {"octo/docs/pull/1"}
    documents, _, _, _ = await collect(runs.connect().fetch(["s:octo/docs/pull/1"]))
    assert len(documents) == 1
    assert await Runs(server, tmp_path, kinds=("issues",))() == set()


async def test_an_unchanged_run_costs_only_conditional_requests(server, repo, tmp_path):
    for number in range(120):
        issue = repo.open(f"Issue {number}", "text", is_pull=number % 3 == 0)
        if number % 10 == 0:
            repo.comment(issue, "A comment.")
        repo.clock.now += timedelta(minutes=1)
    runs = Runs(server, tmp_path, **THREADS)
    assert len(await runs()) == 120
    assert await runs() == set()
    used = server.used
    for _ in range(2):
        assert await runs() == set()
        assert {(one.status, one.is_conditional) for one in runs.asked} == {(304, True)}
        assert len(runs.asked) == 6, "repository; issues and comments of both kinds by time; two pages of all"
    assert server.used == used, "which GitHub doesn't count"
    assert len(runs.names) == 120
    repo.edit(repo.issues[9], "Something else.")
    assert await runs() == {"octo/docs/issues/9"}


async def test_what_changed_is_asked_for_by_time_with_an_overlap(server, repo, tmp_path):
    first = repo.open("Issue", "text")
    runs = Runs(server, tmp_path, **THREADS)
    await runs()
    await runs()
    asked = [one.path for one in runs.asked if "since=" in one.path]
    start = (first.updated - timedelta(minutes=10)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert len(asked) == 3
    assert all(f"since={start}" in path for path in asked)


async def test_an_edited_comment_is_seen_though_its_issue_keeps_its_time(server, repo, tmp_path):
    issue, pull = repo.open("Issue", "text"), repo.open("Change", "text", is_pull=True)
    comment, line = repo.comment(issue, "before"), repo.comment(pull, "before", path="a.py")
    runs = Runs(server, tmp_path, **THREADS)
    await runs()
    for edited, name in ((comment, "issues/1"), (line, "pull/2")):
        edited.body, edited.updated = "after", repo.clock.tick()
        assert await runs() == {f"octo/docs/{name}"}
        assert "after" in runs.text(f"octo/docs/{name}")
    assert await runs() == set()


async def test_an_issue_that_the_server_always_fails_for_holds_up_no_other(server, repo, tmp_path):
    issues = [repo.open(f"Issue {number}", "text") for number in range(3)]
    comments = [repo.comment(issue, "before") for issue in issues]
    runs = Runs(server, tmp_path, **THREADS)
    await runs()
    for comment in comments:
        comment.body, comment.updated = "after", repo.clock.tick()
    server.fault = lambda path: web.Response(status=502) if path == "/repos/octo/docs/issues/2" else None
    assert await runs() == {"octo/docs/issues/1", "octo/docs/issues/3"}
    server.fault = None
    documents, _, _, _ = await collect(runs.connect().fetch(["s:octo/docs/issues/2"]))
    assert b"after" in documents["s:octo/docs/issues/2"].content


async def test_a_deleted_comment_is_gone_though_its_issue_keeps_its_time(server, repo, tmp_path):
    issue = repo.open("Issue", "text")
    repo.comment(issue, "kept")
    repo.comment(issue, "a secret")
    runs = Runs(server, tmp_path, **THREADS)
    await runs()
    issue.comments.pop()
    assert await runs() == {"octo/docs/issues/1"}
    assert "a secret" not in runs.text("octo/docs/issues/1")
    assert await runs() == set()


async def test_changes_that_move_pages_under_the_run_are_not_left_out(server, repo, tmp_path, monkeypatch):
    monkeypatch.setattr("connectors.github.threads.PER_PAGE", 5)
    for number in range(12):
        repo.open(f"Issue {number}", "text")
    runs = Runs(server, tmp_path, kinds=("issues",))
    await runs()
    repo.clock.now += timedelta(hours=1)
    for number in range(1, 13):
        repo.edit(repo.issues[number], "changed")
    moved = []

    def moves(path):
        """Edit an issue of the first page once that is read, so that all others come a place earlier."""
        if "since=" in path and "/issues?" in path:
            moved.append(path)
            if len(moved) == 2:
                repo.edit(repo.issues[1], "changed again")

    server.fault = moves
    told = await runs()
    assert len(moved) > 2
    assert told == {f"octo/docs/issues/{number}" for number in range(1, 13)}
    assert "changed again" in runs.text("octo/docs/issues/1")


async def test_one_that_is_deleted_while_the_list_is_read_takes_no_other_with_it(server, repo, tmp_path, monkeypatch):
    monkeypatch.setattr("connectors.github.threads.PER_PAGE", 5)
    for number in range(12):
        repo.open(f"Issue {number}", "text")
    runs = Runs(server, tmp_path, kinds=("issues",))
    await runs()

    def drops(path):
        if path.endswith("&page=2") and "sort=created" in path and 1 in repo.issues:
            repo.drop(1)

    server.fault = drops
    await runs()
    assert "octo/docs/issues/6" in runs.names, "it has come onto the page that was read already"
    assert "octo/docs/issues/1" not in (await runs()) | runs.names
    assert len(runs.names) == 11


async def test_deleted_moved_and_converted_issues_are_gone(server, repo, tmp_path):
    other = server.repo("octo/other")
    for number in range(5):
        repo.open(f"Issue {number}", "text")
    runs = Runs(server, tmp_path, kinds=("issues", "discussions"))
    assert len(await runs()) == 5
    repo.drop(1)
    moved = other.open("Issue 1", "text")
    del repo.issues[2]
    repo.transferred[2] = ("octo/other", moved.number)
    converted = repo.issues.pop(3)
    discussion = repo.discuss(converted.title, converted.body)
    assert await runs() == {f"octo/docs/discussions/{discussion.number}"}
    assert runs.names == {"octo/docs/issues/4", "octo/docs/issues/5", f"octo/docs/discussions/{discussion.number}"}
    ids = [f"s:octo/docs/issues/{number}" for number in (1, 2, 3, 4)]
    documents, failures, gone, _ = await collect(runs.connect().fetch([*ids, "s:octo/docs/issues/x", "s:x/y/issues/1"]))
    assert (documents.keys(), failures) == ({ids[3]}, {})
    assert gone == {*ids[:3], "s:octo/docs/issues/x", "s:x/y/issues/1"}


async def test_a_thread_that_is_renamed_stays_the_same_document(server, repo, tmp_path):
    issue, pull = repo.open("Old issue", "text"), repo.open("Old change", "text", is_pull=True)
    discussion = repo.discuss("Old question", "text")
    runs = Runs(server, tmp_path, kinds=("issues", "pulls", "discussions"))
    await runs()
    for thread in (issue, pull, discussion):
        thread.title, thread.updated = thread.title.replace("Old", "New"), repo.clock.tick()
    names = {"octo/docs/issues/1", "octo/docs/pull/2", "octo/docs/discussions/3"}
    assert (await runs(), runs.names) == (names, names)
    assert {one.title for one in runs.held.values()} == {"New issue", "New change", "New question"}


async def test_a_thread_of_many_comments_is_read_to_its_end(server, repo, tmp_path):
    issue = repo.open("Issue", "text")
    discussion = repo.discuss("Question", "text")
    for number in range(130):
        repo.comment(issue, f"comment {number}.")
        said = repo.comment(discussion, f"comment {number}.")
    said.replies = [repo.said(f"reply {number}.") for number in range(130)]
    runs = Runs(server, tmp_path, kinds=("issues", "discussions"))
    await runs()
    for name in ("octo/docs/issues/1", "octo/docs/discussions/2"):
        assert all(f"comment {number}." in runs.text(name) for number in range(130))
    assert all(f"reply {number}." in runs.text("octo/docs/discussions/2") for number in range(130))
    assert len(runs.document("octo/docs/discussions/2").permalinks) == 261


async def test_a_discussion_is_cited_by_its_comments_and_replies(server, repo, tmp_path):
    discussion = repo.discuss("How do I open it?", "It has no handle.", category="Q&A")
    comment = repo.comment(discussion, "Push the lower corner.")
    comment.is_answer = True
    reply = repo.said("That worked at once.", author="carla")
    comment.replies.append(reply)
    runs = Runs(server, tmp_path, **TALK)
    await runs()
    assert runs.text("octo/docs/discussions/1") == (
        "Discussion #1 of octo/docs, Q&A.\n\n**ann**, 2026-01-01:\n\nIt has no handle.\n\n"
        "**bob**, 2026-01-01, the answer:\n\nPush the lower corner.\n\n"
        "**carla**, 2026-01-01, in reply:\n\nThat worked at once.\n"
    )
    place = "https://github.com/octo/docs/discussions/1"
    found = await links(tmp_path, runs.connect(), "It has no handle", "Push the lower corner", "That worked at once")
    assert found == [place, f"{place}#discussioncomment-{comment.id}", f"{place}#discussioncomment-{reply.id}"]


async def test_discussions_unchanged_cost_one_question_and_what_changes_is_seen(server, repo, tmp_path):
    for number in range(120):
        repo.discuss(f"Question {number}", "text")
        repo.clock.now += timedelta(minutes=1)
    runs = Runs(server, tmp_path, **TALK)
    assert len(await runs()) == 120
    assert await runs() == set()
    assert [one.path for one in runs.asked][1:] == ["/graphql"]
    assert len(runs.names) == 120
    repo.comment(repo.discussions[5], "A comment.")
    assert await runs() == {"octo/docs/discussions/5"}
    del repo.discussions[9]
    assert await runs() == set()
    assert "octo/docs/discussions/9" not in runs.names
    assert len(runs.names) == 119
    _, _, gone, _ = await collect(runs.connect().fetch(["s:octo/docs/discussions/9"]))
    assert gone == {"s:octo/docs/discussions/9"}


async def test_an_enterprise_server_is_asked_at_its_own_addresses(tmp_path):
    async with GithubServer(prefix="/api/v3").serving() as server:
        repo = server.repo()
        repo.write("a.md", "text")
        issue = repo.open("Issue", "text")
        repo.comment(issue, "A comment.")
        repo.discuss("Question", "text")
        runs = Runs(server, tmp_path, kinds=("files", "issues", "pulls", "discussions"), url=server.origin)
        assert await runs() == {"octo/docs/blob/a.md", "octo/docs/issues/1", "octo/docs/discussions/2"}
        assert {document.url.startswith(f"{server.origin}/octo/docs/") for document in runs.held.values()} == {True}
        assert "/api/graphql" in {one.path for one in runs.asked}
