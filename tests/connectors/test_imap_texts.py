"""What of a mail is its own words, what its headers tell, and which mails belong together: without a server."""

import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.imap.folders import chosen
from connectors.imap.heads import head_of
from connectors.imap.index import Folder, Index, Mail
from connectors.imap.link import Place, Standing
from connectors.imap.options import ImapOptions
from connectors.imap.quotes import own_words
from connectors.imap.structure import parts_of, texts_of
from tests.connectors.mailboxes import PASSWORD, USER
from tests.soak import scaled

ANSWERS = {
    "on top": "Turn it left.\n\nOn Mon, 1 Mar 2026 at 09:00, Ann <ann@x> wrote:\n\n> How?\n> Really?\n",
    "two lines": "Turn it left.\n\nOn Mon, 1 Mar 2026 at 09:00, Ann Example\n<ann@example.org> wrote:\n> How?\n",
    "german": "Turn it left.\n\nAm 01.03.26 um 09:00 schrieb Ann:\n> Wie?\n",
    "japanese": "Turn it left.\n\n2026年3月1日(日) 9:00 Ann <ann@x>:\n\n> どう?\n",
    "original": "Turn it left.\n\n-----Original Message-----\nFrom: Ann\nSent: Monday\nTo: Us\n\nHow?\n",
    "outlook": "Turn it left.\n\n________________________________\nFrom: Ann <ann@x>\nSent: Monday, 1 March 2026\nTo: Us\n\nHow?\n",
    "von": "Turn it left.\n\nVon: Ann <ann@x>\nGesendet: Montag, 1. März 2026\nAn: Wir\n\nWie?\n",
    "signature": "Turn it left.\n\n-- \nSupport\n+1 555\n",
    "signature above": "Turn it left.\n\n-- \nSupport\n\nOn 1 Mar 2026, Ann wrote:\n> How?\n",
    "footer": "Turn it left.\n" + "_" * 47 + "\nusers mailing list\nhttps://lists.example.org/listinfo/users\n",
    "phone": "Turn it left.\n\nSent from my iPhone\n",
    "crlf": "Turn it left.\r\n\r\nOn 1 Mar 2026, Ann wrote:\r\n> How?\r\n",
    "below": "On 1 Mar 2026, Ann wrote:\n" + "> How?\n" * 9 + "\nTurn it left.\n",
}


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_an_answer_is_its_own_words(name):
    assert own_words(ANSWERS[name], keeps_quotes=False).strip() == "Turn it left."


def test_what_an_answer_is_about_stays_above_it():
    text = "> How do I open it?\n\nTurn it left.\n\n> And then?\n\nPull.\n"
    assert own_words(text, keeps_quotes=False) == text.strip()


def test_what_is_not_in_the_document_is_kept():
    assert "> How?" in own_words(ANSWERS["on top"], keeps_quotes=True)
    assert "How?" in own_words(ANSWERS["outlook"], keeps_quotes=True)
    kept = own_words(ANSWERS["signature above"], keeps_quotes=True)
    assert "> How?" in kept
    assert "Support" not in kept


@pytest.mark.parametrize("text", ["> only\n> repeated\n", "-- \nA signature alone\n", "From: Ann\nSent: Monday\n"])
def test_a_mail_never_ends_up_empty(text):
    assert own_words(text, keeps_quotes=False).strip()


word = st.text(st.sampled_from("abcdefgh äö."), min_size=1, max_size=12)


@settings(max_examples=scaled(60))
@given(st.lists(word, min_size=1, max_size=8), st.booleans())
def test_plain_words_stay_as_they_are(lines, keeps_quotes):
    text = "\n".join(lines)
    kept = own_words(text, keeps_quotes=keeps_quotes)
    assert [line.rstrip() for line in lines if line.strip()] == [line for line in kept.split("\n") if line.strip()]


@settings(max_examples=scaled(60))
@given(st.text(st.sampled_from("a >-_:\n\r"), max_size=60), st.booleans())
def test_what_is_kept_was_there(text, keeps_quotes):
    kept = own_words(text, keeps_quotes=keeps_quotes)
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    left = iter(lines)
    assert all(any(line == one for one in left) for line in kept.split("\n") if line)
    assert bool(kept.strip()) == bool(text.strip())


@settings(max_examples=scaled(80))
@given(
    st.one_of(
        st.binary(max_size=80),
        st.lists(
            st.tuples(
                st.sampled_from([b"Message-ID", b"References", b"In-Reply-To", b"Date", b"From", b"Subject", b"To"]),
                st.one_of(
                    st.binary(max_size=30), st.sampled_from([b"<a@x>", b"<[x]@y>", b"=?utf-8?B?w?=", b"<a@x> <b@x>"])
                ),
            ),
            max_size=6,
        ).map(lambda headers: b"".join(b"%s: %s\r\n" % one for one in headers)),
    )
)
def test_no_header_stops_a_run(content):
    head = head_of(content + b"\r\n\r\n", None)
    assert head.key
    assert head.key.isprintable()
    assert len(head.key) <= 200
    assert head == head_of(content + b"\r\n\r\n", None)


