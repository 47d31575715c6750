"""What must not be lost, or shown to others, when GitLab changes or fails in the middle of a run."""

from datetime import timedelta

import pytest
from aiohttp import web

from connectors.http import HttpClient
from ragcore.errors import SourceAuthError, SourceBadReply, SourceError, SourceGone, SourceUnreachable
from tests.connectors.gitlabs import Runs
from tests.connectors.helpers import collect, listed
from tests.servers.gitlab import GitlabServer
from tests.servers.gitlab.server import problem

FILES = {"kinds": ("files",)}
ISSUES = {"kinds": ("issues",)}
BLOB = "acme/docs/-/blob/"


@pytest.fixture
async def server():
    async with GitlabServer().serving() as server:
        yield server


@pytest.fixture
def project(server):
    return server.project()


@pytest.mark.parametrize(("status", "kind"), [(403, SourceAuthError), (404, SourceGone)])
@pytest.mark.parametrize("has_name", [True, False])
async def test_a_token_that_may_no_longer_read_code_empties_nothing(
    server, project, tmp_path, status, kind, has_name, monkeypatch
):
    """GitLab tells such a token no default branch, and no branch at all."""
    project.write("a.md", "text")
    runs = Runs(server, tmp_path, branch="main" if has_name else "", **FILES)
    await runs()
    monkeypatch.setattr(project, "default_branch", None)

    def refused(path):
        is_branch = path.endswith("/repository/branches/main")
        return problem(404 if is_branch else status, message="no") if "/repository/" in path else None

    server.fault = refused
    with pytest.raises(kind):
        await runs()
    with pytest.raises(kind):
        await listed(runs.connect())
    with pytest.raises(kind):
        await collect(runs.connect().fetch([f"s:{BLOB}a.md"]))


async def test_a_project_without_a_default_branch_that_has_some_wants_one_named(server, project, tmp_path, monkeypatch):
    project.write("a.md", "text")
    monkeypatch.setattr(project, "default_branch", None)
    with pytest.raises(SourceGone, match="tells no default branch of acme/docs; name the one to read as `branch`"):
        await Runs(server, tmp_path, **FILES)()


async def test_an_empty_project_is_told_from_one_that_may_not_be_read(server, project, tmp_path):
    server.fault = lambda path: problem(404, message="404 Repository Not Found") if "/branches" in path else None
    runs = Runs(server, tmp_path, **FILES)
    assert await runs() == set()
    assert runs.names == set()


@pytest.mark.parametrize("part", ["/tree?", "/groups/", "/members/all"])
async def test_pages_that_lead_in_a_circle_are_no_whole_list(server, project, tmp_path, part):
    for number in range(5):
        project.files[f"d{number}.md"] = b"text %d" % number
    project.commit()
    server.tree_page = 2
    project.visibility = "private"
    server.member(project, "ann", public_email="ann@x.example")

    def circle(path):
        if part not in path:
            return None
        link = {"Link": f'<{server.url}/api/v4{path}>; rel="next"'}
        return web.json_response([], headers=link)

    server.fault = circle
    runs = Runs(server, tmp_path, groups=("acme",), **FILES)
    with pytest.raises(SourceBadReply, match="lead in a circle"):
        await runs()


async def test_what_a_group_leaves_out_is_not_taken_for_gone_when_it_is_fetched(server, project, tmp_path):
    project.write("a.md", "text")
    runs = Runs(server, tmp_path, groups=("Acme",), **FILES)
    server.groups.add("Acme")
    server.fault = lambda path: web.json_response([]) if path.startswith("/groups/") else None
    ids = [f"s:{BLOB}a.md", "s:acme/lost/-/blob/a.md"]
    documents, failures, gone, _ = await collect(runs.connect().fetch(ids))
    assert (documents.keys(), failures, gone) == ({ids[0]}, {}, {ids[1]})


async def test_another_project_under_the_same_path_is_read_anew(server, project, tmp_path, monkeypatch):
    """As many issues, not one of them changed since: only the project tells that they are others."""
    monkeypatch.setattr("connectors.gitlab.threads.PER_PAGE", 2)
    for number in range(3):
        project.open(f"Old {number}", "secret")
    runs = Runs(server, tmp_path, **ISSUES)
    assert len(await runs()) == 3
    del server.projects["acme/docs"]
    other = server.project(visibility="public")
    other.id = 99
    for number in range(3):
        opened = other.open(f"New {number}", "public")
        opened.created = opened.updated = project.issues[number + 1].updated
    assert len(await runs()) == 3
    assert not any("secret" in runs.text(f"acme/docs/-/issues/{number}") for number in (1, 2, 3))


async def test_what_is_said_in_confidence_while_an_issue_is_read_is_not_shown(server, project, tmp_path):
    issue = project.open("Issue", "text")
    project.note(issue, "For all.")
    kept = project.open("Kept", "text")
    project.note(kept, "For all.")
    server.member(project, "dev", role=20, public_email="dev@x.example")

    def closes(path):
        if "/issues/1/discussions" in path and not issue.confidential:
            issue.confidential = True
            project.note(issue, "made the issue confidential", system=True)
            project.note(issue, "Among us.")

    server.fault = closes
    runs = Runs(server, tmp_path, **ISSUES)
    assert await runs() == {"acme/docs/-/issues/2"}
    assert runs.names == {"acme/docs/-/issues/2"}
    issue.confidential = False
    inner = Runs(server, tmp_path, confidential=True, **ISSUES)
    await inner()
    held = inner.document("acme/docs/-/issues/1")
    assert b"Among us." in held.content
    assert held.readers == {"email:dev@x.example"}


