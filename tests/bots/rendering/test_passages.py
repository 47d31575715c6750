"""Show quotes: each cited passage, the words that support the sentence in strong letters."""

from bots.platform import View
from bots.rendering.discord import render_discord_quotes
from bots.rendering.slack import render_slack_quotes
from bots.rendering.telegram import render_telegram_quotes
from bots.rendering.tree import Block, Document, Inline, Link, Paragraph, Quote, Styled, Text
from tests.bots.rendering.readers import discord, slack_blocks, telegram

URL = "https://wiki.example/leave#x"


def passage(number: int, name: Inline, *words: Inline) -> tuple[Block, ...]:
    head = Paragraph(children=(Text(text=f"[{number}] "), name))
    return head, Quote(blocks=(Paragraph(children=words), Paragraph(children=(Text(text="A second line."),))))


def strong(text: str) -> Styled:
    return Styled(style="strong", children=(Text(text=text),))


def view(*blocks: Block) -> View:
    return View(document=Document(blocks=blocks), reference="89abcdef")


def test_the_supporting_words_are_strong_on_every_platform() -> None:
    shown = view(
        *passage(
            1,
            Link(url=URL, children=(Text(text="Leave policy, page 2"),)),
            strong("Five days"),
            Text(text=" may be "),
            strong("carried"),
            Text(text=" over."),
        ),
        *passage(
            2, Text(text="@everyone.md"), Text(text="未休的年假可以"), strong("结转五天"), Text(text="到下一年。")
        ),
    )
    modal = render_slack_quotes(shown)
    slack_blocks.check_modal(modal.title, modal.blocks)
    (on_discord,) = render_discord_quotes(shown)
    (on_telegram,) = render_telegram_quotes(shown)
    for read in (
        slack_blocks.read_blocks(modal.blocks),
        discord.read(on_discord.content),
        telegram.read(on_telegram.html),
    ):
        page = read.page.replace("\u2060", "").replace("\u200b", "")
        assert f"[1] Leave policy, page 2‹→ {URL}›" in page
        assert "▌ ‹b›Five days‹/b› may be ‹b›carried‹/b› over." in page
        assert "▌ 未休的年假可以‹b›结转五天‹/b›到下一年。" in page
        assert page.count("▌ A second line.") == 2
        assert not read.pings


def test_many_long_passages_still_fit() -> None:
    words = (Text(text="word " * 300), strong("word word"), Text(text=" word" * 100))
    many = view(*(block for n in range(1, 65) for block in passage(n, Text(text=f"T{n}"), *words)))
    modal = render_slack_quotes(many)
    slack_blocks.check_modal(modal.title, modal.blocks)
    assert all(discord.read(part.content) for part in render_discord_quotes(many))
    assert all(telegram.read(part.html) for part in render_telegram_quotes(many))
