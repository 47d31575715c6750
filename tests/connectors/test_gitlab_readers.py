"""Who may read: never more than GitLab lets read."""

from datetime import timedelta

import pytest
from aiohttp import web

from connectors.base import SourceDocument, Tombstone
from tests.connectors.gitlabs import Runs
from tests.connectors.helpers import collect, live, run
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import opened
from tests.servers.gitlab import GitlabServer
from tests.servers.gitlab.server import problem
from tests.servers.gitlab.world import Page

ALL = ("files", "issues", "merge_requests", "wiki")
PLACES = {"files": "blob/a.md", "issues": "issues/1", "merge_requests": "merge_requests/2", "wiki": "wikis/home"}


@pytest.fixture
async def server():
    async with GitlabServer().serving() as server:
        yield server


@pytest.fixture
def project(server):
    project = server.project()
    project.write("a.md", "text")
    project.open("Issue", "text")
    project.open("Change", "text", is_merge=True)
    project.wiki["home"] = Page("Home", "text")
    return project


def readers(runs):
    return {kind: runs.document(f"acme/docs/-/{place}").readers for kind, place in PLACES.items()}


async def test_what_anyone_may_read_is_for_the_knowledge_base(server, project, tmp_path):
    runs = Runs(server, tmp_path)
    assert len(await runs()) == 4
    assert set(readers(runs).values()) == {None}


@pytest.mark.parametrize("visibility", ["private", "internal"])
async def test_what_is_for_members_is_for_them_by_role(server, project, tmp_path, visibility):
    project.visibility = visibility
    server.member(project, "guest", role=10, public_email="Guest@x.example")
    server.member(project, "dev", role=30, told_email="dev@x.example")
    server.member(project, "minimal", role=5, public_email="minimal@x.example")
    server.member(project, "nobody", role=40)
    server.member(project, "blocked", public_email="blocked@x.example", state="blocked")
    server.member(project, "past", public_email="past@x.example", expires="2026-01-01")
    runs = Runs(server, tmp_path)
    await runs()
    some, all_of_them = {"email:dev@x.example"}, {"email:dev@x.example", "email:guest@x.example"}
    assert readers(runs) == {"files": some, "issues": all_of_them, "merge_requests": some, "wiki": all_of_them}


async def test_an_administrators_token_tells_confirmed_addresses(server, project, tmp_path):
    project.visibility, server.is_admin = "private", True
    server.member(project, "ann", email="ann@x.example", public_email="other@x.example")
    server.member(project, "bob", email="boss@x.example", is_confirmed=False)
    runs = Runs(server, tmp_path)
    await runs()
    assert set(readers(runs).values()) == {frozenset({"email:ann@x.example"})}


@pytest.mark.parametrize("part", ["repository", "issues", "merge_requests", "wiki"])
async def test_a_part_of_a_public_project_that_is_for_members_stays_theirs(server, project, tmp_path, part):
    project.levels[part] = "private"
    server.member(project, "ann", public_email="ann@x.example")
    runs = Runs(server, tmp_path)
    await runs()
    kinds = {"repository": {"files", "merge_requests"}}.get(part, {part})
    assert {kind for kind, who in readers(runs).items() if who == {"email:ann@x.example"}} == kinds
    assert {kind for kind, who in readers(runs).items() if who is None} == set(ALL) - kinds


async def test_a_level_that_is_not_told_is_taken_for_members(server, project, tmp_path):
    project.levels["wiki"] = ""
    server.member(project, "ann", public_email="ann@x.example")
    runs = Runs(server, tmp_path, kinds=("wiki",))
    await runs()
    assert runs.document("acme/docs/-/wikis/home").readers == {"email:ann@x.example"}


async def test_a_private_project_of_unknown_members_is_named_and_holds_up_no_other(server, project, tmp_path):
    server.project("acme/open").write("a.md", "text")
    project.visibility = "private"
    server.member(project, "ann")
    runs = Runs(server, tmp_path, projects=("acme/docs", "acme/open"), kinds=("files", "wiki"))
    assert await runs() == {"acme/open/-/blob/a.md"}
    assert runs.ids == {"s:acme/open/-/blob/a.md"}
    failures = await runs.failed()
    assert failures.keys() == {"acme/docs/-/blob/", "acme/docs/-/wikis/"}
    told = failures["acme/docs/-/blob/"]
    assert "no e-mail address of the members who may read acme/docs" in told.reason
    assert told.mend.startswith("name `readers`")
    ids = ["s:acme/docs/-/blob/a.md", "s:acme/docs/-/blob/", "s:acme/docs/-/wikis/"]
    documents, failures, gone, _ = await collect(runs.connect().fetch(ids))
    assert (documents, failures.keys(), gone) == ({}, set(ids), set())
    runs.options["readers"] = "knowledge_base"
    documents, failures, gone, _ = await collect(runs.connect().fetch(ids))
    assert (documents.keys(), failures, gone) == ({ids[0]}, {}, set(ids[1:])), "nothing failed stays behind"


async def test_members_that_the_token_may_not_see_are_unknown(server, project, tmp_path):
    project.visibility = "private"
    server.member(project, "ann", public_email="ann@x.example")
    server.fault = lambda path: problem(403, message="403 Forbidden") if "/members" in path else None
    failures = await Runs(server, tmp_path, kinds=("wiki",)).failed()
    assert "no e-mail address" in failures["acme/docs/-/wikis/"].reason


