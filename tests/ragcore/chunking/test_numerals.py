import pytest

from ragcore.chunking.numerals import value_of


@pytest.mark.parametrize(
    ("numeral", "value"),
    [("5", 5), ("5a", 5), ("１２", 12), ("IV", 4), ("XIX", 19), ("B", 2), ("C", 100), ("TWELVE", 12), ("First", 1), ("", 0), ("?", 0),
     ("十", 10), ("十二", 12), ("二十", 20), ("一百二十", 120), ("一百零五", 105), ("一千二百六十", 1260), ("二〇", 20), ("两", 2)],
)  # fmt: skip
def test_the_value_of_a_numeral(numeral: str, value: int) -> None:
    assert value_of(numeral) == value
