"""Files of a branch of GitLab, and wiki pages: which are taken, how they are linked, and what a move costs."""

import hashlib

import pytest
from aiohttp import web

from connectors.base import Failure
from ragcore.errors import SourceGone
from tests.connectors.gitlabs import Runs
from tests.connectors.helpers import collect
from tests.connectors.rounds import links
from tests.servers.git import Link, Submodule
from tests.servers.gitlab import GitlabServer
from tests.servers.gitlab.world import Page

FILES = {"kinds": ("files",)}
WIKI = {"kinds": ("wiki",)}
BLOB = "acme/docs/-/blob/"


@pytest.fixture
async def server():
    async with GitlabServer().serving() as server:
        yield server


@pytest.fixture
def project(server):
    return server.project()


def asked(runs, part):
    return [one.path for one in runs.asked if part in one.path]


async def test_a_link_is_pinned_to_the_commit_and_has_lines(server, project, tmp_path):
    project.write("src/app & co.py", "import os\n\n\ndef start() -> None:\n    os.nice(5)\n")
    head = project.write("docs/a.md", "# Guide\n\nAbove.\n\n## Leave\n\nAsk two weeks ahead.\n").sha
    runs = Runs(server, tmp_path, **FILES)
    found = await links(tmp_path, runs.connect(), "    os.nice(5)", "two weeks ahead")
    blob = f"https://gitlab.example.org/acme/docs/-/blob/{head}"
    assert found == [f"{blob}/src/app%20%26%20co.py#L5", f"{blob}/docs/a.md#leave"]


async def test_an_unchanged_run_asks_two_short_questions(server, project, tmp_path):
    for number in range(9):
        project.files[f"docs/d{number}.md"] = b"text %d" % number
    project.commit()
    server.tree_page = 5
    runs = Runs(server, tmp_path, **FILES)
    assert len(await runs()) == 9
    assert len(asked(runs, "/tree?")) == 2
    assert await runs() == set()
    assert [(one.status, one.is_conditional) for one in runs.asked] == [(304, True)] * 2
    assert len(runs.names) == 9
    server.has_etags = False
    assert await runs() == set()
    assert len(runs.asked) == 2


async def test_a_branch_that_moved_is_compared(server, project, tmp_path):
    for number in range(9):
        project.files[f"docs/d{number}.md"] = b"text %d" % number
    project.files |= {"old/x.md": b"x", "old/y.md": b"y"}
    first = project.commit().sha
    runs = Runs(server, tmp_path, exclude=("drafts",), **FILES)
    await runs()
    project.files["docs/d7.md"] = b"changed"
    project.files["new/x.md"] = project.files.pop("old/x.md")
    project.files["drafts/z.md"] = b"not wanted"
    project.files["docs/link.md"] = Link("d7.md")
    second = project.commit().sha
    assert await runs() == {f"{BLOB}docs/d7.md", f"{BLOB}new/x.md"}
    assert runs.names == {*(f"{BLOB}docs/d{number}.md" for number in range(9)), f"{BLOB}new/x.md", f"{BLOB}old/y.md"}
    assert all("path=" in path for path in asked(runs, "/tree?"))
    assert len(asked(runs, "/tree?")) == 2
    assert first in runs.document(f"{BLOB}docs/d1.md").url
    assert second in runs.document(f"{BLOB}docs/d7.md").url
    assert await runs() == set()
    assert len(runs.asked) == 2


@pytest.mark.parametrize("why", ["forced", "too many", "fails", "lost", "older"])
async def test_what_a_comparison_cannot_tell_the_list_of_all_does(server, project, tmp_path, why, monkeypatch):
    project.write("kept.md", "kept")
    old = project.write("gone.md", "gone")
    runs = Runs(server, tmp_path, **FILES)
    await runs()
    project.files = {"kept.md": b"kept", "new.md": b"new", "another.md": b"another"}
    project.commit(force=why in {"forced", "lost"})
    if why == "too many":
        server.most_diffs = 1
    if why == "fails":
        server.fault = lambda path: web.Response(status=500) if "/compare?" in path else None
    if why == "lost":
        project.objects.commits.pop(old.sha)
    if why == "older":
        monkeypatch.setattr("connectors.gitlab.files._MOST_DIFFERENCES", 1)
    assert await runs() == {f"{BLOB}new.md", f"{BLOB}another.md"}
    assert runs.names == {f"{BLOB}kept.md", f"{BLOB}new.md", f"{BLOB}another.md"}
    assert len(asked(runs, "recursive=true")) == 1


