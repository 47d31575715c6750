import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragcore.chunking import METHODS, ChunkOptions, Method, Piece, laws
from ragcore.parsing import parse
from ragcore.types import Section, SectionKind
from tests.conftest import BENCH
from tests.ragcore.chunking.made_up import CHINESE_STATUTE, ENGLISH_STATUTE, TOKENIZER, check, numbered
from tests.ragcore.nasty import FRAGMENTS
from tests.soak import scaled

DEFAULT = ChunkOptions(method="laws")
LINES = (
    "第一条　灯塔归港务局管理。", "第二条 船舶应当开灯", "第三条", "依照第五条规定，", "第五条规定的费用", "第一章　总则", "第二章",
    "第一节　进港", "附件一", "目录", "（一）船名；", "Article 1", "Article 2. Terms", "Article 3 Every ferry", "see", "Article 4 of this Act",
    "Section 5(2) applies", "PART ONE", "Chapter II", "Harbour Act 2031", "ANNEX I", "Preamble", "(a) a lamp;", "§ 12 Fines",
    "# Harbour Act", "## Chapter 1 Ferries", "### Article 1", "Purpose", "The ferry sails at nine.", "",
)  # fmt: skip

texts = st.lists(st.sampled_from([*LINES, *FRAGMENTS]), max_size=14).map("\n".join)
headings = st.sampled_from(
    [(), ("Harbour Act",), ("Chapter 1",), ("Chapter 1", "Article 1"), ("Harbour Act", "Notes"), ("第一章 总则",)]
)
sections = st.lists(
    st.builds(
        Section, text=texts, heading_path=headings, kind=st.sampled_from([SectionKind.TEXT] * 4 + [SectionKind.CODE])
    ),
    max_size=4,
).map(numbered)
options = st.builds(
    ChunkOptions, method=st.just("laws"), chunk_tokens=st.integers(16, 80), overlap=st.sampled_from([0.0, 0.25])
)


def pieces_of(text: str, chosen: ChunkOptions = DEFAULT, name: str = "law.txt") -> list[Piece]:
    return laws.chunk(parse(text.encode(), name=name).sections, chosen, TOKENIZER, None)


def paths(pieces: list[Piece]) -> list[tuple[str, ...]]:
    return [piece.heading_path for piece in pieces]


def test_it_is_one_of_the_methods_and_sees_a_document_whole() -> None:
    assert METHODS["laws"] == Method(cut=laws.chunk, is_whole=True)


@given(sections, options)
@example(numbered([Section(text="第一章　总则\n"), Section(text="第一条　灯塔。", heading_path=())]), DEFAULT)
@example(numbered([Section(text="\u2028\n第一条　灯塔。", heading_path=("Chapter 1", "Article 1"))]), DEFAULT)
def test_nothing_is_lost_nothing_doubled_nothing_over_budget(document: list[Section], chosen: ChunkOptions) -> None:
    check(document, laws.chunk(document, chosen, TOKENIZER, None), chosen)


articles = st.lists(
    st.lists(
        st.sampled_from(["The ferry sails at nine.", "(1) Lamps are lit;", "船舶应当开灯。", "", "as in Article 3"]),
        max_size=12,
    ),
    min_size=1,
    max_size=8,
)


@given(articles, st.integers(16, 60))
def test_an_article_that_fits_is_one_piece_and_each_piece_has_one_article(bodies: list[list[str]], budget: int) -> None:
    written = ["\n".join([f"Article {n}. Rule", "", *body, "End."]) for n, body in enumerate(bodies, start=1)]
    pieces = laws.chunk([Section(text="\n\n".join(written))], ChunkOptions(chunk_tokens=budget), TOKENIZER, None)
    for number, article in enumerate(written, start=1):
        own = [piece for piece in pieces if piece.heading_path == (f"Article {number}. Rule",)]
        assert "".join(piece.text for piece in own).rstrip() == article
        if TOKENIZER.count(article + "\n\n") <= budget:
            assert len(own) == 1


