"""What GitLab refuses: limits, credentials, missing scopes, and answers in another form."""

from datetime import timedelta

import pytest
from aiohttp import web

from ragcore.errors import SourceAuthError, SourceBadReply, SourceError, SourceGone, SourceRateLimited
from tests.connectors.gitlabs import Runs
from tests.connectors.helpers import collect
from tests.servers.gitlab import GitlabServer
from tests.servers.gitlab.server import problem
from tests.servers.gitlab.world import Page
from tests.servers.serving import stranger

FILES = {"kinds": ("files",)}


@pytest.fixture
async def server():
    async with GitlabServer().serving() as server:
        project = server.project()
        project.write("a.md", "text")
        project.note(project.open("Issue", "text"), "A comment.")
        project.wiki["home"] = Page("Home", "text")
        yield server


@pytest.mark.parametrize(
    ("headers", "wait"),
    [({"Retry-After": "37"}, 37.0), ({"RateLimit-Reset": "1767226000"}, 400.0), ({}, 60.0)],
)
async def test_a_limit_is_waited_for_by_gitlabs_own_clock(server, tmp_path, headers, wait):
    server.since = timedelta()
    answer = {"status": 429, "text": "Retry later\n", "headers": {"RateLimit-Remaining": "0", **headers}}
    for part in ("/branches/", "/issues?", "/raw?"):
        server.fault = lambda path, part=part: web.Response(**answer) if part in path else None
        with pytest.raises(SourceRateLimited) as limited:
            await Runs(server, tmp_path)()
        assert wait - 5 <= limited.value.retry_after <= wait, part


async def test_a_wrong_token_is_told_as_one(server, tmp_path):
    server.token = "another"
    with pytest.raises(SourceAuthError, match=r"refused the token \(401\): 401 Unauthorized; check that `token`"):
        await Runs(server, tmp_path, **FILES)()


@pytest.mark.parametrize(("scopes", "named"), [("api read_api", "read_api"), ("read_repository", "read_repository")])
async def test_a_missing_scope_is_named(server, tmp_path, scopes, named):
    said = {"error": "insufficient_scope", "error_description": "The request requires higher privileges."}
    server.fault = lambda path: problem(403, scope=scopes, **said) if "/branches/" in path else None
    with pytest.raises(SourceAuthError, match=f"make a token with the scope {named}"):
        await Runs(server, tmp_path, **FILES)()


async def test_a_missing_role_is_named_and_holds_up_no_other_kind(server, tmp_path):
    server.fault = lambda path: problem(403, message="403 Forbidden") if "/repository/" in path else None
    runs = Runs(server, tmp_path)
    with pytest.raises(SourceAuthError, match="403 Forbidden; give whoever the token stands for the role Reporter"):
        await runs()
    assert runs.told.keys() == {"s:acme/docs/-/issues/1", "s:acme/docs/-/wikis/home"}


async def test_a_token_that_loses_its_role_empties_no_project(server, tmp_path):
    runs = Runs(server, tmp_path, **FILES)
    await runs()
    server.projects["acme/docs"].tells_branch = False  # as to a guest
    with pytest.raises(SourceGone, match="tells no default branch of acme/docs; name the one to read as `branch`"):
        await runs()
    server.fault = lambda path: problem(403, message="403 Forbidden") if "/branches" in path else None
    with pytest.raises(SourceAuthError, match="give whoever the token stands for the role Reporter"):
        await runs()


async def test_a_private_project_looks_gone_without_a_token(server, tmp_path):
    server.projects["acme/docs"].visibility = "private"
    with pytest.raises(SourceGone, match="without one, what is private looks the same"):
        await Runs(server, tmp_path, token=None, **FILES)()


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (lambda: web.json_response({"message": "?"}), SourceBadReply),
        (lambda: web.Response(text="[1, 2]", content_type="application/json"), SourceBadReply),
        (lambda: web.Response(text="<html>Sign in</html>", content_type="text/html"), SourceBadReply),
        (lambda: web.Response(status=502), SourceError),
        (lambda: web.Response(status=405), SourceBadReply),
    ],
)
async def test_an_answer_of_another_form_is_a_typed_fault(server, tmp_path, answer, kind):
    for part in ("/projects/acme", "/branches/", "/tree?", "/issues?", "/wikis?"):
        server.fault = lambda path, part=part: answer() if part in path else None
        with pytest.raises(kind) as fault:
            await Runs(server, tmp_path, kinds=("issues", "wiki", "files"))()
        assert type(fault.value) is kind, part


async def test_when_everything_fails_it_is_the_source_that_does(server, tmp_path):
    project = server.projects["acme/docs"]
    for number in range(8):
        project.write(f"d{number}.md", f"text {number}")
    is_down = []

    def down(path):
        """Fail from the first file on."""
        is_down.extend([True] * ("/raw?" in path))
        return web.Response(status=500) if is_down else None

    server.fault = down
    with pytest.raises(SourceError):
        await Runs(server, tmp_path, **FILES)()


async def test_a_page_that_fails_in_a_walk_by_time_asks_for_it_again(server, tmp_path, monkeypatch):
    """A part that couldn't be read isn't taken for read, though its list was answered."""
    project = server.projects["acme/docs"]
    runs = Runs(server, tmp_path, kinds=("issues",))
    await runs()
    project.edit(project.issues[1], "changed")
    server.fault = lambda path: problem(403, message="403 Forbidden") if "discussions" in path else None
    with pytest.raises(SourceAuthError):
        await runs()
    server.fault = None
    assert await runs() == {"acme/docs/-/issues/1"}


async def test_the_token_stands_in_no_message_and_goes_to_no_other_host(server, tmp_path):
    async with stranger() as (target, shown):
        server.fault = lambda path: web.Response(status=302, headers={"Location": target})
        with pytest.raises(SourceBadReply) as fault:
            await Runs(server, tmp_path, **FILES)()
    assert "t1" not in str(fault.value)
    assert shown == [None]


async def test_a_fault_while_one_document_is_fetched_is_its_failure(server, tmp_path):
    ids = ["s:acme/docs/-/wikis/home", "s:acme/docs/-/issues/1", "s:acme/docs/-/blob/a.md"]
    parts = ("/wikis/home", "/issues/1", "/raw?")
    server.fault = lambda path: web.Response(status=500) if any(part in path for part in parts) else None
    documents, failures, gone, _ = await collect(Runs(server, tmp_path).connect().fetch(ids))
    assert (documents, failures.keys(), gone) == ({}, set(ids), set())
