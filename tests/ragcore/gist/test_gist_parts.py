"""How a long talk is divided, and what is kept of the notes of its parts."""

from hypothesis import given
from hypothesis import strategies as st

from ragcore.citations import markers
from ragcore.gist.parts import divided, only_cited, put_together, shifted

COSTS = st.lists(st.integers(1, 50), max_size=60)


@given(COSTS, st.integers(1, 100), st.integers(1, 8))
def test_the_newest_stretches_are_neighbours_that_fit(costs: list[int], room: int, most: int) -> None:
    parts = divided(costs, room, most)
    assert len(parts) <= most
    assert [one for part in parts for one in part] == list(range(parts[0].start if parts else 0, len(costs)))
    for part in parts:
        assert sum(costs[part.start : part.stop]) <= room or len(part) == 1
    if parts and parts[0].start:
        assert len(parts) == most, "what is left out had no place"


def test_only_what_cites_is_kept() -> None:
    text = (
        "## Decided\n\nHere is the summary:\n\n- We ship on 25 November [ID:0]. That is good.\n- Nothing else.\n"
        "- Chen fixes it by Tuesday [ID:2][ID:3].\n\nAsk me for more!"
    )
    assert only_cited(text) == "- We ship on 25 November [ID:0].\n- Chen fixes it by Tuesday [ID:2][ID:3]."
    assert only_cited("") == only_cited("Nothing at all.") == ""


@given(st.lists(st.sampled_from(["It rains [ID:1].", "It snows.", "- A point [ID:0]", "\n", "# Head"]), max_size=8))
def test_each_sentence_that_is_kept_cites(pieces: list[str]) -> None:
    kept = only_cited("\n".join(pieces))
    assert all(markers.find(line) for line in kept.splitlines())
    assert kept.count("[ID:") == "\n".join(pieces).count("[ID:")


@given(st.lists(st.lists(st.text("abc", min_size=1, max_size=3), max_size=6), max_size=6), st.integers(0, 20))
def test_notes_are_shared_out_evenly(notes: list[list[str]], most: int) -> None:
    together = put_together(notes, most)
    assert len(together) == min(most, sum(map(len, notes)))
    taken, rest = [0] * len(notes), list(together)
    for part, lines in enumerate(notes):
        while rest and taken[part] < len(lines) and rest[0] == lines[taken[part]]:
            rest.pop(0)
            taken[part] += 1
    assert not rest, "they stand in their order, the first of each part"


def test_markers_count_on() -> None:
    assert shifted("One [ID:0]. Two [ID:2][ID:0].", 7) == "One [ID:7]. Two [ID:9][ID:7]."
