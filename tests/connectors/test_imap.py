"""What is special to the source type ``imap``: threads, folders, numbers, attachments, and what goes wrong.

Long because one real mailbox is led through all of them.
"""

import io
import re
import ssl
import threading
import zipfile
from contextlib import asynccontextmanager

import docx
import pytest
import trustme
from aiohttp import web
from pydantic import SecretStr, ValidationError

from connectors.base import Origin
from connectors.imap import ImapOptions, letters
from connectors.registry import credential
from ragcore.errors import (
    SourceAuthError,
    SourceBadReply,
    SourceError,
    SourceGone,
    SourceRateLimited,
    SourceUnreachable,
)
from tests.connectors.helpers import collect, known_of, listed
from tests.connectors.mailboxes import PASSWORD, START, USER, MailServer, mail, minutes, read
from tests.fakes.ports import free_port


@pytest.fixture
async def server():
    async with MailServer().serving() as server:
        yield server


@pytest.fixture
def origin(tmp_path):
    return Origin(source="s", folder=tmp_path)


def text_of(document):
    return document.content.decode()


async def test_a_thread_is_one_document_over_folders_that_grows(server, origin):
    await server.put(mail("How do I open the valve?\n", key="q@x", subject="Ventil prüfen"))
    await server.put(mail("Another thing.\n", key="other@x", subject="Other"))
    documents, _, _, cursor = await read(server, origin)
    assert documents.keys() == {"s:q@x", "s:other@x"}
    answer = "Turn it left.\n\nOn 1 Mar 2026, Ann wrote:\n> How do I open the valve?\n\n-- \nSupport team\n"
    await server.put(
        mail(
            answer,
            key="a@x",
            answers="q@x",
            subject="Re: Ventil prüfen",
            sender="Support <support@example.org>",
            to="ann@example.org",
            at=START + minutes(5),
        ),
        "Sent",
    )
    grown, failures, gone, _ = await read(server, origin, cursor, known_of(documents))
    assert grown.keys() == {"s:q@x"}
    assert not failures
    assert not gone
    thread = grown["s:q@x"]
    assert (thread.title, thread.author, thread.updated_at) == ("Ventil prüfen", "Ann Example", START + minutes(5))
    assert text_of(thread) == (
        "Ventil prüfen\n\n"
        "Ann Example, 2026-03-01 09:00 UTC, to support@example.org:\nHow do I open the valve?\n\n"
        "Support, 2026-03-01 09:05 UTC, to ann@example.org:\nTurn it left.\n"
    )


async def test_a_thread_keeps_its_id_when_its_first_mail_goes(server, origin):
    for key, before in (("a@x", None), ("b@x", "a@x"), ("c@x", "b@x")):
        references = None if before is None else f"<a@x> <{before}>"
        await server.put(mail(f"Text {key}.", key=key, answers=before, references=references))
    documents, _, _, cursor = await read(server, origin)
    assert documents.keys() == {"s:a@x"}
    await server.drop(key="a@x")
    left, _, gone, _ = await read(server, origin, cursor, known_of(documents))
    assert left.keys() == {"s:a@x"}
    assert not gone
    assert "Text a@x" not in text_of(left["s:a@x"])
    assert "Text c@x" in text_of(left["s:a@x"])


async def test_links_lead_to_each_mail(server, origin):
    await server.put(mail("First.", key="a/1@x"))
    await server.put(mail("Second.", key="b@x", answers="a/1@x", at=START + minutes(1)))
    documents, *_ = await read(server, origin, link="https://lists.example.org/m/{message_id}")
    (thread,) = documents.values()
    assert thread.url == "https://lists.example.org/m/a%2F1%40x"
    lines = text_of(thread).split("\n")
    where = {one.url.rpartition("/")[2]: lines[one.line - 1] for one in thread.permalinks if one.line > 1}
    assert where["a%2F1%40x"].startswith("Ann Example, 2026-03-01 09:00")
    assert where["b%40x"].startswith("Ann Example, 2026-03-01 09:01")


