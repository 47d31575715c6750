import json
import pathlib

import pytest

from ragcore.answer.small_talk import is_signs_alone, small_talk_language


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
        "Danke dir!",
        "merci bien",
        "Grazie mille",
        "dziękuję",
        "dank je wel",
        "hola, ¿qué tal?",
        "Thanks for your help",
        "Vielen Dank für die schnelle Hilfe!",
        "Thanks a lot, that helped!",
        "Wie geht’s?",
        "Guten Morgen zusammen",
        "hey bot",
        "Hi Citebot",
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
        "all",
        "bot",
        "Thanks for your help with the leave days",
        "Wie geht es weiter?",
        "hello world",
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
        ("ok danke", "de"),
        ("ok", "en"),
        ("Ciao!", "it"),
        ("Gracias por tu ayuda", "es"),
    ],
)
def test_small_talk_tells_its_language(message: str, language: str) -> None:
    assert small_talk_language(message) == language


def test_emoji_alone_ask_nothing() -> None:
    for signs in ("👍", "🎉🎉", "👍🏽 ❤️", "👩‍💻"):
        assert is_signs_alone(signs)
    for text in ("", "?", "!, ?", "👍 ok", "1️⃣", "+"):
        assert not is_signs_alone(text)


def test_no_question_of_the_judged_sets_is_small_talk(bench: pathlib.Path) -> None:
    files = sorted(bench.glob("*/queries*.jsonl"))
    texts = {json.loads(line).get("query", "") for path in files for line in path.read_text("utf-8").splitlines()}
    assert len(texts) > 1_000
    assert [text for text in texts if small_talk_language(text) or is_signs_alone(text)] == []
