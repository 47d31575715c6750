from hypothesis import given
from hypothesis import strategies as st

from ragcore.chunking import embedding_text


def test_title_and_headings_stand_in_a_line_before_the_text() -> None:
    assert embedding_text("Handbook", ("Leave", "Carry-over"), "Five days.\n\n") == (
        "Handbook > Leave > Carry-over\nFive days."
    )


def test_what_was_said_is_not_said_again() -> None:
    assert embedding_text("Leave", ("Leave", "", "Sick\nleave"), "x") == "Leave > Sick leave\nx"


def test_without_a_place_the_text_stands_alone() -> None:
    assert embedding_text("", (), " x ") == "x"


@given(st.text(max_size=20), st.lists(st.text(max_size=20), max_size=4), st.text(max_size=60))
def test_the_text_is_its_end(title: str, path: list[str], text: str) -> None:
    embedded = embedding_text(title, path, text)
    plain = embedding_text("", (), text)
    assert embedded.endswith(plain)
    assert embedded.removesuffix(plain).count("\n") <= 1


def test_ligatures_and_soft_hyphens_are_letters_again() -> None:
    assert embedding_text("Eﬃcient", (), "a uniﬁed tool\u00adkit") == "Efficient\na unified toolkit"
