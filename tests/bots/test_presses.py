"""Two quick presses on one button do what one does; all others are served."""

import asyncio

import pytest

from bots.presses import QUICK, REMEMBERED, Presses
from tests.fakes.virtual import run

BUTTON = ("U1", "C1/1.5", "cb:quotes:0123abcd:")


def served(presses: Presses, *press: str) -> bool:
    with presses.one(*(press or BUTTON)) as is_first:
        return is_first


def test_while_one_is_served_and_just_after_no_other_is() -> None:
    async def talk() -> None:
        presses = Presses()
        with presses.one(*BUTTON) as is_first:
            assert is_first
            await asyncio.sleep(100 * QUICK)
            assert not served(presses)
        await asyncio.sleep(0.9 * QUICK)
        assert not served(presses)
        await asyncio.sleep(0.2 * QUICK)
        assert served(presses)

    run(talk())


@pytest.mark.parametrize(
    "other",
    [("U2", *BUTTON[1:]), (BUTTON[0], "C1/1.6", BUTTON[2]), (*BUTTON[:2], "cb:up:0123abcd:")],
    ids=["person", "message", "button"],
)
def test_another_press_is_another(other: tuple[str, str, str]) -> None:
    async def talk() -> None:
        presses = Presses()
        assert served(presses)
        assert served(presses, *other)

    run(talk())


def test_who_changes_their_mind_quickly_is_followed() -> None:
    async def talk() -> None:
        presses = Presses()
        sides = ["up", "down", "up", "up", "down"]
        assert [served(presses, "U1", "C1/1.5", side) for side in sides] == [True, True, True, False, True]

    run(talk())


def test_one_that_failed_may_be_pressed_again_at_once() -> None:
    async def talk() -> None:
        presses = Presses()
        with pytest.raises(ValueError, match="away"), presses.one(*BUTTON):
            raise ValueError("away")
        assert served(presses)

    run(talk())


def test_the_latest_are_remembered() -> None:
    async def talk() -> None:
        presses = Presses()
        for number in range(REMEMBERED + 1):
            assert served(presses, "U1", str(number), "b")
        assert served(presses, "U1", "0", "b")
        assert not served(presses, "U1", str(REMEMBERED), "b")

    run(talk())
