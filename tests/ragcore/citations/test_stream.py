"""What is shown while an answer streams is never half a marker, link, address or fence line."""

import itertools
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.citations import stream
from ragcore.citations.literals import MAX_LINK_TEXT, MAX_URL, LiteralKind, Literals
from ragcore.citations.stream import MAX_HELD, HoldBack

PIECES = st.sampled_from(
    [
        *(
            "[ID:0]",
            "[ID:12]",
            "(ID: 1)",
            "【ID：1】",
            "[ID:0, ID:2]",
            "[1]",
            "[1][2]",
            "[[ID:1]]",
            "[ID:1](https://x.y/z)",
            "[ID:0,\nID:2]",
            "[ID:0\n, 2]",
        ),
        *(
            "[a link](https://x.y/a_(b)?c=d)",
            "![image](u.png)",
            "https://x.y/z?a[0]=1",
            "www.x.y",
            "\n```python\n",
            "\n```\n",
        ),
        *(
            "Like so: ```py\n",
            "so ```\n",
            "```py",
            "\n~~~\n",
            "\n- ```\n",
            "`code[0]`",
            "arr[0]",
            "prose (in brackets) ",
            " [ open ",
            "word. ",
            "他走了。",
            "\n",
            "\n\n",
            "* ",
        ),
        *("with the", "!", "http", "w", "[", "(", "1. ", "> "),
    ]
)
TEXTS = st.lists(PIECES, max_size=14).map("".join)
WHOLE = re.compile(
    r"\[ID:\d+(?:,[ \n]ID:\d+|\n, \d+)*\](?:\(https?://[^\s()]*\))?|\(ID: \d+\)|【ID：\d+】"
    r"|!?\[[^\[\]\n]*\]\([^\s()]*(?:\([^\s()]*\)[^\s()]*)?\)"
    r"|(?<![A-Za-z0-9])https?://[a-z.?/=]+"
    r"|^[ \t>]*(?:-[ ])*(?:```[^`\n]*|~~~[^\n]*)$|(?<=[a-z:] )```(?:py)?$",
    re.MULTILINE,
)


def fences(text: str) -> list[tuple[int, int]]:
    return [(span.start, span.end) for span in Literals(text).spans if span.kind is LiteralKind.FENCE]


def shown(text: str, cuts: list[int]) -> list[str]:
    held = HoldBack()
    bounds = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    return [held.feed(text[a:b]) for a, b in itertools.pairwise(bounds)] + [held.close()]


@given(st.one_of(TEXTS, st.text(max_size=60)), st.lists(st.integers(0, 300), max_size=40))
def test_nothing_is_lost(text: str, cuts: list[int]) -> None:
    assert "".join(shown(text, cuts)) == text


@given(TEXTS, st.lists(st.integers(0, 300), max_size=40), st.booleans())
def test_no_cut_falls_into_a_whole_thing(text: str, cuts: list[int], by_character: bool) -> None:
    pieces = shown(text, list(range(len(text))) if by_character else cuts)
    inside = fences(text)
    position = 0
    offsets = [position := position + len(piece) for piece in pieces[:-1]]
    for found in WHOLE.finditer(text):
        # In a fence nothing is a marker, and only its first line must be whole.
        if any(start < found.start() and found.start() < end for start, end in inside):
            continue
        assert not [cut for cut in offsets if found.start() < cut < found.end()], found[0]


@pytest.mark.parametrize("opening", ["see [ ", "see ( ", "see ! ", "a < b ", "see [ID and "])
def test_an_open_bracket_in_prose_holds_nothing_for_ever(opening: str) -> None:
    held = HoldBack()
    given_out = held.feed(opening + "and so it goes on, " * 400)
    assert len(given_out) > len("and so it goes on, ") * 400 - MAX_HELD
    assert held.feed("\n") != ""
    assert held.close() == ""


def test_delay_is_bounded_whatever_comes() -> None:
    for unit in ("[", "(", "`", "~", "http://x", "[a](", "![", "- ", "\\["):
        held = HoldBack()
        taken = given_out = 0
        for _ in range(80):
            taken += len(unit * 40)
            given_out += len(held.feed(unit * 40))
            assert taken - given_out <= MAX_HELD + len(unit) * 40


def test_ordinary_prose_flows() -> None:
    held = HoldBack()
    words = ["The", "cat", "sat", "with", "the", "hat", "(its", "hat),", "and", "then", "went", "home."]
    delays = [len(word) + 1 - len(held.feed(word + " ")) for word in words]
    assert max(delays) <= 1


def test_a_fence_that_opens_behind_a_sentence_is_shown_whole_and_ends() -> None:
    held = HoldBack()
    assert held.feed("Cited [1]. ```p") == "Cited [1]. "
    assert held.feed("y\n") == "```py\n"
    assert held.feed("x[0]\n``") == "x[0]\n"
    assert held.feed("`\n") == "```\n"
    assert held.feed("then [ID:") == "then "


def test_text_inside_a_fence_flows() -> None:
    held = HoldBack()
    held.feed("```py\n")
    assert held.feed("x = [1, 2") == "x = [1, 2"
    assert held.feed("\n``") == "\n"
    assert held.feed("`\n") == "```\n"
    assert held.feed("then [ID:") == "then "


# The open link in one expression, as plain as it is slow, and every backtick looked at.
LINK = re.compile(
    rf"!?(?:\[[^\[\]\n]{{0,{MAX_LINK_TEXT}}}(?:\](?:\([^)\n]{{0,{MAX_URL + 300}}}"
    r"(?:\([^()\n]{0,500}\)?[^()\n]{0,500})?)?)?)?\Z"
)
BACKTICKS = re.compile(r"(?:`{3,}[\w+#.-]{0,20}[ \t]*|`+)\Z")
LINK_PIECES = st.sampled_from(
    [
        "[",
        "]",
        "(",
        ")",
        "](",
        "[a](",
        "![",
        "!",
        "`",
        "```",
        " ",
        "\n",
        "a",
        *("x" * n for n in (499, 500, 501, 1798, 2300)),
    ]
)


@given(st.lists(LINK_PIECES, max_size=12).map("".join))
def test_what_is_open_is_what_one_expression_for_it_tells(line: str) -> None:
    for start in (at for at, character in enumerate(line) if character in "![`"):
        plainly = bool(LINK.match(line, start) or BACKTICKS.match(line, start) or stream._OPEN.match(line, start))
        assert stream._is_open(line, start) == plainly, start
        if line[start] == "`" and start and line[start - 1] == "`" and plainly:
            assert stream._is_open(line, start - 1), start


@pytest.mark.parametrize(
    "unit", ["[a](", "![a]((x", "[a](((", f"[a](({'x' * 900}", "`", f"{'`' * 3000}{' ' * 2000}x", "["]
)
@pytest.mark.parametrize("ends", ["", "x) y"])
def test_no_text_takes_long(unit: str, ends: str) -> None:
    text = (unit * (30_000 // len(unit) + 1))[:30_000] + ends
    began = time.thread_time()
    shown(text, [*range(0, len(text), 500)])
    assert time.thread_time() - began < 0.3
