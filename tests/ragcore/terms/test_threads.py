"""Terms are the same in whatever thread they are found, and however many find them at once."""

import sys
import threading
from collections.abc import Iterator

import pytest

from ragcore.terms.normal import stem

WORDS = [f"{head}{tail}" for head in ("organ", "relat", "condit", "form", "digit", "oper", "happi", "electr", "hope")
         for tail in ("ization", "ational", "ional", "alism", "izer", "ator", "ness", "icity", "fulness", "ously")]  # fmt: skip


@pytest.fixture
def often() -> Iterator[None]:
    """Have threads take turns after a few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("often")
def test_words_stem_alike_in_threads_side_by_side() -> None:
    expected = [stem(word) for word in WORDS]
    found: list[list[str]] = []
    faults: list[IndexError] = []

    def work(turn: int) -> None:
        try:
            for _ in range(4):
                moved = [stem(word) for word in (*WORDS[turn:], *WORDS[:turn])]
                found.append([*moved[len(WORDS) - turn :], *moved[: len(WORDS) - turn]])
        except IndexError as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(11 * turn,)) for turn in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert all(one == expected for one in found)
