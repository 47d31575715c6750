import time
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragcore.chunking import METHODS, ChunkOptions, Method, Piece, paper, paper_authors
from ragcore.parsing import parse
from ragcore.types import Section, SectionKind
from tests.conftest import BENCH
from tests.ragcore.chunking.made_up import PAPER, TOKENIZER, check, numbered
from tests.ragcore.nasty import FRAGMENTS
from tests.soak import scaled

DEFAULT = ChunkOptions(method="paper", chunk_tokens=256)
LINES = (
    "Abstract", "Abstract. We count.", "摘要：我们数鸟。", "Keywords: birds", "1 Introduction", "2 Methods", "2.1 Data", "3. Birds", "II. RESULTS",
    "A. Ferries", "一、引言", "Results", "# Puffins", "## References", "References", "参考文献", "[1] A. Skerry. Birds.", "Appendix A",
    "Figure 1: The deck.", "![deck](deck.png)", "Table 2. Counts.", "图1 灯塔", "Figure 1 shows it.", "The ferry sails at nine.", "", "", "",
)  # fmt: skip

texts = st.lists(st.sampled_from([*LINES, *FRAGMENTS]), max_size=14).map("\n".join)
headings = st.sampled_from(
    [(), ("Puffins",), ("Abstract",), ("1 Introduction",), ("2 Methods", "2.1 Data"), ("5 End", "References")]
)
kinds = st.sampled_from([SectionKind.TEXT] * 4 + [SectionKind.CODE, SectionKind.TABLE])
sections = st.lists(st.builds(Section, text=texts, heading_path=headings, kind=kinds), max_size=4).map(numbered)
options = st.builds(
    ChunkOptions, method=st.just("paper"), chunk_tokens=st.integers(16, 80), overlap=st.sampled_from([0.0, 0.25])
)


def pieces_of(text: str, chosen: ChunkOptions = DEFAULT, name: str = "paper.txt") -> list[Piece]:
    return paper.chunk(parse(text.encode(), name=name).sections, chosen, TOKENIZER, None)


def held(document: list[Section], pieces: list[Piece], chosen: ChunkOptions) -> None:
    """Check all pieces; of these the abstract and the one before it may be longer, and that one is of many sections."""
    abstract = next((at for at, one in enumerate(pieces) if one.heading_path[-1:] in {("Abstract",), ("摘要",)}), None)
    whole = {abstract, 0} if abstract == 1 else {abstract}
    assert all(at in whole or piece.token_count <= chosen.chunk_tokens for at, piece in enumerate(pieces))
    if abstract == 1 and not pieces[0].heading_path:
        pieces = [*apart(pieces[0], [one for one in document if one.text.strip()]), *pieces[1:]]
    check(document, pieces, chosen, most=paper.MOST_TOKENS)


def apart(front: Piece, filled: list[Section]) -> list[Piece]:
    """Return what stands before the abstract as a piece a section; the last one may go on."""
    rest, found = front.text, []
    for section in filled:
        own = section.text if rest.startswith(section.text) else rest
        found.append(replace(front, text=own, token_count=TOKENIZER.count(own), location=section.location))
        if rest == own:
            break
        assert rest.startswith(f"{own}\n\n")
        rest = rest[len(own) + 2 :]
    return found


def paths(pieces: list[Piece]) -> list[tuple[str, ...]]:
    return [piece.heading_path for piece in pieces]


def test_it_is_one_of_the_methods_and_sees_a_document_whole() -> None:
    assert METHODS["paper"] == Method(cut=paper.chunk, is_whole=True, authors=paper_authors.authors_of)


@given(sections, options)
@example(numbered([Section(text="2 Methods"), Section(text="2.1 Data\n\nBirds.")]), DEFAULT)
def test_nothing_is_lost_nothing_doubled_nothing_over_budget(document: list[Section], chosen: ChunkOptions) -> None:
    held(document, paper.chunk(document, chosen, TOKENIZER, None), chosen)


def test_a_paper_without_headings() -> None:
    pieces = pieces_of(PAPER)
    assert paths(pieces) == [
        (),
        ("Abstract",),
        ("1 Introduction",),
        ("2 Methods", "2.1 Observers"),
        ("2 Methods", "2.1 Observers", "Figure 1"),
        ("2 Methods", "2.1 Observers"),
        ("2 Methods", "2.2 Counts"),
        ("3 Results", "Table 1"),
        ("3 Results",),
        ("Acknowledgements",),
        ("References",),
        ("Appendix A",),
    ]
    assert "Ada Skerry" in pieces[0].text
    assert "Harbour Bird Society" in pieces[0].text
    assert pieces[1].text.startswith("Abstract. We count")
    assert pieces[1].text.rstrip().endswith("puffins, census, ferries")
    assert "3. Write the number down" in pieces[2].text
    assert pieces[4].text.startswith("![the deck]")
    assert pieces[5].text.startswith("Figure 1 does not")


