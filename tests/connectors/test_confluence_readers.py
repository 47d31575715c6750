"""Who may read a page of Confluence: never more people than Confluence itself lets see it."""

import pathlib

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.base import Origin
from tests.connectors.confluences import Runs, connector
from tests.connectors.helpers import collect
from tests.servers.confluence import ConfluenceServer
from tests.soak import scaled

ANN, BOB, CAT = (f"email:{name}@x.example" for name in ("ann", "bob", "cat"))


@pytest.fixture
async def server():
    async with ConfluenceServer().serving() as found:
        for name in ("ann", "bob", "cat"):
            found.person(name, f"{name.title()}@x.example")
        found.person("shy")
        found.groups = {"hr": ["ann", "bob", "shy"], "many": [f"m{number}" for number in range(12)] + ["cat"]}
        yield found


@pytest.fixture
def runs(server, tmp_path):
    return Runs(server, tmp_path)


async def test_restrictions_of_people_and_groups_become_addresses(server, runs):
    page = server.page("One", users={"cat", "shy"}, groups={"hr"})
    file = server.attach(page, "a.txt", b"text")
    await runs()
    assert runs.told[f"page/{page.id}"].readers == {ANN, BOB, CAT}
    assert runs.told[f"attachment/{file.id}"].readers == {ANN, BOB, CAT}


async def test_a_page_is_for_those_whom_all_restrictions_above_it_name(server, runs):
    top = server.page("Top", users={"ann", "bob"})
    middle = server.page("Middle", parent=top)
    low = server.page("Low", parent=middle, users={"bob", "cat"})
    none = server.page("None", parent=low, users={"ann"})
    await runs()
    assert not [one for one in runs.asked if one.endswith((f"/{top.id}", "restriction/byOperation/read"))], (
        "lists told all"
    )
    found = [runs.told[f"page/{page.id}"].readers for page in (top, middle, low, none)]
    assert found == [{ANN, BOB}, {ANN, BOB}, {BOB}, frozenset()]


async def test_whose_address_is_not_told_is_no_reader_unless_a_setting_tells_it(server, tmp_path):
    page = server.page("One", users={"shy"})
    runs = Runs(server, tmp_path)
    await runs()
    assert runs.told[f"page/{page.id}"].readers == frozenset()
    runs = Runs(server, tmp_path, emails={"id-shy": "Shy@x.example"})
    await runs()
    assert runs.told[f"page/{page.id}"].readers == {"email:shy@x.example"}


async def test_a_group_that_may_not_be_seen_adds_nobody(server, runs):
    page = server.page("One", users={"cat"}, groups={"hr", "gone"})
    server.hidden_groups.add("hr")
    await runs()
    assert runs.told[f"page/{page.id}"].readers == {CAT}


async def test_a_large_group_is_read_to_its_end(server, runs):
    page = server.page("One", groups={"many"})
    await runs()
    assert runs.told[f"page/{page.id}"].readers == {CAT}


async def test_a_restriction_of_many_people_is_read_to_its_end(server, runs):
    names = {f"p{number}" for number in range(8)}
    for name in names:
        server.person(name, f"{name}@x.example")
    page = server.page("One", users=names)
    await runs()
    assert runs.told[f"page/{page.id}"].readers == {f"email:{name}@x.example" for name in names}


async def test_what_the_search_does_not_tell_is_asked_for(server, runs):
    page = server.page("One", users={"ann"})
    fresh = server.page("Two", users={"bob"})
    server.blind.add(page.id)
    server.unsearched.add(fresh.id)
    await runs()
    assert runs.told[f"page/{page.id}"].readers == {ANN}
    assert runs.told[f"page/{fresh.id}"].readers == {BOB}


async def test_a_restriction_that_cannot_be_told_leaves_nobody(server, runs):
    page = server.page("One")
    server.blind.add(page.id)
    server.closed.add(page.id)
    below = server.page("Two", parent=page)
    fetched, _, _, _ = await collect(runs.connect().fetch([f"s:page/{below.id}"]))
    assert fetched[f"s:page/{below.id}"].readers == frozenset()


async def test_a_restriction_to_people_who_may_not_be_seen_leaves_nobody(server, runs):
    page = server.page("One", groups={"hr"})
    server.unseen.add(page.id)
    await runs()
    assert runs.told[f"page/{page.id}"].readers == frozenset()


async def test_somebody_without_an_account_is_no_reader_and_no_fault(server, runs):
    page = server.page("One", users={"", "ann"}, author="")
    server.comment(page, "<p>Yes.</p>", author="")
    await runs()
    assert runs.told[f"page/{page.id}"].readers == {ANN}


