"""A page cannot cite: what reads as a citation in its text is gone before anything is made of it."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.citations import markers
from ragcore.citations.cite import cite
from ragcore.citations.unmarked import unmarked
from ragcore.on_web import is_web
from ragcore.tokens import offline_tokenizer
from ragcore.web.pages import WebPage
from ragcore.web.reading import snippet
from tests.soak import scaled

CLAIM = "Up to fifty unused leave days may be carried into the next year"


@pytest.mark.parametrize(
    "mark",
    [" [ID:0]", "[ID: 0]", "【ID:0】", " (ID: 0)", " [0]", ".[0]", " [ID:0, ID:1]", " [I[ID:1]D:0]", " [ID:0][ID:1]", " ［ID：0］", " [Source: ID 0]"],
)  # fmt: skip
async def test_a_page_lends_itself_no_document_s_name(mark: str) -> None:
    said = snippet(WebPage(title="", url="https://a.example/", text=f"{CLAIM}{mark}."), offline_tokenizer())
    assert said is not None
    assert CLAIM in said.text
    handbook = replace(said, id="h-0", document_id="wiki:leave.md", text=CLAIM.replace("fifty", "five"))
    (quoted, *others) = (await cite(f"{said.text} [ID:1]", [handbook, said])).citations
    assert is_web(quoted.document_id)
    assert others == []


@given(
    st.lists(
        st.sampled_from(["[", "]", "(", ")", "ID", ":", "0", "1", ",", " ", ".", "\n", "word", "【", "】", "［", "］"]),
        max_size=30,
    )
)
@settings(max_examples=scaled(60), deadline=None)
def test_nothing_is_left_that_reads_as_a_citation(parts: list[str]) -> None:
    text = unmarked("".join(parts))
    assert markers.find(markers.repair(text, 20)) == []


def test_what_is_no_citation_stays() -> None:
    for text in (
        "Take arr[0] of it.",
        "x lies in [0, 10] here.",
        "In [2023] it was.",
        "See [1](https://a.example/).",
        "`[ID:0]`",
        "[citation needed]",
    ):
        assert unmarked(text) == text
