import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.rendering.clean import clean, clean_line, clean_url


@pytest.mark.parametrize(
    ("dirty", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;owned title\x07after", "after"),
        ("\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\", "click"),
        ("\x9b31mred", "red"),
        ("\x1b]0;never ended, words stay", "0;never ended, words stay"),
        ("\x1bPq#0\x1b\\ok", "ok"),
        ("bell\x07 back\x08space nul\x00", "bell backspace nul"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("\u202egnp.exe", "gnp.exe"),
        ("tab\tstays, 年假 too, 👩‍💻 too", "tab\tstays, 年假 too, 👩‍💻 too"),
        ("half \ud800 pair", "half  pair"),
    ],
)
def test_escapes_and_controls_go_and_words_stay(dirty: str, shown: str) -> None:
    assert clean(dirty) == shown


@given(st.text(alphabet=st.characters()))
def test_what_is_left_can_be_printed(text: str) -> None:
    shown = clean(text)
    assert not any(ord(c) < 32 and c not in "\n\t" for c in shown)
    assert not any(0x7F <= ord(c) <= 0x9F for c in shown)
    assert clean(shown) == shown
    shown.encode("utf-8")
    assert "\n" not in clean_line(text)
    assert not any(c.isspace() for c in clean_url(text))