async def test_a_comparison_that_the_folders_contradict_is_not_relied_on(server, project, tmp_path):
    project.write("a.md", "one")
    runs = Runs(server, tmp_path, **FILES)
    await runs()
    project.write("a.md", "two")
    diffs = [{"old_path": "b.md", "new_path": "b.md", "b_mode": "100644", "deleted_file": False}]
    told = web.json_response({"diffs": diffs, "compare_timeout": False})
    server.fault = lambda path: told if "/compare?" in path else None
    assert await runs() == {f"{BLOB}a.md"}


async def test_what_the_index_lacks_is_read_though_the_branch_has_not_moved(server, project, tmp_path):
    project.write("a.md", "one")
    project.write("b.md", "two")
    runs = Runs(server, tmp_path, **FILES)
    await runs()
    del runs.known[f"s:{BLOB}a.md"]
    assert await runs() == {f"{BLOB}a.md"}


async def test_a_file_tells_who_changed_it_last(server, project, tmp_path):
    project.files |= {"a.md": b"one", "b.md": b"two"}
    written = project.commit(author="Dora").at
    runs = Runs(server, tmp_path, **FILES)
    await runs()
    assert (runs.document(f"{BLOB}a.md").author, runs.document(f"{BLOB}a.md").updated_at) == ("Dora", written)
    assert len(asked(runs, "/commits/")) == 1, "of one commit it is asked once"
    project.write("c.md", "three")
    server.fault = lambda path: web.Response(status=500) if "/commits/" in path else None
    assert await runs() == {f"{BLOB}c.md"}, "no file is held back for it"


async def test_links_and_submodules_are_passed_by_and_pointers_named(server, project, tmp_path):
    project.files |= {
        "a.md": b"text",
        "link.md": Link("a.md"),
        "lib": Submodule(),
        "scan.pdf": b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
        "big.md": b"x" * 11_000,
        "picture.png": b"png",
    }
    project.commit()
    runs = Runs(server, tmp_path, max_megabytes=0.01, **FILES)
    assert await runs() == {f"{BLOB}a.md"}
    failures = await runs.failed()
    assert {name: failure.reason.partition(",")[0] for name, failure in failures.items()} == {
        f"{BLOB}scan.pdf": "it is kept in Git LFS",
        f"{BLOB}big.md": "it has 0.0 MB",
    }
    assert all(failure.version and failure.mend for failure in failures.values())


async def test_a_file_in_git_lfs_is_read_where_gitlab_has_it(server, project, tmp_path):
    digest = hashlib.sha256(b"# The handbook").hexdigest().encode()
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + digest + b"\nsize 14\n"
    server.kept[pointer] = b"# The handbook"
    project.write("handbook.md", pointer)
    runs = Runs(server, tmp_path, max_megabytes=0.01, **FILES)
    assert await runs() == {f"{BLOB}handbook.md"}
    assert runs.text(f"{BLOB}handbook.md") == "# The handbook"
    server.kept[pointer] = b"x" * 11_000
    assert "raise max_megabytes" in (await runs.failed())[f"{BLOB}handbook.md"].mend