async def test_a_moved_mail_and_a_folder_that_is_numbered_anew_cost_no_text(server, origin):
    for number in range(3):
        await server.put(mail(f"Text {number}.", key=f"m{number}@x"))
    documents, _, _, cursor = await read(server, origin)
    await server.move("m1@x", "INBOX", "Done")
    await server.renumber()
    server.asked.clear()
    again, failures, gone, after = await read(server, origin, cursor, known_of(documents))
    assert (again, failures, gone) == ({}, {}, set())
    assert not [command for command in server.asked if "BODY.PEEK[1]" in command]
    assert after != cursor


async def test_an_unchanged_mailbox_is_asked_for_no_mail(server, origin):
    await server.put(mail("Text.", key="m@x"))
    documents, _, _, cursor = await read(server, origin)
    server.asked.clear()
    *_, after = await read(server, origin, cursor, known_of(documents))
    assert after is cursor, "nothing is packed anew"
    assert not [command for command in server.asked if command.startswith("UID FETCH")]


async def test_with_condstore_an_unchanged_folder_is_not_even_opened(server, origin):
    await server.put(mail("Text.", key="m@x"))
    modseq = 7

    def answer(command: str) -> bytes | None:
        if command == "CAPABILITY":
            return b"* CAPABILITY IMAP4rev1 CONDSTORE\r\n%t OK done"
        if command.startswith("STATUS"):
            told = f'* STATUS "INBOX" (MESSAGES 1 UIDNEXT 102 UIDVALIDITY 9 HIGHESTMODSEQ {modseq})'
            return told.encode() + b"\r\n%t OK done"
        return None

    server.answer = answer
    (await server.box())._uid_validity = 9
    documents, _, _, cursor = await read(server, origin)
    server.asked.clear()
    connector = server.connect(origin)
    await collect(connector.changes(cursor, known_of(documents)))
    assert not [command for command in server.asked if command.startswith(("EXAMINE", "UID"))]
    ids, _ = await listed(connector)
    assert ids == {"s:m@x"}
    modseq = 8
    server.asked.clear()
    await read(server, origin, cursor, known_of(documents))
    assert "UID SEARCH ALL" in server.asked


async def test_trash_junk_and_drafts_are_left_out_unless_they_are_named(server, origin):
    for folder in ("INBOX", "Trash", "Junk", "Drafts", "Entwürfe", "Projekte/Größe", "Trash/old"):
        await server.put(
            mail("Text.", key=f"{folder.replace('/', '-').replace('ü', 'u').replace('ö', 'o').replace('ß', 's')}@x"),
            folder,
        )
    await server.put(mail("Text.", key="deleted@x"), flags=("\\Deleted",))
    await server.put(mail("Text.", key="draft@x"), flags=("\\Draft",))
    ids, failures = await listed(server.connect(origin))
    assert ids == {"s:INBOX@x", "s:Projekte-Grose@x"}
    assert not failures
    ids, _ = await listed(server.connect(origin, folders=("Projekte/*", "trash"), exclude=("old",)))
    assert ids == {"s:Projekte-Grose@x", "s:Trash@x"}
    with pytest.raises(SourceGone, match=r'no folder "Projekt"; there are .*Projekte/Größe'):
        await listed(server.connect(origin, folders=("Projekt",)))


async def test_what_is_attached_is_a_document_of_its_own(server, origin):
    attached = (
        ("Preisliste März.csv", "text/csv", b"part,price\nvalve,12\n"),
        ("photo.png", "image/png", b"\x89PNG"),
        ("signature.asc", "application/pgp-signature", b"--"),
        ("notes.bin", "application/octet-stream", bytes(range(256)) * 20),
    )
    await server.put(mail("See below.", key="m@x", attached=attached))
    documents, failures, _, _ = await read(server, origin)
    assert not failures
    assert documents.keys() == {"s:m@x", "s:m@x/2"}
    table = documents["s:m@x/2"]
    assert (table.title, table.name, table.content) == (attached[0][0], attached[0][0], attached[0][2])
    assert "(attached: Preisliste März.csv, photo.png, signature.asc, notes.bin)" in text_of(documents["s:m@x"])
    ids, _ = await listed(server.connect(origin))
    assert ids == documents.keys()
    ids, _ = await listed(server.connect(origin, attachment_names=("*.bin",)))
    assert ids == {"s:m@x", "s:m@x/5"}
    ids, _ = await listed(server.connect(origin, attachments=False))
    assert ids == {"s:m@x"}


