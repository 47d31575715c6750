"""Every sentence exists in every language, and unknown languages read English."""

import pytest

from ragcore.phrases import LANGUAGES, PHRASES, phrase


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_is_there_and_its_own(language: str) -> None:
    sentences = [phrase(key, language, seconds=30) for key in PHRASES]
    assert all(sentences)
    assert len(set(sentences)) == len(PHRASES)
    assert "30" in phrase("rate_limited", language, seconds=30)
    assert not any("{" in sentence for sentence in sentences)


def test_no_language_repeats_another() -> None:
    for key in PHRASES:
        assert len({phrase(key, language) for language in LANGUAGES}) == len(LANGUAGES)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0, "2 seconds"), (32, "32 seconds"), (119, "119 seconds"), (120, "2 minutes"), (121, "3 minutes"),
     (7199, "120 minutes"), (32031, "9 hours")],
)  # fmt: skip
def test_a_wait_is_told_in_a_unit_that_a_person_can_take_in(seconds: int, told: str) -> None:
    assert f"in about {told}." in phrase("rate_limited", "en", seconds=seconds)


@pytest.mark.parametrize(("tag", "like"), [("zh-TW", "zh"), ("de_AT", "de"), ("PT-br", "pt"), ("ar", "en"), ("", "en")])
def test_language_tags(tag: str, like: str) -> None:
    assert phrase("empty_response", tag) == phrase("empty_response", like)
