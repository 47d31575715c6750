"""Emphasis beside Chinese, Japanese and Korean; text of other scripts is read as CommonMark reads it."""

import html
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bots.rendering.flanking import FlankedInline, is_cjk
from bots.rendering.parse import parse_markdown
from bots.rendering.tree import Paragraph, Styled, Text
from tests.bots.rendering.documents import HOSTILE

PLAIN = MarkdownIt("js-default")
OURS = MarkdownIt("js-default")
OURS.inline = FlankedInline()

PIECES = ["*", "**", "***", "_", "__", "~~", "~", " ", "\n", "word", "W", "“", "”", '"', "(", ")", ".", "!", "⟦", "⟧", "é", "🎉",
          "\u2060", "[a](b)", "`c`", "\\", "1", "\ufe0f", "—"]  # fmt: skip
MARKS = [piece for piece in PIECES if piece not in ("[a](b)", "`c`", "\\")]
CJK = ["年", "假", "あ", "ー", "한", "，", "。", "！", "「", "」", "（", "）", "：", "\ufe00", "\U000e0100", "ｱ", "￥"]


def styles(text: str) -> list[tuple[str, str]]:
    """Return each styled run of a paragraph, and the text between as ('', text)."""
    (block,) = parse_markdown(text).blocks
    assert isinstance(block, Paragraph)
    found: list[tuple[str, str]] = []
    for child in block.children:
        if isinstance(child, Styled):
            found.append((child.style, "".join(one.text for one in child.children if isinstance(one, Text))))
        else:
            assert isinstance(child, Text)
            found.append(("", child.text))
    return found


@given(st.lists(st.sampled_from([*PIECES, *HOSTILE]), max_size=14).map("".join))
@example("**“W”**W")
@example("W**(W)**")
def test_text_without_cjk_is_read_as_before(text: str) -> None:
    if not any(is_cjk(character) for character in text):
        assert OURS.render(text) == PLAIN.render(text)


@given(st.lists(st.sampled_from([*MARKS, *CJK]), max_size=14).map("".join))
def test_only_marks_become_styles(text: str) -> None:
    shown = html.unescape(re.sub(r"<[^>]*>", "", OURS.render(text)))
    assert re.sub(r"[*_~\s]", "", shown) == re.sub(r"[*_~\s]", "", text)


@given(
    st.sampled_from(["年", "で", "다", "，", "。", "」"]),
    st.sampled_from(["“三月”", '"三月"', "(注)", "「注」", "注意：", "三月", "API", "100%", "`x`", "年假（天）"]),
    st.sampled_from(["前", "の", "은", "，", "「", "（"]),
    st.sampled_from(["**", "~~"]),
)
def test_a_pair_of_marks_within_cjk_text_styles_what_is_between(
    before: str, inside: str, after: str, mark: str
) -> None:
    shown = OURS.render(f"{before}{mark}{inside}{mark}{after}")
    tag = "strong" if mark == "**" else "s"
    assert f"<{tag}>" in shown
    assert mark not in shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("每年**“三月三十一日”**前", [("", "每年"), ("strong", "“三月三十一日”"), ("", "前")]),
        ('请读**"手册"**第3页', [("", "请读"), ("strong", '"手册"'), ("", "第3页")]),
        ("**注意：**请勿转发", [("strong", "注意："), ("", "请勿转发")]),
        ("これは*「例」*です", [("", "これは"), ("emphasis", "「例」"), ("", "です")]),
        ("See**「例」**and", [("", "See"), ("strong", "「例」"), ("", "and")]),
        ("**이것(휴가)**은", [("strong", "이것(휴가)"), ("", "은")]),
        ("年\U000e0100**“假”**前", [("", "年\U000e0100"), ("strong", "“假”"), ("", "前")]),
        # What is not meant as emphasis stays as it is.
        ("2 ** 3 是八", [("", "2 ** 3 是八")]),
        ("文件_名_称", [("", "文件_名_称")]),
        ("** 年假**", [("", "** 年假**")]),
        ('W**"W"**W', [("", 'W**"W"**W')]),
    ],
)
def test_marks_beside_cjk(text: str, expected: list[tuple[str, str]]) -> None:
    assert styles(text) == expected


@pytest.mark.parametrize(
    ("character", "expected"),
    [("年", True), ("，", True), ("한", True), ("ㄱ", True), ("ｱ", True), ("𠀀", True), ("、", True), ("“", False), ("é", False),
     ("⟧", False), ("🎉", False), ("⚡", False), ("W", False), (" ", False), ("\u3000", True), ("א", False)],
)  # fmt: skip
def test_which_characters_are_cjk(character: str, expected: bool) -> None:
    assert is_cjk(character) is expected
