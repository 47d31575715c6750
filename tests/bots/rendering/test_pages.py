"""A reply that stays one message: its pages are its parts, each fits and is taken, and the buttons lead through all."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from bots.platform import Button, View
from bots.rendering.actions import Act, read_action
from bots.rendering.discord import DiscordMessage, render_discord
from bots.rendering.slack import SlackMessage, render_slack
from bots.rendering.tree import Document
from tests.bots.rendering.documents import documents
from tests.servers.discord.rules import check_message
from tests.servers.slack.blocks import buttons_of, check_blocks, text_of
from tests.soak import scaled

BUTTONS = (Button.FEEDBACK, Button.QUOTES, Button.SHARE, Button.DELETE)


@pytest.fixture(autouse=True, scope="module")
def _short() -> Iterator[None]:
    """Let little be a page, so that a short answer has several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bots.rendering.discord.messages.MAX_CONTENT", 700)
        patch.setattr("bots.rendering.slack.messages.MAX_MESSAGE", 1_500)
        yield


def viewed(document: Document) -> View:
    return View(document=document, reference="89abcdef", buttons=BUTTONS, prompts=("More?",))


def discord_buttons(message: DiscordMessage) -> list[tuple[str, str]]:
    rows = [[{"custom_id": one.custom_id, "label": one.label, "emoji": one.emoji or None} for one in row]
            for row in message.rows]  # fmt: skip
    check_message({"content": message.content, "components": [{"type": 1, "components": row} for row in rows]})
    return [(one.label, one.custom_id) for row in message.rows for one in row]


def slack_buttons(message: SlackMessage) -> list[tuple[str, str]]:
    check_blocks(message.blocks)
    return [(part["text"]["text"] if "text" in part else "", part["value"]) for _, part in buttons_of(message.blocks)]


def turned(buttons: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the buttons to other pages, each by what it shows and its number; the others must all be there."""
    read = [(words, read_action(value)) for words, value in buttons]
    acts = {action.act for _, action in read if action is not None}
    assert {Act.UP, Act.DOWN, Act.QUOTES, Act.SHARE, Act.DELETE, Act.ASK} <= acts
    return [(words, action.value) for words, action in read if action is not None and action.act is Act.PAGE]


@pytest.mark.parametrize("platform", ["discord", "slack"])
@given(documents)
@settings(max_examples=scaled(6), deadline=None, suppress_health_check=list(HealthCheck))
def test_the_pages_are_the_parts(platform: str, document: Document) -> None:
    whole = viewed(document)
    if platform == "discord":
        parts = [part.content for part in render_discord(whole)]
        pages = [render_discord(replace(whole, page=number)) for number in range(len(parts))]
        assert [page.content for (page,) in pages] == parts
        buttons = [turned(discord_buttons(page)) for (page,) in pages]
    else:
        said = [text_of(part.blocks) for part in render_slack(whole)]
        shown = [render_slack(replace(whole, page=number)) for number in range(len(said))]
        assert [text_of(page.blocks) for (page,) in shown] == said
        buttons = [turned(slack_buttons(page)) for (page,) in shown]
    count = len(buttons)
    for number, here in enumerate(buttons):
        before = [(f"◀ {number}/{count}", str(number - 1))] if number else []
        behind = [(f"{number + 2}/{count} ▶", str(number + 1))] if number + 1 < count else []
        assert here == before + behind


def test_a_page_that_there_is_not_is_the_nearest_one() -> None:
    view = View(document=Document(blocks=(), notes=("Short.",)), reference="89abcdef", page=9)
    assert render_discord(view) == render_discord(replace(view, page=None))
    assert render_slack(view) == render_slack(replace(view, page=None))
