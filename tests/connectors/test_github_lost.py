"""What a source of GitHub must not lose, or hold up, when one thing of many is told in an unusual way."""

import json
from datetime import timedelta

import pytest
from aiohttp import web

from connectors.base import Checkpoint, Failure
from connectors.github.discussions import DiscussionReader
from ragcore.errors import SourceBadReply
from tests.connectors.githubs import Runs
from tests.connectors.helpers import collect
from tests.servers.github import GithubServer

ISSUES = {"kinds": ("issues",)}
TALK = {"kinds": ("discussions",)}


@pytest.fixture
async def server():
    async with GithubServer().serving() as server:
        yield server


@pytest.fixture
def repo(server):
    return server.repo()


async def test_a_thread_that_fails_and_has_many_new_comments_holds_up_no_other(server, repo, tmp_path):
    bad, good = repo.open("Bad", "text"), repo.open("Good", "text")
    runs = Runs(server, tmp_path, **ISSUES)
    await runs()
    for number in range(12):
        repo.comment(bad, f"comment {number}")
    repo.edit(good, "changed")
    server.fault = lambda path: web.Response(status=500) if f"/issues/{bad.number}/comments" in path else None
    documents, failures, _, _ = await collect(runs.connect().changes(runs.cursor, runs.known))
    assert documents.keys() == {"s:octo/docs/issues/2"}
    assert failures.keys() == {"s:octo/docs/issues/1"}


@pytest.mark.parametrize("tells_more", [True, False])
async def test_a_page_that_is_not_full_ends_no_list(server, repo, tmp_path, tells_more):
    for number in range(130):
        repo.open(f"Issue {number}", "text")
        repo.clock.now += timedelta(minutes=1)
    server.hidden = {7}
    server.links_unchanged = tells_more
    runs = Runs(server, tmp_path, **ISSUES)
    assert len(await runs()) == 129
    for _ in range(2):
        assert await runs() == set()
        assert len(runs.names) == 129


@pytest.mark.parametrize("status", [404, 451])
async def test_comments_that_are_not_there_are_a_failure_while_their_thread_is(server, repo, tmp_path, status):
    issue = repo.open("Issue", "text")
    repo.comment(issue, "A comment.")
    runs = Runs(server, tmp_path, **ISSUES)
    await runs()
    repo.comment(issue, "Another one.")
    said = json.dumps({"message": "Not Found"})
    server.fault = lambda path: web.Response(status=status, text=said) if "/issues/1/comments" in path else None
    told = [change async for change in runs.connect().changes(runs.cursor, runs.known)]
    assert [change.id for change in told if isinstance(change, Failure)] == ["s:octo/docs/issues/1"]
    assert isinstance(told[-1], Checkpoint)
    documents, failures, gone, _ = await collect(runs.connect().fetch(["s:octo/docs/issues/1"]))
    assert (documents, failures.keys(), gone) == ({}, {"s:octo/docs/issues/1"}, set())


async def test_a_discussion_that_failed_is_listed_when_another_is_deleted(server, repo, tmp_path):
    for number in range(4):
        repo.discuss(f"Question {number}", "text")
    repo.clock.now += timedelta(hours=1)
    repo.discuss("Newest", "text")
    runs = Runs(server, tmp_path, **TALK)
    assert len(await runs()) == 5
    del runs.held["s:octo/docs/discussions/2"]  # as of one that could not be read
    runs.known.pop("s:octo/docs/discussions/2")
    del repo.discussions[1]
    await runs()
    assert runs.names == {f"octo/docs/discussions/{number}" for number in (2, 3, 4, 5)}


@pytest.mark.parametrize("following", [["c1"], ["c1", "c2"]])
async def test_discussions_whose_pages_lead_in_a_circle_are_no_whole_list(server, repo, tmp_path, following):
    turns = iter(following * 9)

    def circle(path):
        page = {"hasNextPage": True, "endCursor": next(turns)}
        told = {"repository": {"discussions": {"totalCount": 3, "pageInfo": page, "nodes": []}}}
        return web.json_response({"data": told})

    server.fault = lambda path: circle(path) if "/graphql" in path else None
    with pytest.raises(SourceBadReply, match="lead in a circle"):
        await Runs(server, tmp_path, **TALK)()


async def test_a_discussion_whose_comments_lead_in_a_circle_fails_alone(server, repo, tmp_path, monkeypatch):
    for number in range(2):
        repo.discuss(f"Question {number}", "text")
    for number in range(60):
        repo.comment(repo.discussions[1], f"comment {number}.")
    runs = Runs(server, tmp_path, **TALK)
    real = DiscussionReader._repository

    async def stuck(self, text, **variables):
        return await real(self, text, **variables | ({"after": None} if "number" in variables else {}))

    monkeypatch.setattr(DiscussionReader, "_repository", stuck)
    documents, failures, _, _ = await collect(runs.connect().changes(None, {}))
    assert (documents.keys(), failures.keys()) == ({"s:octo/docs/discussions/2"}, {"s:octo/docs/discussions/1"})
