"""The marker's grammar: what is repaired, what is left alone, and what must hold for any text."""

import re
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.citations import markers

PIECES = st.sampled_from(
    [
        *(
            "[ID:0]",
            "[ID:1]",
            "[ID:7]",
            "[ID:99]",
            "(ID: 1)",
            "[id:1]",
            "【ID:1】",
            "［ID：１］",
            "[ID:0, ID:2]",
            "[ID:0-2]",
        ),
        *(
            "[1]",
            "[2]",
            "[0, 1]",
            "arr[0]",
            "[2023]",
            "[^1]",
            "[1](http://x.y/z)",
            "([ID:1]",
            "([ID:99])",
            "(see [ID:2], [ID:98])",
            "[ID:1.].",
            "[ID:0,\nID:2]",
            "so: ```py\n",
            "https://x.y/?a[0]=1",
            "- [x] ",
            "\n",
        ),
        *(
            "`",
            "```",
            "~~~",
            "\n\n",
            " ",
            "  ",
            ".",
            ",",
            "。",
            "Paris is big",
            "年假",
            "href3",
            "(",
            ")",
            "[",
            "]",
            "ID:",
            "1",
        ),
        *("**", "| a | b |", "> ", "- ", "1. ", "\\[", "x", "\t"),
    ]
)
TEXTS = st.lists(PIECES, max_size=14).map("".join)


@pytest.mark.parametrize(
    ("written", "repaired"),
    [
        ("A (ID: 1).", "A [ID:1]."),
        ("A [id:1].", "A [ID:1]."),
        ("A [ID: 1]", "A [ID:1]"),
        ("A [ID 1].", "A [ID:1]."),
        ("好【ID:1】。", "好[ID:1]。"),
        ("好［ID：1］。", "好[ID:1]。"),
        ("好（ID：１）。", "好[ID:1]。"),
        ("نص [ID:١].", "نص [ID:1]."),
        ("نص [ID:۲].", "نص [ID:2]."),
        ("نص [ID:٠، ID:١].", "نص [ID:0][ID:1]."),
        ("A [ID:0, ID:2].", "A [ID:0][ID:2]."),
        ("A [ID:0,2].", "A [ID:0][ID:2]."),
        ("A [ID:0; 2].", "A [ID:0][ID:2]."),
        ("A [ID:0-2].", "A [ID:0][ID:1][ID:2]."),
        ("A [ID:2–0].", "A [ID:2][ID:0][ID:1]."),
        ("A [ID:1, 1, ID:1].", "A [ID:1]."),
        ("A [[ID:1]].", "A [ID:1]."),
        (r"A \[ID:1\].", "A [ID:1]."),
        ("A [ID:1](https://made.up/x).", "A [ID:1]."),
        ("A [ID:01].", "A [ID:1]."),
        # A stop inside, a line's end inside, brackets of other kinds and widths, a target behind.
        ("A [ID:1.].", "A [ID:1]."),
        ("A [ID:1.] Next.", "A [ID:1]. Next."),
        ("好[ID:1。]下一句", "好[ID:1]。下一句"),
        ("A [ID:1,].", "A [ID:1]."),
        ("A [ID:0,\nID:2].", "A [ID:0][ID:2]."),
        ("A [ID:0 ID:2].", "A [ID:0][ID:2]."),
        ("A [ID:1]().", "A [ID:1]."),
        ("A ［ＩＤ：０，２］。", "A [ID:0][ID:2]。"),
        ("A 〖ID：３〗。", "A [ID:3]。"),
        ("A [[[ID:1]]].", "A [ID:1]."),
        ("A [IDs: 1, 2].", "A [ID:1][ID:2]."),
        # What stands between markers and around them is how they are written.
        ("A ([ID:1]).", "A [ID:1]."),
        ("A ([ID:0], [ID:2]).", "A [ID:0][ID:2]."),
        ("A (see [ID:0] and [ID:2]).", "A [ID:0][ID:2]."),
        ("好（见[ID:1]、[ID:2]）。", "好[ID:1][ID:2]。"),
        ("A [[ID:0], [ID:2]].", "A [ID:0][ID:2]."),
        ("A [ID:0], [ID:2].", "A [ID:0][ID:2]."),
        ("A (in short: b [ID:0]).", "A (in short: b [ID:0])."),
        ("A [source: [ID:1]](https://made.up/x).", "A [ID:1]."),
        # Wherever it stands.
        ("[ID:0] Leads.", "[ID:0] Leads."),
        ("word[ID: 0]", "word[ID:0]"),
        ("word[ID: 0]next", "word[ID:0]next"),
        ("## Head [ID: 1]", "## Head [ID:1]"),
        ("| a [ID: 1] | b |", "| a [ID:1] | b |"),
        ("- item [id:1]\n  more [ID:0-1]", "- item [ID:1]\n  more [ID:0][ID:1]"),
        ("x[^1].\n\n[^1]: Foot [ID: 1].", "x[^1].\n\n[^1]: Foot [ID:1]."),
        ("Cited [1]. ```py\nx[1].\n```\nThen [2].", "Cited [ID:1]. ```py\nx[1].\n```\nThen [ID:2]."),
        # Bare numbers where they can be nothing else.
        ("A [ID:1][2].", "A [ID:1][ID:2]."),
        ("Paris is the capital [1].", "Paris is the capital [ID:1]."),
        ("首都是巴黎[1]。", "首都是巴黎[ID:1]。"),
        ("首都是巴黎【1】。", "首都是巴黎[ID:1]。"),
        ("Paris is it.[1] Next.", "Paris is it.[ID:1] Next."),
        ("Paris is it [1][2].", "Paris is it [ID:1][ID:2]."),
        ("Grew 5%[1].", "Grew 5%[ID:1]."),
        ("Paris it is [1]. Use arr[i], arr[2].", "Paris it is [ID:1]. Use arr[i], arr[2]."),
        ("Paris it is [1]. Lyon[2].", "Paris it is [ID:1]. Lyon[ID:2]."),
        ("Paris it is [1]. Lyon too [0, 2].", "Paris it is [ID:1]. Lyon too [ID:0][ID:2]."),
        ("| Paris | big [1] |", "| Paris | big [ID:1] |"),
    ],
)
def test_wrong_forms_are_repaired(written: str, repaired: str) -> None:
    assert markers.repair(written, 4) == repaired


