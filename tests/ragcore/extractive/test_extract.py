import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.citations.markers import strip
from ragcore.extractive import ExtractOptions, extract
from ragcore.extractive.units import units_of
from ragcore.types import Chunk, ScoredChunk, SectionKind

LEAVE = (
    "Up to five unused days may be carried into the\nnext year and no more than that. They must be taken by 31 March. Requests go to the team lead "
    "two weeks ahead."
)
CODES = "| Code | Action |\n| --- | --- |\n| E-104 | Dry the contacts |\n| E-417 | Switch off \\| do not charge |\n|  | see the guide |\n"
RULES = "年休假为12天。其余部分须在次年6月30日之前使用。病假须当天通知主管。"


def scored(text: str, *, kind: SectionKind = SectionKind.TEXT, score: float = 0.8, title: str = "Doc") -> ScoredChunk:
    chunk = Chunk(
        id="g-0", document_id="s:a", knowledge_base="kb", ordinal=0, text=text, title=title, token_count=1, kind=kind
    )
    return ScoredChunk(chunk=chunk, score=score)


async def test_the_best_sentence_comes_first_and_a_pronoun_brings_its_noun() -> None:
    answer = await extract("How many unused days may be carried over?", [scored(LEAVE)], None)
    assert answer.startswith("Up to five unused days may be carried into the next year and no more than that [ID:0].")
    by_when = await extract("By which March date must they be taken?", [scored(LEAVE)], None)
    assert by_when == (
        "Up to five unused days may be carried into the next year and no more than that [ID:0]. They must be taken by 31 March [ID:0]."
    )


async def test_neighbours_stand_in_the_documents_order_whichever_was_chosen_first() -> None:
    text = "Unused days carry over. They lapse on 31 March. Leave days carry over in full after sick leave days."
    answer = await extract("How many leave days carry over?", [scored(text)], None)
    assert answer.index("Unused days") < answer.index("They lapse") < answer.index("Leave days")


async def test_a_table_row_reads_as_a_sentence() -> None:
    answer = await extract("What does E-417 mean?", [scored(LEAVE), scored(CODES, kind=SectionKind.TABLE)], None)
    assert answer == "Code: E-417; Action: Switch off | do not charge [ID:1]."


async def test_a_row_has_the_punctuation_of_its_columns() -> None:
    """A name or an address in another script doesn't change the language of the table."""
    sites = "| Site | Lead |\n| --- | --- |\n| Suzhou factory | 陈立华 |\n"
    answer = await extract("Who leads the Suzhou factory?", [scored(sites, kind=SectionKind.TABLE)], None)
    assert answer == "Site: Suzhou factory; Lead: 陈立华[ID:0]."
    prices = "| 产品 | 价格 |\n| --- | --- |\n| PE-21 | 86 |\n"
    answer = await extract("PE-21 的价格", [scored(prices, kind=SectionKind.TABLE)], None)
    assert answer == "产品：PE-21；价格：86 [ID:0]。"


async def test_chinese_sentences_join_without_spaces() -> None:
    answer = await extract("年休假几天，其余部分什么时候使用？", [scored(RULES)], None)
    assert answer == "年休假为12天[ID:0]。其余部分须在次年6月30日之前使用[ID:0]。"


async def test_nothing_to_quote_is_no_answer() -> None:
    assert await extract("anything", [], None) == ""
    assert await extract("anything", [scored("# Heading\n\n---\n")], None) == ""


async def test_the_same_sentence_is_quoted_once() -> None:
    answer = await extract("How many unused days may be carried over?", [scored(LEAVE), scored(LEAVE, score=0.7)], None)
    assert answer.count("unused days") == 1


WORDS = st.sampled_from(["leave", "days", "five", "The", "probe", "It", "年休假", "is", "dry", "104", "E-104", "taken"])
SENTENCE = st.lists(WORDS, min_size=3, max_size=12).map(lambda words: " ".join(words) + ".")
TEXT = st.lists(SENTENCE, min_size=1, max_size=8).map(" ".join)


@given(st.lists(TEXT, min_size=1, max_size=6), SENTENCE)
async def test_every_quoted_sentence_stands_whole_in_the_chunk_it_cites(texts: list[str], question: str) -> None:
    chunks = [scored(text, score=1 - i / 10) for i, text in enumerate(texts)]
    answer = await extract(question, chunks, None)
    quoted = re.findall(r"(.+?) ?\[ID:(\d+)\]([.。])\s*", answer)
    assert len(quoted) == answer.count("[ID:")
    assert len(quoted) <= ExtractOptions().sentences
    assert len({text for text, _, _ in quoted}) == len(quoted)
    for text, number, stop in quoted:
        assert text + stop in {unit.text for unit in units_of(chunks[int(number)].chunk, 0)}
    assert "[ID:" not in strip(answer)


@pytest.mark.parametrize("kind", list(SectionKind))
@given(text=st.text(max_size=400), question=st.text(max_size=80))
async def test_any_text_can_be_asked(kind: SectionKind, text: str, question: str) -> None:
    answer = await extract(question, [scored(text, kind=kind)], None)
    assert not answer or "[ID:0]" in answer