async def test_what_nobody_is_known_to_read_any_more_goes_at_once(server, project, tmp_path):
    async with opened(tmp_path / "data", HashEmbedder()) as library:
        server.project("acme/open").write("a.md", "text")
        runs = Runs(server, tmp_path, projects=("acme/docs", "acme/open"))
        assert (await run(library, runs.connect())).added == 5
        project.visibility = "private"
        report = await run(library, runs.connect())
        assert await live(library) == {"acme/open/-/blob/a.md"}
        assert (report.deleted, report.error, len(report.failed)) == (4, "", 4)
        server.member(project, "ann", public_email="ann@x.example")
        report = await run(library, runs.connect())
        assert (report.added, report.is_success) == (4, True)
        held = await library.registry.document("s:acme/docs/-/wikis/home")
        assert held.readers == {"email:ann@x.example"}


@pytest.mark.parametrize("begins", ["public", "private"])
async def test_what_can_not_be_read_again_keeps_no_former_readers(server, project, tmp_path, begins):
    async with opened(tmp_path / "data", HashEmbedder()) as library:
        project.visibility = begins
        server.member(project, "ann", public_email="ann@x.example")
        bob = server.member(project, "bob", public_email="bob@x.example")
        runs = Runs(server, tmp_path)
        assert (await run(library, runs.connect())).added == 4
        project.visibility = "private"
        project.members.remove(bob)
        parts = ("/raw?", "/discussions")
        project.note(project.issues[1], "A comment.")
        server.fault = lambda path: web.Response(status=502) if any(part in path for part in parts) else None
        await run(library, runs.connect())
        for identity in await library.registry.document_ids("s"):
            assert (await library.registry.document(identity)).readers == {"email:ann@x.example"}, identity
        assert not {"acme/docs/-/blob/a.md", "acme/docs/-/issues/1"} & await live(library)
        server.fault = None
        await run(library, runs.connect())
        report = await run(library, runs.connect())
        assert report.is_success
        assert len(await live(library)) == 4


@pytest.mark.parametrize(
    ("named", "who"), [("knowledge_base", None), (("slack:T1/C2", "email:Ann@x.example"), {"slack:T1/C2", "email:ann@x.example"})]
)  # fmt: skip
async def test_named_readers_are_those_and_no_member_is_asked_for(server, project, tmp_path, named, who):
    project.visibility = "private"
    runs = Runs(server, tmp_path, readers=named)
    await runs()
    assert all(found == who for found in readers(runs).values())
    assert not [one for one in runs.asked if "/members" in one.path or "/users" in one.path]


async def test_changed_members_change_every_document_and_addresses_are_asked_for_once_a_day(server, project, tmp_path):
    project.visibility = "private"
    ann = server.member(project, "ann", public_email="ann@x.example")
    runs = Runs(server, tmp_path)
    await runs()
    assert await runs() == set()
    assert not [one for one in runs.asked if "/users" in one.path]
    server.member(project, "bob", public_email="bob@x.example")
    assert len(await runs()) == 4
    assert set(readers(runs).values()) == {frozenset({"email:ann@x.example", "email:bob@x.example"})}
    project.members.remove(ann)
    assert len(await runs()) == 4
    assert set(readers(runs).values()) == {frozenset({"email:bob@x.example"})}
    server.people[project.members[0].id].public_email = "rob@x.example"
    project.clock.now += timedelta(days=2)
    assert len(await runs()) == 4
    assert set(readers(runs).values()) == {frozenset({"email:rob@x.example"})}
    project.visibility = "public"
    assert len(await runs()) == 4
    assert set(readers(runs).values()) == {None}


async def test_confidential_issues_are_left_out(server, project, tmp_path):
    secret = project.open("Secret", "text")
    secret.confidential = True
    runs = Runs(server, tmp_path, kinds=("issues",))
    assert await runs() == {"acme/docs/-/issues/1"}
    project.issues[1].confidential, project.issues[1].updated = True, project.clock.tick()
    told = [change async for change in runs.connect().changes(runs.cursor, runs.known)]
    gone = [change.id for change in told if isinstance(change, Tombstone)]
    assert gone == ["s:acme/docs/-/issues/1"], "what becomes confidential goes, whatever else is gone"
    assert await runs() == set()
    assert runs.names == set()
    documents, _, gone, _ = await collect(runs.connect().fetch(["s:acme/docs/-/issues/1"]))
    assert (documents, gone) == ({}, {"s:acme/docs/-/issues/1"})
    secret.confidential, secret.updated = False, project.clock.tick()
    assert await runs() == {f"acme/docs/-/issues/{secret.iid}"}


async def test_confidential_issues_are_for_reporters_where_they_are_asked_for(server, project, tmp_path):
    secret = project.open("Secret", "text")
    secret.confidential = True
    for issue in (secret, project.issues[1]):
        project.note(issue, "Among us.", internal=True)
    server.member(project, "guest", role=10, public_email="guest@x.example")
    server.member(project, "dev", role=20, public_email="dev@x.example")
    runs = Runs(server, tmp_path, kinds=("issues",), confidential=True)
    await runs()
    held = {native: runs.document(native) for native in ("acme/docs/-/issues/1", f"acme/docs/-/issues/{secret.iid}")}
    told: list[tuple[frozenset[str] | None, bool]] = [
        (one.readers, b"Among us." in one.content) for one in held.values() if isinstance(one, SourceDocument)
    ]
    assert told == [(None, False), ({"email:dev@x.example"}, True)]
    named = Runs(server, tmp_path, kinds=("issues",), confidential=True, readers=("slack:T1/C2",))
    await named()
    assert named.document(f"acme/docs/-/issues/{secret.iid}").readers == {"slack:T1/C2"}


async def test_without_a_token_what_is_public_is_read_and_the_rest_looks_gone(server, project, tmp_path):
    runs = Runs(server, tmp_path, token=None, kinds=("files", "wiki"))
    assert len(await runs()) == 2
    assert {one.readers for one in runs.held.values()} == {None}
