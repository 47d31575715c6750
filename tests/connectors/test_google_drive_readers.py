"""Who may read what came from Drive: never more than may open it there, and always as it is now."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.google_drive.replies import Permission
from connectors.google_drive.service import Google
from connectors.google_drive.sharing import Sharings
from ragcore.errors import SourceAuthError
from tests.connectors.drives import Runs, by_key, connector
from tests.connectors.helpers import collect, listed
from tests.servers.google_drive import ACCOUNT, GoogleServer, anyone, domain, group, problem, user


@pytest.fixture
async def server():
    async with GoogleServer().serving() as found:
        yield found


@pytest.fixture
def drive(server):
    return server.drive


def member(address: str, kind: str = "USER", status: str = "ACTIVE") -> dict[str, str]:
    return {"email": address, "type": kind, "status": status}


async def test_people_are_told_with_those_of_the_folder(server, drive, tmp_path):
    top = drive.folder("docs", permissions=[user("Ann@X.example")])
    one = drive.put("a.md", "Text.", top, permissions=[user("bob@x.example", "writer")])
    runs = Runs(server, tmp_path, folders=(top,))
    await runs()
    assert runs.readers(one) == {"ann@x.example", "bob@x.example", ACCOUNT}
    drive.share(one, user("carl@x.example"))
    assert await runs() == {one}
    assert runs.readers(one) == {"ann@x.example", "carl@x.example", ACCOUNT}


@pytest.mark.parametrize("is_shared", [False, True])
async def test_who_is_shut_out_of_a_folder_is_shut_out_of_all_in_it(server, drive, tmp_path, is_shared):
    top = drive.shared("shared-1") if is_shared else drive.folder("docs")
    inner = drive.folder("inner", top, permissions=[user("ann@x.example")])
    deep = drive.put("a.md", "Text.", drive.folder("deeper", inner))
    other = drive.put("b.md", "Text.", top)
    runs = Runs(server, tmp_path, folders=(top,))
    await runs()
    assert "ann@x.example" in runs.readers(deep) - runs.readers(other)
    drive.share(inner)
    assert await runs() == {deep}, "though the log of changes tells of the folder alone"
    assert runs.readers(deep) == {ACCOUNT}
    drive.share(inner, user("ann@x.example"))
    await runs()
    assert "ann@x.example" in runs.readers(deep)
    assert await runs() == set()


@pytest.mark.parametrize("where", ["folder", "drive"])
async def test_who_is_shut_out_of_what_the_settings_name_is_shut_out_of_all(server, drive, tmp_path, where):
    top = drive.shared("shared-1") if where == "drive" else drive.folder("docs")
    drive.share(top, *([] if where == "drive" else [user(ACCOUNT, "owner")]), user("ann@x.example"))
    ids = {drive.put(f"{number}.md", "Text.", top) for number in range(7)}
    runs = Runs(server, tmp_path, **({"shared_drives": (top,)} if where == "drive" else {"folders": (top,)}))
    assert await runs() == ids
    assert await runs() == set()
    drive.share(top, *([] if where == "drive" else [user(ACCOUNT, "owner")]))
    assert await runs() == ids
    assert {reader for native in ids for reader in runs.readers(native)} == {ACCOUNT}


async def test_a_shared_drive_is_asked_once_for_what_has_no_rights_of_its_own(server, drive, tmp_path):
    shared = drive.shared("shared-1", user("ann@x.example"))
    inner = drive.folder("inner", shared)
    plain = [drive.put(f"{number}.md", "Text.", inner) for number in range(9)]
    own = drive.put("own.md", "Text.", inner, permissions=[user("bob@x.example")])
    runs = Runs(server, tmp_path, shared_drives=(shared,))
    await runs()
    assert {frozenset(runs.readers(native)) for native in plain} == {frozenset({"ann@x.example", ACCOUNT})}
    assert runs.readers(own) == {"ann@x.example", "bob@x.example", ACCOUNT}
    assert sum(one.endswith("/permissions") for one in runs.asked) == 3, "the drive twice, and the file"


async def test_links_and_domains_open_nothing_unless_the_settings_say_so(server, drive, tmp_path):
    made = {
        name: drive.put(f"{name}.md", "Text.", permissions=[one])
        for name, one in {
            "public": anyone(can_find=True),
            "link": anyone(can_find=False),
            "example.org": domain("Example.org", can_find=True),
            "link:example.org": domain("example.org", can_find=False),
        }.items()
    }
    runs = Runs(server, tmp_path)
    await runs()
    told = {name: runs.readers(native) - {ACCOUNT} for name, native in made.items()}
    assert told == {"public": {"*"}, "link": set(), "example.org": set(), "link:example.org": set()}
    named = {name: (f"slack:T{number}",) for number, name in enumerate(made)}
    runs = Runs(server, tmp_path, readers_of=named)
    await runs()
    assert {name: tuple(runs.readers(native) - {ACCOUNT}) for name, native in made.items()} == named


async def test_groups_are_nobody_by_themselves_and_whom_the_settings_name(server, drive, tmp_path):
    one = drive.put("a.md", "Text.", permissions=[group("Staff@example.org")])
    runs = Runs(server, tmp_path)
    await runs()
    assert runs.readers(one) == {ACCOUNT}
    runs = Runs(server, tmp_path, readers_of={"STAFF@example.org": ("slack:T1",)})
    await runs()
    assert runs.readers(one) == {ACCOUNT, "slack:T1"}


async def test_the_directory_tells_the_people_of_groups_and_a_change_there_counts(server, drive, tmp_path):
    people = [member(f"p{number}@example.org") for number in range(7)]
    drive.groups["staff@example.org"] = [
        *people,
        member("left@example.org", status="SUSPENDED"),
        member("inner@example.org", "GROUP"),
        member("C01", "CUSTOMER"),
        member("guest@other.example", status=""),
    ]
    one = drive.put("a.md", "Text.", permissions=[group("staff@example.org"), group("unknown@other.example")])
    drive.put("b.md", "Text.", permissions=[group("staff@example.org")])
    runs = Runs(server, tmp_path, **by_key(server, subject="boss@example.org", expand_groups=True))
    await runs()
    expected = {one["email"] for one in people} | {"guest@other.example", ACCOUNT}
    assert runs.readers(one) == expected
    assert sum("staff@example.org" in asked for asked in runs.asked) == 3, "three pages, once"
    assert "admin.directory.group.member.readonly" in server.grants[-1]["scope"]
    assert await runs() == set()
    drive.groups["staff@example.org"].pop(0)
    assert len(await runs()) == 2
    assert runs.readers(one) == expected - {"p0@example.org"}


@pytest.mark.parametrize(("name", "is_told"), [("staff@example.org", True), ("staff@other.example", False)])
@pytest.mark.soak
async def test_a_group_that_the_account_may_not_see_is_told_if_it_is_of_its_own_domain(
    server, drive, tmp_path, name, is_told
):
    one = drive.put("a.md", "Text.", permissions=[group(name)])
    server.fault = lambda request: problem(403, "forbidden") if "group" in request.match_info else None
    runs = Runs(server, tmp_path, **by_key(server, subject="boss@example.org", expand_groups=True))
    if is_told:
        with pytest.raises(SourceAuthError, match=r"group staff@example\.org"):
            await runs()
    else:
        await runs()
        assert runs.readers(one) == {ACCOUNT}


@pytest.mark.soak
async def test_a_right_that_ends_ends_here_too(server, drive, tmp_path):
    soon = datetime.now(UTC) + timedelta(hours=1)
    one = drive.put("a.md", "Text.", permissions=[user("ann@x.example", expirationTime=f"{soon:%Y-%m-%dT%H:%M:%SZ}")])
    past = drive.put("b.md", "Text.", permissions=[user("ann@x.example", expirationTime="2020-01-01T00:00:00Z")])
    runs = Runs(server, tmp_path)
    await runs()
    assert runs.readers(one) == {"ann@x.example", ACCOUNT}
    assert runs.readers(past) == {ACCOUNT}
    assert await runs() == set()


async def test_a_right_that_has_ended_is_seen_without_a_change(server, drive, tmp_path, monkeypatch):
    soon = datetime.now(UTC) + timedelta(hours=1)
    one = drive.put("a.md", "Text.", permissions=[user("ann@x.example", expirationTime=f"{soon:%Y-%m-%dT%H:%M:%SZ}")])
    runs = Runs(server, tmp_path)
    await runs()
    drive.items[one].permissions.clear()  # Drive takes it away, and its log tells nothing
    monkeypatch.setattr("connectors.google_drive.corpus.time.time", lambda: soon.timestamp() + 1)
    assert await runs() == {one}
    assert runs.readers(one) == {ACCOUNT}


async def test_readers_of_the_settings_take_the_place_of_drives(server, drive, tmp_path):
    shared = drive.shared("shared-1", user("ann@x.example"))
    one = drive.put("a.md", "Text.", shared)
    runs = Runs(server, tmp_path, shared_drives=(shared,), readers=("slack:T1", "email:Bob@x.example"))
    await runs()
    assert runs.readers(one) == {"slack:T1", "bob@x.example"}
    assert not any(asked.endswith("/permissions") for asked in runs.asked)


@pytest.mark.parametrize("where", ["folder", "drive"])
async def test_an_account_that_is_not_told_who_may_read_reads_nothing_without_readers(server, drive, tmp_path, where):
    top = drive.shared("shared-1") if where == "drive" else drive.folder("docs", "")
    if where == "drive":
        drive.members[top] = [user(ACCOUNT), user("ann@x.example", "organizer")]
    else:
        drive.share(top, user(ACCOUNT), user("ann@x.example", "owner"))
    one = drive.put("a.md", "Text.", top)
    runs = Runs(server, tmp_path, folders=(top,))
    with pytest.raises(SourceAuthError, match="does not tell this account who may read") as refused:
        await runs()
    assert "`readers`" in refused.value.mend
    runs = Runs(server, tmp_path, folders=(top,), readers=("*",))
    assert await runs() == {one}


async def test_a_single_file_that_drive_does_not_tell_the_readers_of_is_named(server, drive, tmp_path):
    seen = drive.put("seen.md", "Text.", "", permissions=[user(ACCOUNT), user("ann@x.example", "owner")])
    fine = drive.put("fine.md", "Text.")
    documents, failures, _, cursor = await collect(Runs(server, tmp_path).connect().changes(None, {}))
    assert documents.keys() == {f"s:{fine}"}
    assert "who may read it" in failures[f"s:{seen}"].reason
    drive.share(seen, user(ACCOUNT, "writer"), user("ann@x.example", "owner"))
    known = {f"s:{fine}": documents[f"s:{fine}"].version, f"s:{seen}": failures[f"s:{seen}"].version}
    documents, _, _, _ = await collect(connector(server, Runs(server, tmp_path).origin).changes(cursor, known))
    assert documents.keys() == {f"s:{seen}"}


@pytest.mark.parametrize("is_open", [True, False])
async def test_what_cannot_be_read_anew_fails_with_the_readers_that_it_has_now(server, drive, tmp_path, is_open):
    one = drive.put("a.md", "Text.", permissions=[user("ann@x.example")])
    other = drive.put("b.md", "Text.")
    runs = Runs(server, tmp_path)
    await runs()
    drive.write(other, "Changed.")
    drive.write(one, "Changed.")
    drive.edit(one, can_download=False)
    if not is_open:
        drive.share(one)
    assert await runs() == {other}
    assert runs.failures[one].readers == {f"email:{one}" for one in (ACCOUNT, *(["ann@x.example"] if is_open else []))}


async def test_a_document_whose_readers_are_told_no_more_is_for_nobody(server, drive, tmp_path):
    one = drive.put("a.md", "Text.", "", permissions=[user(ACCOUNT, "writer"), user("ann@x.example", "owner")])
    runs = Runs(server, tmp_path)
    assert await runs() == {one}
    drive.share(one, user(ACCOUNT, "reader"), user("ann@x.example", "owner"))
    await runs()
    assert runs.failures[one].readers == set(), "it would be open to whoever could read it then"
    found = [one async for one in runs.connect().fetch([f"s:{one}"])]
    assert "who may read it" in found[0].reason


_PERMISSIONS = st.lists(
    st.builds(
        Permission,
        type=st.sampled_from(["user", "group", "domain", "anyone", "something new"]),
        email_address=st.sampled_from(["", "ann@x.example", "Bob@X.example", "staff@x.example"]),
        domain=st.sampled_from(["", "x.example"]),
        allow_file_discovery=st.booleans(),
        expiration_time=st.none() | st.datetimes(timezones=st.just(UTC)),
        deleted=st.booleans(),
        view=st.sampled_from(["", "published", "metadata"]),
    ),
    max_size=6,
)


@given(permissions=_PERMISSIONS, more=_PERMISSIONS)
def test_readers_are_people_whom_a_right_names_and_each_right_counts_by_itself(permissions, more):
    def readers(some):
        return _run(sharings._judged(some)).readers

    options = connector(GoogleServer(origin="http://127.0.0.1:9"), Runs(GoogleServer(), None).origin).options
    sharings = Sharings(Google(options, None), options)
    live = [one for one in permissions if not one.deleted and not one.view]
    people = {f"email:{one.email_address.lower()}" for one in live if one.type == "user" and one.email_address}
    public = {"*"} if any(one.type == "anyone" and one.allow_file_discovery for one in live) else set()
    assert readers(permissions) <= people | public
    assert readers([*permissions, *more]) == readers(permissions) | readers(more)


def _run(judged):
    """Return what a coroutine returns that waits for nothing."""
    try:
        judged.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it asked for something")


async def test_what_drive_keeps_for_itself_is_seen_when_all_is_listed_again(server, drive, tmp_path, monkeypatch):
    one = drive.put("a.md", "Text.", permissions=[user("ann@x.example")])
    runs = Runs(server, tmp_path, recheck_hours=2)
    await runs()
    drive.items[one].permissions.clear()
    assert await runs() == set()
    later = time.time() + 2 * 3600 + 1
    monkeypatch.setattr("connectors.google_drive.connector.time.time", lambda: later)
    assert await runs() == {one}
    assert runs.readers(one) == {ACCOUNT}


async def test_a_group_that_cannot_be_asked_for_takes_nothing_of_a_shared_drive_away(server, drive, tmp_path):
    shared = drive.shared("shared-1")
    drive.put("a.md", "Text.", shared)
    runs = Runs(server, tmp_path, **by_key(server, subject="boss@example.org", expand_groups=True))
    await runs()
    drive.share(shared, group("staff@example.org"))
    server.fault = lambda request: problem(403, "forbidden") if "group" in request.match_info else None
    with pytest.raises(SourceAuthError, match=r"group staff@example\.org"):
        await runs()
    assert runs.gone == set()


async def test_a_right_that_has_ended_on_what_drive_does_not_give_any_more_ends(server, drive, tmp_path, monkeypatch):
    soon = datetime.now(UTC) + timedelta(hours=1)
    one = drive.put("a.md", "Text.", permissions=[user("ann@x.example", expirationTime=f"{soon:%Y-%m-%dT%H:%M:%SZ}")])
    runs = Runs(server, tmp_path)
    await runs()
    monkeypatch.setattr("connectors.google_drive.corpus.time.time", lambda: soon.timestamp() + 1)
    refused = problem(403, "insufficientFilePermissions")
    server.fault = lambda request: refused if request.path.endswith(f"/files/{one}") else None
    await runs()
    assert runs.gone == {one}


async def test_a_right_that_has_ended_on_what_is_refused_for_no_known_reason_ends_until_that_passes(
    server, drive, tmp_path, monkeypatch
):
    soon = datetime.now(UTC) + timedelta(hours=1)
    one = drive.put("a.md", "Text.", permissions=[user("ann@x.example", expirationTime=f"{soon:%Y-%m-%dT%H:%M:%SZ}")])
    other = drive.put("b.md", "Text.")
    runs = Runs(server, tmp_path)
    await runs()
    monkeypatch.setattr("connectors.google_drive.corpus.time.time", lambda: soon.timestamp() + 1)
    drive.items[one].permissions.clear()
    refused = problem(403, "aReasonOfNextYear")
    server.fault = lambda request: refused if request.path.endswith(f"/files/{one}") else None
    source = runs.connect()
    known = {identity: document.version for identity, document in runs.held.items()}
    documents, failures, gone, cursor = await collect(source.changes(runs.cursor, known))
    assert (documents, failures.keys(), gone) == ({}, {f"s:{one}"}, set())
    assert failures[f"s:{one}"].readers == frozenset(), "it is closed to all"
    assert (await listed(source))[0] == {f"s:{one}", f"s:{other}"}, "and not forgotten"
    server.fault = None
    del known[f"s:{one}"]
    documents, failures, _, _ = await collect(runs.connect().changes(cursor, known))
    assert (documents.keys(), failures) == ({f"s:{one}"}, {})
    assert documents[f"s:{one}"].readers == {f"email:{ACCOUNT}"}