async def test_many_files_in_a_row_that_fail_hold_up_no_others(server, project, tmp_path):
    for number in range(12):
        project.files[f"d{number:02}.md"] = b"text %d" % number
    project.commit()
    server.fault = lambda path: web.Response(status=502) if "/files/d0" in path else None
    runs = Runs(server, tmp_path, **FILES)
    assert await runs() == {f"{BLOB}d10.md", f"{BLOB}d11.md"}
    failures = await runs.failed()
    assert len(failures) == 10
    assert not any(failure.version for failure in failures.values()), "so that each is tried again"
    server.fault = None
    documents, _, gone, _ = await collect(runs.connect().fetch([f"s:{BLOB}d03.md", f"s:{BLOB}never.md"]))
    assert (documents.keys(), gone) == ({f"s:{BLOB}d03.md"}, {f"s:{BLOB}never.md"})


async def test_an_empty_project_and_an_empty_commit_hold_nothing(server, project, tmp_path):
    runs = Runs(server, tmp_path, **FILES)
    assert await runs() == set()
    project.write("a.md", "text")
    assert await runs() == {f"{BLOB}a.md"}
    project.write("a.md", None)
    assert await runs() == set()
    assert runs.names == set()
    assert await Runs(server, tmp_path, **FILES)() == set()


async def test_a_missing_branch_deletes_nothing(server, project, tmp_path):
    project.write("a.md", "text")
    project.branches["old/name"] = project.branches["main"]
    runs = Runs(server, tmp_path, branch="old/name", **FILES)
    assert await runs() == {f"{BLOB}a.md"}
    del project.branches["old/name"]
    with pytest.raises(SourceGone, match='has no branch "old/name"; name the one to read as `branch`'):
        await runs()


async def test_a_wiki_page_is_a_document(server, project, tmp_path):
    project.wiki = {
        "home": Page("Home", "# Welcome\n\nThe key hangs by the door.\n"),
        "how to/open": Page("Open", "Push the corner."),
        "notes": Page("Notes", "* Head", "org"),
        "_sidebar": Page("_sidebar", "[Home](home)"),
    }
    runs = Runs(server, tmp_path, **WIKI)
    pages = {f"acme/docs/-/wikis/{slug}" for slug in ("home", "how to/open", "notes")}
    assert await runs() == pages
    assert runs.document("acme/docs/-/wikis/notes").media_type == "text/plain"
    page = "https://gitlab.example.org/acme/docs/-/wikis"
    found = await links(tmp_path, runs.connect(), "The key hangs by the door.", "Push the corner.")
    assert found == [f"{page}/home#welcome", f"{page}/how%20to/open"]
    assert await runs() == set()
    assert [one.status for one in runs.asked] == [304, 304]
    project.wiki["home"].content = "The key is gone."
    del project.wiki["notes"]
    assert await runs() == {"acme/docs/-/wikis/home"}
    assert runs.names == pages - {"acme/docs/-/wikis/notes"}
    asked_for = [f"s:acme/docs/-/wikis/{slug}" for slug in ("how to/open", "notes")]
    documents, _, gone, _ = await collect(runs.connect().fetch(asked_for))
    assert (list(documents), gone) == ([asked_for[0]], {asked_for[1]})


async def test_a_part_that_is_switched_off_holds_nothing(server, project, tmp_path):
    project.write("a.md", "text")
    project.wiki["home"] = Page("Home", "text")
    runs = Runs(server, tmp_path, kinds=("files", "wiki"))
    assert len(await runs()) == 2
    project.levels["wiki"] = "disabled"
    assert await runs() == set()
    assert runs.names == {f"{BLOB}a.md"}
    _, _, gone, _ = await collect(runs.connect().fetch(["s:acme/docs/-/wikis/home"]))
    assert gone == {"s:acme/docs/-/wikis/home"}


async def test_documents_of_what_is_not_read_are_gone(server, project, tmp_path):
    project.write("a.md", "text")
    ids = ["s:acme/docs/-/issues/1", "s:acme/other/-/blob/a.md", "s:nothing", f"s:{BLOB}a.md"]
    changes = [change async for change in Runs(server, tmp_path, **FILES).connect().fetch(ids)]
    assert [type(change).__name__ for change in changes] == ["Tombstone"] * 3 + ["SourceDocument"]
    assert not any(isinstance(change, Failure) for change in changes)
