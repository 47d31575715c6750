"""The name of a family holds each of its members, and what a sentence opens with is no answer about it."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.extractive.families import names_family
from ragcore.extractive.form import main_clause
from ragcore.models.minilm import MiniLMEmbedder
from tests.ragcore.extractive.asking import direct
from tests.ragcore.extractive.test_unanswered import scored

FAMILIES = ("{} series", "{}-Serie", "{} range", "the {} family", "{}系列", "series {}", "gamme {}")
LETTERS = st.text(string.ascii_lowercase, min_size=1, max_size=6)


@given(LETTERS, LETTERS, st.integers(1, 9999), st.sampled_from(("", "-", " ")), st.sampled_from(FAMILIES))
def test_a_family_holds_its_members_and_no_others(
    letters: str, others: str, number: int, joint: str, family: str
) -> None:
    text = f"Meters of {family.format(letters.upper())} carry a warranty."
    assert names_family(f"{letters}{joint}{number}", text)
    assert names_family(f"{others}{joint}{number}", text) is (others == letters)
    assert not names_family(letters, text)


@given(LETTERS, st.text(string.digits, min_size=1, max_size=5), st.integers(0, 5))
def test_an_x_stands_for_any_digit(letters: str, digits: str, left_open: int) -> None:
    kept = digits[: max(0, len(digits) - left_open)]
    pattern = f"{letters.upper()}-{kept}{'x' * (len(digits) - len(kept))}"
    if kept != digits and "x" not in letters:
        assert names_family(f"{letters}-{digits}", f"Errors {pattern} need service.")
        assert not names_family(f"{letters}-{digits}0", f"Errors {pattern} need service.")


@pytest.mark.parametrize(
    ("member", "text"),
    [
        ("a4", "We sell a range of printers."),
        ("a4", "It was introduced as a family of sensors."),
        ("in-5", "Please stay in line."),
        ("carry7", "The TW series carry a warranty."),
        ("f7", "The series FX is new."),
    ],
)
def test_words_that_only_look_like_a_family_are_none(member: str, text: str) -> None:
    assert not names_family(member, text)


@pytest.mark.parametrize(
    ("member", "text"),
    [
        ("tw-200", "The TW series of meters carries a warranty of 36 months."),
        ("tw-200", "本公司TW系列仪表保修期为36个月。"),
        ("e-204", "错误E-20x需要返厂。"),
        ("e-204", "遇到E-2xx时重启。"),
    ],
)
def test_a_family_is_named_wherever_it_stands(member: str, text: str) -> None:
    assert names_family(member, text)


WARRANTY = scored("Meters of the TW series carry a warranty of 36 months from the date of delivery.")
LOAN = scored("While a TW-200 is being repaired under warranty, a loan meter is sent free of charge.", title="Repairs")


@pytest.mark.parametrize("asked", ["What is the warranty of a TW-200?", "warranty TW-350"])
async def test_what_holds_for_a_family_answers_for_its_member(asked: str) -> None:
    for embedder in (None, MiniLMEmbedder()):
        assert "36 months" in await direct(asked, [LOAN, WARRANTY], embedder)


async def test_what_a_sentence_only_opens_with_is_not_told_by_it() -> None:
    assert not await direct("What is the warranty of a TW-200?", [LOAN], None)
    assert await direct("What is sent while a TW-200 is being repaired?", [LOAN], None)
    assert await direct("What is the charge for a loan meter?", [LOAN], None)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Which number do I call for a stolen card?", "If a card is lost or stolen, call 0800 123."),
        ("How much is the deposit for a key?", "If you need a key, a deposit of 50 euros is charged."),
        ("What is the notice period in the probation?", "During the probation period, the notice period is two weeks."),
        ("Wie hoch ist die Gebühr bei verspäteter Zahlung?", "Wenn die Zahlung verspätet ist, wird eine Gebühr von 10 Euro erhoben."),
        ("Who must sign an expense report over 500 euros?", "If an expense report exceeds 500 euros, the head of finance must sign it."),
    ],
)  # fmt: skip
async def test_a_sentence_that_opens_with_a_condition_answers_for_it(asked: str, said: str) -> None:
    for embedder in (None, MiniLMEmbedder()):
        assert await direct(asked, [scored(said, title="Handbook"), LOAN], embedder)


async def test_a_condition_alone_is_no_answer() -> None:
    said = scored("If a TW-200 is under warranty, a loan device is sent free of charge.", title="Repairs")
    assert not await direct("What is the warranty of a TW-200?", [said], None)


async def test_a_word_that_the_best_passages_lack_is_sought_in_the_others() -> None:
    about = [scored(f"The TW-350 is {what}.", title="TW-350") for what in ("blue", "light", "new", "small", "round")]
    assert "36 months" in await direct("How long is the TW-350 under warranty?", [*about, WARRANTY], None)


@pytest.mark.parametrize(
    ("sentence", "rest"),
    [
        ("While it is repaired, a meter is sent.", "a meter is sent."),
        ("A meter is sent while it is repaired.", "A meter is sent while it is repaired."),
        ("Wenn es regnet, bleibt der Laden zu.", "bleibt der Laden zu."),
        ("If so: call us, please.", "If so: call us, please."),
        ("After 1,000 hours, replace it.", "After 1,000 hours, replace it."),
    ],
)
def test_the_main_clause_is_what_follows_the_clause_that_opens(sentence: str, rest: str) -> None:
    assert main_clause(sentence) == rest