def test_a_chinese_statute() -> None:
    pieces = pieces_of(CHINESE_STATUTE)
    ports, leaving = ("第二章 船舶", "第一节 进港"), ("第二章 船舶", "第二节 出港")
    assert paths(pieces) == [
        (),
        ("目 录",),
        ("第一章 总则", "第一条"),
        ("第一章 总则", "第二条"),
        (*ports, "第三条"),
        (*ports, "第四条"),
        (*ports, "第四条之一"),
        (*leaving, "第5条"),
        (*leaving, "第六条【灯塔】"),
        ("第三章 附则", "第七条"),
        ("附件一 港务费表",),
    ]
    assert pieces[3].text.rstrip().endswith("第六条的规定不影响其他船舶。")
    assert pieces[4].text.startswith("第二章")
    assert "（三）预计到达的时间。" in pieces[4].text
    assert pieces[7].text.rstrip().endswith("第五条规定的港务费，由海港委员会公布。")
    assert (pieces[5].location.first_line, pieces[5].location.last_line) == (29, 29)


def test_an_english_statute() -> None:
    pieces = pieces_of(ENGLISH_STATUTE)
    purpose, duties = ("PART ONE GENERAL", "Chapter I Purpose and terms"), ("PART ONE GENERAL", "Chapter II Duties")
    assert paths(pieces) == [
        (),
        ("PREAMBLE",),
        (*purpose, "Article 1 Purpose"),
        (*purpose, "Article 2. Terms"),
        (*duties, "Article 3"),
        (*duties, "Article 4 (repealed)"),
        (*duties, "Article 4a. Night crossings"),
        ("PART TWO FINAL PROVISIONS", "Chapter I Fines", "Article 5"),
        ("ANNEX I Forms",),
    ]
    assert "Article 2 of this Act." in pieces[2].text
    assert pieces[3].text.rstrip().endswith("does not apply to ferries.")


@pytest.mark.parametrize(
    "reference",
    [
        "依照第五条规定处理。", "第五条规定的船舶，", "第五条、第六条的", "第五条第二款所称船舶", "第五条至第七条", "第五条（一）项规定的",
        "see Article 5", "Article 5 of the Act applies.", "Article 5, Article 6 and", "Article 5(2) applies.", "Section 5 applies",
        "Article 5 and Article 6 apply.", "Articles 5 to 7", "Article 5 Paragraph 2 applies.", "“Article 5. Lamps”", "section 5. Lamps",
        "Article 5 (Fees) of this Act", "附则规定的船舶", "第三节课后去灯塔。", "Part of the harbour", "Chapter and verse.", "Rule Britannia",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "above", ["Article 4. Sails\n\nA sail is set.\n\n", "第四条　船舶应当开灯。\n\n", "第四条　船舶开灯，并且\n"]
)
def test_a_reference_opens_nothing(above: str, reference: str) -> None:
    assert len({piece.heading_path for piece in pieces_of(above + reference)}) == 1


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("第一百二十条　船舶开灯。", "第一百二十条"), ("第12条 船舶开灯。", "第12条"), ("第 十二 条　船舶开灯。", "第 十二 条"),
        ("第二条【灯塔】船舶开灯。", "第二条【灯塔】"), ("**第二条** 船舶开灯。", "第二条"), ("第一條　船舶開燈。", "第一條"),
        ("第一条船舶应当开灯。", "第一条"), ("Article II. Ferries", "Article II. Ferries"), ("ARTICLE 2 - Ferries", "ARTICLE 2 - Ferries"),
        ("Sec. 2. FERRIES.—In this Act a ferry sails.", "Sec. 2. FERRIES"), ("§ 12 Fines", "§ 12 Fines"), ("§ 12a. Whoever sails pays.", "§ 12a"),
        ("Section 1.2 Ferries", "Section 1.2 Ferries"), ("## Article 3 Ferries ##", "Article 3 Ferries"), ("Clause 7: Lamps", "Clause 7: Lamps"),
        ("Article 2 (Ferries)", "Article 2 (Ferries)"), ("Article 2 (Ferries) A ferry sails.", "Article 2 (Ferries)"),
        ("附　则", "附 则"), ("总则", "总则"), ("Schedule A Fees", "Schedule A Fees"), ("Appendix", "Appendix"), ("附录：费用", "附录：费用"), ("第一分编　通则", "第一分编 通则"),
    ],
)  # fmt: skip
def test_forms_of_openings(line: str, name: str) -> None:
    assert pieces_of(f"A word before.\n\n{line}\n\nAnd what it says.")[-1].heading_path == (name,)


