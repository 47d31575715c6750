"""What a source of Google Drive reads, when it reads again, and how little it asks for otherwise."""

import json

import pytest

from connectors.base import Failure, Origin, SourceDocument
from ragcore.errors import SourceGone
from tests.connectors.drives import Runs, by_key, connector, office, words
from tests.connectors.helpers import collect
from tests.servers.google_drive import ACCOUNT, DOC, FOLDER, SHEET, SHORTCUT, SLIDES, GoogleServer, Item, key_of, user


@pytest.fixture
async def server():
    async with GoogleServer().serving() as found:
        yield found


@pytest.fixture
def drive(server):
    return server.drive


async def hear(changes, told):
    """Gather documents by id, until the connector raises."""
    async for change in changes:
        if isinstance(change, SourceDocument):
            told[change.id] = change


async def test_a_document_says_what_drive_says_of_it(server, drive, tmp_path):
    top = drive.folder("Handbook")
    plain = drive.put("notes.md", "Plain.", top)
    document = drive.put("Leave", office("Thirty days."), top, mime=DOC)
    runs = Runs(server, tmp_path, folders=(f"https://drive.google.com/drive/u/0/folders/{top}?usp=sharing",))
    assert await runs() == {plain, document}
    one = runs.held[f"s:{document}"]
    assert (one.name, one.title, one.author) == ("Leave.docx", "Leave", "Ann Example")
    assert one.url == f"https://drive.google.com/file/d/{document}/view"
    assert one.updated_at == drive.items[document].modified
    assert words(one.content) == "Thirty days."
    assert runs.held[f"s:{plain}"].name == "notes.md"
    assert runs.text(plain) == "Plain."


async def test_googles_own_documents_are_exported_and_what_has_no_text_is_passed_by(server, drive, tmp_path):
    kinds = {DOC: ".docx", SHEET: ".xlsx", SLIDES: ".pptx"}
    made = {drive.put("A", b"office", mime=mime): suffix for mime, suffix in kinds.items()}
    drive.put("Form", b"", mime="application/vnd.google-apps.form")
    drive.put("Site", b"", mime="application/vnd.google-apps.site")
    drive.put("Short", b"", mime=SHORTCUT, target=next(iter(made)))
    drive.put("picture.png", b"PNG")
    phone = drive.put("IMG 20260301", b"JPEG", mime="image/jpeg")
    empty = drive.put("empty.txt", b"")
    runs = Runs(server, tmp_path)
    assert await runs() == {*made, empty}
    assert {native: f".{runs.held[f's:{native}'].name.rpartition('.')[2]}" for native in made} == made
    exports = [one.query["mimeType"].rpartition(".")[2] for one in server.asked if one.path.endswith("/export")]
    assert sorted(exports) == ["document", "presentation", "sheet"]
    assert await Runs(server, tmp_path, include=("IMG*",))() == {phone}


async def test_an_unchanged_drive_costs_two_requests(server, drive, tmp_path):
    top = drive.folder("docs")
    for number in range(12):
        drive.put(f"{number}.md", "Text.", top)
    runs = Runs(server, tmp_path, folders=(top,))
    assert len(await runs()) == 12
    assert await runs() == set()
    assert runs.asked == [f"/drive/v3/files/{top}", "/drive/v3/changes"]
    drive.write(next(iter(runs.names)), "Another text.")
    assert len(await runs()) == 1
    assert len(runs.asked) == 3
    assert len(runs.names) == 12


async def test_what_is_deleted_trashed_or_moved_out_goes_and_what_comes_back_returns(server, drive, tmp_path):
    top, other = drive.folder("docs"), drive.folder("elsewhere")
    ways = [drive.put(f"{number}.md", "Text.", top) for number in range(4)]
    outside = drive.put("out.md", "Outside.", other)
    runs = Runs(server, tmp_path, folders=(top,))
    await runs()
    drive.delete(ways[0])
    drive.edit(ways[1], trashed=True)
    drive.edit(ways[2], parent=other)
    drive.edit(outside, parent=top)
    assert await runs() == {outside}
    assert runs.gone == set(ways[:3])
    assert runs.names == {ways[3], outside}
    drive.edit(ways[1], trashed=False)
    drive.edit(ways[2], parent=top)
    assert await runs() == {ways[1], ways[2]}


