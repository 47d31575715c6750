"""A run waits where its source asks, tries again what may pass from the last Checkpoint on, and gives up what hangs."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from connectors.base import Checkpoint, Failure
from connectors.sync.patience import LONGEST_WAIT, SILENCE, WAITS, Patient
from ragcore.errors import SourceAuthError, SourceError, SourceGone, SourceRateLimited
from ragcore.types import SourceDocument
from tests.fakes.virtual import run

LOST = SourceError("the connection was lost")


class Pages:
    """Pages of two documents with a Checkpoint behind each; ``faults`` are raised before a page, in their order."""

    def __init__(self, faults: dict[int, list[Exception]], *, pages: int = 3, version: str = "v", marks: bool = True):
        self.faults, self.pages, self.version, self.marks = faults, pages, version, marks
        self.begun: list[str | None] = []
        self.asked: list[list[str]] = []
        self.waits: list[float] = []

    async def changes(self, cursor: str | None, known: dict[str, str]) -> AsyncIterator[object]:
        self.begun.append(cursor)
        for page in range(int(cursor or 0), self.pages):
            if self.faults.get(page):
                raise self.faults[page].pop(0)
            for number in (0, 1):
                name = f"s:{page}{number}"
                if known.get(name, "unknown") != self.version:
                    yield document(name, self.version)
            yield Failure(id=f"s:bad{page}", reason="no", mend="mend it")
            if self.marks:
                yield Checkpoint(cursor=str(page + 1))

    async def _ids(self) -> AsyncIterator[str]:
        for page in range(self.pages):
            if self.faults.get(page):
                raise self.faults[page].pop(0)
            yield f"s:{page}"

    def list_ids(self) -> AsyncIterator[str]:
        return self._ids()

    async def fetch(self, ids: list[str]) -> AsyncIterator[object]:
        self.asked.append(list(ids))
        for number, name in enumerate(ids):
            if self.faults.get(number):
                raise self.faults[number].pop(0)
            yield document(name, self.version)

    def patient(self) -> Patient:
        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        return Patient(self, sleep=sleep)  # type: ignore[arg-type]


def document(name: str, version: str) -> SourceDocument:
    return SourceDocument(id=name, source="s", content=b"text", version=version)


def heard(pages: Pages) -> list[str]:
    async def hear() -> list[str]:
        return [getattr(one, "id", "mark") async for one in pages.patient().changes(None, {})]

    return run(hear())


EVERYTHING = [name for page in range(3) for name in (f"s:{page}0", f"s:{page}1", f"s:bad{page}", "mark")]


def test_what_passes_costs_a_wait_and_nothing_twice() -> None:
    pages = Pages({1: [LOST, LOST], 2: [SourceRateLimited("slowly", retry_after=7), LOST]})
    assert heard(pages) == EVERYTHING
    assert pages.begun == [None, "1", "1", "2", "2"]
    assert pages.waits == [*WAITS, 7, WAITS[1]]


def test_without_checkpoints_it_begins_anew_and_hands_over_nothing_twice() -> None:
    pages = Pages({1: [LOST], 2: [LOST]}, marks=False)
    assert heard(pages) == [name for name in EVERYTHING if name != "mark"]
    assert pages.begun == [None] * 3


@pytest.mark.parametrize(("version", "marks"), [("v", True), ("v", False), ("", True), ("", False)])
def test_what_does_not_pass_ends_the_run(version: str, marks: bool) -> None:
    """Also where the same documents come again at each try: that is no progress."""
    pages = Pages({2: [LOST] * 50}, version=version, marks=marks)
    with pytest.raises(SourceError, match="lost"):
        heard(pages)
    assert pages.waits == list(WAITS)


@pytest.mark.parametrize(
    "error",
    [SourceAuthError("no"), SourceGone("no"), SourceRateLimited("no", retry_after=LONGEST_WAIT + 1)],
)
def test_what_waiting_does_not_mend_is_raised_at_once(error: SourceError) -> None:
    pages = Pages({1: [error]})
    with pytest.raises(type(error)):
        heard(pages)
    assert pages.waits == []


def test_a_listing_and_a_fetch_go_on_too() -> None:
    async def hear() -> None:
        pages = Pages({1: [LOST]})
        listing = pages.patient().list_ids()
        assert listing is not None
        assert {name async for name in listing} == {"s:0", "s:1", "s:2"}
        pages = Pages({2: [LOST]})
        assert [one.id async for one in pages.patient().fetch(["a", "b", "c", "d"])] == ["a", "b", "c", "d"]
        assert pages.asked == [["a", "b", "c", "d"], ["c", "d"]]

    run(hear())


def test_a_source_that_hangs_is_given_up_and_not_asked_again() -> None:
    class Hanging(Pages):
        async def changes(self, cursor: str | None, known: dict[str, str]) -> AsyncIterator[object]:
            self.begun.append(cursor)
            yield document("s:00", "v")
            await asyncio.sleep(SILENCE - 1)
            yield document("s:01", "v")
            await asyncio.Event().wait()

    async def hear() -> None:
        pages = Hanging({})
        changes = pages.patient().changes(None, {})
        assert [getattr(await anext(changes), "id", "") for _ in range(2)] == ["s:00", "s:01"]
        with pytest.raises(SourceError, match="no sign of life for 10 minutes"):
            await anext(changes)
        assert pages.begun == [None]

    run(hear())