def office_file():
    """Return a Word file."""
    content = io.BytesIO()
    document = docx.Document()
    document.add_paragraph("Wear gloves at the valve.")
    document.save(content)
    return content.getvalue()


async def test_where_nothing_hints_at_a_format_the_first_bytes_tell(server, origin):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("log.txt", "x")
    attached = (
        ("", "application/octet-stream", b"Turn the valve to the left. " * 2_000),
        ("report", "application/octet-stream", b"%PDF-1.7\n" + b"\0" * 20_000),
        ("manual.dat", "application/x-unknown", office_file()),
        ("log", "application/octet-stream", packed.getvalue()),
        ("tool", "application/octet-stream", b"MZ\x90\0" * 5_000),
        ("scan", "application/octet-stream", b"\x89PNG\r\n\x1a\n" * 20),
        ("song", "audio/ogg", b"OggS" * 20),
        ("smime.p7s", "application/octet-stream", b"words that sign"),
        ("huge", "application/octet-stream", b"words " * 40_000),
    )
    await server.put(mail("See below.", key="m@x", attached=attached))
    server.asked.clear()
    documents, failures, _, cursor = await read(server, origin, max_megabytes=0.2)
    assert not failures
    assert documents.keys() == {"s:m@x", "s:m@x/2", "s:m@x/3", "s:m@x/4"}
    for number, (name, _, content) in enumerate(attached[:3], start=2):
        assert (documents[f"s:m@x/{number}"].name, documents[f"s:m@x/{number}"].content) == (
            name or "attachment",
            content,
        )
    assert not [command for command in server.asked if re.search(r"BODY\.PEEK\[(8|10)\]", command)]
    ids, _ = await listed(server.connect(origin))
    assert ids == documents.keys() | {"s:m@x/10"}, "it is less than the limit there"
    # What the first bytes told is remembered.
    await server.put(mail("Another one.", key="n@x"))
    server.asked.clear()
    versions = {identity: one.version for identity, one in documents.items()}
    again, _, _, _ = await read(server, origin, cursor, versions, max_megabytes=0.2)
    assert again.keys() == {"s:n@x"}
    assert not [command for command in server.asked if re.search(r"BODY\.PEEK\[[2-9]", command)]


async def test_what_is_too_large_is_named_and_never_downloaded(server, origin):
    attached = (("big.txt", "text/plain", b"x" * 30_000), ("small.txt", "text/plain", b"small"))
    await server.put(mail("Text.", key="m@x", subject="Plans", attached=attached))
    await server.put(mail("y" * 30_000, key="long@x", subject="Long"))
    server.asked.clear()
    documents, failures, _, cursor = await read(server, origin, max_megabytes=0.01)
    assert documents.keys() == {"s:m@x", "s:m@x/3", "s:long@x"}
    assert failures.keys() == {"s:m@x/2", "s:long@x/1"}
    assert failures["s:m@x/2"].reason == (
        '"big.txt", attached to the mail "Plans" of 2026-03-01, has 0.0 MB, over the limit of 0.01'
    )
    assert failures["s:long@x/1"].mend == "raise max_megabytes"
    assert failures["s:m@x/2"].readers == documents["s:m@x"].readers, "what was read of it before is for no others"
    asked = [command for command in server.asked if "BODY.PEEK[" in command and "HEADER" not in command]
    assert len(asked) == 2
    known = known_of(documents) | {one.id: one.version for one in failures.values()}
    again = await read(server, origin, cursor, known, max_megabytes=0.01)
    assert again[:2] == ({}, {})


async def test_readers_are_the_settings_or_whoever_stands_on_every_mail(server, origin):
    await server.put(mail("One.", key="a@x", to="Support@example.org, Bob <bob@example.org>"))
    await server.put(mail("Two.", key="b@x", answers="a@x", sender="support@example.org", to="ann@example.org"))
    documents, *_ = await read(server, origin, readers=("slack:T1/C1", "participants"))
    assert documents["s:a@x"].readers == {"slack:T1/C1", "email:ann@example.org", "email:support@example.org"}
    documents, *_ = await read(server, origin, readers=())
    assert documents["s:a@x"].readers == frozenset()


