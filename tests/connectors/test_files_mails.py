"""What is attached to a mail that lies in a folder is a document of its own, and lives as long as the mail."""

from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.files.mails import DEPTH
from ragcore.errors import ParseError
from ragcore.parsing import parse
from ragcore.parsing.mail import NESTED, attachments_of
from tests.connectors.helpers import collect, files, known_of, listed, live, names, put, run, settle
from tests.fakes.libraries import opened


@pytest.fixture
async def library(tmp_path):
    async with opened(tmp_path / "data") as found:
        yield found


def letter(text="See below.", attached=(), subject="Offsite"):
    """Return a mail; what is attached is text by its name, or another mail."""
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["Date"] = subject, "Ada <ada@x.org>", "Mon, 01 Jan 2024 10:00:00 +0100"
    mail["To"] = "all@x.org"
    mail.set_content(text)
    for one in attached:
        if isinstance(one, EmailMessage):
            mail.add_attachment(one)
        else:
            name, content = one
            mail.add_attachment(content.encode(), maintype="application", subtype="octet-stream", filename=name)
    return mail


AGENDA = ("agenda.md", "# Agenda\n\nWe walk to the lighthouse.")
PLAN = ("plan.txt", "The ferry leaves at nine.")


async def texts_of(library, native):
    return [chunk.text for chunk in await library.registry.chunks_of([f"s:{native}"])]


async def test_an_attachment_is_indexed_by_itself_and_not_in_its_mail(library, tmp_path, monkeypatch):
    settle(monkeypatch)
    put(tmp_path / "in", "m/a.eml", letter(attached=[AGENDA, PLAN]).as_bytes())
    report = await run(library, files(tmp_path / "in"))
    assert (report.is_success, report.added) == (True, 3)
    assert await live(library) == {"m/a.eml", "m/a.eml#1", "m/a.eml#2"}
    (mail,) = await texts_of(library, "m/a.eml")
    assert "lighthouse" not in mail
    assert mail.endswith("\n\n(attached: agenda.md, plan.txt)\n\nSee below.")
    assert await texts_of(library, "m/a.eml#1") == ["# Agenda\n\nWe walk to the lighthouse."]
    document = await library.registry.document("s:m/a.eml#2")
    assert document is not None
    assert (document.name, document.title, document.metadata) == ("plan.txt", "Plan", {"mail": "a.eml"})
    assert document.url.endswith("/m/a.eml")
    assert document.readers is None


async def test_what_is_unchanged_is_not_read_and_what_is_gone_goes(library, tmp_path, monkeypatch):
    settle(monkeypatch)
    for number in range(3):
        put(tmp_path / "in", f"{number}.eml", letter(f"Mail {number}.", [AGENDA, PLAN]).as_bytes())
    await run(library, files(tmp_path / "in"))
    with monkeypatch.context() as patch:
        patch.setattr("connectors.files.local.read_whole", lambda *_, **__: pytest.fail("a file was read"))
        report = await run(library, files(tmp_path / "in"))
    assert (report.is_success, report.added, report.changed, report.deleted) == (True, 0, 0, 0)
    put(tmp_path / "in", "1.eml", letter("Mail 1.", [PLAN]).as_bytes())
    report = await run(library, files(tmp_path / "in"))
    assert (report.changed, report.deleted) == (2, 1)
    assert await texts_of(library, "1.eml#1") == [PLAN[1]]
    (tmp_path / "in" / "2.eml").unlink()
    report = await run(library, files(tmp_path / "in"))
    assert report.deleted == 3
    assert await live(library) == {"0.eml", "0.eml#1", "0.eml#2", "1.eml", "1.eml#1"}


async def test_an_attachment_that_fails_is_named_and_is_no_reason_to_read_again(library, tmp_path, monkeypatch):
    settle(monkeypatch)
    put(tmp_path / "in", "a.eml", letter(attached=[("a.docx", "PK\x03\x04 and no more"), PLAN]).as_bytes())
    report = await run(library, files(tmp_path / "in"), retry=False)
    assert [failed.id for failed in report.failed] == ["s:a.eml#1"]
    with monkeypatch.context() as patch:
        patch.setattr("connectors.files.local.read_whole", lambda *_, **__: pytest.fail("a file was read"))
        report = await run(library, files(tmp_path / "in"), retry=False)
    assert [failed.id for failed in report.failed] == ["s:a.eml#1"]
    report = await run(library, files(tmp_path / "in"), retry=True)
    assert [failed.id for failed in report.failed] == ["s:a.eml#1"]
    assert await live(library) == {"a.eml", "a.eml#2"}


