"""The steps of an answer: lines while it is looked for, folded beneath it, valid whatever they say and however many."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bots.platform import Button, View
from bots.rendering.discord import render_discord, render_discord_partial
from bots.rendering.markdown import plain_document
from bots.rendering.measure import units
from bots.rendering.parse import parse_markdown
from bots.rendering.slack import SlackMessage, render_slack, render_slack_partial
from bots.rendering.slack.tasks import MAX_TASK, MAX_TASKS
from bots.rendering.steps import growing, step_line
from bots.rendering.telegram import render_telegram, render_telegram_partial
from bots.rendering.tree import Document, StepLine, Steps
from tests.bots.rendering.documents import HOSTILE
from tests.bots.rendering.readers import discord, slack_blocks, telegram, telegram_rich
from tests.bots.rendering.readers.shown import Shown
from tests.bots.rendering.readers.telegram_sent import as_sent
from tests.soak import scaled

_said = st.lists(st.one_of(st.just("word"), st.sampled_from(HOSTILE)), min_size=1, max_size=30).map(" ".join)
_ended = st.lists(st.tuples(_said, st.sampled_from(["done", "failed"])), min_size=1, max_size=60)


def steps_of(said: Sequence[tuple[str, str]]) -> Steps:
    lines = tuple(
        StepLine(key=f"research:1:{number}", words=words, state=state)  # type: ignore[arg-type]
        for number, (words, state) in enumerate(said)
    )
    return Steps(title=f"Steps ({len(lines)})", lines=lines)


def viewed(document: Document, steps: Steps | None) -> View:
    return View(document=replace(document, steps=steps), reference="89abcdef", buttons=(Button.FEEDBACK, Button.DELETE))


def read_slack(message: SlackMessage) -> Shown:
    slack_blocks.check_message(message.text, message.blocks)
    return slack_blocks.read_blocks(message.blocks)


@given(_ended, st.integers(0, 400))
@settings(max_examples=scaled(4), deadline=None, suppress_health_check=list(HealthCheck))
def test_an_answer_is_valid_and_has_no_part_more_for_its_steps(said: list[tuple[str, str]], words: int) -> None:
    document, steps = parse_markdown("Leyton has a harbour. " * words + "End."), steps_of(said)
    for render in (render_discord, render_slack, render_telegram):
        assert len(render(viewed(document, steps))) == len(render(viewed(document, None)))
    for one in render_discord(viewed(document, steps)):
        assert units(one.content) <= 2_000
        assert not discord.read(one.content).pings
    for other in render_slack(viewed(document, steps)):
        assert not read_slack(other).pings
    for another in render_telegram(viewed(document, steps)):
        assert not telegram.read(another.html).pings
    (rich,) = render_telegram(viewed(parse_markdown("| a | b |\n| - | - |\n| c | d |"), steps), rich=True)
    assert rich.rich is not None
    telegram_rich.read(as_sent(rich.rich))


@given(_ended)
@settings(max_examples=scaled(4), deadline=None, suppress_health_check=list(HealthCheck))
def test_while_it_is_looked_for_the_latest_steps_are_shown(said: list[tuple[str, str]]) -> None:
    steps = steps_of(said)
    view = viewed(Document(blocks=()), steps)
    content = render_discord_partial(view).content
    assert units(content) <= 2_000
    assert not discord.read(content).pings
    html = render_telegram_partial(view).html
    assert not telegram.read(html).pings
    partial = render_slack_partial(view)
    read_slack(partial)
    assert partial.stream == "", "no words of it are in a stream: they are its tasks"
    plan, *tasks = partial.tasks
    assert plan == {"type": "plan_update", "title": f"Steps ({len(said)})"}
    assert len(tasks) == min(len(said), MAX_TASKS)
    assert all(0 < units(task["title"]) <= MAX_TASK for task in tasks)
    assert len({task["id"] for task in tasks}) == len(tasks)


def test_few_are_all_shown_in_order() -> None:
    steps = steps_of([("Planning", "done"), ("Searching: Who?", "failed")])
    steps = replace(steps, lines=(*steps.lines, StepLine(key="judge:1:0", words="Judging")))
    view = viewed(Document(blocks=()), steps)
    assert render_discord_partial(view).content == "✓ Planning\n✗ Searching: Who?\n… Judging"
    assert telegram.read(render_telegram_partial(view).html).plain == "✓ Planning\n✗ Searching: Who?\n… Judging"
    assert [(task["id"], task["status"]) for task in render_slack_partial(view).tasks[1:]] == [
        ("research:1:0", "complete"),
        ("research:1:1", "error"),
        ("judge:1:0", "in_progress"),
    ]


def test_they_fold_beneath_the_answer() -> None:
    view = viewed(parse_markdown("In Leyton."), steps_of([("Planning", "done"), ("Searching: Who?", "failed")]))
    (on_discord,), (on_telegram,), (on_slack,) = render_discord(view), render_telegram(view), render_slack(view)
    assert on_discord.content == "In Leyton.\n\n-# Steps (2)\n-# ✓ Planning\n-# ✗ Searching: Who?"
    assert on_telegram.html == (
        "In Leyton.\n\n<blockquote expandable><b>Steps (2)</b>\n✓ Planning\n✗ Searching: Who?</blockquote>"
    )
    assert [block["type"] for block in on_slack.blocks] == ["markdown", "plan", "context_actions"]
    plan = on_slack.blocks[1]
    assert (plan["title"], [task["status"] for task in plan["tasks"]]) == ("Steps (2)", ["complete", "error"])


def test_words_take_the_place_of_the_steps() -> None:
    view = viewed(parse_markdown("In Leyton, or"), steps_of([("Planning", "done")]))
    assert render_discord_partial(view).content == "In Leyton, or"
    assert "Planning" not in render_telegram_partial(view).html
    assert render_slack_partial(view).blocks[0]["type"] == "markdown"
    assert render_slack_partial(view).stream == "In Leyton,"
    assert [task["type"] for task in render_slack_partial(view).tasks] == ["plan_update", "task_update"]


def test_a_form_that_slack_refuses_is_followed_by_one_without_them() -> None:
    view = viewed(parse_markdown("In Leyton."), steps_of([("Planning", "done")]))
    (simple,) = render_slack(replace(view, simple=True))
    assert "plan" not in [block["type"] for block in simple.blocks]
    assert plain_document(view.document).steps is None


@pytest.mark.parametrize("most", [10, 40, 10_000])
def test_the_latest_fit(most: int) -> None:
    steps = steps_of([(f"step {number}", "done") for number in range(20)])
    shown = growing(Document(blocks=(), steps=steps), most)
    (part,) = render_discord(viewed(shown, None))
    lines = part.content.splitlines()
    assert lines == [step_line(one) for one in steps.lines[-len(lines) :]]
    assert len(part.content) <= most
