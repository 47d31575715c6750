import pathlib
import re
import tempfile

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ragcore.retrieval.references import NO_AGREEMENT, Reference, agreement_with, references
from ragcore.terms import terms
from tests.fakes.libraries import fill, opened
from tests.ragcore.retrieval.test_retriever import WordEmbedder, ids, retriever
from tests.soak import scaled

WORDS = ("ERR", "KX", "PROJ", "ISO", "QTR", "BOLT")
STYLES = (
    "ERR_MAIN_{n}",
    "PROJ-{n}",
    "ISO {n}",
    "#{n}",
    "§ {n}(4)",
    "CVE-2019-{n}",
    "国发〔2021〕{n}号",
    "v7.{n}.2",
    "KX{n}",
)
WAYS = (
    "{x}",
    '"{x}"',
    "{x}?",
    "What does {x} mean for us?",
    "waht dose {x} maen fro us",
    "Hi all, a customer called the desk this morning and asked about {x}. What should we answer them?",
    "请问{x}是什么意思？",
    "关于 {x} 有什么规定",
)


def found(text: str) -> tuple[Reference, ...]:
    return references(text, terms(text))


def agreed(question: str, text: str) -> float:
    (reference,) = found(question)
    return agreement_with(reference, text).size


@pytest.mark.parametrize(
    ("question", "core", "sure"),
    [
        ("What does ERR_CONN_104 mean?", ("err", "conn", "104"), True),
        ("which release is v2.3.1", ("v", "2", "3", "1"), True),
        ("What does ISO 9001 ask of us?", ("9001",), True),
        ("关于ISO 9001有什么规定", ("9001",), True),
        ("who signed § 12(3)?", ("12", "3"), True),
        ("is #0042 done", ("42",), True),
        ("is No. 42 done", ("42",), True),
        ("国发〔2023〕5号是什么", ("2023", "5"), True),
        ("what does APP MAIL LIMIT do", ("app", "mail", "limit"), False),
        ("is port 5432 open", ("5432",), False),
    ],
)
def test_a_reference_is_found_in_a_question(question: str, core: tuple[str, ...], sure: bool) -> None:
    (reference,) = found(question)
    assert (reference.core, reference.sure) == (core, sure)


@pytest.mark.parametrize(
    "question",
    [
        "How many days of leave do I have?",
        "Who won in 2010?",
        "step 3 of the plan",
        "no longer alive",
        "年假有几天",
        "",
    ],
)
def test_what_names_nothing_is_no_reference(question: str) -> None:
    assert found(question) == ()


def test_capitals_tell_nothing_where_all_is_in_capitals() -> None:
    (reference,) = found("WHO HAS TO SIGN FOR ISO 9001 TODAY")
    assert (reference.core, reference.before[:1]) == (("9001",), ("iso",))


@pytest.mark.parametrize(
    ("question", "same", "other"),
    [
        ("ISO 9001", "see ISO-9001.", "see ISO 90011."),
        ("ERR CONN 104", "ERR_CONN_104 means", "ERR_DISK_104 means"),
        ("§ 12(3)", "by §12 (3) of the act", "by § 3(12) of the act"),
        ("Section 12(3)", "by § 12(3) of the act", "by § 12(3)(a) of the act"),
        ("v2.3.1", "in v2.3.1.", "in v2.3.1.4"),
        ("#1234", "No. 1234", "1234"),
        ("GBT 19001-2016", "按GB/T 19001—2016执行", "按GB/T 19001.2-2016执行"),
        ("国发2014年31号", "国发〔2014〕31号文件", "国发〔2013〕31号文件"),
        ("AX 4410 B", "part AX-4410-B", "part AX-4410"),
    ],
)
def test_the_same_written_otherwise_agrees_further_than_a_neighbour(question: str, same: str, other: str) -> None:
    assert agreed(question, same) > agreed(question, other)


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_may_be_compared_with_any_question(question: str, text: str) -> None:
    for reference in found(question):
        agreement = agreement_with(reference, text)
        assert 0 <= agreement.size <= len(reference.core) + len(reference.before) + len(reference.after)
        assert reference.core
        assert all(name and all(name) for name in reference.names if name)


@given(st.sampled_from(WORDS), st.integers(100, 99_999))
def test_a_text_agrees_with_what_it_says_itself(word: str, number: int) -> None:
    for written in (f"{word} {number}", f"{word}-{number}", f"{word}_{number}", f"{word}{number}"):
        (reference,) = found(f"what is {written}")
        assert agreement_with(reference, f"It is {written}, they say.").size >= 2
        assert agreement_with(reference, f"It is {written}7, they say.") == NO_AGREEMENT


def of_neighbours(identifiers: list[tuple[str, str]]) -> dict[str, str]:
    """Make a document for each identifier, and for others that its number begins, follows or stands in."""
    texts = {}
    for place, (style, number) in enumerate(identifiers):
        near = str(int(number) + 1), f"{number}5"
        for name, one in zip((f"{place}", f"{place}-next", f"{place}-longer"), (number, *near), strict=True):
            written = style.replace("{n}", one)
            loud = "" if one == number else f"It is about {written}, and {written} alone. "
            texts[name] = (
                f"# Rules\n\nAll of us follow the plan. When {written} comes up, tell the desk. {loud}It answers."
            )
        parts = re.findall("[A-Z]+|[0-9]+", style.replace("{n}", number))
        texts[f"{place}-parts"] = "# Lists\n\n" + " ".join(f"The desk has a list of {part} too." for part in parts)
    return texts


@settings(max_examples=scaled(8))
@given(
    st.lists(st.tuples(st.sampled_from(STYLES), st.integers(211, 1_799).map(str)), min_size=3, max_size=3, unique=True),
    st.lists(st.sampled_from(WAYS), min_size=4, max_size=4, unique=True),
)
async def test_an_identifier_finds_its_document_first(identifiers: list[tuple[str, str]], ways: list[str]) -> None:
    assume(not any(a != b and abs(int(a) - int(b)) < 2 for _, a in identifiers for _, b in identifiers))
    with tempfile.TemporaryDirectory() as folder:
        async with opened(pathlib.Path(folder), WordEmbedder()) as library:
            await fill(library, of_neighbours(identifiers))
            search = retriever(library)
            for place, (style, number) in enumerate(identifiers):
                for way in ways:
                    asked = way.replace("{x}", style.replace("{n}", number))
                    assert (await ids(search, asked))[:1] == [f"s:{place}"], asked