async def test_a_mail_that_cannot_be_read_keeps_what_is_attached(library, tmp_path, monkeypatch):
    settle(monkeypatch)
    put(tmp_path / "in", "a.eml", letter(attached=[PLAN]).as_bytes())
    await run(library, files(tmp_path / "in"))
    put(tmp_path / "in", "a.eml", letter(text="much " * 4_000, attached=[PLAN]).as_bytes())
    report = await run(library, files(tmp_path / "in", max_megabytes=0.01))
    assert [failed.id for failed in report.failed] == ["s:a.eml"]
    assert await live(library) == {"a.eml", "a.eml#1"}


async def test_which_attachments_are_documents(tmp_path):
    kinds = [AGENDA, ("logo.png", "\x89PNG"), ("sign.p7s", "x"), ("b/c.txt", "with a slash"), ("empty.txt", " ")]
    put(tmp_path, "a.eml", letter(attached=kinds).as_bytes())
    assert await names(tmp_path) == ["a.eml", "a.eml#1", "a.eml#2"]
    assert await names(tmp_path, include=["*.eml"]) == ["a.eml", "a.eml#1", "a.eml#2"]
    assert await names(tmp_path, exclude=["*.md"]) == ["a.eml", "a.eml#1"]
    documents, _, _, _ = await collect(files(tmp_path).changes(None, {}))
    assert [documents[f"s:a.eml#{n}"].name for n in (1, 2)] == ["agenda.md", "b_c.txt"]


async def test_a_pattern_with_a_folder_means_what_is_attached_to_the_mails_in_it(tmp_path):
    forwarded = letter(attached=[AGENDA])
    for path in ("a.eml", "hr/a.eml", "hr/old/a.eml"):
        put(tmp_path, path, letter(attached=[forwarded, PLAN]).as_bytes())
    top, hr, old = (
        [f"{mail}{number}" for number in ("", "#1", "#2", "#3")]
        for mail in sorted(["a.eml", "hr/a.eml", "hr/old/a.eml"])
    )
    assert await names(tmp_path) == sorted([*top, *hr, *old])
    # The forwarded mail, the agenda attached to it, the plan: without the agenda the plan is the second.
    assert await names(tmp_path, exclude=["hr/*.md"]) == sorted([*top, *hr[:3], *old])
    assert await names(tmp_path, exclude=["hr/**/*.md"]) == sorted([*top, *hr[:3], *old[:3]])
    assert await names(tmp_path, exclude=["/agenda.md"]) == sorted([*top[:3], *hr, *old])
    documents, _, _, _ = await collect(files(tmp_path, exclude=["hr/*.md"]).changes(None, {}))
    assert documents["s:hr/a.eml#2"].name == "plan.txt"


async def test_what_nothing_hints_at_is_told_by_its_content_and_what_is_left_out_is_named(
    library, tmp_path, monkeypatch
):
    settle(monkeypatch)
    mail = letter(attached=[("Notes", "We meet at the lighthouse."), ("old.bin", "Rar!\x1a\x07")])
    mail.add_attachment("BEGIN:VCALENDAR\nSUMMARY:Walk\nEND:VCALENDAR", subtype="calendar", filename="walk.ics")
    mail.add_attachment(b"{}", maintype="application", subtype="pgp-signature", filename="signature.asc")
    mail.add_attachment(b"\x89PNG\r\n\x1a\n", maintype="application", subtype="octet-stream", filename="a scan")
    put(tmp_path / "in", "a.eml", mail.as_bytes())
    report = await run(library, files(tmp_path / "in"))
    assert not report.failed
    assert [await texts_of(library, f"a.eml#{n}") for n in (1, 2, 3)] == [
        ["We meet at the lighthouse."],
        ["BEGIN:VCALENDAR\nSUMMARY:Walk\nEND:VCALENDAR"],
        [],
    ]
    parsed = parse(mail.as_bytes(), name="a.eml", media_type="message/rfc822; attachments=apart")
    assert parsed.warnings == ("attachment old.bin: it is a packed archive", "attachment a scan: it is a picture")


