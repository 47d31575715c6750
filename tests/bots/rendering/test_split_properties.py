"""Wherever an answer is split: the parts are all of it, character by character, and each is valid and fits.

What a platform's form may add is left out on both sides: white space, marks without width, the names of columns (which
a table repeats, and ``named_documents`` writes as ``h12h``), bullets, and what stands between cells.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bots.rendering.discord import DiscordMarkdown
from bots.rendering.markup import Markup
from bots.rendering.measure import units
from bots.rendering.plain import plain_pieces
from bots.rendering.slack.markdown import SlackMarkdown
from bots.rendering.slack.mrkdwn import Mrkdwn
from bots.rendering.sources import reachable
from bots.rendering.split import split
from bots.rendering.telegram.html import TelegramHtml
from bots.rendering.telegram.messages import MAX_ENTITIES
from bots.rendering.tree import Block, Document, ItemList, Quote, Table
from tests.bots.rendering.documents import named_documents
from tests.bots.rendering.readers import discord, slack, telegram
from tests.bots.rendering.readers.shown import Shown
from tests.soak import scaled

UNLIMITED = 1 << 30
ADDED = re.compile("[\\s\u2060\u200b\u200f\u2066\u2069:·•◦▪─-]|h\\d+h")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one platform writes blocks, counts them, and reads them up to a length."""

    markup: type[Markup]
    fits: Callable[[str, int], bool]
    read: Callable[[str, int], Shown]
    most: int
    marks: str = ""
    """Of its markup what a reader may see where it stands in other markup: not a matter of the split."""


def by_units(text: str, most: int) -> bool:
    return units(text) <= most


def by_entities(text: str, most: int) -> bool:
    shown, entities = telegram.parse_html(text)
    return units(shown) <= most and len(entities) <= MAX_ENTITIES


DIALECTS = {
    "slack": Dialect(SlackMarkdown, by_units, lambda text, most: slack.read_markdown(text), 12_000),
    "mrkdwn": Dialect(Mrkdwn, by_units, lambda text, most: slack.read_mrkdwn(text), 3_000, "*_~>`"),
    "discord": Dialect(DiscordMarkdown, by_units, discord.read, 2_000, "#>"),
    "telegram": Dialect(TelegramHtml, by_entities, telegram.read, 4_096),
}


def visible(texts: Sequence[str]) -> str:
    """Return the characters of the texts that a split may neither lose nor add nor move."""
    return ADDED.sub("", "".join(texts)).replace("ˋ", "`")


def links(parts: Sequence[Shown]) -> list[tuple[str, str]]:
    """Return the links in order; one whose label was cut, and so stands in two parts, counts once."""
    found: list[tuple[str, str]] = []
    for part in parts:
        for index, (words, url) in enumerate(part.links):
            if found and not index and found[-1][1] == url and not re.fullmatch(r"\[\d+\]", visible([words])):
                found[-1] = (found[-1][0] + visible([words]), url)
            else:
                found.append((visible([words]), url))
    return found


def has_table(blocks: Sequence[Block]) -> bool:
    for block in blocks:
        match block:
            case Table():
                return True
            case Quote():
                if has_table(block.blocks):
                    return True
            case ItemList():
                if any(has_table(item.blocks) for item in block.items):
                    return True
            case _:
                pass
    return False


@pytest.mark.parametrize("name", list(DIALECTS))
@settings(max_examples=scaled(20), suppress_health_check=[HealthCheck.too_slow])
@given(document=named_documents, share=st.floats(0, 1))
def test_at_any_length_the_parts_are_the_whole_answer(name: str, document: Document, share: float) -> None:
    dialect = DIALECTS[name]
    # From what holds a line to what the platform takes, short ones as often as long ones.
    limit = round(100 * (dialect.most / 100) ** share)
    document = reachable(document, lambda url: len(url) <= 40)
    assume(visible(list(plain_pieces(document.blocks))))
    markup = dialect.markup()
    parts = split(document, lambda some: dialect.fits(markup.write(some.blocks), limit), limit)
    assert parts[-1].sources == document.sources
    seen = str.maketrans("", "", dialect.marks)
    written = [text for part in parts if (text := dialect.markup().write(part.blocks).strip())]
    read = [dialect.read(text, limit) for text in written]
    whole = dialect.read(dialect.markup().write(document.blocks).strip(), UNLIMITED)
    assert visible([part.plain for part in read]).translate(seen) == visible([whole.plain]).translate(seen)
    assert not [ping for part in read for ping in part.pings]
    if not has_table(document.blocks):  # which is code or cards, as it fits: links are in cards alone
        assert links(read) == links([whole])
