"""Which projects are read: by path, by group, moved ones; and how settings are taken."""

import pytest
from aiohttp import web
from pydantic import SecretStr, ValidationError

from connectors.gitlab import GITLAB, GitlabOptions
from connectors.gitlab.state import Memory
from ragcore.errors import SourceGone
from tests.connectors.gitlabs import Runs
from tests.connectors.helpers import collect, listed
from tests.servers.gitlab import GitlabServer
from tests.servers.gitlab.server import problem

FILES = {"kinds": ("files",)}


@pytest.fixture
async def server():
    async with GitlabServer().serving() as server:
        yield server


def a_file(server, path, **how):
    project = server.project(path, **how)
    project.write("a.md", f"text of {path}")
    return project


async def test_a_group_is_all_its_projects_as_they_come_and_go(server, tmp_path):
    for path in ("acme/docs", "acme/team/one", "acme/team/deep/two", "acme/old/three", "other/four"):
        a_file(server, path)
    a_file(server, "acme/archived", archived=True)
    runs = Runs(server, tmp_path, groups=("acme",), exclude_projects=("acme/old/**",), **FILES)
    names = {f"{path}/-/blob/a.md" for path in ("acme/docs", "acme/team/one", "acme/team/deep/two")}
    assert await runs() == names
    assert not [one for one in runs.asked if one.path == "/projects/acme%2Fdocs"], "the list has told of it"
    a_file(server, "acme/team/new")
    del server.projects["acme/docs"]
    assert await runs() == {"acme/team/new/-/blob/a.md"}
    assert runs.names == (names | {"acme/team/new/-/blob/a.md"}) - {"acme/docs/-/blob/a.md"}
    ids, _ = await listed(runs.connect())
    assert ids == runs.ids
    _, _, gone, _ = await collect(runs.connect().fetch(["s:acme/docs/-/blob/a.md"]))
    assert gone == {"s:acme/docs/-/blob/a.md"}
    archived = Runs(server, tmp_path, groups=("acme/archived",), **FILES)
    with pytest.raises(SourceGone):
        await archived()
    both = Runs(server, tmp_path, groups=("acme",), archived=True, projects=("other/four",), **FILES)
    assert {"acme/archived/-/blob/a.md", "other/four/-/blob/a.md"} <= await both()


async def test_a_project_that_a_list_leaves_out_is_asked_for(server, tmp_path):
    for path in ("acme/one", "acme/two"):
        a_file(server, path)
    runs = Runs(server, tmp_path, groups=("acme",), **FILES)
    assert len(await runs()) == 2
    server.fault = lambda path: web.json_response([]) if path.startswith("/groups/") else None
    source = runs.connect()
    async for _ in source.changes(runs.cursor, runs.known):
        pass
    assert len((await listed(source))[0]) == 2


async def test_a_group_or_project_that_is_gone_holds_up_no_other(server, tmp_path):
    a_file(server, "acme/docs")
    runs = Runs(server, tmp_path, groups=("lost",), projects=("acme/lost", "acme/docs"), **FILES)
    with pytest.raises(SourceGone, match="what is private looks the same"):
        await runs()
    assert runs.told.keys() == {"s:acme/docs/-/blob/a.md"}
    with pytest.raises(SourceGone):
        await listed(runs.connect())


async def test_a_moved_project_keeps_its_documents(server, tmp_path):
    project = a_file(server, "acme/docs")
    runs = Runs(server, tmp_path, **FILES)
    await runs()
    server.move(project, "acme/manual")
    project.write("b.md", "more")
    assert await runs() == {"acme/docs/-/blob/b.md"}
    assert runs.names == {"acme/docs/-/blob/a.md", "acme/docs/-/blob/b.md"}
    assert "/acme/manual/-/blob/" in runs.document("acme/docs/-/blob/b.md").url


