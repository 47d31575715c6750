import itertools
import time

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from ragcore.chunking import ChunkOptions, Piece, chunk_sections
from ragcore.errors import ConfigError
from ragcore.tokens import offline_tokenizer
from ragcore.types import Location, Section, SectionKind
from tests.ragcore.nasty import CLUSTERS, NASTY
from tests.soak import scaled

TOKENIZER = offline_tokenizer()
DEFAULT = ChunkOptions()

kinds = st.sampled_from([SectionKind.TEXT, SectionKind.CODE])
options = st.builds(
    ChunkOptions,
    chunk_tokens=st.integers(16, 80),
    overlap=st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.99]),
    delimiters=st.sampled_from(["", "\n!?。；！？", "`|`\n", "`\n\n`", "w"]),
)


def pieces_of(section: Section, chosen: ChunkOptions = DEFAULT) -> list[Piece]:
    return chunk_sections([section], chosen, TOKENIZER)


def rejoined(pieces: list[Piece]) -> str:
    return "".join(piece.text[piece.overlap :] for piece in pieces)


def check(section: Section, pieces: list[Piece], chosen: ChunkOptions) -> None:
    assert rejoined(pieces) == ("" if section.text.isspace() else section.text)
    for piece in pieces:
        assert piece.token_count == TOKENIZER.count(piece.text) <= chosen.chunk_tokens
        assert 0 <= piece.overlap < len(piece.text)
        assert (piece.kind, piece.heading_path) == (section.kind, section.heading_path)
    if pieces:
        assert pieces[0].overlap == 0


@given(NASTY, kinds, options)
@example("word " * 2000, SectionKind.TEXT, ChunkOptions(chunk_tokens=16, overlap=0.5))
@example("x" * 5000, SectionKind.CODE, ChunkOptions(chunk_tokens=16))
@example("." * 5000, SectionKind.TEXT, ChunkOptions(chunk_tokens=16))
@example(" " * 5000 + "a", SectionKind.TEXT, ChunkOptions(chunk_tokens=16))
def test_nothing_is_lost_nothing_doubled_nothing_over_budget(
    text: str, kind: SectionKind, chosen: ChunkOptions
) -> None:
    section = Section(text=text, kind=kind, heading_path=("One", "Two"))
    check(section, pieces_of(section, chosen), chosen)


cells = st.text(alphabet="abc 年.,;-\\", max_size=30).map(lambda cell: cell.replace("|", ""))
rows = st.lists(st.lists(cells, min_size=2, max_size=2).map(lambda row: f"| {row[0]} | {row[1]} |"), max_size=30)


@given(rows, st.integers(1, 60), options)
@example(["| " + "long " * 300 + "|"], 3, ChunkOptions(chunk_tokens=40))
def test_each_chunk_of_a_table_repeats_its_header(lines: list[str], width: int, chosen: ChunkOptions) -> None:
    header = f"| {'name ' * width}| value |\n| --- | --- |\n"
    section = Section(text=header + "\n".join(lines), kind=SectionKind.TABLE, header=header)
    pieces = pieces_of(section, chosen)
    check(section, pieces, chosen)
    longest = max(lines, key=len, default="") + "\n"
    small = TOKENIZER.count(header) <= chosen.chunk_tokens // 2
    beside = (
        TOKENIZER.count(header) <= chosen.chunk_tokens - 8 and TOKENIZER.count(header + longest) <= chosen.chunk_tokens
    )
    if any(lines) and (small or beside):
        assert all(piece.text.startswith(header) for piece in pieces)
        assert all(piece.overlap == len(header) for piece in pieces[1:])
    else:
        assert all(piece.overlap == 0 for piece in pieces)


@given(st.lists(st.sampled_from(["one two.", "three", "", "four five six seven"]), min_size=1, max_size=60), options)
def test_the_lines_of_a_piece_are_those_it_holds(lines: list[str], chosen: ChunkOptions) -> None:
    place = Location(first_line=11, last_line=10 + len(lines), page=3, anchor="a")
    section = Section(text="\n".join(lines), location=place)
    for piece in pieces_of(section, chosen):
        assert 11 <= piece.location.first_line <= piece.location.last_line <= place.last_line
        assert (piece.location.page, piece.location.anchor) == (3, "a")
        source = "\n".join(lines[piece.location.first_line - 11 : piece.location.last_line - 10])
        assert piece.text.rstrip() in source


