"""A Slack stream: what was shown stays, and the reader isn't kept waiting."""

import pytest

from bots.platform import View
from bots.rendering.parse import parse_partial
from bots.rendering.slack import slack_stream_text
from ragcore.citations.stream import HoldBack
from tests.bots.rendering.readers import slack
from tests.bots.rendering.test_gallery import CASES, GALLERY


def view_of(text: str) -> View:
    return View(document=parse_partial(text), reference="89abcdef")


def streamed(text: str, step: int) -> list[str]:
    """Return what is shown after each piece, as the core gives it out."""
    hold, seen, sent = HoldBack(), "", ""
    found = []
    for start in range(0, len(text), step):
        seen += hold.feed(text[start : start + step])
        sent = slack_stream_text(view_of(seen), sent)
        found.append(sent)
    return found


@pytest.mark.parametrize("case", CASES)
def test_an_answer_streams_to_its_end(case: str) -> None:
    text = (GALLERY / f"{case}.md").read_text("utf-8").partition("-->\n")[2]
    *_, sent = streamed(text, 3 if len(text) < 2000 else 97)
    # Nothing that was shown had to change: the end is what is settled of the whole text.
    assert sent == slack_stream_text(view_of(text))
    slack.read_markdown(sent or "…")


def test_words_come_as_they_are_written() -> None:
    text = "You may carry **five days** over [ID:0], and `no more` of them. Ask your manager first."
    shown = streamed(text + "\n\nEnd", 1)
    assert "You may" in shown[8]
    assert "**five days**" in shown[28]
    assert shown[-1].startswith(
        "You may carry **five days** over \\[1\\], and `no more` of them. Ask your manager first."
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- one\n- two thr", "- one\n- two"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 |", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("Head\n\n```py\nprint(1)\n", "Head"),
        ("A [link](https://x", "A"),
        ("A **bold", "A"),
        ("See ( and *b [c* then", "See ( and"),
        ("See https://evil.exam", "See"),
        ("# Title\n\nWords he", "# Title\n\nWords"),
        ("1. one\n\n   more\n\n2. two and", "1. one\n\n   more\n2. two"),
        ("> quoted wor", "> quoted"),
    ],
)
def test_only_what_is_settled_is_shown(text: str, expected: str) -> None:
    assert slack_stream_text(view_of(text)) == expected


def test_what_was_shown_is_never_taken_back() -> None:
    assert slack_stream_text(view_of("Something else entirely."), "Words that stand") == "Words that stand"
