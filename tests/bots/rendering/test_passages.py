"""Show quotes: the passage with the words that support the sentence in strong letters."""

from bots.platform import View
from bots.rendering.discord import render_discord_quotes
from bots.rendering.passages import Passage, passages_document
from bots.rendering.slack import render_slack_quotes
from bots.rendering.telegram import render_telegram_quotes
from tests.bots.rendering.readers import discord, slack_blocks, telegram

QUOTE = "Five days may be carried\nover into the next year."
PASSAGES = (
    Passage(
        number=1,
        title="Leave policy",
        place="page 2",
        url="https://wiki.example/leave#x",
        text="Leave is counted in days. " * 30 + QUOTE + " They lapse on 31 March." * 30,
        quote=QUOTE,
    ),
    Passage(number=2, title="", place="", url="", text="A @everyone <b> passage\n\n\nof two lines.", quote="not in it"),
    Passage(
        number=3,
        title="年假制度",
        place="",
        url="",
        text="未休的年假可以结转五天到下一年。其余作废。",
        quote="结转五天",
    ),
)


def view(passages: tuple[Passage, ...] = PASSAGES) -> View:
    return View(document=passages_document(passages), reference="89abcdef")


def test_the_supporting_words_are_strong_on_every_platform() -> None:
    modal = render_slack_quotes(view())
    slack_blocks.check_modal(modal.title, modal.blocks)
    (on_discord,) = render_discord_quotes(view())
    (on_telegram,) = render_telegram_quotes(view())
    for shown in (
        slack_blocks.read_blocks(modal.blocks),
        discord.read(on_discord.content),
        telegram.read(on_telegram.html),
    ):
        page = shown.page.replace("\u2060", "").replace("\u200b", "")
        assert "‹b›Five days may be carried‹/b›\n▌ ‹b›over into the next year.‹/b›" in page
        assert "▌ … " in page
        assert "‹b›结转五天‹/b›" in page
        assert "passage\n▌ of two lines." in page
        assert page.count("Leave is counted") < 12
        assert shown.links == [("Leave policy, page 2", "https://wiki.example/leave#x")]
        assert not shown.pings


def test_many_long_passages_still_fit() -> None:
    many = tuple(
        Passage(number=n, title=f"T{n}", place="", url="", text="word " * 400, quote="word word") for n in range(1, 65)
    )
    modal = render_slack_quotes(view(many))
    slack_blocks.check_modal(modal.title, modal.blocks)
    assert len(render_discord_quotes(view(many))) > 1
    assert all(telegram.read(part.html) for part in render_telegram_quotes(view(many)))