def test_a_wide_header_is_repeated_as_long_as_every_row_fits_beside_it() -> None:
    header = "| " + " | ".join(f"column {n}" for n in range(20)) + " |\n" + "|---" * 20 + "|\n"
    assert DEFAULT.chunk_tokens // 2 < TOKENIZER.count(header) < DEFAULT.chunk_tokens
    lines = [f"| row {n} | yes |\n" for n in range(40)]
    pieces = pieces_of(Section(text=header + "".join(lines), kind=SectionKind.TABLE, header=header))
    assert len(pieces) > 3
    assert all(piece.text.startswith(header) for piece in pieces)


def test_the_rows_of_a_table_piece_are_its_own() -> None:
    header = "| n | square |\n| --- | --- |\n"
    lines = [f"| {n} | {n * n} |" for n in range(2, 202)]
    place = Location(sheet="Squares", first_row=2, last_row=201)
    section = Section(text=header + "\n".join(lines), kind=SectionKind.TABLE, header=header, location=place)
    pieces = pieces_of(section)
    assert len(pieces) > 3
    for piece in pieces:
        own = piece.text.removeprefix(header).strip().splitlines()
        assert own[0].startswith(f"| {piece.location.first_row} |")
        assert own[-1].startswith(f"| {piece.location.last_row} |")
        assert piece.location.sheet == "Squares"
    assert (pieces[0].location.first_row, pieces[-1].location.last_row) == (2, 201)


def test_a_section_without_places_gets_none() -> None:
    assert pieces_of(Section(text="One.\n\nTwo."))[0].location == Location()


@pytest.mark.parametrize("text", ["", " ", "\n\n \t\n", "\u3000"])
def test_a_blank_section_gives_no_piece(text: str) -> None:
    assert pieces_of(Section(text=text)) == []


@pytest.mark.parametrize(("path", "heads"), [(("Pay",), True), (("Pay", "More"), False), ((), False)])
def test_a_lone_heading_gives_no_piece_where_what_follows_carries_it(path: tuple[str, ...], heads: bool) -> None:
    heading = Section(text="## Pay\n", heading_path=("Pay",))
    table = Section(
        text="| a |\n| --- |\n| 1 |\n", header="| a |\n| --- |\n", kind=SectionKind.TABLE, heading_path=path
    )
    texts = [piece.text for piece in chunk_sections([heading, table, heading], DEFAULT, TOKENIZER)]
    assert texts == ([] if heads else ["## Pay\n"]) + [table.text, "## Pay\n"]


def test_sections_are_not_joined() -> None:
    sections = (Section(text="One.", heading_path=("A",)), Section(text="Two.", heading_path=("A", "B")))
    pieces = chunk_sections(sections, ChunkOptions(), TOKENIZER)
    assert [(piece.text, piece.heading_path) for piece in pieces] == [("One.", ("A",)), ("Two.", ("A", "B"))]


def test_text_ends_at_paragraphs_before_sentences() -> None:
    paragraph = "The office opens at nine. It closes at five. Visitors sign in at the desk.\n\n"
    pieces = pieces_of(Section(text=paragraph * 8), ChunkOptions(chunk_tokens=50))
    assert all(piece.text.endswith("\n\n") for piece in pieces)


def test_a_long_paragraph_ends_at_sentences() -> None:
    pieces = pieces_of(
        Section(text="The office opens at nine, and closes at five. " * 40), ChunkOptions(chunk_tokens=50)
    )
    assert all(piece.text.strip().endswith(".") for piece in pieces)


def test_a_long_chinese_paragraph_ends_at_sentences() -> None:
    pieces = pieces_of(Section(text="员工每年有十五天年假，可以分次使用。" * 40), ChunkOptions(chunk_tokens=80))
    assert all(piece.text.endswith("。") for piece in pieces)


def test_a_long_sentence_ends_at_clauses() -> None:
    pieces = pieces_of(Section(text="bring a bag, a book and a pen, " * 40), ChunkOptions(chunk_tokens=50))
    assert all(piece.text.endswith(", ") for piece in pieces)


@given(NASTY, kinds, options)
@example("一句话。\r\n" * 40, SectionKind.TEXT, ChunkOptions(chunk_tokens=16))
@example("ab \u0301" * 90, SectionKind.TEXT, ChunkOptions(chunk_tokens=16, delimiters="`|`"))
def test_a_visible_character_is_cut_only_when_it_alone_is_over_the_budget(
    text: str, kind: SectionKind, chosen: ChunkOptions
) -> None:
    characters = [match.span() for match in regex.finditer(r"\X", text)]
    edges = {0, *(end for _, end in characters)}
    own = max(8, chosen.chunk_tokens - int(chosen.chunk_tokens * chosen.overlap))
    large = {
        index for start, end in characters if TOKENIZER.count(text[start:end]) > own for index in range(start, end)
    }
    place = 0
    for piece in pieces_of(Section(text=text, kind=kind), chosen):
        for index in (place - piece.overlap, place - piece.overlap + len(piece.text)):
            assert index in edges or index in large
        place += len(piece.text) - piece.overlap


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_text_of_one_repeated_character_is_cut_between_them(cluster: str) -> None:
    pieces = pieces_of(Section(text=cluster * 60), ChunkOptions(chunk_tokens=40))
    assert all(set(piece.text.split(cluster)) == {""} for piece in pieces)


