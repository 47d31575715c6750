"""A process is killed (kill -9) at any step of a turn: the next one leaves one complete answer, in the same message."""

import pathlib
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from bots.platform import Streaming
from bots.turn.turns import utc_now
from tests.bots.turn.crashing import FIRST, Job, workers
from tests.bots.turn.flows import final
from tests.fakes.platform import Server
from tests.soak import scaled

Work = Callable[[Job], list[str] | None]
UNTELLABLE = {"after begin", "before begun", "after send", "before done"}
"""Where a message was taken and not recorded: only a platform that can be asked tells."""


@pytest.fixture(scope="module")
def work() -> Iterator[Work]:
    with workers() as forked:
        yield forked


def spread(count: int, wanted: int) -> list[int]:
    """Return so many of the numbers from 1 to count, spread over all, the first and the last among them."""
    if wanted >= count:
        return list(range(1, count + 1))
    return sorted({1 + round(n * (count - 1) / (wanted - 1)) for n in range(wanted)})


@pytest.mark.parametrize("finds_sent", [True, False], ids=["tells", "cannot tell"])
@pytest.mark.parametrize(("streaming", "longest"), [("edit", 100), ("stream", 2_000), ("draft", 100), ("none", 100)])
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
    for die_at in spread(len(moments), scaled(7)):
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
    for die_at in spread(8, scaled(4)):
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