def long_paper(words: int) -> tuple[str, str]:
    """Return an abstract of so many times nine words, and a paper with it."""
    abstract = "Abstract\n\n" + "We count puffins from a ferry, twice a day. " * words + "\n\n"
    head = "Puffins\n\nAda Skerry\n\n"
    return abstract, head + abstract + "Keywords: puffins, ferries\n\n1 Introduction\n\n" + "Puffins nest. " * 99


def test_an_abstract_is_whole_with_its_keywords_though_chunks_are_smaller() -> None:
    abstract, text = long_paper(28)
    assert 300 < TOKENIZER.count(abstract) < paper.MOST_TOKENS - 20
    pieces = pieces_of(text, ChunkOptions(chunk_tokens=64, overlap=0.25))
    found = [piece for piece in pieces if piece.heading_path == ("Abstract",)]
    assert [piece.text.strip() for piece in found] == [f"{abstract}Keywords: puffins, ferries"]
    assert all(piece.token_count <= 64 for piece in pieces if piece not in found)


def test_an_abstract_goes_without_its_keywords_where_they_dont_fit() -> None:
    abstract, text = long_paper(
        (paper.MOST_TOKENS - 12) // TOKENIZER.count("We count puffins from a ferry, twice a day. ")
    )
    found = [
        piece.text.strip()
        for piece in pieces_of(text.replace("ferries", "gulls, " * 20))
        if piece.heading_path == ("Abstract",)
    ]
    assert found[0] == abstract.strip()
    assert found[1].startswith("Keywords: puffins")
    assert len(found) == 2


def test_an_abstract_beyond_all_limits_is_cut_like_any_text() -> None:
    _, text = long_paper(200)
    pieces = pieces_of(text, ChunkOptions(chunk_tokens=64))
    assert max(piece.token_count for piece in pieces) <= 64
    assert sum("twice a day" in piece.text for piece in pieces if piece.heading_path == ("Abstract",)) > 20


def test_title_and_authors_are_whole_however_the_parser_parted_them() -> None:
    authors = ", ".join(f"Ada Skerry {n}" for n in range(12))
    document = numbered(
        [
            Section(text="# Puffins\n\n" + authors, heading_path=()),
            Section(text="##### Bo Holm\n\nHarbour Society", heading_path=("Bo Holm",)),
            Section(text="##### Abstract\n\nWe count.", heading_path=("Abstract",)),
        ]
    )
    front, abstract = paper.chunk(document, ChunkOptions(chunk_tokens=32), TOKENIZER, None)
    assert front.text == f"# Puffins\n\n{authors}\n\n##### Bo Holm\n\nHarbour Society"
    assert (front.heading_path, front.location.page, abstract.heading_path) == ((), 1, ("Abstract",))


def test_references_are_cut_between_entries_under_their_own_heading() -> None:
    entries = [f"[{n}] A. Skerry. Birds of the Isles, volume {n}. Reef Press, 2029." for n in range(1, 30)]
    given_headings = "# Puffins\n\n## 5 Conclusion\n\nDone.\n\n### References\n\n" + "\n".join(entries)
    pieces = pieces_of(given_headings, ChunkOptions(chunk_tokens=80), "paper.md")
    own = [piece for piece in pieces if piece.heading_path == ("References",)]
    assert len(own) > 3
    assert all(
        piece.text.rstrip().endswith("2029.") and piece.text.lstrip("#\n ").startswith(("References", "["))
        for piece in own
    )
    assert [piece.text.strip() for piece in pieces if piece not in own] == ["# Puffins\n\n## 5 Conclusion\n\nDone."]


def test_references_found_in_the_text_of_a_section_stand_alone_over_its_pages() -> None:
    document = numbered(
        [
            Section(
                text="## 5 Conclusion\n\nDone.\n\nReferences\n\n[1] A. Skerry. Birds.", heading_path=("5 Conclusion",)
            ),
            Section(text="[2] B. Holm. Ferries.", heading_path=("5 Conclusion",)),
            Section(text="## A Timetable\n\nNine.", heading_path=("A Timetable",)),
        ]
    )
    pieces = paper.chunk(document, DEFAULT, TOKENIZER, None)
    assert paths(pieces) == [("5 Conclusion",), ("References",), ("References",), ("A Timetable",)]


def test_lines_of_names_that_were_taken_for_headings_head_nothing() -> None:
    document = numbered(
        [
            Section(text="# Ada Skerry, Bo Holm", heading_path=("Ada Skerry, Bo Holm",)),
            Section(text="1 Harbour Society\n\nAbstract. We count.", heading_path=("Ada Skerry, Bo Holm",)),
            Section(text="## 1 Introduction\n\nPuffins.", heading_path=("1 Introduction",)),
        ]
    )
    assert paths(paper.chunk(document, DEFAULT, TOKENIZER, None)) == [(), ("Abstract",), ("1 Introduction",)]


