"""A mailbox is read mail by mail: beside its sections, no more than one mail is held taken apart."""

import gc
import tracemalloc
from collections.abc import Iterator

import pytest

from ragcore.parsing import parse
from ragcore.parsing.mbox import mails_of

MAILS = 150
RECEIVED = "".join(f"Received: from mx{n}.example.org by mx{n + 1}.example.org with ESMTPS id {n}\n" for n in range(60))


def mailbox() -> bytes:
    """Return a mailbox whose mails have much of a head and a short text, as most have."""
    mails = (
        f"From ann@x.org Mon Nov 23 10:00:00 2026\n{RECEIVED}Subject: Ferry {n}\nFrom: Ann <ann@x.org>\n"
        f"Message-ID: <m{n}@x.org>\nDate: Mon, 23 Nov 2026 10:{n % 60:02}:00 +0000\n\nFerry {n} leaves at nine.\n\n"
        for n in range(MAILS)
    )
    return "".join(mails).encode()


@pytest.fixture
def prompt_collector() -> Iterator[None]:
    """Let the collector come soon, for mails taken apart wait for it, and look at nothing that other tests left."""
    thresholds = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.collect()  # it comes for all the later, the more there was when it last looked at everything
    gc.set_threshold(300, 3, 3)
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


@pytest.mark.usefixtures("prompt_collector")
def test_what_is_held_of_a_mailbox_does_not_grow_with_its_mails() -> None:
    content = mailbox()
    parse(content[: len(content) // MAILS], name="one.mbox")  # what is imported late
    tracemalloc.start()
    try:
        parsed = parse(content, name="box.mbox")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(parsed.sections) == MAILS
    assert peak < 1.5 * len(content), f"{peak / len(content):.1f} times its size"


def test_a_mail_is_cut_out_when_it_is_asked_for() -> None:
    content = mailbox()
    tracemalloc.start()
    try:
        mails = mails_of(content)
        assert len(mails) == MAILS
        assert mails[7].endswith(b"Ferry 7 leaves at nine.")
        assert [mail[-9:-1] for mail in mails[1:3]] == [b" at nine"] * 2
        assert sum(map(len, mails)) < len(content)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 0.2 * len(content)
