"""A process is killed (kill -9) at any step of a turn: the next one leaves one complete answer, in the same message."""

import pathlib
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from bots.manner import Streaming
from bots.turn.turns import utc_now
from tests.bots.turn.crashing import FIRST, SECOND, Job, workers
from tests.bots.turn.flows import final
from tests.fakes.platform import Server
from tests.soak import chosen

Work = Callable[[Job], list[str] | None]
UNTELLABLE = {"after begin", "before begun", "after send", "before done"}
"""Where a message was taken and not recorded: only a platform that can be asked tells."""


@pytest.fixture(scope="module")
def work() -> Iterator[Work]:
    with workers() as forked:
        yield forked


MANNERS: list[tuple[Streaming, int]] = [("edit", 100), ("stream", 2_000), ("draft", 100), ("none", 100)]


@pytest.mark.parametrize(
    "finds_sent", [pytest.param(True, id="tells"), pytest.param(False, id="cannot tell", marks=pytest.mark.soak)]
)
@pytest.mark.parametrize(("streaming", "longest"), MANNERS)
def test_killed_at_any_step(
    tmp_path: pathlib.Path, work: Work, streaming: Streaming, longest: int, finds_sent: bool
) -> None:
    whole = Job(
        folder=str(tmp_path),
        streaming=streaming,
        finds_sent=finds_sent,
        longest=longest,
        sent_at=utc_now().isoformat(),
    )
    moments = work(whole)
    assert moments is not None
    # Together the cases are killed at every moment, also in a short run.
    turn = (MANNERS.index((streaming, longest)) + finds_sent / 2) / len(MANNERS)
    for die_at in chosen(len(moments), 7, turn):
        folder = tmp_path / f"at-{die_at}"
        folder.mkdir()
        job = replace(whole, folder=str(folder))
        killed = work(replace(job, die_at=die_at))
        if killed is not None:
            continue  # fewer words were shown on the way this time
        died = (folder / "died").read_text("utf-8")
        assert work(job) is not None
        standing = Server(journal=folder / "journal").standing("q1")
        texts = [one.text for one in standing if one.number >= 0]
        if not finds_sent and died in UNTELLABLE:
            # That one message stands twice, and the answer is whole all the same.
            newest = {one.number: one.text for one in standing if one.number >= 0}
            assert "".join(newest.values()) == final("How many days?"), died
            assert len(standing) <= len(newest) + 1, died
            continue
        assert len(texts) == len(standing), (died, "what was begun is the answer's first part")
        assert "".join(texts) == final("How many days?"), died


def test_killed_while_one_who_waits_is_told_so(tmp_path: pathlib.Path, work: Work) -> None:
    killed = 0
    for die_at in chosen(8, 4):
        folder = tmp_path / f"at-{die_at}"
        folder.mkdir()
        sent_at = utc_now().isoformat()
        job = Job(folder=str(folder), streaming="edit", finds_sent=True, longest=2_000, sent_at=sent_at, patience=1.0)
        killed += work(replace(job, die_at=die_at)) is None
        assert work(replace(job, patience=40.0)) is not None
        server = Server(journal=folder / "journal")
        for message, question in (("q0", FIRST), ("q1", "How many days?")):
            assert [one.text for one in server.standing(message)] == [final(question)], (die_at, message)
        assert not [one for one in server.messages.values() if one.gone], die_at
    assert killed, "the reason was on its way at least once"


@pytest.mark.soak
@pytest.mark.parametrize(
    "deletes",
    [
        pytest.param("", id="both stay"),
        pytest.param("q1", id="the first is deleted"),
        pytest.param("q2", id="the second is deleted"),
    ],
)
def test_killed_while_two_messages_are_answered_as_one(tmp_path: pathlib.Path, work: Work, deletes: str) -> None:
    sent_at = utc_now().isoformat()
    whole = Job(
        folder=str(tmp_path),
        streaming="edit",
        finds_sent=True,
        longest=2_000,
        sent_at=sent_at,
        joined=True,
        deletes=deletes,
    )
    moments = work(whole)
    assert moments is not None
    assert "after merge" in moments
    each = {"q1": final("How many days?"), "q2": final(SECOND)}
    left = {message: text for message, text in each.items() if message != deletes}
    ends = [left] if deletes else [left, {"q1": final(f"How many days?\n{SECOND}")}]
    assert _standing(tmp_path) == ends[-1]
    for die_at in chosen(len(moments), 4, ("", "q1", "q2").index(deletes) / 3):
        folder = tmp_path / f"at-{die_at}"
        folder.mkdir()
        job = replace(whole, folder=str(folder))
        if work(replace(job, die_at=die_at)) is None:
            died = (folder / "died").read_text("utf-8")
            assert work(job) is not None
            # Each is answered once: with the other, or on its own where the process died before they were joined.
            assert _standing(folder) in ends, (die_at, died)


def _standing(folder: pathlib.Path) -> dict[str, str]:
    """Return what stands, by the message that it answers; each message has one answer at most."""
    server = Server(journal=folder / "journal")
    standing = [one for one in server.messages.values() if not one.gone and not one.draft]
    assert len({one.reply_to for one in standing}) == len(standing)
    return {one.reply_to: one.text for one in standing}