async def test_a_folder_above_a_page_counts(server, runs):
    folder = server.page("Folder", kind="folder", users={"ann"})
    page = server.page("One", parent=folder)
    closed = server.page("Closed", kind="folder")
    hidden = server.page("Two", parent=closed)
    server.closed.add(closed.id)
    await runs()
    assert runs.told[f"page/{page.id}"].readers == {ANN}
    assert runs.told[f"page/{hidden.id}"].readers == frozenset()


async def test_a_changed_restriction_above_makes_what_is_below_new(server, runs):
    top, _ = server.page("Top"), server.page("Other")
    low = server.page("Low", parent=top)
    file = server.attach(low, "a.txt", b"text")
    await runs()
    top.users = {"ann"}
    assert await runs() == {f"page/{top.id}", f"page/{low.id}", f"attachment/{file.id}"}
    server.groups["hr"].append("cat")
    assert await runs() == set()
    top.users, top.groups = set(), {"hr"}
    await runs()
    server.groups["hr"].remove("bob")
    assert await runs() == {f"page/{top.id}", f"page/{low.id}", f"attachment/{file.id}"}
    assert runs.told[f"page/{low.id}"].readers == {ANN, CAT}


async def test_what_cannot_be_read_anew_fails_with_the_readers_that_it_has_now(server, runs):
    pages = [server.page(f"P{number}") for number in range(3)]
    await runs()
    before = runs.told[f"page/{pages[0].id}"].readers
    server.edit(pages[0], "<p>New</p>")
    pages[1].users = {"ann"}
    server.forbidden |= {pages[0].id, pages[1].id}
    assert await runs() == set()
    told = {identity: failure.readers for identity, failure in runs.failures.items()}
    assert told == {f"s:page/{pages[0].id}": before, f"s:page/{pages[1].id}": {ANN}}


async def test_what_is_for_fewer_is_read_first(server, runs):
    pages = [server.page(f"P{number}") for number in range(5)]
    await runs()
    for page in pages:
        server.edit(page, "<p>New</p>")
    pages[3].users = {"ann"}
    await runs()
    assert next(iter(runs.told)) == f"page/{pages[3].id}"


@pytest.mark.parametrize("is_cloud", [True, False])
@pytest.mark.parametrize("change", ["text", "comment", "above"])
async def test_what_is_written_for_fewer_while_a_space_is_read_is_for_these(tmp_path, is_cloud, change):
    async with ConfluenceServer(is_cloud=is_cloud).serving() as server:
        top = server.page("Top")
        page = server.page("One", parent=top)
        server.comment(page, "<p>Fine.</p>")
        runs = Runs(server, tmp_path, emails={"ann": "ann@x.example", "id-ann": "ann@x.example"})

        def fault(path):
            if "body" in path and page.number == 1 and len(server.things) == 3:
                (top if change == "above" else page).users = {"ann"}
                if change == "comment":
                    server.comment(page, "<p>Secret</p>")
                else:
                    server.edit(page, "<p>Secret</p>")

        server.fault = fault
        await runs()
        assert "Secret" in runs.text(f"page/{page.id}")
        assert runs.told[f"page/{page.id}"].readers == {ANN}
        await runs()
        assert runs.known[f"s:page/{page.id}"] != ""
        assert await runs() == set()
        runs = Runs(server, tmp_path, restricted="skip")
        page.users, top.users, page.number = set(), set(), 1
        for one in [one for one in server.things.values() if one.body == "<p>Secret</p>" and one is not page]:
            server.drop(one)
        assert f"page/{page.id}" not in await runs()


@pytest.mark.parametrize("is_cloud", [True, False])
async def test_a_file_is_read_as_it_was_when_its_readers_were_told(tmp_path, is_cloud):
    async with ConfluenceServer(is_cloud=is_cloud).serving() as server:
        page = server.page("One")
        file = server.attach(page, "a.txt", b"text")

        def fault(path):
            if "/download" in path and file.number == 1:
                page.users = {"ann"}
                server.replace(file, b"secret")

        server.fault = fault
        runs = Runs(server, tmp_path)
        await runs()
        assert runs.text(f"attachment/{file.id}") == "text"
        await runs()
        assert (runs.text(f"attachment/{file.id}"), runs.told[f"attachment/{file.id}"].readers) == ("secret", set())


@pytest.mark.parametrize("is_cloud", [True, False])
async def test_what_the_account_may_not_see_any_more_is_there_for_nobody(tmp_path, is_cloud):
    async with ConfluenceServer(is_cloud=is_cloud).serving() as server:
        page, other = server.page("One"), server.page("Two")
        server.attach(page, "a.txt", b"text")
        runs = Runs(server, tmp_path)
        await runs()
        kept, real = [other], server._live
        server._live = lambda *kinds: [one for one in real(*kinds) if one in kept]
        server.forbidden.add(page.id)

        def fault(path):
            is_file = "content/att" in path or "s/att" in path
            return web.json_response({"message": "not permitted"}, status=403) if is_file else None

        server.fault = fault
        assert await runs() == set()
        assert runs.ids == {f"s:page/{other.id}"}


