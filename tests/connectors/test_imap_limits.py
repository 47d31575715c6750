"""The source type ``imap`` at its limits: large texts, long threads, and ids that a sender chose."""

import re

import pytest

from connectors.base import Estimate, Origin, SourceDocument
from connectors.imap import letters, link
from ragcore.errors import SourceUnreachable
from tests.connectors.helpers import collect, known_of, listed
from tests.connectors.mailboxes import START, MailServer, mail, minutes, read


@pytest.fixture
async def server():
    async with MailServer().serving() as server:
        yield server


@pytest.fixture
def origin(tmp_path):
    return Origin(source="s", folder=tmp_path)


def texts_asked(server) -> list[int]:
    """Return of how many mails each command asked a text."""
    asked = [command.split()[2] for command in server.asked if "BODY.PEEK[1]" in command]
    return [sum(int(b or a) - int(a) + 1 for a, b in re.findall(r"(\d+)(?::(\d+))?", one)) for one in asked]


async def test_texts_are_asked_for_by_their_bytes(server, origin, monkeypatch):
    monkeypatch.setattr(letters, "_BYTES_TOGETHER", 5_000)
    for number in range(6):
        await server.put(mail("word " * (1_100 if number < 3 else 20), key=f"m{number}@x"))
    held, most = 0, 0
    async for change in server.connect(origin).changes(None, {}):
        held = held + len(change.content) if isinstance(change, SourceDocument) else 0
        most = max(most, held)
    assert texts_asked(server) == [1, 1, 1, 3], "what is small is still asked for together"
    assert most < 6_000


async def test_a_thread_whose_texts_are_too_large_together_fails_alone(server, origin, monkeypatch):
    monkeypatch.setattr(letters, "_BYTES_TOGETHER", 3_000)
    for number in range(9):
        answers = {"answers": "m0@x"} if number else {}
        await server.put(mail("word " * 400, key=f"m{number}@x", at=START + minutes(number), **answers))
    await server.put(mail("Text.", key="other@x"))
    documents, failures, gone, cursor = await read(server, origin, max_megabytes=0.005)
    assert (documents.keys(), gone) == ({"s:other@x"}, set())
    assert failures.keys() == {"s:m0@x"}
    assert failures["s:m0@x"].reason == "its mails have more than 0.005 MB of text together"
    assert failures["s:m0@x"].mend == "raise max_megabytes"
    assert failures["s:m0@x"].readers == documents["s:other@x"].readers
    assert sum(texts_asked(server)) < 6, "it is read no further"
    known = known_of(documents) | {"s:m0@x": failures["s:m0@x"].version}
    assert (await read(server, origin, cursor, known, max_megabytes=0.005))[:3] == ({}, {}, set())
    documents, failures, _, _ = await read(server, origin, cursor, known, max_megabytes=0.05)
    assert documents["s:m0@x"].content.count(b"word") == 9 * 400
    assert not failures


async def test_a_long_thread_gives_signs_of_life(server, origin, monkeypatch):
    monkeypatch.setattr(letters, "_TOGETHER", 2)
    for number in range(8):
        answers = {"answers": "m0@x"} if number else {}
        await server.put(mail("Text.", key=f"m{number}@x", at=START + minutes(number), **answers))
    signs, asked = 0, []
    async for change in server.connect(origin).changes(None, {}):
        now = [command for command in server.asked if command.startswith("UID FETCH")]
        assert len(now) - len(asked) < 3
        signs += isinstance(change, Estimate) and len(now) > len(asked)
        asked = now
    assert signs >= 8


async def test_no_sender_can_take_the_id_of_what_is_attached(server, origin):
    attached = (("list.csv", "text/csv", b"part,price\nvalve,12\n"),)
    await server.put(mail("See below.", key="q@x", attached=attached))
    await server.put(mail("Nothing.", key="q@x/2"))
    documents, *_ = await read(server, origin)
    assert documents["s:q@x/2"].content == attached[0][2]
    assert len(documents) == 3
    ids, _ = await listed(server.connect(origin))
    assert ids == documents.keys()
    again, _, gone, _ = await collect(server.connect(origin).fetch(sorted(ids)))
    assert (again.keys(), gone) == (ids, set())


async def test_no_sender_can_take_the_id_of_a_mail_whose_id_comes_twice(server, origin):
    later = START + minutes(9)
    await server.put(mail("First.", key="same@x"))
    await server.put(mail("Third.", key=f"same@x~{int(later.timestamp())}", answers="same@x", at=START + minutes(5)))
    await server.put(mail("Second.", key="same@x", at=later))
    documents, *_ = await read(server, origin)
    (thread,) = documents.values()
    assert [word in thread.content for word in (b"First.", b"Second.", b"Third.")] == [True] * 3


async def test_a_mail_of_so_many_parts_that_they_fill_a_megabyte_hides_no_other(server, origin):
    await server.put(mail("Wide.", key="wide@x"))
    for number in range(3):
        await server.put(mail(f"Text {number}.", key=f"m{number}@x"))
    leaf = b'("TEXT" "PLAIN" ("CHARSET" "US-ASCII" "X" "' + b"x" * 2_000 + b'") NIL NIL "7BIT" 0 0 NIL NIL NIL NIL)'
    told = b"* 1 FETCH (UID 101 RFC822.SIZE 9 BODYSTRUCTURE (" + leaf * 600 + b' "MIXED") '
    head = b"Message-ID: <wide@x>\r\n\r\n"
    told += b"BODY[HEADER.FIELDS (X)] {%d}\r\n%s)\r\n%%t OK done" % (len(head), head)
    assert len(told) > 1_000_000

    def answer(command: str) -> bytes | None:
        if not command.startswith("UID FETCH") or "BODYSTRUCTURE" not in command:
            return None
        numbers = command.split()[2].replace(":", ",").split(",")
        return (told if numbers == ["101"] else b"%t NO one by one") if "101" in numbers else None

    server.answer = answer
    documents, failures, gone, _ = await read(server, origin)
    assert documents.keys() == {"s:wide@x", "s:m0@x", "s:m1@x", "s:m2@x"}
    assert (failures, gone) == ({}, set())


async def test_a_line_without_an_end_is_given_up(server, origin, monkeypatch):
    monkeypatch.setattr(link, "_LONGEST_LINE", 500)
    await server.put(mail("Text.", key="m@x"))
    server.answer = lambda command: b"* OK " + b"x" * 600 + b"\r\n%t OK" if command.startswith("UID FETCH") else None
    with pytest.raises(SourceUnreachable, match="no end"):
        await read(server, origin)