async def test_a_file_that_is_renamed_stays_the_same_document(server, drive, tmp_path):
    one = drive.put("old.md", "Text.")
    runs = Runs(server, tmp_path)
    await runs()
    drive.edit(one, name="new.md")
    assert await runs() == {one}
    assert (runs.names, runs.gone) == ({one}, set())
    assert runs.held[f"s:{one}"].name == "new.md"


async def test_folders_take_what_is_in_them_along(server, drive, tmp_path):
    top, other = drive.folder("docs"), drive.folder("elsewhere")
    inner = drive.folder("inner", top)
    deep = drive.put("deep.md", "Deep.", drive.folder("deeper", inner))
    incoming = drive.folder("incoming", other)
    brought = drive.put("brought.md", "Brought.", incoming)
    runs = Runs(server, tmp_path, folders=(top,))
    assert await runs() == {deep}
    drive.edit(incoming, parent=inner)
    assert await runs() == {brought}
    drive.edit(inner, trashed=True)
    await runs()
    assert runs.names == set()
    drive.edit(inner, trashed=False)
    assert await runs() == {deep, brought}
    drive.edit(inner, parent=other)
    await runs()
    assert runs.names == set()
    drive.edit(inner, parent=top)
    late = drive.put("late.md", "Late.", inner)
    assert await runs() == {deep, brought, late}
    drive.edit(inner, name="another name")
    assert await runs() == set()
    assert runs.names == {deep, brought, late}


@pytest.mark.soak
async def test_folders_that_are_told_in_any_order_are_placed(server, drive, tmp_path):
    top = drive.folder("docs")
    runs = Runs(server, tmp_path, folders=(top,))
    await runs()
    outer = drive.folder("outer", top)
    inner = drive.folder("inner", outer)
    drive.put("deep.md", "Deep.", inner)
    drive.note(outer)
    await runs()
    assert len(runs.names) == 1
    drive.edit(inner, parent=top)
    drive.edit(outer, parent=inner)  # each within the other by what was remembered
    await runs()
    drive.put("more.md", "More.", outer)
    await runs()
    assert len(runs.names) == 2


async def test_patterns_are_compared_with_paths(server, drive, tmp_path):
    top = drive.folder("docs")
    drafts = drive.folder("Drafts", top)
    kept = drive.put("a/b.md", "Kept.", top)
    draft = drive.put("draft.md", "Draft.", drafts)
    drive.put("Plan", b"", top, mime=SHEET)
    hidden = drive.put("hidden.md", "Hidden.", drive.folder(".git", top))
    runs = Runs(server, tmp_path, folders=(top,), exclude=("drafts", "*.gsheet"))
    assert await runs() == {kept}
    drive.edit(drafts, name="Texts")
    assert await runs() == {draft}
    drive.edit(drafts, name="Drafts")
    await runs()
    assert runs.names == {kept}
    everywhere = Runs(server, tmp_path, include=("docs/drafts/**", "*.md"), exclude=("*.gsheet",))
    assert await everywhere() == {kept, draft}
    found = [one async for one in everywhere.connect().fetch([f"s:{hidden}", f"s:{draft}"])]
    assert [type(one) is SourceDocument for one in found] == [False, True]


async def test_a_shared_drive_and_the_rest_are_read_side_by_side(server, drive, tmp_path):
    shared = drive.shared("shared-1")
    inside = drive.put("in.md", "In.", shared)
    outside = drive.put("out.md", "Out.")
    runs = Runs(server, tmp_path)
    assert await runs() == {inside, outside}
    drive.edit(outside, parent=shared, drive=shared)
    drive.log.append(("", outside))
    assert await runs() == set() or runs.names == {inside, outside}
    assert runs.gone == set(), "what was moved is not gone"
    assert runs.names == {inside, outside}
    drive.write(inside, "Changed.")
    assert await runs() == {inside}
    alone = Runs(server, tmp_path, shared_drives=(shared,))
    assert await alone() == {inside, outside}
    drive.delete(inside)
    await alone()
    assert alone.names == {outside}


