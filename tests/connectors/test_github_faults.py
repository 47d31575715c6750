"""What GitHub refuses: limits, credentials, missing rights, and answers in another form."""

import json

import pytest
from aiohttp import web

from ragcore.errors import SourceAuthError, SourceBadReply, SourceError, SourceGone, SourceRateLimited
from tests.connectors.githubs import Runs
from tests.servers.github import GithubServer
from tests.servers.serving import stranger

FILES = {"kinds": ("files",)}
ALL = {"kinds": ("files", "issues", "pulls", "discussions")}


@pytest.fixture
async def server():
    async with GithubServer().serving() as server:
        repo = server.repo()
        repo.write("a.md", "text")
        repo.comment(repo.open("Issue", "text"), "A comment.")
        repo.discuss("Question", "text")
        yield server


def refusal(status, message, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return web.Response(status=status, text=json.dumps({"message": message}), headers=headers)


async def test_a_used_up_limit_is_waited_for_until_its_hour_ends(server, tmp_path):
    server.limit = 2
    with pytest.raises(SourceRateLimited) as limited:
        await Runs(server, tmp_path, **FILES)()
    assert limited.value.retry_after == 1_800, "by GitHub's own clock, which isn't ours"


async def test_without_a_token_the_lower_limit_is_named_with_its_mend(server, tmp_path):
    server.used = 60
    with pytest.raises(SourceRateLimited, match="with a `token` there are 5,000 an hour"):
        await Runs(server, tmp_path, token=None, **FILES)()


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize(("headers", "wait"), [({"Retry_After": "37"}, 37.0), ({}, 60.0)])
@pytest.mark.parametrize("what", ["exceeded a secondary rate limit", "triggered an abuse detection mechanism"])
async def test_a_secondary_limit_is_waited_for(server, tmp_path, status, headers, wait, what):
    said = f"You have {what}. Please wait a few minutes before you try again."
    server.fault = lambda path: refusal(status, said, **headers) if "/issues" in path else None
    with pytest.raises(SourceRateLimited) as limited:
        await Runs(server, tmp_path, **ALL)()
    assert limited.value.retry_after == wait


async def test_a_limit_of_graphql_comes_with_status_200(server, tmp_path):
    server.graphql_errors = [{"type": "RATE_LIMITED", "message": "API rate limit already exceeded"}]
    with pytest.raises(SourceRateLimited):
        await Runs(server, tmp_path, kinds=("discussions",))()


async def test_a_wrong_token_is_told_as_one(server, tmp_path):
    server.token = "another"
    with pytest.raises(SourceAuthError, match=r"refused the token \(401\); check that it is right"):
        await Runs(server, tmp_path, **FILES)()


async def test_a_missing_right_is_named(server, tmp_path):
    server.lacking = {"/issues": "issues=read"}
    with pytest.raises(SourceAuthError, match="give it what this needs: issues=read"):
        await Runs(server, tmp_path, **ALL)()
    server.lacking = {}
    server.fault = lambda path: refusal(403, "Resource protected", X_GitHub_SSO="required; url=https://github.com/x")
    with pytest.raises(SourceAuthError, match="single sign-on"):
        await Runs(server, tmp_path, **ALL)()


@pytest.mark.parametrize("kind", ["FORBIDDEN", "INSUFFICIENT_SCOPES"])
async def test_a_missing_right_of_graphql_is_named(server, tmp_path, kind):
    server.graphql_errors = [{"type": kind, "message": "Resource not accessible by personal access token"}]
    with pytest.raises(SourceAuthError, match="give it the right to read contents and discussions"):
        await Runs(server, tmp_path, kinds=("discussions",))()


async def test_a_private_repository_looks_gone_without_a_token(server, tmp_path):
    server.repos["octo/docs"].private = True
    with pytest.raises(SourceGone, match="without one, a private repository looks the same"):
        await Runs(server, tmp_path, token=None, **FILES)()
    assert await Runs(server, tmp_path, **FILES)() == {"octo/docs/blob/a.md"}


async def test_a_public_repository_is_read_without_a_token(server, tmp_path):
    runs = Runs(server, tmp_path, token=None, kinds=("files", "issues", "pulls"))
    assert await runs() == {"octo/docs/blob/a.md", "octo/docs/issues/1"}
    assert await runs() == set()


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (web.json_response, SourceBadReply),
        (lambda value: web.Response(text="[1, 2]", content_type="application/json"), SourceBadReply),
        (lambda value: web.Response(text="<html>Sign in</html>", content_type="text/html"), SourceBadReply),
        (lambda value: web.Response(status=502), SourceError),
        (lambda value: web.Response(status=451), SourceGone),
    ],
)
@pytest.mark.parametrize(
    "part", ["/repos/octo/docs", "/branches/", "/git/trees/", "/issues?", "/issues/comments?", "/graphql"]
)
async def test_an_answer_of_another_form_is_a_typed_fault(server, tmp_path, answer, kind, part):
    runs = Runs(server, tmp_path, kinds=("issues", "discussions", "files"))
    await runs()
    server.repos["octo/docs"].write("a.md", "changed")
    server.fault = lambda path: answer({"message": "?"}) if part in path else None
    with pytest.raises(kind) as fault:
        await runs()
    assert type(fault.value) is kind