async def test_mails_in_mails_are_documents_down_to_a_depth(tmp_path):
    mail = letter("deepest", [PLAN], subject="Level 9")
    for level in range(8, 0, -1):
        mail = letter(f"level {level}", [mail, AGENDA], subject=f"Level {level}")
    put(tmp_path, "a.eml", mail.as_bytes())
    documents, _, _, _ = await collect(files(tmp_path).changes(None, {}))
    assert len(documents) == 1 + 2 * DEPTH
    assert [documents[f"s:a.eml#{n}"].name for n in range(1, 4)] == ["Level 2.eml", "Level 3.eml", "Level 4.eml"]


async def test_fetch_finds_what_is_attached(tmp_path):
    put(tmp_path, "a.eml", letter(attached=[AGENDA, PLAN]).as_bytes())
    documents, failures, gone, _ = await collect(files(tmp_path).fetch(["s:a.eml#2", "s:a.eml#3", "s:b.eml#1"]))
    assert documents.keys() == {"s:a.eml#2"}
    assert not failures
    assert gone == {"s:a.eml#3", "s:b.eml#1"}
    _, failures, _, _ = await collect(files(tmp_path, max_megabytes=0.0001).fetch(["s:a.eml#2"]))
    assert failures.keys() == {"s:a.eml#2"}


async def test_a_listing_alone_shows_what_a_sync_takes_and_what_may_hide(tmp_path, monkeypatch):
    settle(monkeypatch)
    put(tmp_path, "a.eml", letter(attached=[AGENDA]).as_bytes())
    documents, _, _, cursor = await collect(files(tmp_path).changes(None, {}))
    connector = files(tmp_path)
    await collect(connector.changes(cursor, known_of(documents)))
    assert await listed(connector) == ({"s:a.eml", "s:a.eml#1"}, {})
    ids, failures = await listed(files(tmp_path, max_megabytes=0.0001))
    assert (ids, failures["s:a.eml"].covers) == (set(), "s:a.eml#")


@given(st.binary(max_size=200), st.sampled_from([b"", b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n"]))
def test_no_bytes_stop_a_run(content, head):
    for attached in attachments_of(head + content):
        assert attached.name
        assert isinstance(attached.content, bytes)


HEAD = "Subject: Deep\nFrom: a@x.org\nDate: Mon, 01 Jan 2024 10:00:00 +0100\n"
INNER = "Content-Type: message/rfc822\n\n"
TEXT = "Content-Type: text/plain; name=plan.txt\nContent-Disposition: attachment\n\nThe ferry.\n"
MIXED = 'Content-Type: multipart/mixed; boundary="b"\n\n--b\n'


async def test_a_mail_that_is_nested_too_deep_stops_nothing_else(library, tmp_path, monkeypatch):
    settle(monkeypatch)
    put(tmp_path / "in", "a.eml", f"{HEAD}{INNER * 1_500}{HEAD}\nx\n".encode())
    put(tmp_path / "in", "b.eml", f"{HEAD}{MIXED}{TEXT}--b\n{INNER * 400}{HEAD}\nx\n--b--\n".encode())
    put(tmp_path / "in", "c.md", b"# Ferry\n\nIt leaves at nine.")
    report = await run(library, files(tmp_path / "in"))
    assert [(one.id, one.reason) for one in report.failed] == [("s:a.eml", NESTED)]
    assert await live(library) == {"b.eml", "b.eml#1", "c.md"}
    parsed = parse(
        (tmp_path / "in" / "b.eml").read_bytes(), name="b.eml", media_type="message/rfc822; attachments=apart"
    )
    assert parsed.warnings == (f"attachment attached mail.eml: {NESTED}",)


def test_parts_that_are_nested_too_deep_are_told():
    opened = "".join(f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(1_500))
    with pytest.raises(ParseError, match=NESTED):
        parse(f"{HEAD}{opened}\nx\n".encode(), name="a.eml")