async def test_broken_mails_are_read_as_far_as_they_go(server, origin):
    await server.put(b"Subject: =?unknown-8bit?Q?Caf=E9?=\r\nFrom: <<>>\r\nDate: yesterday\r\n\r\nNo id here.\r\n")
    await server.put(
        b"Message-ID: no-brackets@x\r\nFrom: =?utf-8?B?!!?= <a@x>\r\n"
        b"Content-Type: text/plain; charset=klingon\r\nContent-Transfer-Encoding: base64\r\n\r\nSGVsbG8gdGhlcmU=\r\n"
    )
    await server.put(b"Message-ID: <m@x>\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\nno boundary at all\r\n")
    documents, failures, _, _ = await read(server, origin)
    assert len(documents) == 3
    texts = [text_of(one) for one in documents.values()]
    assert any("No id here." in text for text in texts)
    assert "Hello there" in text_of(documents["s:no-brackets@x"])
    assert "s:m@x" in documents
    ids, _ = await listed(server.connect(origin))
    assert ids == documents.keys() | failures.keys()


async def test_html_is_read_without_what_an_answer_repeats(server, origin):
    await server.put(mail(html="<p>How do I open it?</p>", key="q@x"))
    answer = '<p>Turn it <b>left</b>.</p><div class="gmail_quote">Ann wrote: <blockquote>How do I open it?</blockquote></div>'
    await server.put(mail(html=answer, key="a@x", answers="q@x", at=START + minutes(1)))
    documents, *_ = await read(server, origin)
    assert text_of(documents["s:q@x"]).count("How do I open it?") == 1
    assert "left" in text_of(documents["s:q@x"])


async def test_a_page_keeps_what_it_repeats_of_a_mail_that_is_not_there(server, origin):
    answer = "<p>Left.</p><blockquote type='cite'>How do I open it?</blockquote>"
    await server.put(mail(html=answer, key="a@x", answers="elsewhere@x"))
    documents, *_ = await read(server, origin)
    assert "How do I open it?" in text_of(documents["s:elsewhere@x"])


async def test_a_connection_that_breaks_off_while_mails_are_read_loses_none(server, origin):
    for number in range(3):
        await server.put(mail(f"Text {number}.", key=f"m{number}@x"))
    server.answer = lambda command: b"" if "BODY.PEEK[1]" in command else None
    connector = server.connect(origin)
    with pytest.raises(SourceUnreachable, match="broke off"):
        await collect(connector.changes(None, {}))
    server.answer = lambda command: None
    documents, *_ = await collect(connector.changes(None, {}))
    assert len(documents) == 3


async def test_a_mail_whose_text_the_server_does_not_give_is_there_without_it(server, origin):
    await server.put(mail("Text.", key="m@x", subject="Empty"))
    nothing = b"* 1 FETCH (UID 101 BODY[1]<0> NIL)\r\n%t OK done"
    server.answer = lambda command: nothing if "BODY.PEEK[1]" in command else None
    documents, _, gone, _ = await read(server, origin)
    assert text_of(documents["s:m@x"]).startswith("Empty\n\nAnn Example, ")
    assert not gone


@pytest.mark.parametrize("fails_at", ["BODYSTRUCTURE", "UID FETCH"])
async def test_one_mail_that_the_server_fails_at_hides_no_other(server, origin, fails_at):
    for number in range(5):
        await server.put(mail(f"Text {number}.", key=f"m{number}@x"))

    def answer(command: str) -> bytes | None:
        is_among = command.startswith("UID FETCH") and "103" in command.split()[2].split(",")
        return b"%t NO The message is damaged" if is_among and fails_at in command else None

    server.answer = answer
    connector = server.connect(origin)
    documents, failures, gone, cursor = await collect(connector.changes(None, {}))
    named = {"BODYSTRUCTURE": "s:m2@x/0", "UID FETCH": "s:unreadable INBOX/103/0"}[fails_at]
    assert failures.keys() == {named}
    assert failures[named].mend
    assert documents.keys() >= {"s:m0@x", "s:m1@x", "s:m3@x", "s:m4@x"}
    assert not gone
    ids, _ = await listed(connector)
    assert ids == documents.keys() | failures.keys()
    known = known_of(documents) | {named: failures[named].version}
    assert (await read(server, origin, cursor, known))[:3] == ({}, {}, set())
    server.answer = lambda command: None
    for _ in range(3):  # its failure is due, so it is looked at again
        again, failures, _, cursor = await read(server, origin, cursor, known_of(documents))
        documents |= again
    assert not failures
    assert "Text 2." in text_of(documents["s:m2@x"])


