import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.chunking.paper_authors import authors_of
from ragcore.filter_grammar import parse_filter
from ragcore.ingest import IngestOptions
from ragcore.parsing import parse
from ragcore.stores.document_values import DocumentValues
from ragcore.types import Section
from tests.fakes.libraries import fill, opened
from tests.ragcore.nasty import NASTY

DOCUMENTS = pathlib.Path(__file__).parents[4] / "shared/bench/documents"


def authors(front: str, title: str = "# Deep Wells", abstract: str = "Abstract. Wells are deep.") -> str:
    return authors_of([Section(text=f"{title}\n\n{front}"), Section(text=abstract)])


@pytest.mark.parametrize(
    ("front", "told"),
    [
        ("Ann Meier, Bob Zou\n\nUniversity of Graz", "Ann Meier, Bob Zou"),
        ("Ann Meier1,2 ( ), José van der Berg2∗,\nand J. P. O’Neill3\n1 University of Graz", "Ann Meier, José van der Berg, J. P. O’Neill"),
        ("Ann Meier1, Bob Carl Zou\n\nLee2, and Dan Fox1\n\n1 Institute of Wells", "Ann Meier, Bob Carl Zou Lee, Dan Fox"),
        ("Ann Meier¹\nBob Zou²\n¹ Wells Inc. ² University of Graz", "Ann Meier, Bob Zou"),
        ("ANN MEIER a,b & Bob Zou c\na University of Graz", "ANN MEIER, Bob Zou"),
        ("Ann Meier, PhD, Bob Zou MD\nHospital of Graz", "Ann Meier, Bob Zou"),
        ("Ann Meier[0000-0001-2345-678X], Bob Zou[0000-0001-2345-6789]\nUniversity of Graz", "Ann Meier, Bob Zou"),
        ("Ann Meier\nmeier@graz.example", "Ann Meier"),
        ("By Ann B. Meier\nUniversity of Graz\nGraz, Austria", "Ann B. Meier"),
        ("王小明，李四\n北京大学", "王小明, 李四"),
    ],
)  # fmt: skip
def test_authors_right_below_the_title_are_told(front: str, told: str) -> None:
    assert authors(front) == told


@pytest.mark.parametrize(
    "front",
    [
        "Ann Meier Bob Zou\nUniversity of Graz University of Linz",
        "Ann Meier1 Bob Zou2\n1 University of Graz",
        "Ann Meier Bob Zou\nCarl Orff Dan Fox\nUniversity of Graz",
        "Big Rivers\nAnn Meier, Bob Zou\nUniversity of Graz",
        "Big Rivers\nAnn Meier\nUniversity of Graz",
        "Annual Figures\nUniversity of Graz",
        "Ann Meier\nUniversity of Graz\nmeier@graz.example\nBob Zou\nUniversity of Linz",
        "Technical Report 17\nAnn Meier and Bob Zou\nUniversity of Graz",
        "Ann Meier, Student Member, IEEE\nUniversity of Graz",
        "Ann Meier, San Francisco\nUniversity of Graz",
        "Ann Meier, Bob Carl\nZou, Dan Fox\nUniversity of Graz",
        "Vladimir Kar∗ ˘ , Barlas Oguz\nUniversity of Graz",
        "Ann Meier and others\nUniversity of Graz",
        "Ann Meier, Ann Meier\nUniversity of Graz",
        "Ann Meier, Bob Zou\nGraz",
        "University of Graz",
        "北京大学",
        "方法研究，高等教育\n北京大学",
        "",
    ],
)
def test_where_it_is_not_plain_who_wrote_it_nobody_is_told(front: str) -> None:
    assert authors(front) == ""


def test_without_a_title_or_an_abstract_nobody_is_told() -> None:
    front = "Ann Meier, Bob Zou\n\nUniversity of Graz"
    assert authors(front)
    assert authors(front, title="Deep Wells") == ""
    assert authors(front, abstract="1 Introduction\n\nWells are deep.\n\nAbstract") == ""
    assert authors_of([]) == ""


NAMES = st.sampled_from(
    [
        "Ann Meier",
        "Bob Zou",
        "Carla de la Cruz",
        "D. E. Foss",
        "Émile O'Hara",
        "Fu-Wen Li",
        "Gil Ben Ami Katz",
        "Hana Novák",
    ]
)


@given(
    st.lists(NAMES, min_size=1, max_size=6, unique=True),
    st.sampled_from(["", "1", "∗", "1,2", " a", "†"]),
    st.sampled_from([", ", " and ", ",\n", "\n", " "]),
    st.integers(0, 40),
)
def test_what_is_told_is_all_of_them_or_nobody(names: list[str], mark: str, between: str, broken: int) -> None:
    line = between.join(name + mark for name in names)
    # A line may be broken anywhere between words.
    at = line.find(" ", broken)
    front = line if at < 0 else f"{line[:at]}\n{line[at + 1 :]}"
    assert authors(f"{front}\nUniversity of Graz\nGraz, Austria") in ("", ", ".join(names))


@given(NASTY, NASTY)
def test_any_text_gives_authors_or_none(front: str, more: str) -> None:
    told = authors(f"{front}\nUniversity\n{more}")
    assert all(len(name.split()) > 1 or not name.isascii() for name in told.split(", ") if told)


def test_a_long_line_of_marks_costs_nothing() -> None:
    assert authors("Ann Meier" + "1*" * 100_000 + "x, Bob Zou\nUniversity") == ""


async def test_a_paper_has_its_authors_where_neither_source_nor_file_tells_them(tmp_path: pathlib.Path) -> None:
    text = "# Deep Wells\n\nAnn Meier, Bob Zou\n\nUniversity of Graz\n\n## Abstract\n\nWells are deep.\n"
    options = IngestOptions(methods=(("wells*", "paper"), ("*", "naive")))
    async with opened(tmp_path) as library:
        await fill(library, {"wells": text, "other": text}, options)
        found = await library.registry.documents(["s:wells", "s:other"])
        assert {found[name].author for name in found} == {"Ann Meier, Bob Zou", ""}
        assert found["s:wells"].author
        met = await DocumentValues(library.database).matching("kb", [parse_filter("author contains zou")])
        assert met.count == 1


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "unstructured-layout-parser-paper-fast.pdf",
            "Zejiang Shen, Ruochen Zhang, Melissa Dell, Benjamin Charles Germain Lee, Jacob Carlson, Weining Li",
        ),
        # An accent stands apart from its letter, and one name in another line: nobody rather than somebody wrong.
        ("unstructured-multi-column-2p.pdf", ""),
    ],
)
def test_the_authors_of_real_papers(name: str, told: str) -> None:
    if not (DOCUMENTS / name).exists():
        pytest.skip("the public documents are not here: ../shared/bench/documents")
    assert authors_of(parse((DOCUMENTS / name).read_bytes(), name=name).sections) == told
