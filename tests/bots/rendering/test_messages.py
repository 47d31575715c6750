"""What one reply is on each platform: one message while it is short, buttons and sources on the last part."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bots.platform import Button, View
from bots.rendering.actions import Act, Action, read_action
from bots.rendering.discord import discord_reasons, render_discord, render_discord_partial
from bots.rendering.parse import parse_markdown
from bots.rendering.presses import presses
from bots.rendering.slack import render_slack, render_slack_partial, slack_reasons
from bots.rendering.telegram import render_telegram, render_telegram_partial, telegram_reasons
from bots.rendering.tree import Cite, Document, Link, Paragraph, SourceLine, Text
from bots.words.captions import CAPTIONS, LANGUAGES, caption
from tests.bots.rendering.readers import slack, telegram

URL = "https://wiki.example/leave#carry"
ALL = (Button.FEEDBACK, Button.QUOTES, Button.SHARE, Button.DELETE)


def view(words: str = "Five days.", *, buttons: tuple[Button, ...] = ALL, prompts: tuple[str, ...] = ()) -> View:
    paragraphs = tuple(Paragraph(children=(Text(text=words), Cite(number=1, url=URL))) for _ in range(1))
    sources = (
        SourceLine(number=1, title="Leave", place="page 2", url=URL, updated_at=datetime(2026, 3, 14, tzinfo=UTC)),
        SourceLine(number=2, title="Handbook", place="rows 3–4", url="", file="handbook.csv"),
        SourceLine(number=3, title="Local", place="", url="file:///srv/local.md"),
    )
    document = Document(blocks=paragraphs, sources=sources, notes=("No model is set up.",))
    return View(document=document, reference="89abcdef", buttons=buttons, prompts=prompts)


def test_an_address_in_plain_words_is_no_command_either() -> None:
    words = "It stands at https://wiki.example/start, and nobody may follow it."
    (message,) = render_telegram(View(document=Document(blocks=(), notes=(words,)), reference="89abcdef"))
    assert telegram.read(message.html).pings == []


@pytest.mark.parametrize("words", ["Plan [2024]", "a] b", "a ]( b", "[x", "]", "\\] c"])
def test_brackets_in_the_words_of_a_link_leave_it_a_link_on_slack(words: str) -> None:
    link = Link(url=URL, children=(Text(text=words),))
    (message,) = render_slack(View(document=Document(blocks=(Paragraph(children=(link,)),)), reference=""))
    assert slack.read_markdown(message.blocks[0]["text"]).links == [(words, URL)]


def test_a_short_answer_is_one_message_with_everything_in_it() -> None:
    shown = view(prompts=("And then?",))
    (slack,) = render_slack(shown)
    assert [block["type"] for block in slack.blocks] == ["markdown", "section", "context", "context_actions", "actions"]
    assert slack.blocks[0]["text"] == f"Five days.[\\[1\\]]({URL})"
    assert slack.blocks[1]["text"]["text"].split("\n") == [
        f"[1] <{URL}|Leave>, page 2 · <!date^1773446400^{{date_short_pretty}}|2026-03-14>",
        "[2] Handbook, rows 3–4",
        "[3] Local",
    ]
    assert [one["text"]["text"] for one in slack.blocks[1]["accessory"]["options"]] == ["Show quotes", "Share"]
    assert slack.blocks[2]["elements"][0]["text"] == "_No model is set up._"
    assert [one["type"] for one in slack.blocks[3]["elements"]] == ["feedback_buttons", "icon_button"]
    assert slack.text == "Five days.[1]"
    (discord,) = render_discord(shown)
    assert discord.content == (
        f"Five days.[[1]](<{URL}>)\n\n-# \\[1] [Leave](<{URL}>), page 2 · <t:1773446400:R>\n"
        "-# \\[2] Handbook, rows 3–4\n-# \\[3] Local\n\n-# No model is set up."
    )
    assert [len(row) for row in discord.rows] == [5, 1]
    (telegram,) = render_telegram(shown)
    assert telegram.html == (
        f'Five days.<a href="{URL}">[1]</a>\n\n[1] <a href="{URL}">Leave</a>, page 2 · 2026-03-14\n'
        "[2] Handbook, rows 3–4\n[3] Local\n\n<i>No model is set up.</i>"
    )
    assert [[button.text for button in row] for row in telegram.keyboard] == [
        ["👍", "👎", "Show quotes", "🗑"],
        ["And then?"],
    ]


@pytest.mark.parametrize(
    ("buttons", "sources", "rows", "beside"),
    [
        ((Button.FEEDBACK, Button.QUOTES, Button.DELETE), True, [["feedback_buttons", "icon_button"]], "button"),
        (ALL, True, [["feedback_buttons", "icon_button"]], "overflow"),
        ((Button.FEEDBACK, Button.DELETE), False, [["feedback_buttons", "icon_button"]], ""),
        ((Button.FEEDBACK, Button.SHARE, Button.DELETE), False, [["button"] * 4], ""),
        ((Button.STOP,), False, [["button"]], ""),
        ((), True, [], ""),
    ],
)
def test_slack_has_one_row_of_buttons(
    buttons: tuple[Button, ...], *, sources: bool, rows: list[list[str]], beside: str
) -> None:
    whole = view(buttons=buttons)
    shown = whole if sources else replace(whole, document=replace(whole.document, sources=()))
    (message,) = render_slack(shown)
    found = [block for block in message.blocks if block["type"] in ("actions", "context_actions")]
    assert [[one["type"] for one in block["elements"]] for block in found] == rows
    accessories = [block["accessory"]["type"] for block in message.blocks if "accessory" in block]
    assert accessories == ([beside] if beside else [])
    said = str(message.blocks)
    assert all(f"cb:{press.action.act}:89abcdef:" in said for press in presses(shown)), "none is left out"


@pytest.mark.parametrize("render", [render_slack, render_discord, render_telegram])
def test_sources_and_buttons_are_on_the_last_part_alone(render: object) -> None:
    parts = render(view("Ten words that stand for a much longer answer. " * 700))  # type: ignore[operator]
    assert len(parts) > 1
    for part in parts[:-1]:
        assert "Handbook" not in str(part)
        assert "cb:" not in str(part)
    assert "Handbook" in str(parts[-1])
    assert "cb:quotes:89abcdef:" in str(parts[-1])


@pytest.mark.parametrize("render", [render_slack_partial, render_discord_partial, render_telegram_partial])
def test_what_is_written_so_far_is_one_message_its_end_left_out(render: object) -> None:
    stop = View(document=view("word " * 9000).document, reference="1", buttons=(Button.STOP,))
    message = render(stop)  # type: ignore[operator]
    assert "word" in str(message)
    assert "…" in str(message)
    assert "cb:stop:1:" in str(message)
    assert "Five days." in str(render(view()))  # type: ignore[operator]


@pytest.mark.parametrize("render", [render_slack, render_discord, render_telegram])
def test_nothing_to_show_is_still_a_message(render: object) -> None:
    empty = View(document=Document(blocks=()), reference="")
    (message,) = render(empty)  # type: ignore[operator]
    assert "…" in str(message)


def test_a_button_says_what_it_said() -> None:
    for act in Act:
        action = Action(act=act, reference="89abcdef", value="wrong_source")
        assert read_action(str(action)) == action
        assert len(str(action).encode()) <= 64
    assert read_action("cb:nothing:89abcdef:") is None
    assert read_action("up") is None


def test_a_research_is_offered_in_a_place_of_its_own() -> None:
    buttons = (Button.FEEDBACK, Button.QUOTES, Button.SHARE, Button.DELETE, Button.RESEARCH)
    offered = view(buttons=buttons, prompts=("What next?",))
    (on_slack,), (on_telegram,), (on_discord,) = (
        render_slack(offered),
        render_telegram(offered),
        render_discord(offered),
    )
    assert [one["text"]["text"] for one in on_slack.blocks[-1]["elements"]] == ["Research it", "What next?"]
    assert "Research it" not in str(on_slack.blocks[:-1])
    assert [[one.text for one in row] for row in on_telegram.keyboard[1:]] == [["Research it"], ["What next?"]]
    assert [len(row) for row in on_discord.rows] == [5, 1, 1]
    assert on_discord.rows[1][0].label == "Research it"


def test_every_caption_has_words_in_every_language() -> None:
    for language in LANGUAGES:
        assert all(caption(key, language) for key in CAPTIONS)
        assert all(len(caption(key, language)) <= 24 for key in CAPTIONS)
    assert caption("stop", "zh-TW") == "停止"
    assert caption("stop", "xx") == "Stop"


def test_the_reasons_are_one_tap_away() -> None:
    assert discord_reasons("1", "en")[0][0].label == "It is wrong"
    assert telegram_reasons("1", "zh")[0][0].text == "内容有误"
    assert slack_reasons("1", "de")[1]["elements"][0]["text"]["text"] == "Es ist falsch"


def test_a_prompt_that_its_button_could_not_show_whole_is_left_out() -> None:
    shown = view(buttons=(), prompts=("short", "x" * 90))
    assert len(render_discord(shown)[-1].rows[0]) == 1
    assert len(render_telegram(shown)[-1].keyboard) == 1


@pytest.mark.parametrize(("render", "wide"), [(render_discord, 70), (render_telegram, 45)])
def test_the_parts_of_one_table_look_alike(render: Callable[[View], Sequence[object]], wide: int) -> None:
    rows = [f"| {number} | {'word ' * 8}|" for number in range(200)]
    for last, is_code in (("| 200 | end |", True), (f"| 200 | {'x' * wide} end |", False)):
        table = parse_markdown("\n".join(("| No. | What |", "|---|---|", *rows, last)))
        texts = [
            str(getattr(part, "content", "") or getattr(part, "html", ""))
            for part in render(View(document=table, reference=""))
        ]
        assert len(texts) > 1
        assert {"```" in text or "<pre>" in text for text in texts} == {is_code}
