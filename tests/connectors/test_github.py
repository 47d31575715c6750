"""Files of a branch: which are taken, how they are linked, and what happens when the branch does."""

import pytest
from aiohttp import web
from pydantic import SecretStr, ValidationError

from connectors.base import Checkpoint, SourceDocument
from connectors.github import GITHUB, GithubOptions
from ragcore.errors import SourceGone
from tests.connectors.githubs import Runs
from tests.connectors.helpers import collect, listed
from tests.connectors.rounds import links
from tests.servers.github import GithubServer, Link, Submodule

FILES = {"kinds": ("files",)}


@pytest.fixture
async def server():
    async with GithubServer().serving() as server:
        yield server


@pytest.fixture
def repo(server):
    return server.repo()


async def test_a_link_is_pinned_to_the_commit_and_has_lines(server, repo, tmp_path):
    repo.write("src/app & co.py", "import os\n\n\ndef start() -> None:\n    os.nice(5)\n")
    repo.write("notes.txt", "First line.\nThe key hangs by the door.\n")
    head = repo.write("docs/a.md", "# Guide\n\nAbove.\n\n## Leave\n\nAsk two weeks ahead.\n").sha
    runs = Runs(server, tmp_path, **FILES)
    found = await links(tmp_path, runs.connect(), "    os.nice(5)", "The key hangs by the door.", "two weeks ahead")
    blob = f"https://github.com/octo/docs/blob/{head}"
    assert found == [f"{blob}/src/app%20%26%20co.py#L5", f"{blob}/notes.txt#L2", f"{blob}/docs/a.md#leave"]


async def test_what_has_not_changed_stays_linked_where_it_was_read(server, repo, tmp_path):
    first = repo.write("a.md", "one").sha
    runs = Runs(server, tmp_path, **FILES)
    await runs()
    second = repo.write("b.md", "two").sha
    assert await runs() == {"octo/docs/blob/b.md"}
    assert first in runs.document("octo/docs/blob/a.md").url
    assert second in runs.document("octo/docs/blob/b.md").url


async def test_with_a_token_a_file_tells_who_changed_it_last(server, repo, tmp_path):
    repo.files["a.md"] = b"one"
    written = repo.commit(author="Dora").at
    repo.write("b.md", "two")
    runs = Runs(server, tmp_path, **FILES)
    await runs()
    assert (runs.document("octo/docs/blob/a.md").author, runs.document("octo/docs/blob/a.md").updated_at) == (
        "Dora",
        written,
    )
    repo.write("c.md", "three")
    server.graphql_errors = [{"type": "FORBIDDEN", "message": "no"}]
    assert await runs() == {"octo/docs/blob/c.md"}, "no file is held back for it"
    assert runs.document("octo/docs/blob/c.md").updated_at is None


async def test_an_unchanged_run_asks_two_short_questions(server, repo, tmp_path):
    for number in range(45):
        repo.write(f"docs/d{number}.md", f"text {number}")
    runs = Runs(server, tmp_path, **FILES)
    await runs()
    assert len(runs.asked) == 3 + 45 + 3, "repository, branch, tree; a question a file; one for each 20 of their dates"
    used = server.used
    assert await runs() == set()
    assert [(one.status, one.is_conditional) for one in runs.asked] == [(304, True)] * 2
    assert server.used == used, "which GitHub doesn't count"
    assert len(runs.names) == 45
    repo.write("docs/d7.md", "changed")
    assert await runs() == {"octo/docs/blob/docs/d7.md"}
    assert len(runs.asked) == 3 + 1 + 1


async def test_what_the_index_lacks_is_read_though_the_branch_has_not_moved(server, repo, tmp_path):
    repo.write("a.md", "one")
    repo.write("b.md", "two")
    runs = Runs(server, tmp_path, **FILES)
    await runs()
    del runs.known["s:octo/docs/blob/a.md"]
    assert await runs() == {"octo/docs/blob/a.md"}


async def test_a_run_cut_off_begins_where_it_stopped(server, repo, tmp_path):
    for number in range(25):
        repo.files[f"d{number:02}.md"] = f"text {number}".encode()
    repo.commit()
    runs = Runs(server, tmp_path, **FILES)
    changes = runs.connect().changes(None, {})
    first = {change.id: change.version async for change in _until_checkpoint(changes, runs)}
    assert len(first) == 20
    runs.known = first
    assert len(await runs()) == 5
    runs.known |= first
    await runs()
    assert {one.status for one in runs.asked} == {304}


