"""Whatever the answer: every part is valid by the platform's own documents, and nothing is lost, cut or called."""

import re
from collections.abc import Callable, Sequence
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bots.platform import Button, View
from bots.rendering.discord import DiscordMessage, render_discord, render_discord_partial
from bots.rendering.measure import units
from bots.rendering.parse import parse_partial
from bots.rendering.plain import plain_pieces
from bots.rendering.slack import (
    SlackMessage,
    render_slack,
    render_slack_partial,
    render_slack_quotes,
    slack_stream_text,
)
from bots.rendering.telegram import TelegramMessage, render_telegram, render_telegram_partial
from bots.rendering.telegram.rich import has_table
from bots.rendering.tree import Block, Document, ItemList, Quote, Table
from ragcore.citations.stream import HoldBack
from tests.bots.rendering.documents import ALLOWED, URLS, documents, markdown
from tests.bots.rendering.readers import discord, slack, slack_blocks, telegram, telegram_rich
from tests.bots.rendering.readers.shown import Shown
from tests.bots.rendering.readers.telegram_sent import as_sent
from tests.soak import scaled

BUTTONS = (Button.FEEDBACK, Button.QUOTES, Button.DELETE)


def read_slack(message: SlackMessage) -> Shown:
    slack_blocks.check_message(message.text, message.blocks)
    assert not slack.live_in(slack.read_mrkdwn(message.text))
    return slack_blocks.read_blocks(message.blocks)


def read_discord(message: DiscordMessage) -> Shown:
    assert all(1 <= len(row) <= 5 for row in message.rows)
    assert all(1 <= len(button.custom_id) <= 100 and len(button.label) <= 80 for row in message.rows for button in row)
    return discord.read(message.content)


def read_telegram(message: TelegramMessage) -> Shown:
    assert all(1 <= len(button.data.encode()) <= 64 and button.text for row in message.keyboard for button in row)
    if message.rich is None:
        return telegram.read(message.html)
    assert not message.html
    return telegram_rich.read(as_sent(message.rich))


def render_rich(view: View) -> Sequence[TelegramMessage]:
    return render_telegram(view, rich=True)


Render = Callable[[View], Sequence[object]]
PLATFORMS: tuple[tuple[Render, Callable[..., Shown]], ...] = (
    (render_slack, read_slack),
    (render_discord, read_discord),
    (render_telegram, read_telegram),
    (render_rich, read_telegram),
)
PARTIAL: dict[Render, Callable[[View], object]] = {
    render_slack: render_slack_partial,
    render_discord: render_discord_partial,
    render_telegram: render_telegram_partial,
}
NAMES = ["slack", "discord", "telegram", "telegram-rich"]
platform = pytest.mark.parametrize(("render", "read"), PLATFORMS, ids=NAMES)
growing = pytest.mark.parametrize(("render", "read"), PLATFORMS[:3], ids=NAMES[:3])


def bare(text: str) -> str:
    """Return the text without the marks that have no width."""
    return re.sub("[\u2060\u200b\u200f\u2066\u2069]", "", text)


def order(text: str) -> list[str]:
    return re.findall(r"w\d+", bare(text))


def headers(blocks: Sequence[Block]) -> set[str]:
    """Return the words of table headers, which may be repeated."""
    found: set[str] = set()
    for block in blocks:
        match block:
            case Table():
                found |= set(order(" ".join(plain_pieces((Table(header=block.header, rows=(), aligns=block.aligns),)))))
            case Quote():
                found |= headers(block.blocks)
            case ItemList():
                found |= {word for item in block.items for word in headers(item.blocks)}
            case _:
                pass
    return found


def body_words(pieces: Sequence[str], repeated: set[str]) -> list[str]:
    return [word for piece in pieces for word in order(piece) if word not in repeated]


def links_allowed(document: Document) -> set[str]:
    return {ALLOWED, *URLS, *(source.url for source in document.sources)}


def same_target(url: str, allowed: set[str]) -> bool:
    """Return whether a link leads to an allowed address, percent-encoding aside, or to its page."""
    pages = {one.partition(":~:")[0].rstrip("#") for one in allowed}
    return unquote(url) in {unquote(one) for one in (allowed | pages) - {""}}


@platform
@settings(max_examples=scaled(30), suppress_health_check=[HealthCheck.too_slow])
@given(document=documents, copies=st.integers(1, 4))
def test_every_part_is_valid_and_the_parts_are_the_answer(
    render: Callable[[View], Sequence[object]], read: Callable[..., Shown], document: Document, copies: int
) -> None:
    document = Document(blocks=document.blocks * copies, sources=document.sources, notes=("A note w/ @name.",))
    parts = [read(part) for part in render(View(document=document, reference="89abcdef", buttons=BUTTONS))]
    repeated = headers(document.blocks)
    wanted = body_words(list(plain_pieces(document.blocks)), repeated)
    assert body_words([part.plain for part in parts], repeated) == wanted
    for part in parts:
        assert not part.pings
        for words, url in part.links:
            assert same_target(url, links_allowed(document)), (words, url)
    assert_citations_resolve(parts, document)


