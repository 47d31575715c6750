"""Which chunks are quoted together, and that their texts rejoin to what stands in the document."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragcore.chunk_parts import as_found
from ragcore.chunking import METHODS, ChunkOptions, Piece, chunk_sections
from ragcore.chunking.parents import Parents
from ragcore.errors import ConfigError
from ragcore.parsing.registry import parse
from ragcore.retrieval.parents import BETWEEN, rejoined, siblings_of
from ragcore.tokens import offline_tokenizer
from ragcore.types import Chunk, Location, Parent, Section, SectionKind
from tests.ragcore.chunking.made_up import CHINESE_STATUTE, ENGLISH_STATUTE, PAPER

TOKENIZER = offline_tokenizer()
Grouped = list[tuple[Piece, Parent | None]]

TEXT = st.one_of(
    st.text(st.sampled_from("ab .\n。员"), min_size=1, max_size=300),
    st.sampled_from(
        ["One sentence. " * 30, "## Heading", " \n", "员工每年有十五天年假。" * 20, "long " * 90, "a\n\nb\n\nc"]
    ),
)
HEADER = "| a | b |\n| --- | --- |\n"


@st.composite
def documents(draw: st.DrawFn) -> list[Section]:
    """Return sections, each on a page of its own, so that its pieces are told by it."""
    sections: list[Section] = []
    for page in range(1, draw(st.integers(1, 5)) + 1):
        kind = draw(st.sampled_from(SectionKind))
        text = draw(TEXT)
        header = HEADER if kind is SectionKind.TABLE and draw(st.booleans()) else ""
        lines = text.count("\n") + 1
        sections.append(
            Section(
                text=header + text,
                kind=kind,
                header=header,
                heading_path=draw(st.sampled_from([(), ("A",), ("A", "B")])),
                location=Location(page=page, first_line=1, last_line=lines),
            )
        )
    return sections


def grouped(sections: Sequence[Section], options: ChunkOptions, cuts: Sequence[int] = ()) -> Grouped:
    """Cut and group a document, given in parts that end at these sections."""
    parents = Parents(options.parent_tokens, TOKENIZER)
    found: Grouped = []
    ends = [*sorted(cuts), len(sections)]
    for start, end in zip([0, *sorted(cuts)], ends, strict=True):
        following = sections[end] if end < len(sections) else None
        pieces = chunk_sections(sections[start:end], options, TOKENIZER, following=following)
        found += parents.add(sections[start:end], pieces)
    return found + parents.close()


def chunks_of(pieces: Grouped) -> list[Chunk]:
    return [
        Chunk(
            id=f"g-{ordinal}", document_id="s:d", knowledge_base="kb", ordinal=ordinal, text=piece.text, title="",
            token_count=piece.token_count, kind=piece.kind, heading_path=piece.heading_path, location=piece.location,
            overlap=piece.overlap, parent=parent,
        )
        for ordinal, (piece, parent) in enumerate(pieces)
    ]  # fmt: skip


def families(chunks: Sequence[Chunk]) -> list[list[Chunk]]:
    """Return the chunks by parent, each in exactly one, in order."""
    found: list[list[Chunk]] = []
    for chunk in chunks:
        span = (
            range(chunk.parent.first, chunk.parent.last + 1)
            if chunk.parent
            else range(chunk.ordinal, chunk.ordinal + 1)
        )
        assert chunk.ordinal in span
        if chunk.ordinal == span[0]:
            found.append([])
        found[-1].append(chunk)
        assert [one.ordinal for one in found[-1]] == list(span)[: len(found[-1])]
    return found


@given(
    documents(),
    st.integers(16, 60),
    st.integers(1, 200),
    st.sampled_from([0.0, 0.25]),
    st.sampled_from(["naive", "qa", "table"]),
)
@example(
    [
        Section(text=HEADER + "| 1 | 2 |\n" * 40, kind=SectionKind.TABLE, header=HEADER, location=Location(page=page))
        for page in (1, 2)
    ],
    40,
    100,
    0.0,
    "naive",
)
def test_the_texts_of_a_parent_rejoin_and_nothing_is_doubled(
    sections: list[Section], tokens: int, more: int, overlap: float, method: str
) -> None:
    options = ChunkOptions(method=method, chunk_tokens=tokens, overlap=overlap, parent_tokens=tokens + more)
    pieces = grouped(sections, options)
    assert [piece for piece, _ in pieces] == chunk_sections(sections, options, TOKENIZER), "children are cut as without"
    for family in families(chunks_of(pieces)):
        wide = rejoined(family[-1], family)
        assert len({chunk.heading_path for chunk in family}) == 1
        expected = ""
        for page in dict.fromkeys(chunk.location.page for chunk in family):
            own = [chunk for chunk in family if chunk.location.page == page]
            first = own[0].text if page == family[0].location.page else own[0].text[own[0].overlap :]
            text = first + "".join(chunk.text[chunk.overlap :] for chunk in own[1:])
            section = sections[page - 1]
            assert text in section.text or (section.header and text.startswith(section.header))
            expected += BETWEEN + text if expected else text
        assert wide.text == expected
        if len(family) > 1:
            assert TOKENIZER.count(wide.text) <= options.parent_tokens
            assert {chunk.location.page for chunk in family if chunk.kind is SectionKind.TABLE} in (
                set(),
                {family[0].location.page},
            ), "a table stands for itself"
        for part, chunk in zip(wide.parts, family, strict=True):
            assert (part.ordinal, part.kind) == (chunk.ordinal, chunk.kind)
            assert wide.text[part.start :].startswith(chunk.text[chunk.overlap if part.start else 0 :])
        assert as_found(wide).text in family[-1].text


@given(documents(), st.integers(16, 60), st.integers(1, 200), st.data())
def test_a_document_given_in_parts_has_the_same_parents(
    sections: list[Section], tokens: int, more: int, data: st.DataObject
) -> None:
    options = ChunkOptions(chunk_tokens=tokens, parent_tokens=tokens + more)
    cuts = data.draw(st.lists(st.integers(0, len(sections)), max_size=3))
    assert grouped(sections, options, cuts) == grouped(sections, options)


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("text", [CHINESE_STATUTE, ENGLISH_STATUTE, PAPER], ids=["zh", "en", "paper"])
def test_the_parents_of_every_method_stand_so_in_the_document(method: str, text: str) -> None:
    """But for what a method leaves out: headings that its paths hold."""
    options = ChunkOptions(method=method, chunk_tokens=40, parent_tokens=160)
    chunks = chunks_of(grouped(parse(text.encode(), name="a.txt").sections, options))
    found = families(chunks)
    assert len(found) < len(chunks) or (method in {"one", "picture", "presentation"} and len(chunks) == 1)
    for family in found:
        wide = rejoined(family[0], family).text
        for text_part in wide.split(BETWEEN):
            assert text_part.strip("\n") in text.replace("\r", "")
        assert all(chunk.text[chunk.overlap :] in wide for chunk in family)


def test_tables_code_and_text_under_a_heading() -> None:
    path = ("Setup",)
    table = Section(text=HEADER + "| 1 | 2 |", kind=SectionKind.TABLE, header=HEADER, heading_path=path)
    sections = [
        Section(text="## Setup\n\nRun this:", heading_path=path),
        Section(text="make install", kind=SectionKind.CODE, heading_path=path),
        Section(text="Then look at the table.", heading_path=path),
        table,
        replace(table, text=HEADER + "| 3 | 4 |"),
        Section(text="## Next\n\nGo on.", heading_path=("Next",)),
    ]
    pieces = grouped(sections, ChunkOptions(parent_tokens=512))
    assert [parent for _, parent in pieces] == [Parent(first=0, last=2)] * 3 + [None] * 3
    wide = rejoined(chunks_of(pieces)[1], chunks_of(pieces)[:3])
    assert wide.text == "## Setup\n\nRun this:\n\nmake install\n\nThen look at the table."
    assert wide.kind is SectionKind.TEXT
    assert siblings_of([wide]) == ["g-0", "g-1", "g-2"]


def test_without_parents_nothing_is_kept() -> None:
    sections = [Section(text="One sentence. " * 100)]
    assert [parent for _, parent in grouped(sections, ChunkOptions(chunk_tokens=32))] == [None] * len(
        chunk_sections(sections, ChunkOptions(chunk_tokens=32), TOKENIZER)
    )


def test_a_long_document_takes_linear_time() -> None:
    """Two hundred thousand characters, in one section and in many, and pieces that no section holds."""
    pieces = [Piece(text=f"Sentence {number}. ", token_count=5) for number in range(12_000)]
    for sections in ([Section(text="".join(piece.text for piece in pieces))], [Section(text="x " * 50)] * 2_000):
        assert len(Parents(100, TOKENIZER).add(sections, pieces)) > 11_900


@pytest.mark.parametrize("tokens", [1, 100, 160])
def test_a_parent_no_larger_than_its_children_is_refused(tokens: int) -> None:
    with pytest.raises(ConfigError, match=f"parent_tokens is {tokens}, and must be larger than chunk_tokens"):
        ChunkOptions(parent_tokens=tokens)