async def _until_checkpoint(changes, runs):
    async for change in changes:
        if isinstance(change, Checkpoint):
            runs.cursor = change.cursor
            break
        if isinstance(change, SourceDocument):
            yield change
    await changes.aclose()


async def test_a_forced_push_leaves_what_is_there_now(server, repo, tmp_path):
    repo.write("kept.md", "kept")
    old = repo.write("gone.md", "gone")
    runs = Runs(server, tmp_path, **FILES)
    await runs()
    repo.files = {"kept.md": b"kept", "new.md": b"new"}
    repo.commit(force=True)
    repo.objects.commits.pop(old.sha)
    repo.objects.trees.pop(old.tree)
    assert await runs() == {"octo/docs/blob/new.md"}
    assert runs.names == {"octo/docs/blob/kept.md", "octo/docs/blob/new.md"}


async def test_folders_are_asked_for_one_by_one_where_github_cuts_the_list_off(server, repo, tmp_path):
    names = {f"{top}/{inner}/d{number}.md" for top in "ab" for inner in "xy" for number in range(3)} | {"top.md"}
    for name in names:
        repo.files[name] = name.encode()
    repo.files["node_modules/left/out.md"] = b"never"
    repo.commit()
    whole, cut = Runs(server, tmp_path, **FILES), Runs(server, tmp_path, **FILES)
    await whole()
    server.tree_limit = 5
    await cut()
    assert cut.names == whole.names == {f"octo/docs/blob/{name}" for name in names}
    trees = [one.path for one in cut.asked if "/git/trees/" in one.path]
    assert len(trees) == 2 * 3 + 4, "top, a and b in two ways each; x and y are whole"


async def test_a_folder_that_github_never_lists_whole_hides_what_may_be_in_it(server, repo, tmp_path):
    for number in range(8):
        repo.files[f"big/d{number}.md"] = b"text %d" % number
    repo.write("top.md", "top")
    runs = Runs(server, tmp_path, **FILES)
    await runs()
    server.tree_limit = server.folder_limit = 5
    repo.write("top.md", "changed")
    source = runs.connect()
    assert {failure.covers for failure in (await runs.failed()).values()} == {"s:octo/docs/blob/big/"}
    ids, hidden = await listed(source)
    assert "s:octo/docs/blob/top.md" in ids
    assert [failure.covers for failure in hidden.values()] == ["s:octo/docs/blob/big/"]
    documents, failures, gone, _ = await collect(source.fetch(["s:octo/docs/blob/big/d7.md"]))
    assert (documents, gone) == ({}, set())
    assert "more files than GitHub lists" in failures["s:octo/docs/blob/big/d7.md"].reason


async def test_links_and_submodules_are_passed_by_and_pointers_named(server, repo, tmp_path):
    repo.files |= {
        "a.md": b"text",
        "link.md": Link("a.md"),
        "lib": Submodule(),
        "scan.pdf": b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
        "big.md": b"x" * 11_000,
        "picture.png": b"png",
        ".github/hidden.md": b"hidden",
    }
    repo.commit()
    runs = Runs(server, tmp_path, max_megabytes=0.01, **FILES)
    assert await runs() == {"octo/docs/blob/a.md"}
    failures = await runs.failed()
    assert {name: failure.reason.partition(",")[0] for name, failure in failures.items()} == {
        "octo/docs/blob/scan.pdf": "it is kept in Git LFS",
        "octo/docs/blob/big.md": "it has 0.0 MB",
    }
    assert all(failure.version and failure.mend for failure in failures.values())
    assert await Runs(server, tmp_path, hidden=True, include=("*.md",), exclude=("big*",), **FILES)() == {
        "octo/docs/blob/a.md",
        "octo/docs/blob/.github/hidden.md",
    }


async def test_a_renamed_branch_is_followed_and_a_missing_one_deletes_nothing(server, repo, tmp_path):
    repo.write("a.md", "text")
    repo.branches["old/name"] = repo.branches.pop("main")
    runs = Runs(server, tmp_path, branch="old/name", **FILES)
    assert await runs() == {"octo/docs/blob/a.md"}
    repo.branches["new"] = repo.branches.pop("old/name")
    repo.renamed_branches["old/name"] = "new"
    assert await runs() == set()
    assert runs.names == {"octo/docs/blob/a.md"}
    del repo.renamed_branches["old/name"]
    with pytest.raises(SourceGone, match='has no branch "old/name"; name the one to read as `branch`'):
        await runs()