NESTED = "~~d **c *b [w](https://wiki.example/allowed) `a` b* c** d~~ [ID:0]\n\n| a |\n|---|\n| ***~~x~~*** |\n"


def spans(value: object) -> int:
    """Return how many spans stand within each other in a rich text."""
    if isinstance(value, list):
        return max(map(spans, value), default=0)
    return 1 + spans(value["text"]) if isinstance(value, dict) else 0


def test_spans_in_a_rich_message_are_few_within_each_other_and_links_stay() -> None:
    (message,) = render_rich(View(document=parse_partial(NESTED), reference="1"))
    assert message.rich is not None  # type: ignore[attr-defined]
    first, table = message.rich.blocks  # type: ignore[attr-defined]
    assert [spans(first["text"]), spans(table["cells"][1][0]["text"])] == [2, 2]
    shown = telegram_rich.read(as_sent(message.rich))  # type: ignore[attr-defined]
    assert "d c b" in shown.plain


def assert_citations_resolve(parts: Sequence[Shown], document: Document) -> None:
    """Every citation leads where its source stands, and every source has its line in the list, once, at the end."""
    urls = {source.number: source.url for source in document.sources}
    for words, url in (link for part in parts for link in part.links):
        cited = re.fullmatch(r"\[(\d+)\]", bare(words).strip())
        if cited:
            assert same_target(url, {urls[int(cited[1])]})
    listed = re.findall(r"(?m)^\[(\d+)\] (?=\S.*, page \d)", "\n".join(bare(part.plain) for part in parts))
    assert listed == [str(number) for number in urls]


@growing
@settings(max_examples=scaled(20), suppress_health_check=[HealthCheck.too_slow])
@given(text=markdown, share=st.floats(0, 1), copies=st.integers(1, 3))
def test_what_is_written_so_far_is_valid_wherever_it_breaks_off(
    render: Callable[[View], Sequence[object]], read: Callable[..., Shown], text: str, share: float, copies: int
) -> None:
    text = "\n\n".join([text] * copies)
    partial = PARTIAL[render](View(document=parse_partial(text[: int(share * len(text))]), reference="1"))
    assert not read(partial).pings


@settings(max_examples=scaled(30), suppress_health_check=[HealthCheck.too_slow])
@given(text=markdown, cuts=st.lists(st.floats(0, 1), max_size=6))
def test_a_stream_only_grows_and_is_valid_at_every_point(text: str, cuts: list[float]) -> None:
    sent = ""
    hold = HoldBack()
    at = 0
    seen = ""
    for cut in sorted(cuts):
        seen += hold.feed(text[at : int(cut * len(text))])
        at = int(cut * len(text))
        grown = slack_stream_text(View(document=parse_partial(seen), reference="1"), sent)
        assert grown.startswith(sent)
        sent = grown
        if sent:
            assert not slack.live_in(slack.read_markdown(sent))
            ended = slack.read_markdown(sent + "\n\nThe end.")
            assert not [code for code in ended.codes if "The end." in code], "a fence that is open"


@settings(max_examples=scaled(20), suppress_health_check=[HealthCheck.too_slow])
@given(document=documents)
def test_quotes_fit_a_modal(document: Document) -> None:
    modal = render_slack_quotes(View(document=document, reference="1"))
    slack_blocks.check_modal(modal.title, modal.blocks)
    shown = slack_blocks.read_blocks(modal.blocks)
    assert not shown.pings
    repeated = headers(document.blocks)
    assert body_words([shown.plain], repeated) == body_words(list(plain_pieces(document.blocks)), repeated)


@settings(max_examples=scaled(20), suppress_health_check=[HealthCheck.too_slow])
@given(document=documents, copies=st.integers(1, 6))
def test_what_has_a_table_or_is_long_is_one_rich_message(document: Document, copies: int) -> None:
    view = View(document=Document(blocks=document.blocks * copies, sources=document.sources), reference="89abcdef")
    wanted = has_table(view.document.blocks) or len(render_telegram(view)) > 1
    messages = render_telegram(view, rich=True)
    if messages[0].rich is not None:
        assert wanted
        assert len(messages) == 1
    elif wanted:
        pieces = list(plain_pieces(view.document.blocks))
        assert len(pieces) > 100 or units("".join(pieces)) > 10_000, "one message takes it"
