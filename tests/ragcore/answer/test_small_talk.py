import pytest

from ragcore.answer.small_talk import small_talk_language


@pytest.mark.parametrize(
    "message",
    [
        "Hi!",
        "  hello there 👋 ",
        "Thank you very much.",
        "你好！",
        "谢谢～",
        "Danke schön",
        "OK, thanks",
        "Hello! Thank you.",
        "谢谢，再见",
        "Hi,\nhow are you?",
        "Thanks 🙏, bye!",
    ],
)
def test_a_greeting_asks_nothing(message: str) -> None:
    assert small_talk_language(message)


@pytest.mark.parametrize(
    "message",
    [
        "hi, how many leave days are there?",
        "你好，年假几天",
        "",
        "thanks for nothing, what is E-104?",
        "hi " * 9000,
        "👋",
        "Thank you. And until when?",
        "!, ?",
        "hi, hi, hi, hi, hi",
    ],
)
def test_a_question_is_never_small_talk(message: str) -> None:
    assert not small_talk_language(message)


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("Hi!", "en"),
        ("Vielen Dank", "de"),
        ("merci :)", "fr"),
        ("谢谢。", "zh"),
        ("Спасибо!", "ru"),
        ("pump", ""),
        ("Hallo! Thanks.", "de"),
    ],
)
def test_small_talk_tells_its_language(message: str, language: str) -> None:
    assert small_talk_language(message) == language