@pytest.mark.parametrize(
    "wrapped",
    [
        "The sail is set as laid down in\nArticle 5. Lamps.", "The sail is set by the rules of\nArticle 12\n\nand no others.",
        "依照\n第五条　灯塔费用由船长支付。", "A sail is set.\n\nArticle 40 Harbour rules apply to it, too.",
    ],
)  # fmt: skip
def test_a_reference_that_comes_to_begin_a_line_opens_nothing(wrapped: str) -> None:
    assert paths(pieces_of(f"Article 4. Sails\n\n{wrapped}")) == [("Article 4. Sails",)]
    assert paths(pieces_of(f"第四条　船舶。\n\n{wrapped}"))[-1] != ("第五条",)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Article 2 (Ferries)\nA ferry sails.", "Article 2 (Ferries)"),
        ("Article 2 (Ferries) A ferry sails\nat nine.", "Article 2 (Ferries)"),
        ("第二条【灯塔】船舶\n开灯。", "第二条【灯塔】"),
    ],
)
def test_a_title_holds_with_text_on_the_very_next_line(line: str, name: str) -> None:
    assert pieces_of(f"A word before.\n\n{line}")[-1].heading_path == (name,)


def test_supplementary_provisions_end_the_chapter_and_have_their_article() -> None:
    written = "第一编 海港\n第一章 总则\n第一条　开灯。\n第二条　（一）船名。\n附则\n第三条　即日施行。"
    assert paths(pieces_of(f"目录\n第一编 海港\n附则\n\n{written}"))[1:] == [
        ("第一编 海港", "第一章 总则", "第一条"),
        ("第一编 海港", "第一章 总则", "第二条"),
        ("附则", "第三条"),
    ]


def test_a_statute_without_blank_lines() -> None:
    written = (
        "CHAPTER I\nGENERAL RULES\nArticle 1\nPurpose\nThis Act keeps ferries safe.\n"
        "Article 2 Ferries shall carry lamps as laid down\nin the annex.\nANNEX\nTwo lamps."
    )
    assert paths(pieces_of(written)) == [
        ("CHAPTER I GENERAL RULES", "Article 1 Purpose"),
        ("CHAPTER I GENERAL RULES", "Article 2"),
        ("ANNEX",),
    ]


def test_an_article_over_the_budget_is_cut_between_its_clauses_under_its_path() -> None:
    clauses = [
        f"({n}) The master counts the passengers of deck {n} before the crossing and after it." for n in range(1, 13)
    ]
    pieces = pieces_of(
        "Article 1. Counting\n\n" + "\n".join(clauses) + "\n\nArticle 2. Lamps\n\nTwo lamps.",
        ChunkOptions(chunk_tokens=50),
    )
    long = [piece for piece in pieces if piece.heading_path == ("Article 1. Counting",)]
    assert len(long) > 3
    assert all(piece.text.rstrip().endswith("after it.") for piece in long)
    assert pieces[-1].heading_path == ("Article 2. Lamps",)


def test_an_outer_heading_without_room_stands_alone_and_leaves_the_article_whole() -> None:
    article = "Article 1. Lamps\n\n" + "A ferry carries two lamps. " * 4
    pieces = pieces_of(
        f"Note.\n\nCHAPTER I\nOf the ferries and of their lamps\n\n{article}",
        ChunkOptions(chunk_tokens=TOKENIZER.count(article)),
    )
    assert [piece.heading_path[1:] for piece in pieces[1:]] == [(), ("Article 1. Lamps",)]
    assert pieces[-1].text.strip() == article.strip()


def test_a_constitution_has_its_sections_within_its_articles_and_a_code_has_not() -> None:
    constitution = "".join(
        f"ARTICLE {number}\n\n" + "".join(f"Section {n}. Ferries sail at nine.\n\n" for n in (1, 2))
        for number in ("I", "II")
    )
    assert paths(pieces_of(constitution))[-1] == ("ARTICLE II", "Section 2")
    code = "Section 1\n\nArticle 1. Ferries sail.\n\nArticle 2. Boats row.\n\nSection 2\n\nArticle 3. Birds fly."
    assert paths(pieces_of(code))[-1] == ("Section 2", "Article 3")


def test_articles_under_headings_of_the_document() -> None:
    written = "# Collection\n\n## Harbour Act\n\n### Chapter 1\n\nArticle 1. Ferries sail.\n\nArticle 2. Boats row.\n\n## Ferry Act\n\n### Article 1\n\nLamps."
    assert paths(pieces_of(written, name="laws.md")) == [
        ("Harbour Act", "Chapter 1", "Article 1"),
        ("Harbour Act", "Chapter 1", "Article 2"),
        ("Ferry Act", "Article 1"),
    ]