@pytest.mark.parametrize("is_named", [True, False])
async def test_a_folder_of_a_shared_drive_is_read_by_who_is_no_member(server, drive, tmp_path, is_named):
    shared = drive.shared("shared-1")
    drive.members[shared] = [user("ann@x.example", "organizer")]
    top = drive.folder("docs", shared, permissions=[user(ACCOUNT, "writer")])
    one = drive.put("a.md", "Text.", top)
    drive.put("b.md", "Text.", shared)
    runs = Runs(server, tmp_path, **({"folders": (top,)} if is_named else {}))
    assert await runs() == {one}
    assert runs.readers(one) == {"ann@x.example", ACCOUNT}
    drive.write(one, "Changed.")
    assert await runs() == {one}
    assert "/drive/v3/files" not in runs.asked
    drive.delete(one)
    await runs()
    assert runs.names == set()


async def test_a_token_that_is_not_taken_leads_to_a_full_listing(server, drive, tmp_path):
    ids = [drive.put(f"{number}.md", "Text.") for number in range(8)]
    runs = Runs(server, tmp_path)
    await runs()
    drive.delete(ids[0])
    drive.write(ids[1], "Changed.")
    server.oldest = len(drive.log)
    assert await runs() == {ids[1]}
    assert "/drive/v3/files" in runs.asked
    assert runs.names == set(ids[1:])
    assert await runs() == set()
    assert "/drive/v3/files" not in runs.asked


async def test_a_listing_that_came_back_short_is_not_believed_twice(server, drive, tmp_path):
    ids = {drive.put(f"{number}.md", "Text.") for number in range(8)}
    runs = Runs(server, tmp_path)
    await runs()
    held = dict(runs.held)
    server.cut, server.oldest = True, 1_000
    await runs()
    assert len(runs.names) == 3
    server.cut, server.oldest, runs.held = False, 0, held  # the guard deleted nothing
    await runs()
    assert runs.names == ids


@pytest.mark.soak
async def test_a_cursor_that_is_none_and_one_of_other_settings_begin_anew(server, drive, tmp_path):
    plain, code = drive.put("a.md", "Text."), drive.put("b.py", "print()")
    runs = Runs(server, tmp_path, include=("*.md",))
    assert await runs() == {plain}
    runs.options = {"include": ("*.md", "*.py")}
    assert await runs() == {code}
    for broken in ("nonsense", "AAAA", "ñ"):
        runs.cursor, runs.held = broken, {}
        assert await runs() == {plain, code}


async def test_a_file_that_changes_while_it_is_read_is_read_as_it_is_then(server, drive, tmp_path):
    plain = drive.put("a.md", "Old.")
    document = drive.put("B", office("Old."), mime=DOC)
    left = {plain: 1, document: 1}

    def change(item: Item) -> None:
        if left[item.id]:
            left[item.id] -= 1
            drive.share(item.id, user("bob@x.example"))
            text = f"New {left[item.id]}."
            drive.write(item.id, office(text) if item.id == document else text)

    server.before_reading = change
    runs = Runs(server, tmp_path)
    assert await runs() == {plain, document}
    assert runs.text(plain) == "New 0."
    assert words(runs.held[f"s:{document}"].content) == "New 0."
    assert "bob@x.example" in runs.readers(plain) & runs.readers(document), "readers as of the content"
    assert await runs() == set()
    left[plain] = 9
    drive.touch(plain)
    drive.write(plain, "Another.")
    _, failures, _, _ = await collect(runs.connect().changes(runs.cursor, {}))
    assert "kept changing" in failures[f"s:{plain}"].reason


async def test_a_folder_that_a_shortcut_leads_to_is_read(server, drive, tmp_path):
    top = drive.folder("docs")
    inside = drive.put("a.md", "Text.", top)
    short = drive.put("short", b"", mime=SHORTCUT, target=top)
    assert await Runs(server, tmp_path, folders=(short,))() == {inside}


