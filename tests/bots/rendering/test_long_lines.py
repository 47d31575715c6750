"""What is looked for in a message is found in time that grows with its length alone, whatever stands in it."""

import re
import time

import pytest

from bots.rendering import markdown, quiet
from bots.rendering.discord import markdown as discord_markdown
from bots.rendering.slack import markdown as slack_markdown

LENGTH = 30_000
PATTERNS = [
    markdown._FENCES, quiet._TOKEN, discord_markdown._LINE_START, discord_markdown._NUMBERED, slack_markdown._LINE_START,
    slack_markdown._NUMBERED, slack_markdown._QUOTED, slack_markdown._FENCES,
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(PATTERNS)))
@pytest.mark.parametrize("unit", ["\n", " ", "=\n", "+", "a.", "1", "_", "&gt;\n"])
def test_no_text_takes_long(number: int, unit: str) -> None:
    began = time.thread_time()
    PATTERNS[number].sub("", unit * (LENGTH // len(unit)))
    assert time.thread_time() - began < 0.5


def test_line_starts_are_found_behind_blank_lines_and_spaces() -> None:
    text = "\n\n  - a\n\t\n1. b\n   # c\n&gt; d\n ```"
    assert [found[0] for found in discord_markdown._LINE_START.finditer(text)] == ["  -", "   #"]
    assert [found[0] for found in slack_markdown._NUMBERED.finditer(text)] == ["1"]
    assert len(re.findall(slack_markdown._QUOTED, text)) == 1
    assert slack_markdown._FENCES.findall(text) == ["```"]
