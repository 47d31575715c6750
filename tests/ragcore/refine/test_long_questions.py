"""What is asked by a long message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.refine.long import LONGEST, PIECE, searched_of

ASKED = "What is paid for hotels in Munich?"
PROSE = "Yesterday we went through the whole list of offices and looked at each of the bills. "
LONG = (PROSE * 350).strip()


@pytest.mark.parametrize("text", [f"{ASKED} {LONG}", f"{LONG} {ASKED}", f"{LONG}\n{ASKED}\n{LONG}"])
def test_a_long_message_is_searched_by_what_it_asks(text: str) -> None:
    found = searched_of(text)
    if text.startswith(ASKED) or text.endswith(ASKED):
        assert found == ASKED
    else:
        assert len(found) <= 2 * PIECE + 1, "what stands in the middle of so much is not looked for"


def test_what_says_too_little_by_itself_has_the_ends_beside_it() -> None:
    found = searched_of(f"ERR_CONN_104 came up. {LONG} What does this mean?")
    assert found.startswith("ERR_CONN_104")
    assert found.endswith("What does this mean?")


@given(text=st.text(max_size=200) | st.sampled_from(["?", "a?", "x. ", "？", "\n"]), times=st.integers(0, 300))
def test_whatever_is_written_a_bounded_piece_of_it_is_searched_for(text: str, times: int) -> None:
    whole = (text * times)[:30_000]
    found = searched_of(whole)
    assert found == whole if len(whole) <= LONGEST else len(found) <= 5 * (PIECE + 1)


@given(shift=st.integers(0, 90), question=st.sampled_from([ASKED, "So?"]))
def test_no_word_is_cut(shift: int, question: str) -> None:
    """What a piece ends with is no half of a word, wherever the message is cut."""
    whole = f"{PROSE[shift:]}{LONG} {question}"
    assert set(searched_of(whole).split()) <= set(whole.split())
