"""The folders of the source type ``imap``: names in whatever form, and more mails than one answer can list."""

import re

import pytest

from connectors.base import Origin
from connectors.imap import link
from connectors.imap.names import named
from ragcore.errors import SourceGone
from tests.connectors.helpers import known_of, listed
from tests.connectors.mailboxes import MailServer, mail, read


@pytest.fixture
async def server():
    async with MailServer().serving() as server:
        yield server


@pytest.fixture
def origin(tmp_path):
    return Origin(source="s", folder=tmp_path)


def answered(folder: bytes, name: bytes):
    """Return an answer for a mailbox with one more folder, which is empty."""

    def answer(command: str) -> bytes | None:
        if command.startswith("LIST"):
            return b'* LIST () "/" "INBOX"\r\n* LIST () "/" ' + folder + b"\r\n%t OK done"
        if name and name.decode() in command and command.startswith("STATUS"):
            return b"* STATUS " + name + b" (MESSAGES 0 UIDNEXT 1 UIDVALIDITY 9)\r\n%t OK done"
        if name and command == f"EXAMINE {name.decode()}":
            return b"* 0 EXISTS\r\n* OK [UIDVALIDITY 9] as it was\r\n%t OK done"
        return None

    return answer


@pytest.mark.parametrize(
    "name", [b'"R&D"', b'"R&-D"', b'"&2D0-"', b'"&AOk-&AOk-"'], ids=["raw", "right", "half", "two"]
)
async def test_a_folder_is_opened_by_the_name_that_the_server_gives_it(server, origin, name):
    await server.put(mail("Text.", key="m@x"))
    server.answer = answered(name, name)
    documents, failures, _, cursor = await read(server, origin)
    assert (documents.keys(), failures) == ({"s:m@x"}, {})
    assert f"EXAMINE {name.decode()}" in server.asked
    assert (await read(server, origin, cursor, known_of(documents)))[:3] == ({}, {}, set())
    with pytest.raises(SourceGone, match=r"there are .*INBOX"):
        await read(server, origin, folders=("Nowhere",))


async def test_a_folder_whose_name_cannot_be_sent_fails_alone(server, origin):
    await server.put(mail("Text.", key="m@x"))
    server.answer = answered('"Größe"'.encode(), b"")
    documents, failures, _, _ = await read(server, origin)
    assert documents.keys() == {"s:m@x"}
    assert failures.keys() == {"s:folder Größe"}


def test_folders_that_read_the_same_are_two():
    assert named([b"R&D", b"R&-D", b"Gr&APYA3w-e"]) == {"R&D": b"R&-D", "R&D~": b"R&D", "Größe": b"Gr&APYA3w-e"}


async def test_no_listing_of_a_large_folder_is_asked_for_at_once(server, origin, monkeypatch):
    monkeypatch.setattr(link, "_WINDOW", 2)
    for number in range(5):
        await server.put(mail("Text.", key=f"m{number}@x"))
    await server.put(mail("Text.", key="deleted@x"), flags=("\\Deleted",))
    await server.put(mail("Text.", key="draft@x"), flags=("\\Draft",))
    uids = sorted((await server.box())._messages)

    def answer(command: str) -> bytes | None:
        place = re.fullmatch(r"UID SEARCH (\d+):(\d+)", command)  # pymap takes these places for UIDs
        if place is None:
            return None
        found = " ".join(map(str, uids[int(place[1]) - 1 : int(place[2])]))
        return f"* SEARCH {found}\r\n%t OK done".encode()

    server.answer = answer
    ids, _ = await listed(server.connect(origin, days=30_000))
    assert ids == {f"s:m{number}@x" for number in range(5)}
    searches = [command.removeprefix("UID SEARCH ") for command in server.asked if "SEARCH" in command]
    windows = [re.match(r"(?:UID )?(\d+)(?::(\d+))?", search) for search in searches]
    assert all(window and int(window[2] or window[1]) - int(window[1]) < 2 for window in windows), searches
    assert {"OR", "SINCE"} <= {word for search in searches for word in search.split()}
