"""The steps of a research as task cards of a stream, within what Slack documents of them."""

import asyncio
import pathlib
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bots.platform import Button, View
from bots.rendering.parse import parse_partial
from bots.rendering.slack import SlackMessage
from bots.rendering.tree import StepLine, Steps
from bots.requests import Ask, Event
from ragcore.errors import PlatformRefused, StreamEnded
from ragcore.research import Outcome, Progress
from ragcore.types import Answer, Support
from tests.bots.scene import REFERENCE, view
from tests.bots.slack.scene import CHANNEL, NAME, Scene
from tests.bots.slack.whole import QUESTION, begun
from tests.bots.turn.flows import answer_to
from tests.fakes.waiting import until
from tests.servers.slack.blocks import buttons_of

PLAN = StepLine(key="plan:1:0", words="Planning")
SEARCH = StepLine(key="research:1:0", words="Searching: Who?")


def done(step: StepLine) -> StepLine:
    return replace(step, words=f"{step.words} (2)", state="done")


def part(scene: Scene, *lines: StepLine, text: str = "") -> SlackMessage:
    steps = Steps(title=f"Steps ({len(lines)})", lines=lines)
    document = replace(parse_partial(text), steps=steps)
    return scene.platform.render_partial(View(document=document, reference=REFERENCE, buttons=(Button.STOP,)))


async def test_steps_are_cards_that_change_in_place_before_the_words_come(scene: Scene) -> None:
    scene.server.say(CHANNEL, f"{NAME} research: who?")
    (incoming,) = await scene.inbox.wait()
    await scene.platform.status(incoming, "Planning …")
    sent = await scene.platform.show(incoming, part(scene, PLAN), begun=None, key="k")
    (message,) = scene.server.answers(CHANNEL, incoming.message)
    assert (message["text"], message["task_display_mode"], message["plan"]) == ("", "plan", "Steps (1)")
    assert message["tasks"] == {"plan:1:0": {"id": "plan:1:0", "title": "Planning", "status": "in_progress"}}
    for shown in (
        part(scene, done(PLAN), SEARCH),
        part(scene, done(PLAN), SEARCH),
        part(scene, done(PLAN), done(SEARCH), text="In Leyton, or"),
        part(scene, done(PLAN), done(SEARCH), text="In Leyton, or there, or"),
    ):
        sent = await scene.platform.show(incoming, shown, begun=sent, key="k")
    (message,) = scene.server.answers(CHANNEL, incoming.message)
    assert (message["text"], message["plan"]) == ("In Leyton, or there,", "Steps (2)")
    assert [(one["title"], one["status"]) for one in message["tasks"].values()] == [
        ("Planning (2)", "complete"),
        ("Searching: Who? (2)", "complete"),
    ]
    assert scene.server.count("chat.appendStream") == 3, "what has not changed is not sent again"
    document = replace(view("In Leyton.").document, steps=Steps(title="Steps", lines=(done(PLAN), done(SEARCH))))
    (whole,) = scene.platform.render(View(document=document, reference=REFERENCE))
    await scene.platform.send(incoming, whole, begun=sent, key="k", number=0)
    (message,) = scene.server.answers(CHANNEL, incoming.message)
    assert scene.server.plain(message) == "In Leyton.\nSteps\nPlanning (2)\nSearching: Who? (2)"
    assert scene.server.refused == []


async def test_a_stop_button_of_ours_stands_over_the_cards(scene: Scene) -> None:
    scene.server.say(CHANNEL, f"{NAME} research: who?")
    (incoming,) = await scene.inbox.wait()
    await scene.platform.show(incoming, part(scene, PLAN, text="In Leyton, or"), begun=None, key="k")
    (message,) = scene.server.answers(CHANNEL, incoming.message)
    assert [block["type"] for block in message["blocks"]] == ["actions"]
    assert (message["text"], len(message["tasks"])) == ("In Leyton,", 1)


async def test_however_many_and_long_they_are_within_slacks_limits(scene: Scene) -> None:
    scene.server.say(CHANNEL, f"{NAME} research: who?")
    (incoming,) = await scene.inbox.wait()
    lines = [StepLine(key=f"research:1:{number}", words="@everyone 年假 👩‍👩‍👧‍👦 " * 60) for number in range(70)]
    sent = await scene.platform.show(incoming, part(scene, *lines[:40]), begun=None, key="k")
    await scene.platform.show(incoming, part(scene, *lines), begun=sent, key="k")
    (message,) = scene.server.answers(CHANNEL, incoming.message)
    assert len(message["tasks"]) == 48
    assert scene.server.refused == []