@pytest.mark.parametrize(
    "text",
    [
        "Use arr[0].",
        "Use f(x)[0].",
        "matrix[1][2]",
        "Paris [ID:1]. Then arr[i] and arr[0].",
        "In [2023] it was.",
        "See [1](https://x.y/z).",
        "See [[1]](https://x.y/z).",
        "See [1][ref].",
        "See [^1].",
        "[1]: https://x.y\n\nAs said [1].",
        "- [ ] open\n- [x] done\n- [1] one",
        "[1] A reference list entry",
        "The interval [0, 1].",
        "The interval [0, 10].",
        "It lies in [0–100] or in [6, 8].",
        "Press [9].",
        "href3 and XREF 1 and the pref 2",
        "git ref 3",
        "Employee (ID: 4711) and ticket (ID 2) and [ID 4711]",
        "`arr[0]` and `[ID: 1]` and ``[1] ` ``",
        "```\n[ID: 1] [1].\n```",
        "~~~\n[id:1]\n~~~",
        "- ```py\n  x[1].\n  ```",
        "```\nnever closed [ID: 1]",
        "https://x.y/?ids[0]=1&id[ID",
        "<https://x.y/a[1]>",
        "x = [1].",
        "ID:1 and ID 1",
    ],
)
def test_what_only_looks_like_a_marker_stays(text: str) -> None:
    assert markers.repair(text, 4) == text


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("Bad [ID:99] one.", "Bad one."),
        ("Bad [ID:99].", "Bad."),
        ("Bad [ID:98] [ID:99].", "Bad."),
        ("Good [ID:1] [ID:99] [ID:0].", "Good [ID:1] [ID:0]."),
        ("Good [ID:1, ID:99].", "Good [ID:1]."),
        ("[ID:99] Leads.", "Leads."),
        ("坏[ID:99]。", "坏。"),
        ("End [ID:99]\n\nNext", "End\n\nNext"),
        ("  - [ID:99] item", "  - item"),
        ("**bold [ID:99]** x", "**bold** x"),
        ("[[ID:99]ID:1]", "[ID:1]"),
        ("A [ID:99.] Next.", "A. Next."),
        ("A ([ID:99]).", "A."),
        ("A ([ID:98][ID:99]) b", "A b"),
        ("A (see [ID:99]).", "A."),
        ("坏（见[ID:99]）。", "坏。"),
        ("A [ID:99], [ID:2].", "A [ID:2]."),
        ("A [ID:2] and [ID:99].", "A [ID:2]."),
        ("A [ID:98] and [ID:99].", "A."),
        ("x [ID:99999999999999999999999999].", "x."),
        # Bare ones, where the answer shows that it cites so.
        ("A [ID:1][9].", "A [ID:1]."),
        ("Paris is big [1][9].", "Paris is big [ID:1]."),
        ("Paris is big [9][1].", "Paris is big [ID:1]."),
        ("Paris it is [1]. Lyon is small [9].", "Paris it is [ID:1]. Lyon is small."),
        ("Paris it is [1]. Lyon is small.[9] Next.", "Paris it is [ID:1]. Lyon is small. Next."),
        ("首都是巴黎[1]。里昂很小[9]。", "首都是巴黎[ID:1]。里昂很小。"),
        ("Paris it is [1]. It lies in [0, 100].", "Paris it is [ID:1]. It lies in [0, 100]."),
        ("Paris it is [1]. Use arr[i] or [9].", "Paris it is [ID:1]. Use arr[i] or [9]."),
        ("x [ID:0-999999999].", "x [ID:0][ID:1][ID:2][ID:3]."),
    ],
)
def test_ids_that_do_not_exist_go_without_a_trace(written: str, left: str) -> None:
    assert markers.repair(written, 4) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Ends [1", "Ends"),
        ("Ends [ID:1", "Ends"),
        ("Ends [ID:0][ID:1", "Ends [ID:0]"),
        ("Ends [ID:0, ID:", "Ends"),
        ("Ends. [", "Ends."),
        ("结束。【ID：1", "结束。"),
        ("Use arr[1", "Use arr[1"),
        ("Use `x [1", "Use `x [1"),
        ("```\nx [ID:1", "```\nx [ID:1"),
        ("An open [bracket", "An open [bracket"),
        ("An open [idea", "An open [idea"),
    ],
)
def test_a_marker_that_the_end_cut_off_goes(text: str, left: str) -> None:
    assert markers.repair(text, 4) == left


