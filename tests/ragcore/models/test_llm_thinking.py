"""However the text is cut into pieces, thoughts and answer come apart the same way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.models.llm import Discard, ReasoningPiece, TextPiece
from ragcore.models.thinking import ThinkSplitter


def split(pieces: list[str], *, opens_thinking: bool = False) -> tuple[str, str]:
    """Return (thoughts, text) as a reader has them in the end."""
    splitter = ThinkSplitter(opens_thinking=opens_thinking)
    thoughts = text = ""
    for piece in [out for part in pieces for out in splitter.feed(part)] + splitter.close():
        match piece:
            case ReasoningPiece():
                thoughts += piece.text
            case TextPiece():
                text += piece.text
            case Discard():
                assert piece.text.startswith(text)
                thoughts, text = thoughts + piece.text, ""
    return thoughts.strip(), text.strip()


CASES = [
    ("Just text.", ("", "Just text.")),
    ("<think>Hm.</think>Yes.", ("Hm.", "Yes.")),
    ("\n<think>\nHm.\n</think>\n\nYes.", ("Hm.", "Yes.")),
    ("<THINK>Hm.</Think>Yes.", ("Hm.", "Yes.")),
    ("<thinking>Hm.</thinking>Yes.", ("Hm.", "Yes.")),
    ("<think></think>Yes.", ("", "Yes.")),
    ("<think></think>\n\n<think>Hm.</think>Yes.", ("Hm.", "Yes.")),
    ("<think>Hm. </think><think>Ah.</think>\nYes <think> no.", ("Hm. Ah.", "Yes <think> no.")),
    ("<think>Cut in the mid", ("Cut in the mid", "")),
    ("Hm, let me see.\n</think>\n\nYes.", ("Hm, let me see.", "Yes.")),
    ("Hm.</think>\nYes.", ("Hm.", "Yes.")),
    ("The tag `</think>` ends it.", ("", "The tag `</think>` ends it.")),
    ("A </think> in a line stays.", ("", "A </think> in a line stays.")),
    ("```xml\n</think>\n```\nis the end tag.", ("", "```xml\n</think>\n```\nis the end tag.")),
    ("Use <think> to think.", ("", "Use <think> to think.")),
    ("<th is no tag", ("", "<th is no tag")),
    ("a < b and </t", ("", "a < b and </t")),
    ("", ("", "")),
]


@pytest.mark.parametrize(("whole", "expected"), CASES)
@given(data=st.data())
def test_any_cut_gives_the_same(whole: str, expected: tuple[str, str], data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert split(pieces) == expected
    assert split(list(whole)) == expected


ASSUMED = [
    ("Hm.</think>Yes.", ("Hm.", "Yes.")),
    ("<think>Hm.</think>Yes.", ("Hm.", "Yes.")),
    ("\n<think>\nHm.</think>\nYes.", ("Hm.", "Yes.")),
    ("No thoughts today.", ("No thoughts today.", "No thoughts today.")),
]


@pytest.mark.parametrize(("whole", "expected"), ASSUMED)
@given(data=st.data())
def test_a_model_known_to_open_in_its_thoughts(whole: str, expected: tuple[str, str], data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert split(pieces, opens_thinking=True) == expected
    assert split(list(whole), opens_thinking=True) == expected


@given(text=st.text(max_size=60))
def test_text_without_tags_is_unchanged(text: str) -> None:
    if "think" not in text.lower():
        assert split(list(text)) == ("", text.strip())


def test_text_flows_at_once() -> None:
    splitter = ThinkSplitter()
    assert splitter.feed("Hello ") == [TextPiece(text="Hello ")]
    assert splitter.feed("world <") == [TextPiece(text="world ")]
    assert splitter.feed("b>") == [TextPiece(text="<b>")]