def test_code_is_cut_between_functions() -> None:
    code = "".join(f"def f{n}(x):\n    y = x + {n}\n\n    return y * y\n\n\n" for n in range(30))
    pieces = pieces_of(Section(text=code, kind=SectionKind.CODE), ChunkOptions(chunk_tokens=60))
    assert all(piece.text.startswith("def ") for piece in pieces)


def test_ragflow_delimiters_are_one_setting_away() -> None:
    chosen = ChunkOptions(chunk_tokens=128, delimiters="\n!?。；！？")
    section = Section(text="为什么？因为今天下雨！好的。" * 60)
    pieces = pieces_of(section, chosen)
    check(section, pieces, chosen)
    assert all(piece.text[-1] in "？！。" for piece in pieces)


def test_only_the_given_delimiters_cut_what_fits() -> None:
    chosen = ChunkOptions(chunk_tokens=60, delimiters="`##`")
    text = "One sentence. Another one. And a third one, said in a few more words.##" * 12
    assert all(piece.text.endswith("##") for piece in pieces_of(Section(text=text), chosen))


@given(st.lists(st.sampled_from(["One two three. ", "Four five. ", "Six.\n"]), min_size=40, max_size=80))
def test_overlap_is_the_end_of_the_piece_before_and_does_not_compound(parts: list[str]) -> None:
    text = "".join(parts)
    pieces = pieces_of(Section(text=text), ChunkOptions(chunk_tokens=40, overlap=0.25))
    assert any(piece.overlap for piece in pieces)
    for before, piece in itertools.pairwise(pieces):
        repeated = piece.text[: piece.overlap]
        assert before.text[before.overlap :].endswith(repeated)
        assert TOKENIZER.count(repeated) <= 10


@pytest.mark.parametrize("wrong", [{"chunk_tokens": 15}, {"overlap": 1.0}, {"overlap": -0.1}])
def test_options_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="must be"):
        ChunkOptions(**wrong)  # type: ignore[arg-type]


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(ConfigError, match="naive"):
        pieces_of(Section(text="One."), ChunkOptions(method="none"))


def test_delimiters_are_read_longest_first() -> None:
    assert ChunkOptions(delimiters="`##`\n!").delimiter_strings == ("##", "\n", "!")


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox jumps over the lazy dog. " * 22_000,
        "word " * 200_000,
        "x" * 1_000_000,
        "." * 1_000_000,
        " " * 1_000_000 + "x",
        "年" * 300_000,
        "a\n" * 300_000,
        ". A" * 300_000,
        "\n \n" * 300_000 + "x",
        "👩‍👩‍👧‍👦" * 150_000,
        "🇩🇪🇫🇷" * 250_000,
        "\u0301" * 1_000_000,
        "ภาษาไทยไม่มีช่องว่าง" * 50_000,
    ],
    ids=[
        "prose",
        "words",
        "letter",
        "stops",
        "blanks",
        "chinese",
        "lines",
        "sentences",
        "blank lines",
        "families",
        "flags",
        "marks",
        "thai",
    ],
)
def test_the_time_grows_with_the_length_alone(text: str) -> None:
    text = text[-scaled(200_000) :]
    started = time.process_time()
    pieces = pieces_of(Section(text=text))
    assert time.process_time() - started < 4 + 20 * len(text) / 1_000_000
    assert sum(len(piece.text) - piece.overlap for piece in pieces) == len(text)


@pytest.mark.parametrize("columns", [2, 12, 40])
def test_a_huge_table_is_cut_in_linear_time(columns: int) -> None:
    header = "| " + " | ".join(f"column {n}" for n in range(columns)) + " |\n" + "|---" * columns + "|\n"
    row = "| " + " | ".join("12" for _ in range(columns)) + " |\n"
    section = Section(text=header + row * (scaled(200_000) // len(row)), kind=SectionKind.TABLE, header=header)
    started = time.process_time()
    pieces = pieces_of(section)
    assert time.process_time() - started < 4 + 20 * len(section.text) / 1_000_000
    check(section, pieces, DEFAULT)