async def test_the_same_id_with_another_date_is_another_mail(server, origin):
    await server.put(mail("First.", key="same@x"))
    await server.put(mail("Second.", key="same@x", at=START + minutes(9)))
    await server.put(mail("First.", key="same@x"), "Archive")
    documents, *_ = await read(server, origin)
    (thread,) = documents.values()
    assert (text_of(thread).count("First."), text_of(thread).count("Second.")) == (1, 1)


@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        (b"%t NO [AUTHENTICATIONFAILED] Invalid credentials", SourceAuthError, "password"),
        (b"%t NO Login failed", SourceAuthError, "password"),
        (b"%t NO [UNAVAILABLE] Temporary failure", SourceUnreachable, "later"),
        (b"%t NO [ALERT] Too many simultaneous connections. (Failure)", SourceRateLimited, "wait"),
        (b"* BYE overloaded\r\n%t NO overloaded", SourceError, "overloaded"),
        (b"", SourceUnreachable, "broke off"),
    ],
    ids=["refused", "plain", "away", "too-many", "bye", "cut"],
)
async def test_a_failed_login_is_told_as_what_it_is(server, origin, answer, kind, says):
    server.answer = lambda command: answer if command.startswith("LOGIN") else None
    with pytest.raises(kind, match=says) as caught:
        await read(server, origin)
    assert PASSWORD not in str(caught.value)


async def test_a_wrong_password_is_refused_by_the_server_itself(server, origin):
    with pytest.raises(SourceAuthError, match="check user and password"):
        await read(server, origin, password=SecretStr("wrong"))


async def test_a_token_logs_in(server, origin):
    server.token = "right"
    await server.put(mail("Text.", key="m@x"))
    documents, *_ = await read(server, origin, token=SecretStr("right"))
    assert documents.keys() == {"s:m@x"}
    with pytest.raises(SourceAuthError):
        await read(server, origin, token=SecretStr("stale"))


@asynccontextmanager
async def tokens(answer):
    """Serve access tokens: ``answer`` makes a reply of a form."""

    async def reply(request: web.Request) -> web.Response:
        return answer(dict(await request.post()))

    app = web.Application()
    app.router.add_post("/token", reply)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", free_port())
    await site.start()
    try:
        yield f"{site.name}/token"
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("refresh", [None, "allowed"], ids=["app", "user"])
async def test_a_new_token_is_asked_for_at_each_login(server, origin, refresh):
    await server.put(mail("Text.", key="m@x"))
    asked = []

    def answer(form):
        asked.append(form)
        server.token = f"token-{len(asked)}"
        return web.json_response({"access_token": server.token, "expires_in": 3600})

    async with tokens(answer) as url:
        told = {"token_url": url, "client_id": "app", "client_secret": SecretStr("k3y"), "scope": "mail"}
        if refresh:
            told["refresh_token"] = SecretStr(refresh)
        connector = server.connect(origin, password=None, **told)
        documents, *_ = await collect(connector.changes(None, {}))
        assert documents.keys() == {"s:m@x"}
        await collect(connector.fetch(list(documents)))
        server.answer = lambda command: b"%t NO [EXPIRED] Token expired" if "UID FETCH" in command else None
        with pytest.raises(SourceUnreachable, match="later"):
            await read(server, origin, password=None, **told)
    kind = (
        {"grant_type": "refresh_token", "refresh_token": "allowed"} if refresh else {"grant_type": "client_credentials"}
    )
    assert asked == [{"client_id": "app", "client_secret": "k3y", "scope": "mail", **kind}] * 3


