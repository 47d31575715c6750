"""Contracts, whose articles have bare numbers, by the method ``laws``."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.chunking import ChunkOptions, laws
from ragcore.parsing import parse
from ragcore.types import Section
from tests.ragcore.chunking.made_up import TOKENIZER, check, numbered

CONTRACT = """\
SERVICE AGREEMENT

This agreement is made between Ada Ltd and Bo Ltd.

1. Definitions

In this agreement "Fee" means the sum of 100 shells.

2. Services

2.1 The supplier shall count puffins.

2.2 The supplier shall report each week:

(a) the number of puffins; and

(b) the weather.

3. Payment

3.1 The customer pays the Fee within 30 days.

3.2 Late payment bears interest.

4. Term and termination

This agreement ends on 31 March 2032. It may be ended earlier by
5. working days after a notice in the sense of clause 3.1.
"""
CHINESE_CONTRACT = """\
技术服务合同

甲方：海港公司
乙方：灯塔公司

一、服务内容

乙方每周清点一次海鸟。

二、付款

（一）甲方于三十日内付款。
（二）逾期每日加收百分之一。

三、期限

本合同于2032年3月31日终止。
"""


def pieces_of(text: str, name: str = "a.txt", tokens: int = 160):
    options = ChunkOptions(method="laws", chunk_tokens=tokens)
    return laws.chunk(parse(text.encode(), name=name).sections, options, TOKENIZER, None)


def test_the_articles_of_a_contract_are_whole_under_their_captions() -> None:
    _, *articles = pieces_of(CONTRACT)
    assert [piece.heading_path for piece in articles] == [
        ("1. Definitions",),
        ("2. Services",),
        ("3. Payment",),
        ("4. Term and termination",),
    ]
    assert articles[1].text.rstrip().endswith("(b) the weather.")
    assert articles[3].text.rstrip().endswith("clause 3.1.")
    _, *articles = pieces_of(CHINESE_CONTRACT)
    assert [piece.heading_path for piece in articles] == [("一、服务内容",), ("二、付款",), ("三、期限",)]
    assert "（二）逾期每日加收百分之一。" in articles[1].text


def test_a_long_article_is_cut_between_its_clauses_under_its_caption() -> None:
    long = "\n\n".join(
        f"2.{n} The supplier shall count puffins at the {n}. cliff, each of them twice." for n in range(1, 9)
    )
    pieces = pieces_of(CONTRACT.replace("2.1 The supplier shall count puffins.", long), tokens=60)
    services = [piece for piece in pieces if piece.heading_path == ("2. Services",)]
    assert len(services) > 2
    assert all(piece.text.startswith(("2. Services", "2.", "(a)", "(b)")) for piece in services)


@pytest.mark.parametrize(
    "text",
    [
        "To buy:\n\n1. Milk\n2. Eggs\n3. Bread\n4. Salt\n",
        "1. One\n\nText.\n\n2. Two\n\nText.\n",
        "Article 1. Terms\n\nText.\n\n1. One\n\nText.\n\n2. Two\n\nText.\n\n3. Three\n\nText.\n",
        "1. It rains.\n\nText.\n\n2. It pours.\n\nText.\n\n3. It stops.\n\nText.\n",
        "3. Three\n\nText.\n\n4. Four\n\nText.\n\n5. Five\n\nText.\n",
    ],
)
def test_lists_few_numbers_and_what_has_articles_of_its_own_is_no_contract(text: str) -> None:
    assert not any(name[:1].isdigit() for piece in pieces_of(text) for name in piece.heading_path)


ACT = """\
PART 1
PRELIMINARY

1 Short title
This Act may be cited as the Ferry Act 2031.

2 Interpretation
(1) In this Act "ferry" means a boat for hire.
(2) In subsection (1) "boat" includes a raft.

PART 2
OFFENCES

3 Fines
Whoever contravenes section 2 pays a fine.
"""
ACT_CONTENTS = "Sections:\n\n1 Short title\n2 Interpretation\n3 Fines\n\n"


@pytest.mark.parametrize("contents", ["", ACT_CONTENTS])
@pytest.mark.parametrize("third", ["3 Fines", "Section 3 Fines", "§ 3 Fines"])
def test_the_sections_of_a_british_act_stand_in_its_parts(third: str, contents: str) -> None:
    pieces = pieces_of(contents + ACT.replace("3 Fines", third))
    paths = [piece.heading_path for piece in pieces]
    assert paths[-3:-1] == [("PART 1 PRELIMINARY", "1 Short title"), ("PART 1 PRELIMINARY", "2 Interpretation")]
    assert paths[-1][0] == "PART 2 OFFENCES"
    assert third.startswith(paths[-1][1])
    assert [piece.text.rstrip().rpartition(" ")[2] for piece in pieces[-3:]] == ["2031.", "raft.", "fine."]


@pytest.mark.parametrize(
    "text",
    [
        "PART 1\n\nTake:\n\n1 Lamp\n2 Sail\n3 Oar\n\nPART 2\n\nGo.",
        "CHAPTER I\n\nArticle 1\nTerms\n\nThese are:\n\n1 Ferry\nA boat.\n\n2 Raft\nA float.\n",
        "PART 1\n\nIt sails on\n\n2 March\nand on\n\n3 April\nat nine.\n",
    ],
)
def test_lists_and_dates_in_the_parts_of_a_law_are_no_sections(text: str) -> None:
    assert not any(name[:1].isdigit() for piece in pieces_of(text) for name in piece.heading_path)


LINES = st.sampled_from(
    ["PART 1", "1 Lamps", "2 Sails", "Section 3 Oars", "附则", "1. Terms", "2. Services", "3. Payment", "4. End", "一、范围", "二、付款", "三、期限", "2.1 The fee is due.", "(a) soon;", "Text.", "and on", ""]
)  # fmt: skip


@given(st.lists(st.lists(LINES, max_size=12).map("\n".join), max_size=3), st.integers(16, 60))
def test_nothing_is_lost_nothing_doubled_nothing_over_budget(texts: list[str], tokens: int) -> None:
    sections = numbered([section for text in texts for section in parse(f"x\n{text}".encode(), name="a.txt").sections])
    options = ChunkOptions(method="laws", chunk_tokens=tokens)
    check(sections, laws.chunk(sections, options, TOKENIZER, None), options)


def test_a_list_of_sentences_is_no_contract_of_captions_with_their_text() -> None:
    text = "1. Open the lid. Wait.\n\n2. Fill in the water. It may be hot.\n\n3. Close it. Listen for the click.\n"
    assert {piece.heading_path for piece in laws.chunk([Section(text=text)], ChunkOptions(), TOKENIZER, None)} == {()}
