"""The sections of a document, from its headings."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ragcore.contents import Entry, of_headings, section, tells_apart

PATHS = [("Guide",), ("Guide", "Setup"), ("Guide", "Setup"), ("Guide", "Setup", "Linux"), ("Guide", "Use"), ("Index",)]


def test_each_heading_is_a_section_from_its_first_chunk_to_the_next_of_its_level() -> None:
    entries = list(of_headings(enumerate(PATHS)))
    assert [(entry.ordinal, entry.level, entry.title) for entry in entries] == [
        (0, 1, "Guide"),
        (1, 2, "Setup"),
        (3, 3, "Linux"),
        (4, 2, "Use"),
        (5, 1, "Index"),
    ]
    assert [section(entries, at, len(PATHS)) for at in range(len(entries))] == [
        range(5),
        range(1, 4),
        range(3, 4),
        range(4, 5),
        range(5, 6),
    ]


def test_two_sections_in_one_chunk_both_have_it() -> None:
    entries = [Entry(ordinal=3, level=1, title="A"), Entry(ordinal=3, level=1, title="B")]
    assert [section(entries, at, 5) for at in (0, 1)] == [range(3, 4), range(3, 5)]


def test_few_headings_over_many_chunks_tell_nothing_apart() -> None:
    assert tells_apart(2, 40)
    assert not tells_apart(2, 41)
    assert not tells_apart(1, 3)


_PATHS = st.lists(st.lists(st.sampled_from("ABC"), max_size=3).map(tuple), max_size=30)


@given(paths=_PATHS)
def test_the_sections_of_a_chunk_are_its_path(paths: list[tuple[str, ...]]) -> None:
    """What holds it besides stands deeper: the headings do not say where that ends."""
    entries = list(of_headings(enumerate(paths)))
    ranges = [section(entries, at, len(paths)) for at in range(len(entries))]
    assert all(a.ordinal <= b.ordinal for a, b in pairwise(entries))
    for ordinal, path in enumerate(paths):
        held = {(entry.level, entry.title) for entry, chunks in zip(entries, ranges, strict=True) if ordinal in chunks}
        assert held >= set(enumerate(path, 1))
        assert all(level > len(path) for level, _ in held - set(enumerate(path, 1)))