async def test_where_the_stream_has_ended_they_are_lines_of_the_message(scene: Scene) -> None:
    scene.server.say(CHANNEL, f"{NAME} research: who?")
    (incoming,) = await scene.inbox.wait()
    sent = await scene.platform.show(incoming, part(scene, PLAN), begun=None, key="k")
    scene.platform._streamed.clear()  # as in another process
    with pytest.raises(StreamEnded):
        await scene.platform.show(incoming, part(scene, done(PLAN)), begun=sent, key="k")
    await scene.platform.show(incoming, part(scene, done(PLAN), SEARCH), begun=replace(sent, ended=True), key="k")
    (message,) = scene.server.answers(CHANNEL, incoming.message)
    assert scene.server.plain(message).split("\n") == ["✓ Planning (2)  ", "… Searching: Who?"]


async def researching(request: Ask) -> AsyncIterator[Event]:
    """Answer a question with doubt, and a research of it over a second, with steps."""
    if not request.research:
        yield Answer(question=request.question, raw_text="Perhaps in Leyton.", support=Support.UNSUPPORTED)
        return
    for outcome in (Outcome.BEGUN, Outcome.DONE):
        yield Progress(stage="plan", round=1, outcome=outcome, found=2)
        await asyncio.sleep(1.2)
    yield answer_to(request.question, "In Leyton.")


async def test_a_doubtful_answer_in_a_thread_is_researched_by_its_button_once(tmp_path: pathlib.Path) -> None:
    async with begun(tmp_path, script=researching) as flow:
        server = flow.server
        said = server.say(CHANNEL, f"{NAME} {QUESTION}")
        await until(lambda: server.answers(CHANNEL, said["ts"]) and not flow.turns.running())
        (doubtful,) = server.answers(CHANNEL, said["ts"])
        (pressed,) = [
            part["value"] for _, part in buttons_of(doubtful["blocks"]) if part["value"].startswith("cb:research:")
        ]
        for _ in range(2):
            server.press(doubtful, pressed, channel=CHANNEL)
            await until(lambda: len(server.answers(CHANNEL, said["ts"])) == 2)
        (_, message) = server.answers(CHANNEL, said["ts"])
        assert message["tasks"]["plan:1:0"]["status"] in ("in_progress", "complete")
        await until(lambda: not flow.turns.running())
        (_, message) = server.answers(CHANNEL, said["ts"])
        assert message["tasks"]["plan:1:0"]["status"] == "complete"
        assert server.plain(message).startswith("In Leyton. ")
        (plan,) = [block for block in message["blocks"] if block["type"] == "plan"]
        assert [task["title"] for task in plan["tasks"]] == ["Planning the searches (sub-questions: 2)"]
        assert server.refused == []


@pytest.mark.parametrize(
    "chunk",
    [
        {"id": "a", "title": "t" * 257, "status": "pending"},
        {"id": "a", "title": "", "status": "pending"},
        {"id": "a" * 257, "title": "t", "status": "pending"},
        {"id": "a", "title": "t", "status": "done"},
        {"id": "a", "title": "t", "status": "complete", "details": "d" * 257},
        {"id": "a", "title": "t", "status": "complete", "sources": [{"type": "url", "url": "https://a.example"}]},
        {"id": "a", "title": "t", "status": "complete", "icon": "x"},
    ],
    ids=["title", "no title", "id", "status", "details", "source", "unknown"],
)
async def test_the_local_server_refuses_what_slack_refuses(chunk: dict[str, object], scene: Scene) -> None:
    scene.server.say(CHANNEL, f"{NAME} research: who?")
    (incoming,) = await scene.inbox.wait()
    calls = scene.platform._calls
    sent = await scene.platform.show(incoming, part(scene, PLAN), begun=None, key="k")
    with pytest.raises(PlatformRefused, match="invalid_chunks"):
        await calls.append(sent, "", [{"type": "task_update", **chunk}])
    with pytest.raises(PlatformRefused, match="markdown_text_conflict"):
        await calls.do(
            calls.client.chat_appendStream(
                channel=sent.channel, ts=sent.id, markdown_text="x", chunks=[{"type": "markdown_text", "text": "x"}]
            )
        )
