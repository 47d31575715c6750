"""Splitting on the tree: where parts end, and what it costs."""

import gc
import time

import pytest

from bots.rendering.discord import DiscordMarkdown
from bots.rendering.markup import Markup
from bots.rendering.measure import units
from bots.rendering.parse import parse_markdown
from bots.rendering.split import split
from bots.rendering.telegram.html import TelegramHtml
from bots.rendering.tree import Cite, Document, Fence, ItemList, ListItem, Paragraph, Table, Text


def parts_of(document: Document | str, limit: int, markup: type[Markup] = DiscordMarkdown) -> list[str]:
    if isinstance(document, str):
        document = parse_markdown(document)
    writer = markup()
    parts = split(document, lambda some: units(writer.write(some.blocks)) <= limit, limit)
    return [writer.write(part.blocks) for part in parts]


def test_a_paragraph_ends_behind_a_sentence_then_a_word_then_a_character() -> None:
    assert parts_of("One is here. Two is there, and Dr. Smith too. Three more.", 53) == [
        "One is here. Two is there, and Dr. Smith too.",
        "Three more.",
    ]
    assert parts_of("one two three four five six", 15) == ["one two three", "four five six"]
    assert parts_of("👩‍👩‍👧‍👦" * 3, 25) == ["👩‍👩‍👧‍👦👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"]


def test_a_citation_stays_with_its_sentence() -> None:
    cite = Cite(number=1, url="https://x.example")
    children = (Text(text="One two three."), cite, Text(text=" Four five six."), cite)
    (first, second) = parts_of(Document(blocks=(Paragraph(children=children),)), 45)
    assert first == "One two three.[[1]](<https://x.example>)"
    assert second == "Four five six.[[1]](<https://x.example>)"


def test_a_start_that_runs_from_right_to_left_alone_fits_with_its_marks() -> None:
    # Cut behind its last whole word, the line is mostly Hebrew, and each code span in it takes two marks more.
    text = "latin latin " + "ש`a`" * 12 + " " + "l" * 60
    for limit in range(40, 120):
        assert all(units(part) <= limit for part in parts_of(text, limit))


def test_what_holds_no_text_counts_with_its_marks() -> None:
    empty, long = (
        (Fence(text=""),),
        (Paragraph(children=(Text(text="More words than one part can hold, and then some."),)),),
    )
    listed = ItemList(items=(ListItem(blocks=empty), ListItem(blocks=long)))
    document = Document(blocks=(Paragraph(children=(Text(text="Words that come first."),)), listed))
    for limit in range(22, 40):
        assert all(units(part) <= limit for part in parts_of(document, limit))


def test_a_fence_goes_on_with_its_language_and_a_table_with_its_header() -> None:
    first, second = parts_of("```py\naaaa\nbbbb\n\ncccc\ndddd\n```", 26)
    assert (first, second) == ("```py\naaaa\nbbbb\n```", "```py\ncccc\ndddd\n```")
    # A line longer than a part ends behind a word.
    assert parts_of(f"```\n{'word ' * 20}\n```", 60)[0] == "```\n" + " ".join(["word"] * 10) + "\n```"
    rows = "\n".join(f"| {n} | x |" for n in range(10, 30))
    for part in parts_of(f"| no | y |\n|---|---|\n{rows}", 80):
        assert part.startswith("```\nno  y\n")


def test_a_list_goes_on_with_its_number() -> None:
    text = "\n".join(f"{n}. item number {n}" for n in range(7, 20))
    parts = parts_of(text, 100)
    lines = [line for part in parts for line in part.split("\n")]
    assert lines == text.split("\n")
    assert len(parts) > 2


def test_an_item_that_fits_in_no_list_keeps_its_number() -> None:
    row = "| `aaaaaaaaaaaaaaaaaaaa` | `bbbbbbbbbbbbbbbbbbbb` |"
    text = f"7. | x | y |\n   |---|---|\n   {row}\n8. last"
    first, last = parts_of(text, 60)
    assert first.replace("\u2060", "") == "7\\. **`aaaaaaaaaaaaaaaaaaaa`**\ny: `bbbbbbbbbbbbbbbbbbbb`"
    assert last == "8. last"


def test_a_heading_stays_with_what_follows() -> None:
    parts = parts_of("Words that come first.\n\n# Head\n\nThe words that follow it, which are longer.", 60)
    assert parts[1].startswith("## Head\n\nThe words")


def test_a_table_whose_row_fits_nowhere_becomes_cards() -> None:
    text = f"| head one | head two |\n|---|---|\n| a | {'word ' * 60}|\n| b | c |"
    parts = parts_of(text, 120)
    assert "".join(parts).count("word") == 60
    assert all(len(part) <= 120 for part in parts)


def test_what_fits_nowhere_is_still_shown() -> None:
    parts = parts_of("> - # a\n>   **b**", 3)
    assert "".join(parts).replace("\u2060", "").count("b") == 1


@pytest.mark.parametrize("markup", [DiscordMarkdown, TelegramHtml])
@pytest.mark.parametrize("kind", ["paragraphs", "one paragraph", "one word", "one fence", "one table", "one list"])
@pytest.mark.soak
def test_the_cost_grows_with_the_length_and_no_faster(kind: str, markup: type[Markup]) -> None:
    def cost(size: int) -> float:
        document = _long(kind, size)
        gc.disable()  # it would count all that the tests before this one have left
        try:
            start = time.process_time()
            parts_of(document, 2000, markup)
            return time.process_time() - start
        finally:
            gc.enable()

    small = min(cost(15_000) for _ in range(2))
    # Eight times as long: 64 times the cost if it grew with the square. What else runs may make one try look dear.
    assert any(cost(120_000) < 24 * small + 0.05 for _ in range(3))


def _long(kind: str, size: int) -> Document:
    words = "Some words of a sentence. "
    match kind:
        case "paragraphs":
            block = Paragraph(children=(Text(text=words * 10), Cite(number=1, url="https://x.example")))
            return Document(blocks=(block,) * (size // 260))
        case "one paragraph":
            return Document(blocks=(Paragraph(children=(Text(text=words), Cite(number=1, url="")) * (size // 26)),))
        case "one word":
            return Document(blocks=(Paragraph(children=(Text(text="x" * size),)),))
        case "one fence":
            return Document(blocks=(Fence(text="x = 1  # a line of code\n" * (size // 24)),))
        case "one table":
            row = ((Text(text="left"),), (Text(text="right"),))
            return Document(blocks=(Table(header=row, rows=(row,) * (size // 9), aligns=("", "")),))
        case _:
            return parse_markdown("\n".join("- an item of a list" for _ in range(size // 20)))


def test_blocks_that_show_nothing_do_no_harm() -> None:
    blocks = (Fence(text=""), ItemList(items=()), Paragraph(children=()), Paragraph(children=(Text(text="x"),)))
    assert parts_of(Document(blocks=blocks * 3), 100) == ["x\n\n\n\nx\n\n\n\nx"]