async def test_pages_are_followed_at_the_address_that_gitlab_is_reached_by(tmp_path):
    async with GitlabServer(prefix="/code", told_origin="http://gitlab.internal", tree_page=2).serving() as server:
        project = server.project()
        project.files = {f"d{number}.md": b"text %d" % number for number in range(5)}
        project.commit()
        assert len(await Runs(server, tmp_path, **FILES)()) == 5


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"projects": ()}, "name `projects`, `groups` or both"),
        ({"projects": ("https://gitlab.com/acme/docs",)}, "write `group/name`"),
        ({"projects": ("docs",)}, "write `group/name`"),
        ({"projects": ("acme/docs", "Acme/Docs")}, "named twice"),
        ({"groups": ("/acme",)}, "is no group"),
        ({"token": None}, 'write `kinds = \\["files", "wiki"\\]`'),
        ({"kinds": ("snippets",)}, "kinds"),
        ({"readers": ("ann",)}, "is no reader"),
        ({"confidential": True, "readers": "knowledge_base"}, "who may read them"),
        ({"include": ("[z-a]",)}, "is no pattern"),
        ({"url": "gitlab.example.org"}, "must be an address"),
        ({"url": "https://gitlab.example.org:port"}, "must be an address"),
        ({"url": "https://me:secret@gitlab.example.org"}, "must be an address"),
    ],
)
def test_a_wrong_setting_is_refused(options, told):
    with pytest.raises(ValidationError, match=told):
        GitlabOptions.model_validate({"projects": ("acme/docs",), "token": "t1"} | options)


@pytest.mark.parametrize("url", ["https://git.example.org", "https://git.example.org/api/v4/"])
def test_an_address_is_taken_as_people_write_it(url):
    options = GitlabOptions(projects=("acme/docs",), kinds=("files",), url=url)
    assert options.url == "https://git.example.org"
    assert options.model_copy(update={"projects": ()}).basis() == options.basis()


def test_whatever_may_mend_a_refusal_ends_a_pause():
    before = GitlabOptions(projects=("acme/docs",), token=SecretStr("a"))
    for change in ({"token": SecretStr("b")}, {"readers": "knowledge_base"}, {"groups": ("acme",)}):
        assert GITLAB.credential(None, before) != GITLAB.credential(None, before.model_copy(update=change))
    assert "a'" not in repr(before)


def test_a_cursor_of_other_settings_or_another_kind_remembers_nothing():
    memory = Memory(basis="b")
    memory.of("acme/docs").issues.numbers = [1, 2]
    assert Memory.from_cursor(memory.to_cursor(), "b") == memory
    assert Memory.from_cursor(memory.to_cursor(), "c").projects == {}
    assert Memory.from_cursor("x", "b").projects == {}


async def test_a_project_that_is_gone_is_asked_for_once_a_run(server, tmp_path):
    runs = Runs(server, tmp_path, projects=("acme/lost",))
    with pytest.raises(SourceGone):
        await runs()
    assert len(server.asked) == 1


async def test_an_unchanged_group_writes_its_cursor_once_and_gives_signs_of_life(server, tmp_path):
    for number in range(5):
        a_file(server, f"acme/p{number}")
    runs = Runs(server, tmp_path, groups=("acme",))
    await runs()
    changes = [change async for change in runs.connect().changes(runs.cursor, runs.known)]
    assert [type(change).__name__ for change in changes] == ["Estimate"] * 20 + ["Checkpoint"]


async def test_what_the_token_may_not_read_of_a_group_is_named_and_kept(server, tmp_path):
    for name in ("one", "two"):
        a_file(server, f"acme/{name}")
    runs = Runs(server, tmp_path, groups=("acme",), **FILES)
    await runs()
    number = server.projects["acme/one"].id
    server.fault = lambda path: problem(403, message="403 Forbidden") if f"/{number}/repository" in path else None
    server.projects["acme/two"].write("b.md", "more")
    assert await runs() == {"acme/two/-/blob/b.md"}
    source = runs.connect()
    _, failures, _, _ = await collect(source.changes(None, {}))
    assert failures["s:acme/one/-/blob/"].covers == "s:acme/one/-/blob/"
    _, hidden = await listed(source)
    assert hidden.keys() == {"s:acme/one/-/blob/"}
    ids = ["s:acme/one/-/blob/", "s:acme/two/-/blob/b.md"]
    documents, failures, gone, _ = await collect(runs.connect().fetch(ids))
    assert (documents.keys(), failures.keys(), gone) == ({ids[1]}, {ids[0]}, set())
    server.fault = None
    _, failures, gone, _ = await collect(runs.connect().fetch(ids[:1]))
    assert (failures, gone) == ({}, {ids[0]})