@pytest.mark.parametrize("way", ["gone", "trashed", "file", "hidden"])
async def test_a_folder_that_is_none_deletes_nothing_and_is_told(server, drive, tmp_path, way):
    top, good = drive.folder("docs"), drive.folder("good")
    drive.put("a.md", "Text.", top)
    other = drive.put("b.md", "Text.", good)
    runs = Runs(server, tmp_path, folders=(top, good))
    assert len(await runs()) == 2
    if way == "gone":
        drive.delete(top)
    elif way == "hidden":
        drive.edit(top, parent="")
    else:
        drive.edit(top, **{"trashed": {"trashed": True}, "file": {"mime": "text/plain"}}[way])
    drive.write(other, "Changed.")
    source, told = runs.connect(), {}
    with pytest.raises(SourceGone, match="folder") as gone:
        await hear(source.changes(runs.cursor, {one.id: one.version for one in runs.held.values()}), told)
    assert gone.value.mend
    assert told.keys() == {f"s:{other}"}, "the others are read"
    with pytest.raises(SourceGone):
        await anext(source.list_ids())


async def test_a_service_account_stands_in_for_somebody(server, drive, tmp_path):
    drive.put("a.md", "Text.")
    runs = Runs(server, tmp_path, **by_key(server, subject="boss@example.org"))
    assert len(await runs()) == 1
    shown = server.grants[-1]
    assert (shown["sub"], shown["scope"]) == ("boss@example.org", "https://www.googleapis.com/auth/drive.readonly")


@pytest.mark.soak
async def test_a_key_may_stand_in_a_file(server, drive, tmp_path):
    drive.put("a.md", "Text.")
    settings = by_key(server)
    (tmp_path / "key.json").write_text(settings["service_account"].get_secret_value())
    assert len(await Runs(server, tmp_path, **settings | {"service_account": "key.json"})()) == 1


@pytest.mark.soak
async def test_files_of_one_batch_are_told_each(server, drive, tmp_path):
    ids = {drive.put(f"{number}.md", f"Text {number}.") for number in range(20)}
    drive.put("no.md", "No.", can_download=False)
    documents, failures, _, _ = await collect(connector(server, Origin(source="s", folder=tmp_path)).changes(None, {}))
    assert documents.keys() == {f"s:{native}" for native in ids}
    assert all(isinstance(one, Failure) and one.mend for one in failures.values())
    assert len(failures) == 1
    assert drive.items["my-root"].mime == FOLDER


async def test_another_account_is_not_told_by_the_log_of_the_one_before(server, drive, tmp_path):
    other = "other@x.example"
    drive.items["my-root"].permissions.append(user(other, "writer"))
    seen = drive.put("seen.md", "Seen.")
    hidden = drive.put("hidden.md", "Hidden.", "", permissions=[user(other, "owner")])
    runs = Runs(server, tmp_path)
    assert await runs() == {seen}
    drive.me, server.refresh = other, "r2"
    runs.options = {"refresh_token": "r2"}
    assert await runs() == {hidden}


async def test_another_account_s_key_in_the_same_file_begins_anew_and_a_new_key_of_the_same_does_not(
    server, drive, tmp_path
):
    other = "other@x.example"
    drive.items["my-root"].permissions.append(user(other, "writer"))
    seen = drive.put("seen.md", "Seen.")
    hidden = drive.put("hidden.md", "Hidden.", "", permissions=[user(other, "owner")])
    key = key_of(server.tokens)
    (tmp_path / "key.json").write_text(json.dumps(key))
    runs = Runs(server, tmp_path, **by_key(server) | {"service_account": "key.json"})
    assert await runs() == {seen}
    (tmp_path / "key.json").write_text(json.dumps(key | {"private_key_id": "k2"}))
    assert await runs() == set()
    assert "/drive/v3/files" not in runs.asked, "the same account goes on where it was"
    drive.me = other
    (tmp_path / "key.json").write_text(json.dumps(key | {"client_email": other}))
    assert await runs() == {hidden}
