"""The language of a sentence, and whether two texts share one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.citations.languages import LATIN, shared, tongue


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The pump stops when the tank is empty.", "en"),
        ("Die Pumpe hält an, wenn der Tank leer ist.", "de"),
        ("La pompe s'arrête quand le réservoir est vide.", "fr"),
        ("La bomba se para cuando el depósito está vacío.", "es"),
        ("La pompa si ferma quando il serbatoio è vuoto.", "it"),
        ("A bomba para quando não há água no depósito e as luzes são apagadas.", "pt"),
        ("De pomp stopt als het vat leeg is.", "nl"),
        ("Pumpen stannar när tanken är tom och det är natt.", "sv"),
        ("Pompa nie działa, gdy zbiornik jest pusty.", "pl"),
        ("水箱空时水泵停止。", "zh"),
        ("Насос останавливается.", "ru"),
        ("Pro, 50 GB", LATIN),
        ("", LATIN),
    ],
)
def test_a_language_is_told_by_its_small_words(text: str, language: str) -> None:
    assert tongue(text) == language


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ("en", "en", "en"), ("en", "de", ""), ("en", LATIN, "en"), (LATIN, "de", "de"), (LATIN, LATIN, "en"),
        ("zh", LATIN, ""), ("zh", "zh", "zh"), ("ru", "en", ""),
    ],
)  # fmt: skip
def test_a_shared_language_is_the_one_that_is_known(one: str, other: str, both: str) -> None:
    assert shared(one, other) == shared(other, one) == both


@given(st.text(max_size=80))
def test_any_text_shares_a_language_with_itself(text: str) -> None:
    assert shared(tongue(text), tongue(text))


@pytest.mark.parametrize(
    ("text", "around", "language"),
    [
        ("Los Angeles is in California.", (), "en"),
        ("She moved to Rio de Janeiro with her cat.", (), "en"),
        ("Kuitit on toimitettava, kun matka on ohi ja lasku on tullut.", (), "fi"),
        ("Zaměstnanci na plný úvazek mají nárok na 25 dní.", (), "cs"),
        ("Nhân viên được nghỉ phép 25 ngày mỗi năm.", (), "vi"),
        ("Kartını kaybeden çalışanlar bunu bir gün içinde bildirmelidir.", (), "tr"),
        ("Voltijdmedewerkers krijgen 25 vakantiedagen.", ("Hoeveel dagen heb ik per jaar en wat is de regel?",), "nl"),
        ("25 Urlaubstage.", ("25 Urlaubstage.", "Wie viele Tage Urlaub habe ich?"), "de"),
        ("25 Urlaubstage.", ("休假有几天？",), "zh"),
        ("It is the limit of the plan.", ("Wie viele Tage Urlaub habe ich?",), "en"),
    ],
)
def test_what_stands_around_tells_the_language_of_what_does_not_show_it(
    text: str, around: tuple[str, ...], language: str
) -> None:
    assert tongue(text, around) == language