@pytest.mark.parametrize(
    ("reply", "kind", "says"),
    [
        (lambda: web.json_response({"error": "invalid_grant"}, status=400), SourceAuthError, "invalid_grant"),
        (lambda: web.json_response({}, status=401), SourceAuthError, "`client_secret`"),
        (lambda: web.Response(status=429, headers={"Retry-After": "9"}), SourceRateLimited, "9 s"),
        (lambda: web.Response(status=503), SourceError, "503"),
        (lambda: web.Response(text="<html>"), SourceBadReply, "`token_url`"),
    ],
    ids=["grant", "client", "often", "away", "page"],
)
async def test_a_token_that_is_not_given_is_told(server, origin, reply, kind, says):
    async with tokens(lambda form: reply()) as url:
        with pytest.raises(kind, match=says) as caught:
            await read(server, origin, password=None, token_url=url, client_id="app", client_secret=SecretStr("k3y"))
        assert "k3y" not in str(caught.value)
    with pytest.raises(SourceUnreachable, match="cannot be reached"):
        await read(server, origin, password=None, token_url=url, client_id="app", client_secret=SecretStr("k3y"))


async def test_a_folder_that_is_closed_is_named_and_keeps_what_is_known(server, origin):
    await server.put(mail("Text.", key="a@x"))
    await server.put(mail("Text.", key="b@x"), "Shared")
    documents, _, _, cursor = await read(server, origin)
    server.answer = lambda command: b"%t NO [NOPERM] Permission denied" if command == 'EXAMINE "Shared"' else None
    connector = server.connect(origin)
    again, failures, gone, _ = await collect(connector.changes(cursor, known_of(documents)))
    assert (again, gone) == ({}, set())
    assert failures["s:folder Shared"].mend
    ids, named = await listed(connector)
    assert ids == documents.keys()
    assert named.keys() == {"s:folder Shared"}


async def test_a_thread_that_grew_and_stands_partly_in_a_closed_folder_fails_alone(server, origin):
    await server.put(mail("Question.", key="q@x"), "Shared")
    documents, _, _, cursor = await read(server, origin)
    await server.put(mail("Answer.", key="a@x", answers="q@x", at=START + minutes(1)))
    await server.put(mail("Text.", key="other@x"))
    server.answer = lambda command: b"%t NO [NOPERM] Permission denied" if command == 'EXAMINE "Shared"' else None
    again, failures, gone, after = await read(server, origin, cursor, known_of(documents))
    assert (again.keys(), gone) == ({"s:other@x"}, set())
    assert failures.keys() == {"s:q@x", "s:folder Shared"}
    server.answer = lambda command: None
    mended, failures, _, _ = await read(server, origin, after, known_of(documents | again))
    assert mended.keys() == {"s:q@x"}
    assert "Answer." in text_of(mended["s:q@x"])
    assert not failures


async def test_behind_a_closed_folder_that_was_never_read_nothing_counts_as_gone(server, origin):
    await server.put(mail("Text.", key="a@x"))
    await server.put(mail("Text.", key="b@x"), "Shared")
    server.answer = lambda command: b"%t NO [NOPERM] Permission denied" if command == 'EXAMINE "Shared"' else None
    _, named = await listed(server.connect(origin))
    assert "s:b@x".startswith(named["s:folder Shared"].covers)
    assert named["s:folder Shared"].covers
    documents, failures, gone, _ = await collect(server.connect(origin).fetch(["s:a@x", "s:b@x"]))
    assert (documents.keys(), failures.keys(), gone) == ({"s:a@x"}, {"s:b@x"}, set())
    server.answer = lambda command: None
    *_, gone, _ = await collect(server.connect(origin).fetch(["s:c@x"]))
    assert gone == {"s:c@x"}


async def test_parts_that_are_nested_too_deep_hide_no_other_mail(server, origin):
    await server.put(mail("Deep.", key="deep@x"))
    await server.put(mail("Text.", key="m@x"))
    deep = b"(" * 3_000 + b'"TEXT" "PLAIN" NIL NIL NIL "7BIT" 5 1' + b' "MIXED")' * 3_000

    def answer(command: str) -> bytes | None:
        numbers = command.split()[2].replace(":", ",").split(",") if command.startswith("UID FETCH") else []
        return (
            b"* 1 FETCH (UID 101 BODYSTRUCTURE " + deep + b")\r\n%t OK done"
            if ("101" in numbers and "BODYSTRUCTURE" in command)
            else None
        )

    server.answer = answer
    documents, failures, _, _ = await read(server, origin)
    assert documents.keys() == {"s:deep@x", "s:m@x"}
    assert failures.keys() == {"s:deep@x/0"}