@pytest.mark.parametrize("structure", [None, (), (b"text",), (b"text", b"plain"), ([None], b"mixed"), 7, b""])
def test_a_structure_that_is_none_is_an_error_of_the_foreseen_kind(structure):
    with pytest.raises((ValueError, LookupError, TypeError, AttributeError)):
        texts_of(parts_of(structure))


KEYS = [f"{letter}@x" for letter in "abcdefg"]
mails = st.lists(
    st.builds(
        Mail,
        folder=st.sampled_from(["INBOX", "Sent"]),
        uid=st.integers(1, 50),
        key=st.sampled_from(KEYS),
        root=st.sampled_from(["", *KEYS, "gone@x"]),
        parent=st.sampled_from(["", *KEYS]),
        at=st.integers(0, 3),
        size=st.integers(0, 9),
        parts=st.sampled_from([(), (("2", 10),)]),
    ),
    max_size=10,
    unique_by=lambda mail: (mail.folder, mail.uid),
)


def index_of(found: list[Mail]) -> Index:
    index = Index("basis", {name: Folder(validity=1) for name in ("INBOX", "Sent")})
    for mail in found:
        index.folders[mail.folder].mails[mail.uid] = mail
    return index


@settings(max_examples=scaled(80))
@given(mails)
def test_each_mail_stands_in_one_thread_beside_what_it_answers(found):
    contents = index_of(found).contents()
    places = [(mail.folder, mail.uid) for thread in contents.threads.values() for mail in thread.mails]
    assert len(places) == len(set(places))
    keys = {mail.key: thread.id for thread in contents.threads.values() for mail in thread.mails}
    assert {mail.key for mail in found} <= keys.keys(), "each is there, be it as a copy"
    for thread in contents.threads.values():
        assert list(thread.mails) == sorted(thread.mails, key=lambda mail: mail.at)
        for mail in thread.mails:
            for other in (mail.root, mail.parent):
                assert keys.get(other, thread.id) == thread.id
    assert contents.attached.keys() == {
        f"{mail.key}/{section}"
        for thread in contents.threads.values()
        for mail in thread.mails
        for section, _ in mail.parts
    }


@settings(max_examples=scaled(40))
@given(mails, st.booleans())
def test_what_a_run_remembers_comes_back(found, is_whole):
    index = index_of(found)
    standing = Standing(validity=1, next=9, count=4, modseq=2) if is_whole else None
    index.folders["INBOX"] = replace(index.folders["INBOX"], standing=standing, since="2026-01-01")
    assert Index.from_cursor(index.to_cursor(), "basis") == index
    assert Index.from_cursor(index.to_cursor(), "another") == Index("another")
    assert Index.from_cursor(index.to_cursor()[: len(index.to_cursor()) // 2], "basis") == Index("basis")


def test_special_use_tells_more_than_names():
    def place(path, *flags):
        return Place(name=path, path=path, flags=frozenset(flags))

    def paths(*places, **options):
        told = {"host": "x", "user": USER, "password": PASSWORD, "readers": ["*"]} | options
        return [one.path for one in chosen(ImapOptions.model_validate(told), places)]

    gmail = [
        place("[Gmail]/All Mail", "\\all"),
        place("INBOX"),
        place("[Gmail]/Bin", "\\trash"),
        place("[Gmail]/Starred", "\\flagged"),
        place("Spam"),
    ]
    assert paths(*gmail) == ["INBOX", "Spam", "[Gmail]/All Mail"]
    assert paths(place("INBOX"), place("Spam"), place("Work")) == ["INBOX", "Work"]
    assert paths(place("INBOX"), place("Spam"), folders=["spam"]) == ["Spam"]
    assert paths(place("INBOX"), place("Spam"), folders=["*"]) == ["INBOX"]


@pytest.mark.parametrize(
    "text",
    ["a line of a log\n" * 20_000, "> a\nb\n" * 3_000, "> a\n" + "\n" * 20_000 + "b\n"],
    ids=["log", "quotes", "empty"],
)
def test_the_time_that_a_long_text_takes_grows_with_its_length_alone(text):
    began = time.process_time()
    own_words(text, keeps_quotes=False)
    assert time.process_time() - began < 5


def test_a_name_with_half_of_a_character_can_be_stored():
    told = (b"TEXT", b"PLAIN", (b"NAME", b"=?utf-7?Q?+2AA-big?=.txt"), None, None, b"7BIT", 30_000, 1)
    (part,) = parts_of(told)
    assert b"big" in part.name.encode()