async def test_a_list_of_files_with_one_of_another_form_is_no_list(server, tmp_path):
    entry = {"path": "a.md", "mode": "100644", "type": "blob", "sha": "1" * 40, "size": 1}
    told = {"tree": [entry] * 1_500 + [{"path": "b.md"}], "truncated": False}
    server.fault = lambda path: web.json_response(told) if "/git/trees/" in path else None
    with pytest.raises(SourceBadReply, match="did not answer as GitHub does"):
        await Runs(server, tmp_path, **FILES)()


async def test_a_question_that_the_server_does_not_know_is_told(server, tmp_path):
    server.graphql_errors = [{"type": "undefinedField", "message": "Field 'discussions' doesn't exist"}]
    with pytest.raises(SourceBadReply, match="an old server may lack discussions"):
        await Runs(server, tmp_path, kinds=("discussions",))()


async def test_when_everything_fails_it_is_the_source_that_does(server, tmp_path):
    repo = server.repos["octo/docs"]
    for number in range(8):
        repo.write(f"d{number}.md", f"text {number}")

    def down(path):
        """Fail from the first file on."""
        is_down.extend([True] * ("/git/blobs/" in path))
        return web.Response(status=500) if is_down else None

    is_down = []
    server.fault = down
    with pytest.raises(SourceError):
        await Runs(server, tmp_path, token=None, **FILES)()


async def test_files_that_fail_in_a_row_hold_up_no_others_while_the_server_answers(server, tmp_path, monkeypatch):
    repo = server.repos["octo/docs"]
    for number in range(9):
        repo.write(f"d{number}.md", f"text {number}")
    bad = {sha for sha, content in repo.objects.blobs.items() if content.startswith(b"text ")}
    server.fault = lambda path: web.Response(status=500) if path.rpartition("/")[2] in bad else None
    runs = Runs(server, tmp_path, token=None, **FILES)
    repo.write("z.md", "the last one")
    assert await runs() == {"octo/docs/blob/a.md", "octo/docs/blob/z.md"}
    assert len(await runs.failed()) == 9
    monkeypatch.setattr("connectors.mishaps._MOST", 8)
    with pytest.raises(SourceError):
        await Runs(server, tmp_path, token=None, **FILES)()


async def test_the_token_stands_in_no_message_and_goes_to_no_other_host(server, tmp_path):
    async with stranger() as (target, shown):
        server.fault = lambda path: web.Response(status=302, headers={"Location": target})
        with pytest.raises(SourceBadReply) as fault:
            await Runs(server, tmp_path, **FILES)()
    assert "t1" not in str(fault.value)
    assert shown == [None]