async def test_who_awaits_a_seat_does_not_read(server, project, tmp_path):
    project.write("a.md", "text")
    project.visibility = "private"
    server.member(project, "ann", public_email="ann@x.example")
    server.member(project, "new", public_email="new@x.example", membership="awaiting")
    runs = Runs(server, tmp_path, **FILES)
    await runs()
    assert runs.document(f"{BLOB}a.md").readers == {"email:ann@x.example"}


async def test_a_page_to_log_in_is_not_taken_for_a_file(server, project, tmp_path):
    project.write("a.md", "text")
    page = "<html>Sign in</html>"
    server.fault = lambda path: web.Response(text=page, content_type="text/html") if "/raw?" in path else None
    runs = Runs(server, tmp_path, **FILES)
    assert await runs() == set()
    failed = (await runs.failed())[f"{BLOB}a.md"]
    assert "did not answer with the file as GitLab does" in failed.reason
    assert not failed.version, "so that it is tried again"


async def test_a_comparison_without_an_answer_leaves_it_to_the_list(server, project, tmp_path, monkeypatch):
    project.write("a.md", "one")
    runs = Runs(server, tmp_path, **FILES)
    await runs()
    project.write("a.md", "two")
    ask = HttpClient._send

    async def silent(client, method, url, **how):
        if "/compare?" in url:
            raise SourceUnreachable(f"{url} did not answer in time")
        return await ask(client, method, url, **how)

    monkeypatch.setattr(HttpClient, "_send", silent)
    assert await runs() == {f"{BLOB}a.md"}


@pytest.mark.parametrize("most", [100, 2])
async def test_a_comment_that_is_edited_within_a_minute_is_read_anew(server, project, tmp_path, monkeypatch, most):
    """GitLab leaves the time of an issue as it is then, and the comments are as many as before."""
    monkeypatch.setattr("connectors.gitlab.threads.PER_PAGE", most)
    for number in range(3):
        note = project.note(project.open(f"Issue {number}", "text"), "Yes.")
    runs = Runs(server, tmp_path, **ISSUES)
    server.since = timedelta(seconds=20)
    assert len(await runs()) == 3
    note.body = "No."
    server.since = timedelta(minutes=5)
    await runs()
    assert "No." in runs.text("acme/docs/-/issues/3")
    assert await runs() == set()
    assert await runs() == set()
    assert runs.asked[1].status == (304 if most == 100 else 200)


@pytest.mark.parametrize(
    "answer",
    [
        lambda: web.Response(text="<html>Sign in</html>", content_type="text/html"),
        lambda: web.Response(status=403, text="<Error><Code>AccessDenied</Code></Error>"),
    ],
)
async def test_a_store_of_large_files_that_refuses_is_a_fault_of_the_file(server, project, tmp_path, answer):
    project.files["a.md"] = b"text"
    project.files["big.md"] = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    project.commit()
    server.fault = lambda path: answer() if "lfs=true" in path else None
    runs = Runs(server, tmp_path, **FILES)
    assert await runs() == {f"{BLOB}a.md"}
    failed = (await runs.failed())[f"{BLOB}big.md"]
    assert failed.mend == "check where GitLab keeps large files, or exclude it"
    assert not failed.version, "so that it is tried again"


async def test_an_unchanged_run_leaves_the_cursor_as_it_was(server, project, tmp_path):
    """A run that meets a fault takes a cursor that moved for progress, and would try again for ever."""
    project.write("a.md", "text")
    project.open("Issue", "text")
    runs = Runs(server, tmp_path)
    await runs()
    before = runs.cursor
    project.clock.now += timedelta(seconds=90)
    assert await runs() == set()
    assert runs.cursor == before


@pytest.mark.parametrize(
    ("answer", "kind"),
    [(lambda: web.Response(status=500), SourceError), (lambda: web.json_response([1]), SourceBadReply)],
)
async def test_a_project_that_gitlab_fails_for_holds_up_no_other(server, project, tmp_path, answer, kind):
    paths = ["acme/broken", "acme/docs", "acme/more"]
    for path in paths:
        (project if path == "acme/docs" else server.project(path)).write("a.md", "text")
    broken = server.projects["acme/broken"].id
    server.fault = lambda path: answer() if f"/projects/{broken}/" in path else None
    runs = Runs(server, tmp_path, projects=tuple(paths), **FILES)
    with pytest.raises(kind):
        await runs()
    assert runs.told.keys() == {f"s:{BLOB}a.md", "s:acme/more/-/blob/a.md"}
    with pytest.raises(kind):
        await listed(runs.connect())


async def test_a_gitlab_that_is_down_is_not_asked_for_every_project(server, tmp_path):
    paths = [f"acme/p{number}" for number in range(40)]
    for path in paths:
        server.project(path)
    server.fault = lambda path: web.Response(status=502)
    with pytest.raises(SourceError):
        await Runs(server, tmp_path, projects=tuple(paths), **FILES)()
    assert len(server.asked) == 10
