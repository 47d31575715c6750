"""Documents with headings that no markup shows, and what must hold of their pieces."""

from collections.abc import Sequence

from hypothesis import strategies as st

from ragcore.chunking import ChunkOptions, Piece, chunk_sections
from ragcore.parsing import parse
from ragcore.tokens import offline_tokenizer
from ragcore.types import Location, Section, SectionKind
from tests.ragcore.nasty import NASTY

TOKENIZER = offline_tokenizer()

LINES = st.sampled_from(
    [
        "1 Scope", "1.1 Terms", "1.2 Limits", "2 Setup", "2.1 Box", "2.1.1 Lid", "3. Use", "4、用法", "第一章 总则", "第二章", "第一节 范围",
        "一、概述", "二、安装", "（一）用电", "Chapter 1", "CHAPTER II. The Sea", "Part One", "Appendix A Parts", "Epilogue", "Contents",
        "1 Scope ..... 4", "2 Setup\t7", "The Harbour", "", "", "Some text stands here.", "and goes on", "1. Milk", "2. Eggs",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.lists(LINES, max_size=25).map("\n".join), NASTY)
PATHS = st.sampled_from([(), ("A",), ("A", "B")])


def _section(text: str, kind: SectionKind, path: tuple[str, ...], page: int, first: int) -> Section:
    last = first + text.count("\n") if first else 0
    return Section(
        text=text, kind=kind, heading_path=path, location=Location(page=page, first_line=first, last_line=last)
    )


SECTIONS = st.lists(
    st.builds(
        _section,
        TEXTS,
        st.sampled_from([SectionKind.TEXT, SectionKind.TEXT, SectionKind.CODE]),
        PATHS,
        st.integers(0, 3),
        st.sampled_from([0, 1, 7]),
    ),
    max_size=4,
)
OPTIONS = st.tuples(st.integers(16, 80), st.sampled_from([0.0, 0.25]))


def check(sections: Sequence[Section], method: str, tokens: int, overlap: float) -> None:
    """Check what holds of every document: nothing lost or doubled, within the budget, each piece in its place."""
    chosen = ChunkOptions(method=method, chunk_tokens=tokens, overlap=overlap)
    pieces = chunk_sections(sections, chosen, TOKENIZER)
    assert pieces == chunk_sections(sections, chosen, TOKENIZER)
    bare = ["".join(section.text.split()) for section in sections]
    assert "".join("".join(piece.text[piece.overlap :].split()) for piece in pieces) == "".join(bare)
    rest = [section for section in sections if section.text.strip()]
    held = ""
    for piece in pieces:
        assert piece.token_count == TOKENIZER.count(piece.text) <= tokens
        while len(held) + len(piece.text[piece.overlap :].strip()) > len(rest[0].text):
            rest, held = rest[1:], ""
        section = rest[0]
        held += piece.text[piece.overlap :]
        assert piece.text in section.text
        assert piece.kind is section.kind
        assert piece.heading_path[: len(section.heading_path)] == section.heading_path
        assert piece.location.page == section.location.page
        _check_lines(piece, section)


def _check_lines(piece: Piece, section: Section) -> None:
    place = section.location
    if not place.first_line:
        assert (piece.location.first_line, piece.location.last_line) == (0, 0)
        return
    lines = section.text.split("\n")
    assert place.first_line <= piece.location.first_line <= piece.location.last_line <= place.last_line
    here = lines[piece.location.first_line - place.first_line : piece.location.last_line - place.first_line + 1]
    assert piece.text.rstrip() in "\n".join(here) or piece.text.strip("\n").rstrip() in "\n".join(here)


def pieces_of(text: str, method: str, name: str = "a.txt") -> list[Piece]:
    """Return the pieces of a file."""
    return chunk_sections(parse(text.encode(), name=name).sections, ChunkOptions(method=method), TOKENIZER)


def paths(text: str, method: str, name: str = "a.txt") -> dict[str, tuple[str, ...]]:
    """Return the heading path of each line of a file that is a sentence."""
    return {
        line: piece.heading_path
        for piece in pieces_of(text, method, name)
        for line in piece.text.splitlines()
        if line.endswith((".", "。"))
    }
