"""What a model in a loop writes, or a hostile page: many small pieces of markup. It stays a few messages."""

import time

import pytest

from bots.platform import View
from bots.rendering.discord import render_discord
from bots.rendering.parse import parse_partial
from bots.rendering.plain import plain_pieces
from bots.rendering.slack import render_slack
from bots.rendering.telegram import render_telegram

PIECES = [
    "<@1>", "_*", "*_", "~~a", "***a", "``a`", "=\n", "a\n", "**[ID:1]", "[ID:0]", "@a ", "a@b.de ", "`a` ", "*a* ",
    "# a\n\n", "> a\n\n", "1. a\n", "- *a*\n", "www.a.de,", "\u0645*a*", "\U0001f468\u200d\U0001f469", "&", "``` a\n```\n",
]  # fmt: skip
LENGTH = 3_000


@pytest.mark.parametrize("piece", PIECES)
def test_repeated_markup_is_split_into_few_messages(piece: str) -> None:
    view = View(document=parse_partial(piece * (LENGTH // len(piece))), reference="0123abcd")
    characters = sum(map(len, plain_pieces(view.document.blocks)))
    assert len(render_slack(view)) <= 3
    assert len(render_discord(view)) <= 12
    # 100 entities a message.
    assert len(render_telegram(view)) <= 1 + max(characters // 100, LENGTH // len(piece) // 40)


def test_a_long_paragraph_of_small_pieces_is_cut_in_less_time_than_it_takes_to_read_it_some_times() -> None:
    started = time.process_time()
    view = View(document=parse_partial("**[ID:1]" * 3_000), reference="0123abcd")
    read = time.process_time()
    render_slack(view)
    took = time.process_time() - read
    assert took < 10 * (read - started), "each place to cut is looked for from the start of the paragraph"
