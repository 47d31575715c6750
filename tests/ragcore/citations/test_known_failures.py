"""What breaks citing in RAGFlow and in Onyx's bot, case by case: none of it may break here."""

import os
import subprocess
import sys

import pytest

from ragcore.citations import markers
from ragcore.citations.cite import cite
from ragcore.citations.sentences import split_sentences
from ragcore.citations.stream import HoldBack
from ragcore.prompts import render
from ragcore.types import Support
from tests.ragcore.citations.test_cite import CHUNKS, LEAVE, OFFICE, PLANS, chunk, cited_ids

LEAVE_SAID = "Full-time employees receive 25 days of paid leave a year"
CARRIED = "Up to 5 days carry over until 31 March"
OPENED = "The office in Lyon opened in 2019"
THAI = "นี่คือประโยคแรกที่ยาวมากและมีรายละเอียดมากมายหลายอย่าง"


def sentences(text: str) -> list[str]:
    return [text[s.body : s.body_end] for s in split_sentences(text)]


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        pytest.param(
            f"{LEAVE_SAID}. {CARRIED}.",
            f"{LEAVE_SAID} [ID:0]. {CARRIED} [ID:0].",
            id="ragflow-cites-each-chunk-once-an-answer",
        ),
        pytest.param(
            f"{OPENED}. Up to five days of leave carry over, until 31 March.",
            f"{OPENED} [ID:3]. Up to five days of leave carry over, until 31 March [ID:0].",
            id="ragflow-one-strong-sentence-silences-the-weaker",
        ),
        pytest.param(
            f"Use arr[0] in [2023]. {OPENED}.",
            f"Use arr[0] in [2023]. {OPENED} [ID:3].",
            id="ragflow-a-subscript-or-year-switches-attribution-off",
        ),
        pytest.param(
            f"Whales sing [ID:99]. {OPENED}.",
            f"Whales sing. {OPENED} [ID:3].",
            id="ragflow-an-invented-id-switches-attribution-off",
        ),
        pytest.param(
            f"{OPENED}:\n\n```\n{OPENED}.\n```\n",
            f"{OPENED}:\n\n```\n{OPENED}.\n```\n",
            id="ragflow-appends-a-marker-and-a-line-to-a-fence",
        ),
        pytest.param(PLANS.text, PLANS.text.replace("5 GB |", "5 GB [ID:2] |").replace("50 GB |", "50 GB [ID:2] |"),
                     id="ragflow-glues-the-rows-of-a-table"),
        pytest.param("年假10天。", "年假10天[ID:1]。", id="ragflow-drops-short-chinese-sentences"),
        pytest.param(f"{OPENED} [ID:0].", f"{OPENED} [ID:3].", id="ragflow-7232-right-answer-wrong-citation"),
        pytest.param(
            f"{OPENED} [ID:3][ID:3].", f"{OPENED} [ID:3].", id="ragflow-2843-the-same-citation-twice-in-a-row"
        ),
        pytest.param(f"{OPENED} [ID:31].", f"{OPENED} [ID:3].", id="ragflow-11821-index-out-of-range"),
        pytest.param(f"{OPENED} [9].", f"{OPENED} [9] [ID:3].", id="onyx-an-unknown-number-leaves-a-double-space"),
    ],
)  # fmt: skip
async def test_answers(answer: str, cited: str) -> None:
    assert (await cite(answer, CHUNKS)).text == cited