def test_a_table_carries_its_caption_from_before_or_after_it() -> None:
    header = "| crossing | count |\n| --- | --- |\n"
    table = Section(text=header + "| 1 | 410 |", kind=SectionKind.TABLE, header=header, heading_path=("3 Results",))
    above = Section(text="They agree.\n\nTable 1. Counts of puffins.", heading_path=("3 Results",))
    below = Section(text="Table 2: Counts of gulls.\n\nThey differ.", heading_path=("3 Results",))
    pieces = paper.chunk(numbered([above, table, above, below, table, below]), DEFAULT, TOKENIZER, None)
    tables = [piece.heading_path for piece in pieces if piece.kind is SectionKind.TABLE]
    assert tables == [("3 Results", "Table 1. Counts of puffins."), ("3 Results", "Table 2: Counts of gulls.")]


@pytest.mark.parametrize(
    ("lines", "path"),
    [
        (["摘要：数鸟。", "一、引言", "海鸟。", "二、方法", "数。"], ("二、方法",)), (["Abstract—We count.", "I. INTRODUCTION", "Birds.", "II. BIRDS", "A. Ferries", "x."], ("II. BIRDS", "A. Ferries")),
        (["Abstract", "We count.", "Introduction", "Birds.", "Materials and Methods", "x."], ("Materials and Methods",)),
        (["1. Introduction", "Birds.", "2. Birds of the cliff", "x."], ("2. Birds of the cliff",)),
        (["Abstract", "We count.", "1 Introduction", "1. Look", "2. Count", "3. Write", "x."], ("1 Introduction",)),
        (["1 Introduction", "Birds.", "2 Puffins nest on cliffs.", "x."], ("1 Introduction",)), (["1 Introduction", "Birds.", "7 Boats", "x."], ("1 Introduction",)),
        (["引言", "海鸟。", "参考文献", "[1] 灯塔。"], ("参考文献",)), (["1 Introduction", "Birds.", "9 References", "x."], ("References",)),
    ],
)  # fmt: skip
def test_which_lines_are_headings(lines: list[str], path: tuple[str, ...]) -> None:
    assert pieces_of("Puffins\n\nAda Skerry\n\n" + "\n\n".join(lines))[-1].heading_path == path


def test_a_body_that_does_not_fit_is_cut_as_naive_cuts() -> None:
    pieces = pieces_of(
        "Introduction\n\n" + "Puffins nest on cliffs. " * 60, ChunkOptions(chunk_tokens=60, overlap=0.25)
    )
    assert any(piece.overlap for piece in pieces)
    assert {piece.heading_path for piece in pieces} == {("Introduction",)}


@pytest.mark.parametrize(
    "unit",
    [
        "Puffins nest on cliffs. ",
        "1 Introduction\n\n",
        "Figure 1: A\n\n",
        "![a](b)\n\nFigure 1: A\n\n",
        "References\n\n[1] A.\n",
    ],
)
def test_the_time_grows_with_the_length_alone(unit: str) -> None:
    text = unit * (scaled(40_000) // len(unit))
    started = time.process_time()
    pieces = paper.chunk([Section(text=text)], DEFAULT, TOKENIZER, None)
    assert time.process_time() - started < 4 + 20 * len(text) / 1_000_000
    assert "".join(piece.text[piece.overlap :] for piece in pieces) == text


@pytest.mark.parametrize(
    ("name", "front", "abstract"),
    [
        ("unstructured-layout-parser-paper-fast.pdf", "Zejiang Shen", "Recent advances in document image analysis"),
        ("unstructured-multi-column-2p.pdf", "Ledell Wu", "Open-domain question answering relies"),
        ("markitdown-test.docx", "Qingyun Wu", "AutoGen is an open-source framework"),
    ],
)
def test_real_papers(name: str, front: str, abstract: str) -> None:
    path = BENCH / "documents" / name
    if not path.is_file():
        pytest.skip("the public data sets are not beside this checkout (../shared/bench)")
    document = numbered(parse(path.read_bytes(), name=name).sections)
    chosen = ChunkOptions(method="paper")
    pieces = paper.chunk(document, chosen, TOKENIZER, None)
    held(document, pieces, chosen)
    assert sum(front in piece.text for piece in pieces if piece.heading_path == ()) == 1
    found = [piece for piece in pieces if piece.heading_path == ("Abstract",)]
    assert len(found) == 1
    assert abstract in found[0].text
    assert any(piece.heading_path[:1] in {("1 Introduction",), ("Introduction",)} for piece in pieces)
