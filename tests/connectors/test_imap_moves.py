"""The source type ``imap`` while people are at work: mails that are moved under a run, and runs that are cut off."""

import re

import pytest

from connectors.base import Checkpoint, Estimate, Origin, SourceDocument
from connectors.imap import connector as module
from connectors.imap import index, scan
from ragcore.errors import SourceUnreachable
from tests.connectors.helpers import collect, known_of, listed, live, run
from tests.connectors.mailboxes import START, MailServer, mail, minutes
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import opened


@pytest.fixture
async def server():
    async with MailServer().serving() as server:
        yield server


@pytest.fixture
def origin(tmp_path):
    return Origin(source="s", folder=tmp_path)


NOTHING = b"%t OK done"
"""What is told of mails that are gone (RFC 3501, section 6.4.8); pymap goes on telling who has the folder open."""


def moving(server, at: str, folder: str, to: str, *keys: str):
    """Move mails once, before the server gets a command that has ``at`` in it; where it asks for texts, it gets none."""
    moved = False

    async def answer(told: str) -> bytes | None:
        nonlocal moved
        if at not in told or moved:
            return None
        moved = True
        for key in keys:
            await server.move(key, folder, to)
        return NOTHING if "BODY.PEEK[1]" in told else None

    server.answer = answer


def heads_asked(server) -> int:
    """Return of how many mails headers were asked."""
    asked = [command.split()[2] for command in server.asked if "HEADER.FIELDS" in command]
    return sum(int(b or a) - int(a) + 1 for one in asked for a, b in re.findall(r"(\d+)(?::(\d+))?", one))


@pytest.mark.parametrize("at", ['STATUS "Support"', pytest.param('EXAMINE "Support"', marks=pytest.mark.soak)])
async def test_a_mail_that_is_moved_to_a_folder_already_looked_through_is_not_deleted(server, origin, tmp_path, at):
    await server.put(mail("Text.", key="stays@x"))
    await server.put(mail("Text.", key="moved@x"), "Support")
    async with opened(tmp_path / "data", HashEmbedder()) as library:
        assert (await run(library, server.connect(origin))).added == 2
        server.asked.clear()
        moving(server, at, "Support", "INBOX", "moved@x")
        report = await run(library, server.connect(origin))
        assert (await server.box("Support"))._messages == {}
        assert (report.is_success, report.deleted, report.added) == (True, 0, 0)
        assert await live(library) == {"stays@x", "moved@x"}
        assert not [command for command in server.asked if "BODY.PEEK[1]" in command], "nor read again"
        await server.drop(key="moved@x")
        assert (await run(library, server.connect(origin))).deleted == 1


async def test_a_mailbox_that_is_looked_through_anew_finds_what_is_moved_meanwhile(server, origin):
    for folder in ("INBOX", "Sent", "Support"):
        await server.put(mail("Text.", key=f"{folder}@x"), folder)
    moving(server, 'EXAMINE "Support"', "Support", "INBOX", "Support@x")
    ids, _ = await listed(server.connect(origin))
    assert ids == {"s:INBOX@x", "s:Sent@x", "s:Support@x"}


async def test_mails_that_are_moved_while_they_are_read_are_read_where_they_are(server, origin):
    await server.put(mail("Question.", key="q@x"))
    await server.put(mail("Elsewhere.", key="e@x"), "Archive")
    documents, _, _, cursor = await collect(server.connect(origin).changes(None, {}))
    await server.put(mail("Answer.", key="a@x", answers="q@x", at=START + minutes(1)))
    moving(server, "BODY.PEEK[1]", "INBOX", "Archive", "q@x", "a@x")
    source = server.connect(origin)
    grown, failures, gone, cursor = await collect(source.changes(cursor, known_of(documents)))
    assert (failures, gone) == ({}, set())
    assert grown.keys() == {"s:q@x"}
    assert b"Question." in grown["s:q@x"].content
    assert b"Answer." in grown["s:q@x"].content
    assert (await listed(source))[0] == documents.keys()
    server.answer = lambda command: None
    again = await collect(server.connect(origin).changes(cursor, known_of(documents | grown)))
    assert again[:3] == ({}, {}, set())