async def test_an_empty_repository_and_an_empty_commit_hold_nothing(server, repo, tmp_path):
    runs = Runs(server, tmp_path, **FILES)
    assert await runs() == set()
    repo.write("a.md", "text")
    assert await runs() == {"octo/docs/blob/a.md"}
    repo.write("a.md", None)
    assert await runs() == set()
    assert runs.names == set()


async def test_a_renamed_repository_keeps_its_documents(server, repo, tmp_path):
    repo.write("a.md", "text")
    runs = Runs(server, tmp_path, **FILES)
    await runs()
    server.rename(repo, "octo/manual")
    repo.write("b.md", "more")
    assert await runs() == {"octo/docs/blob/b.md"}
    assert runs.names == {"octo/docs/blob/a.md", "octo/docs/blob/b.md"}
    assert "/octo/manual/blob/" in runs.document("octo/docs/blob/b.md").url
    assert [one.status for one in runs.asked].count(301) == 1, "its new name is used at once"


async def test_one_repository_that_is_gone_holds_up_no_other(server, tmp_path):
    server.repo("octo/last").write("a.md", "text")
    runs = Runs(server, tmp_path, repositories=("octo/lost", "octo/last"), **FILES)
    with pytest.raises(SourceGone, match="octo/lost is not there"):
        await runs()
    assert runs.told.keys() == {"s:octo/last/blob/a.md"}


async def test_a_file_that_the_server_always_fails_for_holds_up_no_other(server, repo, tmp_path):
    for number in range(9):
        repo.write(f"d{number}.md", f"text {number}")
    (bad,) = [sha for sha, content in repo.objects.blobs.items() if content == b"text 4"]
    server.fault = lambda path: web.Response(status=502) if bad in path else None
    runs = Runs(server, tmp_path, **FILES)
    assert len(await runs()) == 8
    (failure,) = (await runs.failed()).values()
    assert "(502)" in failure.reason
    assert not failure.version, "so that it is tried again"


async def test_readers_are_those_that_the_operator_names(server, repo, tmp_path):
    repo.write("a.md", "text")
    runs = Runs(server, tmp_path, **FILES)
    await runs()
    assert runs.document("octo/docs/blob/a.md").readers is None
    runs.options["readers"] = ("slack:T1/C2", "email:Ann@x.example")
    assert await runs() == {"octo/docs/blob/a.md"}, "other readers are a change"
    assert runs.document("octo/docs/blob/a.md").readers == {"slack:T1/C2", "email:ann@x.example"}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"repositories": ()}, "repositories"),
        ({"repositories": ("https://github.com/octo/docs",)}, "write `owner/name`"),
        ({"repositories": ("octo/docs", "Octo/Docs")}, "named twice"),
        ({"kinds": ("discussions",)}, "want a `token`"),
        ({"kinds": ("wiki",)}, "kinds"),
        ({"readers": ("ann",)}, "is no reader"),
        ({"include": ("[z-a]",)}, "is no pattern"),
        ({"url": "github.example.org"}, "must be an address"),
        ({"url": "https://me:secret@github.example.org"}, "must be an address"),
    ],
)
def test_a_wrong_setting_is_refused(options, told):
    with pytest.raises(ValidationError, match=told):
        GithubOptions.model_validate({"repositories": ("octo/docs",)} | options)


@pytest.mark.parametrize(
    ("url", "rest", "graphql"),
    [
        ("https://github.com", "https://api.github.com", "https://api.github.com/graphql"),
        ("https://api.github.com/", "https://api.github.com", "https://api.github.com/graphql"),
        ("https://api.octo.ghe.com", "https://api.octo.ghe.com", "https://api.octo.ghe.com/graphql"),
        ("https://git.example.org", "https://git.example.org/api/v3", "https://git.example.org/api/graphql"),
        ("https://git.example.org/api/v3/", "https://git.example.org/api/v3", "https://git.example.org/api/graphql"),
    ],
)
def test_an_address_is_taken_as_people_write_it(url, rest, graphql):
    options = GithubOptions(repositories=("octo/docs",), url=url)
    assert (options.url, options.graphql) == (rest, graphql)


def test_whatever_may_mend_a_refusal_ends_a_pause():
    before = GithubOptions(repositories=("octo/docs",), token=SecretStr("a"))
    for change in ({"token": SecretStr("b")}, {"repositories": ("octo/other",)}, {"exclude": ("vendor/**",)}):
        assert GITHUB.credential(None, before) != GITHUB.credential(None, before.model_copy(update=change))
    assert "a'" not in repr(before)
