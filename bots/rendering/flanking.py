"""Where ``*``, ``_`` and ``~~`` open and close beside Chinese, Japanese and Korean, which have no spaces between words.

CommonMark opens and closes emphasis by what stands around a run of marks, and where words aren't parted by spaces that
leaves ``**“三月”**前`` as it is typed. This is the amendment that several Markdown libraries follow (CommonMark
CJK-friendly Amendments, https://github.com/tats-u/markdown-cjk-friendly, specification.md, over CommonMark 0.31.2,
section 6.2): a CJK character beside the run counts as much as white space does, and CJK punctuation isn't punctuation
in this. Beside anything else a run is read as CommonMark reads it.
"""

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

import regex
from markdown_it.common.utils import isMdAsciiPunct, isPunctChar, isWhiteSpace
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Scanned

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from markdown_it.utils import EnvType

# The amendment's section 2.1: wide, full-width and half-width characters that are no emoji by themselves, and Hangul.
_CJK = regex.compile(r"[[\p{EA=W}\p{EA=F}\p{EA=H}]--\p{Emoji_Presentation}]|\p{Hangul}", regex.V1)
_SELECTORS = frozenset(map(chr, range(0xFE00, 0xFE0F)))
"""Variation selectors but for the one that makes an emoji; what stands before one is what counts."""
_FULLWIDTH = "\ufe01"
"""Behind an ambiguous quotation mark: its full-width form."""


def is_cjk(character: str) -> bool:
    """Return whether a character is one of Chinese, Japanese or Korean text, its punctuation included."""
    return character > "\u10ff" and _CJK.match(character) is not None


class FlankedInline(ParserInline):
    """The parser of inlines, by these rules."""

    def parse(self, src: str, md: "MarkdownIt", env: "EnvType", tokens: "list[Token]") -> "list[Token]":
        """Read the text of one block."""
        state = _State(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


class _State(StateInline):
    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:  # noqa: N802, N803 (the library's names)
        """Return whether the run of marks at ``start`` can open and close, and its length."""
        scanned = super().scanDelims(start, canSplitWord)
        end = start + scanned.length
        last, is_wide = _before(self.src[max(0, start - 2) : start])
        following = self.src[end] if end < self.posMax else " "
        if not (is_wide or is_cjk(following)):
            return scanned
        before = _Side(last, is_cjk=is_wide)
        after = _Side(following, is_cjk=is_cjk(following))
        left = not after.is_space and (not after.is_foreign_mark or before.sets_free)
        right = not before.is_space and (not before.is_foreign_mark or after.sets_free)
        can_open = left and (canSplitWord or not right or before.is_mark)
        can_close = right and (canSplitWord or not left or after.is_mark)
        return Scanned(can_open, can_close, scanned.length)


class _Side:
    """What stands on one side of a run of marks."""

    def __init__(self, character: str, *, is_cjk: bool) -> None:
        self.is_space = isWhiteSpace(ord(character))
        self.is_mark = isMdAsciiPunct(ord(character)) or isPunctChar(character)
        self.is_foreign_mark = self.is_mark and not is_cjk
        self.sets_free = self.is_space or self.is_foreign_mark or is_cjk


def _before(text: Sequence[str]) -> tuple[str, bool]:
    """Return the character that a text of at most two ends in, and whether it counts as CJK."""
    if not text:
        return " ", False
    last = text[-1]
    if "\U000e0100" <= last <= "\U000e01ef":
        return last, True  # selects a form of an ideograph
    if last in _SELECTORS and len(text) > 1:
        is_fullwidth = last == _FULLWIDTH and unicodedata.east_asian_width(text[-2]) == "A"
        return text[-2], is_cjk(text[-2]) or (is_fullwidth and isPunctChar(text[-2]))
    return last, is_cjk(last)