async def test_what_is_fetched_and_moved_meanwhile_is_fetched_where_it_is(server, origin):
    await server.put(mail("Text.", key="m@x"))
    await server.put(mail("Text.", key="e@x"), "Archive")
    source = server.connect(origin)
    await collect(source.changes(None, {}))
    moving(server, "BODY.PEEK[1]", "INBOX", "Archive", "m@x")
    found = [one async for one in source.fetch(["s:m@x", "s:e@x", "s:none@x"])]
    assert sorted(one.id for one in found) == ["s:e@x", "s:m@x", "s:none@x"]
    assert {one.id for one in found if isinstance(one, SourceDocument)} == {"s:e@x", "s:m@x"}
    assert (await listed(source))[0] == {"s:m@x", "s:e@x"}


async def test_a_mail_that_is_always_moved_on_is_told_and_stays(server, origin):
    await server.put(mail("Text.", key="m@x"))
    documents, _, _, cursor = await collect(server.connect(origin).changes(None, {}))
    await server.put(mail("More.", key="n@x", answers="m@x"))
    where = ["INBOX"]

    async def answer(command: str) -> bytes | None:
        if "BODY.PEEK[1]" in command:
            to = f"Box{len(where)}"
            for key in ("m@x", "n@x"):
                await server.move(key, where[-1], to)
            where.append(to)
            return NOTHING
        return None

    server.answer = answer
    source = server.connect(origin)
    _, _, gone, _ = await collect(source.changes(cursor, known_of(documents)))
    assert not gone
    assert (await listed(source))[0] == {"s:m@x"}
    found = [one async for one in source.fetch(["s:m@x"])]
    assert [(one.id, isinstance(one, SourceDocument)) for one in found] == [("s:m@x", False)]
    assert (await listed(source))[0] == {"s:m@x"}


async def test_a_first_run_that_is_cut_off_goes_on_where_it_was(server, origin, monkeypatch):
    monkeypatch.setattr(scan, "PAGE", 5)
    for place in (module, index):
        monkeypatch.setattr(place, "KEEP", 5)
    for number in range(60):
        await server.put(mail("Text.", key=f"m{number}@x"), ("INBOX", "Sent", "Support")[number % 3])
    asked = 0

    def answer(command: str) -> bytes | None:
        nonlocal asked
        asked += command.startswith("UID FETCH")
        return b"" if asked > 9 else None

    server.answer = answer
    cursors, changes = [], server.connect(origin).changes(None, {})
    with pytest.raises(SourceUnreachable):
        await collect(kept(changes, cursors))
    server.answer = lambda command: None
    server.asked.clear()
    looked, documents = 0, 0
    async for change in server.connect(origin).changes(cursors[-1], {}):
        if isinstance(change, Estimate) and change.documents == 60 and not looked:
            looked = heads_asked(server)
        documents += isinstance(change, SourceDocument)
    assert documents == 60, "what was looked at and not read is read"
    assert 15 <= looked <= 25, "45 were looked at before, and at most a quarter of them for nothing"


async def kept(changes, cursors):
    """Yield what changes, and keep the cursors."""
    async for change in changes:
        if isinstance(change, Checkpoint):
            cursors.append(change.cursor)
        yield change


async def test_a_run_that_is_cut_off_while_it_reads_looks_through_nothing_again(server, origin, monkeypatch):
    for place in (module, index):
        monkeypatch.setattr(place, "KEEP", 5)
    for number in range(30):
        await server.put(mail("Text.", key=f"m{number}@x"))
    server.answer = lambda command: b"" if "BODY.PEEK[1]" in command else None
    cursors, changes = [], server.connect(origin).changes(None, {})
    with pytest.raises(SourceUnreachable):
        await collect(kept(changes, cursors))
    server.answer = lambda command: None
    server.asked.clear()
    ids, looked = set(), None
    async for change in server.connect(origin).changes(cursors[-1], {}):
        if isinstance(change, Estimate) and change.documents == 30 and looked is None:
            looked = heads_asked(server)
        ids |= {change.id} if isinstance(change, SourceDocument) else set()
    assert looked == 0
    assert len(ids) == 30


@pytest.mark.soak
async def test_a_mailbox_that_grows_is_not_written_at_every_page(server, origin, monkeypatch):
    monkeypatch.setattr(scan, "PAGE", 2)
    for place in (module, index):
        monkeypatch.setattr(place, "KEEP", 2)
    for number in range(60):
        await server.put(mail("Text.", key=f"m{number}@x"))
    cursors = []
    await collect(kept(server.connect(origin).changes(None, {}), cursors))
    assert 4 <= len(set(cursors)) <= 16, "it is written in proportion to what it holds"