async def test_what_stands_in_no_list_and_fails_is_named_and_stays(server, runs):
    page, other = server.page("One"), server.page("Two")
    await runs()
    real = server._live
    server._live = lambda *kinds: [one for one in real(*kinds) if one is other]
    page.is_spoilt = True
    await runs()
    assert runs.failures.keys() == {f"s:page/{page.id}"}
    assert f"s:page/{page.id}" in runs.ids


async def test_what_is_left_out_once_it_is_restricted_goes_at_once(server, tmp_path):
    top = server.page("Top")
    pages = [server.page(f"P{number}", parent=top) for number in range(12)]
    file = server.attach(pages[0], "a.txt", b"text")
    server.page("Free")
    runs = Runs(server, tmp_path, restricted="skip")
    await runs()
    top.users = {"ann"}
    assert await runs() == set()
    assert runs.gone == {f"s:page/{one.id}" for one in (top, *pages)} | {f"s:attachment/{file.id}"}
    assert len(runs.ids) == 1
    await runs()
    assert runs.gone == set()


async def test_restricted_pages_can_be_left_out(server, tmp_path):
    top = server.page("Top", users={"ann"})
    server.page("Low", parent=top)
    server.attach(top, "a.txt", b"text")
    free = server.page("Free")
    runs = Runs(server, tmp_path, restricted="skip", readers=("slack:T1",))
    assert await runs() == {f"page/{free.id}"}
    assert runs.told[f"page/{free.id}"].readers == {"slack:T1"}
    _, _, gone, _ = await collect(runs.connect().fetch([f"s:page/{top.id}"]))
    assert gone == {f"s:page/{top.id}"}


async def test_a_server_tells_no_addresses_and_a_setting_does(tmp_path):
    async with ConfluenceServer(is_cloud=False).serving() as server:
        server.groups = {"hr": ["Ann"]}
        page = server.page("One", users={"bob"}, groups={"hr"})
        below = server.page("Two", parent=page, users={"bob"})
        runs = Runs(server, tmp_path, username_email="{username}@x.example")
        await runs()
        assert runs.told[f"page/{page.id}"].readers == {ANN, BOB}
        assert runs.told[f"page/{below.id}"].readers == {BOB}
        runs = Runs(server, tmp_path)
        await runs()
        assert runs.told[f"page/{page.id}"].readers == frozenset()


PEOPLE = ("ann", "bob", "cat", "shy")
NODES = st.lists(
    st.tuples(
        st.integers(-1, 9),  # what it stands below, -1: nothing
        st.sets(st.sampled_from(PEOPLE), max_size=2),
        st.sets(st.sampled_from(["hr", "ops"]), max_size=1),
        st.sampled_from(["told", "blind", "unsearched", "closed"]),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=scaled(12))
@given(nodes=NODES, is_cloud=st.booleans())
async def test_nobody_reads_what_confluence_does_not_show_them(nodes, is_cloud):
    groups = {"hr": ["ann", "shy"], "ops": ["bob", "cat"]}
    async with ConfluenceServer(is_cloud=is_cloud, size=3).serving() as server:
        server.groups = groups
        for name in PEOPLE:
            server.person(name, f"{name}@x.example" * (name != "shy"))
        pages = []
        for below, users, named, how in nodes:
            parent = pages[below % len(pages)] if pages and below >= 0 else None
            page = server.page("P", parent=parent, users=set(users), groups=set(named))
            pages.append(page)
            if how != "told":
                getattr(server, how).add(page.id)
        emails = {name: f"{name}@x.example" for name in PEOPLE if name != "shy" and not is_cloud}
        source = connector(server, Origin(source="s", folder=pathlib.Path("/")), emails=emails)
        told, failures, _, _ = await collect(source.changes(None, {}))
        assert not failures
        for page in pages:
            if f"s:page/{page.id}" not in told:
                assert page.id in server.closed  # Cloud shows it to nobody
                continue
            everyone = {f"email:{name}@x.example" for name in PEOPLE} - {"email:shy@x.example"}
            allowed, is_restricted = set(everyone), False
            for one in (*page.above, page):
                if one.users or one.groups:
                    is_restricted = True
                    members = one.users | {name for group in one.groups for name in groups[group]}
                    allowed &= {f"email:{name}@x.example" for name in members}
            readers = told[f"s:page/{page.id}"].readers
            if not any(one.id in server.closed for one in (*page.above, page)):
                assert readers == (allowed if is_restricted else None)
            elif is_restricted:
                assert readers is not None
                assert readers <= allowed
