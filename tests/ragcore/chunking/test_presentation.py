import pathlib
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.chunking import ChunkOptions, chunk_sections
from ragcore.chunking.presentation import MOST_TOKENS
from ragcore.parsing import parse
from ragcore.tokens import offline_tokenizer
from ragcore.types import Location, Section, SectionKind
from tests.ragcore.nasty import NASTY

TOKENIZER = offline_tokenizer()
SLIDES = ChunkOptions(method="presentation")
NAIVE = ChunkOptions()
DECKS = pathlib.Path(__file__).parents[4] / "shared/bench/documents"

slides = st.lists(
    st.builds(
        Section,
        text=NASTY,
        kind=st.sampled_from([SectionKind.TEXT, SectionKind.CODE]),
        heading_path=st.lists(st.sampled_from(["A", "B"]), max_size=2).map(tuple),
        location=st.one_of(st.builds(Location, slide=st.integers(0, 4)), st.builds(Location, page=st.integers(1, 4))),
    ),
    max_size=8,
)


@given(slides)
def test_nothing_is_lost_and_no_piece_holds_two_slides(found: list[Section]) -> None:
    pieces = chunk_sections(found, SLIDES, TOKENIZER)
    bare = ["".join(section.text.split()) for section in found]
    assert "".join("".join(piece.text[piece.overlap :].split()) for piece in pieces) == "".join(bare)
    for piece in pieces:
        assert piece.token_count == TOKENIZER.count(piece.text) <= MOST_TOKENS
        assert (piece.location.slide, piece.location.page) in {(s.location.slide, s.location.page) for s in found}
    together = groupby(found, key=lambda section: section.location.slide or section.location.page)
    for number, group in together:
        texts = [section.text for section in group if section.text.strip()]
        if number and texts and TOKENIZER.count("\n\n".join(texts)) <= MOST_TOKENS:
            assert "\n\n".join(texts) in [piece.text for piece in pieces]


def test_a_slide_is_one_chunk_with_table_and_notes_whatever_its_size() -> None:
    table = "| year | sales |\n| --- | --- |\n| 2025 | 12 |"
    notes = "Tell them why the second quarter was weak. " * 30
    found = [
        Section(text="# Sales\n\n- up", heading_path=("Sales",), location=Location(slide=2)),
        Section(text=table, kind=SectionKind.TABLE, heading_path=("Sales",), location=Location(slide=2)),
        Section(text=notes, heading_path=("Sales",), location=Location(slide=2)),
        Section(text="# Thanks", heading_path=("Thanks",), location=Location(slide=3)),
    ]
    sales, thanks = chunk_sections(found, SLIDES, TOKENIZER)
    assert sales.text == f"# Sales\n\n- up\n\n{table}\n\n{notes}"
    assert sales.token_count > NAIVE.chunk_tokens
    assert (sales.heading_path, sales.location, sales.kind) == (("Sales",), Location(slide=2), SectionKind.TEXT)
    assert (thanks.text, thanks.location) == ("# Thanks", Location(slide=3))


def test_the_pages_of_a_pdf_are_slides() -> None:
    found = [Section(text=f"Text {n}.", location=Location(page=n // 2 + 1)) for n in range(6)]
    pieces = chunk_sections(found, SLIDES, TOKENIZER)
    assert [(piece.text, piece.location.page) for piece in pieces] == [
        ("Text 0.\n\nText 1.", 1),
        ("Text 2.\n\nText 3.", 2),
        ("Text 4.\n\nText 5.", 3),
    ]


def test_a_page_of_prose_and_a_text_without_pages_are_cut_as_naive_does() -> None:
    for place in (Location(page=1), Location()):
        found = [Section(text="One sentence of many. " * 600, location=place), Section(text="End.", location=place)]
        assert chunk_sections(found, SLIDES, TOKENIZER) == chunk_sections(found, NAIVE, TOKENIZER)


@pytest.mark.parametrize("name", ["markitdown-test.pptx", "unstructured-fake-power-point-table.pptx"])
def test_a_real_deck_has_a_chunk_a_slide(name: str) -> None:
    if not (DECKS / name).exists():
        pytest.skip("the public documents are not here: ../shared/bench/documents")
    found = parse((DECKS / name).read_bytes(), name=name).sections
    pieces = chunk_sections(found, SLIDES, TOKENIZER)
    numbers = [section.location.slide for section in found]
    assert [piece.location.slide for piece in pieces] == sorted(set(numbers))
    whole = {piece.location.slide: piece.text for piece in pieces}
    assert all(section.text in whole[section.location.slide] for section in found)