def test_a_heading_like_a_law_within_a_chapter_ends_no_chapter() -> None:
    written = "# Manual\n\n## Chapter 1\n\nOf ferries.\n\n### Emergency rules\n\nArticle 1. Ferries sail at nine."
    assert paths(pieces_of(written, name="laws.md")) == [("Chapter 1",), ("Chapter 1", "Emergency rules", "Article 1")]


def test_a_title_before_headings_goes_with_the_first_article() -> None:
    page = "<html><body><h1>Ferry Code</h1><h2>Part A</h2><h3>§ 1. Terms</h3><p>Ferries.</p></body></html>"
    pieces = pieces_of(page, name="code.html")
    assert [(piece.heading_path, piece.text.split("\n")[0]) for piece in pieces] == [
        (("Part A", "§ 1. Terms"), "# Ferry Code")
    ]


def test_a_law_whose_name_is_no_title_has_it_in_its_path() -> None:
    written = "海港渡船法\n（2031年通过）\n目录\n第一章 总则\n第二章 附则\n第一章 总则\n第一条 渡船应当开灯。\n第二章 附则\n第二条 即日施行。"
    assert paths(pieces_of(written)) == [
        ("海港渡船法",),
        ("海港渡船法", "目录"),
        ("海港渡船法", "第一章 总则", "第一条"),
        ("海港渡船法", "第二章 附则", "第二条"),
    ]


def test_a_second_law_in_one_text_begins_anew() -> None:
    written = "Harbour Act 2031\n\nCHAPTER I\n\nArticle 1. Ferries sail.\n\nFerry Act 2032\n\nArticle 1. Lamps are lit."
    assert paths(pieces_of(written))[-1] == ("Ferry Act 2032", "Article 1")


def test_an_article_over_a_page_and_a_table_within_it_keep_its_path() -> None:
    header = "| fee |\n| --- |\n"
    document = numbered(
        [
            Section(text="第一条　船舶应当"),
            Section(text="开灯。"),
            Section(text=header + "| 10 |", kind=SectionKind.TABLE, header=header),
            Section(text="第二条　灯塔。\n\n第三条"),
            Section(text="## 费用\n\n每日十元。", heading_path=("费用",)),
        ]
    )
    pieces = laws.chunk(document, DEFAULT, TOKENIZER, None)
    assert paths(pieces) == [("第一条",), ("第一条",), ("第一条",), ("第二条",), ("第三条", "费用")]


@pytest.mark.parametrize(
    "unit", ["第一条　船舶应当开灯。\n\n", "Article 1\n", "(1) a\n", "word ", "第一章\n", "Harbour Act\n\n"]
)
def test_the_time_grows_with_the_length_alone(unit: str) -> None:
    text = unit * (scaled(60_000) // len(unit))
    started = time.process_time()
    pieces = laws.chunk([Section(text=text)], DEFAULT, TOKENIZER, None)
    assert time.process_time() - started < 4 + 20 * len(text) / 1_000_000
    assert "".join(piece.text[piece.overlap :] for piece in pieces) == text


def test_a_real_handbook_of_chapters() -> None:
    path = BENCH / "documents" / "unstructured-handbook-1p.docx"
    if not path.is_file():
        pytest.skip("the public data sets are not beside this checkout (../shared/bench)")
    document = numbered(parse(path.read_bytes(), name=path.name).sections)
    pieces = laws.chunk(document, DEFAULT, TOKENIZER, None)
    check(document, pieces, DEFAULT)
    assert any(piece.heading_path[-1:] == ("A. PURPOSE",) for piece in pieces)
    assert not any(name.startswith("chapter 13 of") for piece in pieces for name in piece.heading_path)


@pytest.mark.parametrize("label", ["§ 101", "Sec. 101", "Section 101", "Article 101"])
def test_a_title_that_ends_in_a_full_stop_stands_in_the_path_where_the_text_is_below_it(label: str) -> None:
    titled = f"CHAPTER 2. Meters\n\n{label}. Short title.\nThis title may be cited as the Meter Code."
    (piece,) = pieces_of(titled)
    assert piece.heading_path[-1] == f"{label}. Short title"
    assert f"{label}. Short title.\nThis title" in piece.text
    for other in ("It sails.\n\nThis is another paragraph.", "The ferry that\nsails at nine stops.", "It sails."):
        assert pieces_of(f"CHAPTER 2. Meters\n\n{label}. {other}")[0].heading_path[-1] == label