@pytest.mark.parametrize(
    ("written", "repaired"),
    [
        pytest.param("A [ID:1, ID:2].", "A [ID:1][ID:2].", id="ragflow-leaves-a-list-of-ids"),
        pytest.param("A [ID:1,2].", "A [ID:1][ID:2].", id="ragflow-leaves-a-short-list"),
        pytest.param("A [id:3].", "A [ID:3].", id="ragflow-leaves-small-letters"),
        pytest.param("A [ID:9].", "A.", id="ragflow-leaves-ids-out-of-range"),
        pytest.param("href3", "href3", id="ragflow-href3"),
        pytest.param("the pref 2", "the pref 2", id="ragflow-pref-2"),
        pytest.param("XREF 1", "XREF 1", id="ragflow-XREF-1"),
        pytest.param("git ref 3", "git ref 3", id="ragflow-git-ref-3"),
        pytest.param("`[ID: 1]`", "`[ID: 1]`", id="ragflow-rewrites-code"),
        pytest.param("```\n(ID: 1)\n```", "```\n(ID: 1)\n```", id="ragflow-rewrites-fences"),
        pytest.param("https://x.y/?q=(ID:1)", "https://x.y/?q=(ID:1)", id="ragflow-rewrites-addresses"),
        pytest.param("A [ID:1].", "A [ID:1].", id="onyx-lets-ID-1-through-untouched"),
        pytest.param("`arr[1]`", "`arr[1]`", id="onyx-links-inline-code"),
        pytest.param("All items[1] count.", "All items[1] count.", id="onyx-links-a-subscript"),
        pytest.param("Ends [1", "Ends", id="onyx-leaks-a-marker-cut-off"),
        pytest.param("So [0]. A [1; 2].", "So [ID:0]. A [ID:1][ID:2].", id="onyx-ignores-semicolons"),
        pytest.param("So [0]. A [1-2].", "So [ID:0]. A [ID:1][ID:2].", id="onyx-ignores-ranges"),
        pytest.param("A [ 1 ].", "A [ID:1].", id="onyx-ignores-spaces"),
        pytest.param("A [1](https://z.y).", "A [1](https://z.y).", id="onyx-glues-a-second-link-on"),
        pytest.param("So [0]. A [9].", "So [ID:0]. A.", id="langbot-leaves-a-number-that-leads-nowhere"),
    ],
)
def test_markers(written: str, repaired: str) -> None:
    assert markers.repair(written, 4) == repaired


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        pytest.param("It grew 5% in 2024. NASA launched it.", 2, id="ragflow-wants-a-small-letter-before-the-stop"),
        pytest.param("Это первое. Это второе.", 2, id="ragflow-never-splits-russian"),
        pytest.param("Πρώτη πρόταση. Δεύτερη πρόταση.", 2, id="ragflow-never-splits-greek"),
        pytest.param("Il est allé. Elle a mangé.", 2, id="ragflow-never-splits-behind-an-accent"),
        pytest.param("यह एक है। यह दो है।", 2, id="ragflow-never-splits-hindi"),
        pytest.param(f"{THAI} {THAI}", 2, id="ragflow-never-splits-thai"),
        pytest.param("Use it, e.g. in tests, i.e. here.", 1, id="ragflow-splits-at-eg"),
        pytest.param("Wow! It works.", 2, id="ragflow-drops-short-sentences"),
    ],
)
def test_sentences(text: str, parts: int) -> None:
    assert len(sentences(text)) == parts


async def test_ragflow_lists_every_document_when_nothing_is_cited() -> None:
    cited = await cite("Whales sing at night in the Pacific.", CHUNKS)
    assert (cited.citations, cited.support) == ((), Support.UNSUPPORTED)


async def test_ragflow_shows_quotes_that_it_has_shortened_and_marked_up() -> None:
    cited = await cite(f"{OPENED}. {LEAVE_SAID}.", CHUNKS)
    assert all(one.quote in CHUNKS[one.id].text for one in cited.citations)


async def test_ragflow_8594_and_3415_more_than_the_first_chunk_is_cited() -> None:
    twin = chunk(4, f"{OPENED}, near the station.", "News")
    cited = await cite(f"{OPENED}.", (LEAVE, OFFICE, twin))
    assert cited_ids(cited.text) == [1, 2]


def test_ragflow_orders_its_citations_by_chance() -> None:
    code = (
        "import asyncio; from tests.ragcore.citations.test_cite import chunk; from ragcore.citations.cite import cite;"
        "chunks = tuple(chunk(n, 'The pump stops when the tank is empty.') for n in range(6));"
        "print(asyncio.run(cite('The pump stops when the tank is empty.', chunks)).text)"
    )
    seen = {
        subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True,
                       text=True, check=True).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert seen == {"The pump stops when the tank is empty [ID:0][ID:1][ID:2][ID:3].\n"}


def test_onyx_misses_a_citation_that_comes_with_a_fence_in_one_piece() -> None:
    held = HoldBack()
    piece = "Cited [1]. ```py\nx[1].\n```\nAnd [2]."
    assert held.feed(piece) + held.close() == piece
    assert markers.repair(piece, 4) == "Cited [ID:1]. ```py\nx[1].\n```\nAnd [ID:2]."


def test_ragflow_6402_its_rule_of_four_citations_leaks_into_answers() -> None:
    """Nothing can keep a model from it for certain; it is told not to, with the rules and wherever they stand."""
    assert "never speak of the marks" in render("answer_system", quote=True)
    assert "never speak of the marks" in render("citation_plus")


@pytest.mark.parametrize(
    "written",
    [
        f"{LEAVE_SAID} [citation: ID:0].",
        f"{LEAVE_SAID} (source: ID:0).",
        f"{LEAVE_SAID} [Source ID:0].",
        f"{LEAVE_SAID} [ID:-1].",
        f"{LEAVE_SAID} [ID:0.5].",
    ],
)
async def test_what_was_meant_as_a_marker_does_not_stay_beside_the_right_one(written: str) -> None:
    assert (await cite(written, (LEAVE,))).text == f"{LEAVE_SAID} [ID:0]."


async def test_a_footnote_does_not_keep_a_sentence_from_being_attributed() -> None:
    assert (await cite(f"{LEAVE_SAID} [^1].", (LEAVE,))).citations


async def test_courtesy_needs_no_source() -> None:
    cited = await cite("Thanks for asking! Anything else?", CHUNKS, question="What is the rule for leave of the team?")
    assert cited.support is Support.EXEMPT
    assert (await cite("Thanks to whales, the sea is full of songs that nobody in it can hear.", CHUNKS)).support is (
        Support.UNSUPPORTED
    )