async def test_a_listing_that_is_shorter_than_its_folder_is_not_believed(server, origin):
    for number in range(3):
        await server.put(mail("Text.", key=f"m{number}@x"))
    server.answer = lambda command: b"* SEARCH 101\r\n%t OK done" if command == "UID SEARCH ALL" else None
    with pytest.raises(SourceUnreachable, match="3 mails, and the server lists 1"):
        await read(server, origin)


async def test_what_is_no_mail_server_is_told(server, origin):
    server.greeting = b"HTTP/1.1 400 Bad Request\r\n\r\n"
    with pytest.raises(SourceBadReply, match="not IMAP"):
        await read(server, origin)
    with pytest.raises(SourceUnreachable, match="cannot be reached"):
        await read(server, origin, port=free_port())
    server.greeting = b""
    with pytest.raises(SourceUnreachable, match="TLS"):
        await read(server, origin, security="tls", timeout=5)


async def test_tls_checks_the_certificate(origin, tmp_path, monkeypatch):
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    async with MailServer().serving(context) as server:
        await server.put(mail("Text.", key="m@x"))
        with pytest.raises(SourceUnreachable, match="SSL_CERT_FILE"):
            await read(server, origin, host="localhost", security="tls")
        authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        documents, *_ = await read(server, origin, host="localhost", security="tls")
        assert documents.keys() == {"s:m@x"}


async def test_starttls_comes_before_the_login(origin, tmp_path, monkeypatch):
    authority = trustme.CA()
    authority.issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "server.pem"))
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    async with MailServer().serving(cert=str(tmp_path / "server.pem"), tls=True) as server:
        await server.put(mail("Text.", key="m@x"))
        documents, *_ = await read(server, origin, host="localhost", security="starttls")
        assert documents.keys() == {"s:m@x"}
    async with MailServer().serving() as server:
        with pytest.raises(SourceBadReply, match="`security`"):
            await read(server, origin, security="starttls")


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"readers": None}, "readers"),
        ({"readers": ("everybody",)}, "is no reader"),
        ({"password": None}, "`password`, `token` or `token_url`"),
        ({"token": "t"}, "one of them"),
        ({"client_id": "app"}, "want a `token_url`"),
        (
            {"password": None, "token_url": "https://x/token", "client_id": "app"},
            "`client_secret` or a `refresh_token`",
        ),
        ({"password": None, "token_url": "http://x/token", "client_id": "app"}, "an address such as"),
        ({"host": "imap.example.org", "security": "none"}, "unencrypted"),
        ({"host": "imap://x"}, "name of a server"),
        ({"link": "https://x"}, "message_id"),
        ({"folders": ("[z-a]",)}, "is no pattern"),
    ],
    ids=[
        "no-readers",
        "bad-reader",
        "no-credential",
        "two",
        "no-url",
        "half",
        "unsafe",
        "in-the-clear",
        "host",
        "link",
        "pattern",
    ],
)
def test_wrong_settings_are_named(changed, says):
    told = {"host": "127.0.0.1", "user": USER, "password": PASSWORD, "readers": ("*",)} | changed
    with pytest.raises(ValidationError, match=says):
        ImapOptions.model_validate({name: value for name, value in told.items() if value is not None})


def test_the_missing_extra_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValidationError, match=r"pip install 'citebot\[imap\]'"):
        ImapOptions.model_validate({"host": "x.example", "user": USER, "password": PASSWORD, "readers": ["*"]})


def test_another_password_is_another_credential(origin):
    told = {"host": "x", "user": USER, "readers": ["*"]}
    one, other = (credential("imap", origin, {**told, "password": value}) for value in ("a", "b"))
    assert one != other


async def test_long_mails_hold_up_nobody(server, origin, monkeypatch):
    threads = set()
    real = letters.text_of

    def text_of(*told, **how):
        threads.add(threading.current_thread())
        return real(*told, **how)

    monkeypatch.setattr(letters, "text_of", text_of)
    await server.put(mail(html="<p>How do I open the valve?</p>", key="q@x"))
    documents, _, _, _ = await read(server, origin)
    assert "How do I open the valve?" in documents["s:q@x"].content.decode()
    assert threads
    assert threading.main_thread() not in threads