def test_a_range_too_wide_cites_nothing() -> None:
    assert markers.repair("x [ID:0-60].", 100) == "x."
    assert markers.repair("x [ID:0-999999999].", 0) == "x."


def test_find_reads_only_the_right_form_outside_literals() -> None:
    text = "a [ID:0] `[ID:1]` [id:2] [ID:3]\n```\n[ID:4]\n```\nhttps://x.y/z[ID:5]"
    assert [found.id for found in markers.find(text)] == [0, 3, 5]
    assert all(text[found.start : found.end] == markers.marker(found.id) for found in markers.find(text))


@pytest.mark.parametrize(
    "text",
    [
        "> - > ```py\n>   > [ID:4]\n>   > ```\na [ID:0]",
        "> ```py\n> [ID:4]\n> ```\n> a [ID:0]",
        "> ```py\n> [ID:4]\n\na [ID:0]",
        "> ```py\n> > ```\n> [ID:4]\n> ```\n> a [ID:0]\n```\n[ID:4]",
        "```\n> ```\n[ID:4]\n```\na [ID:0]",
        "> so: ```py\n> [ID:4]\n> ```\n> a [ID:0]",
    ],
)
def test_a_fence_ends_with_the_quote_that_it_stands_in(text: str) -> None:
    assert [found.id for found in markers.find(text)] == [0]


def _without_markers_and_space(text: str) -> str:
    """What no repair may touch, roughly: everything but brackets, ids, digits, list signs and white space."""
    text = re.sub(r"(?<=ID:\d)\.(?=\])", "", text)  # a stop inside a marker that has another behind it
    return re.sub(r"[\s\d~\[\]()【】［］（）:：\\,\-]|ID|id|see", "", text)


@given(TEXTS, st.integers(0, 9))
def test_repair_is_idempotent_and_touches_markers_only(text: str, count: int) -> None:
    once = markers.repair(text, count)
    assert markers.repair(once, count) == once
    assert all(found.id < count for found in markers.find(once))
    assert _without_markers_and_space(once) == _without_markers_and_space(text)


@given(st.text(alphabet=st.characters(exclude_characters="[［【〔〖(（"), max_size=80), st.integers(0, 9))
def test_a_text_without_brackets_is_left_to_the_byte(text: str, count: int) -> None:
    assert markers.repair(text, count) == text
    assert markers.strip(text) == text


@given(st.text(max_size=60), st.integers(0, 60))
def test_what_is_put_in_is_taken_out_again(text: str, place: int) -> None:
    if markers.find(text):
        return
    place = min(place, len(text))
    marked = text[:place] + markers.spaced(text, place, "[ID:3][ID:0]") + text[place:]
    spaces_around = text[place - 1 : place].isspace() or text[place : place + 1].isspace()
    if [found.id for found in markers.find(marked)] == [3, 0] and not spaces_around:
        assert markers.strip(marked) == text


@pytest.mark.parametrize("unit", ["[", "[ID:", "[ID:1,", "](", "[a](b", "【ID:1,2-", "http://a[ID:", " ", "> "])
def test_a_long_row_of_anything_is_read(unit: str) -> None:
    began = time.process_time()
    markers.repair(unit * (200_000 // len(unit)), 4)
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "unit",
    [
        "[1]",
        "[1][",
        "([ID:99]",
        "[ID:99] ",
        "`",
        "[](",
        "[ID:1](http://",
        "\n```\n",
        "- ",
        "[1] a[1]. ",
        "[[ID:9]",
        "(see [ID:9], ",
        "[ID:1], ",
        "a ```\n",
        "[ID:1\n",
    ],
)
def test_time_is_linear(unit: str) -> None:
    taken = []
    for length in (5_000, 50_000):
        text = unit * (length // len(unit))
        began = time.process_time()
        markers.repair(text, 4)
        taken.append(time.process_time() - began)
    assert taken[1] < 30 * taken[0] + 1


def test_the_grammar_alone_imports_nothing_heavy() -> None:
    code = "import sys, ragcore.citations.markers; print(*sorted({'numpy', 'sentencex'} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""
