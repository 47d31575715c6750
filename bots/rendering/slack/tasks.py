"""The steps of a research as Slack's task cards: chunks of a stream, and the plan beneath the whole answer.

Documented are 256 characters for an id and a title (https://docs.slack.dev/reference/methods/chat.appendStream), and 50
blocks a message, of which each card is one. Words are plain text here, so nothing in them calls or links.
"""

from bots.rendering.measure import units
from bots.rendering.quiet import quiet_text
from bots.rendering.slack.buttons import SlackBlock
from bots.rendering.sources import shortened
from bots.rendering.tree import StepLine, Steps

MAX_TASK = 256
"""Characters of an id, and of a title."""
MAX_TASKS = 48
"""Cards in one message: two of its blocks are left to the words and a button."""
_TITLE = 200
_STATUS = {"going": "in_progress", "done": "complete", "failed": "error"}


def task_chunks(steps: Steps | None) -> tuple[SlackBlock, ...]:
    """Return the steps as chunks of a stream beneath their title, the first ones where there are too many.

    Ids stay the same, and what has an id already, as the title is only one, takes its place.
    """
    if steps is None:
        return ()
    tasks = ({"type": "task_update", "id": _id(step), **_card(step)} for step in steps.lines[:MAX_TASKS])
    return ({"type": "plan_update", "title": _plain(steps.title)}, *tasks)


def plan_block(steps: Steps) -> SlackBlock:
    """Return the steps as a block that a reader opens."""
    tasks = [{"type": "task_card", "task_id": _id(step), **_card(step)} for step in steps.lines]
    return {"type": "plan", "title": _plain(steps.title), "tasks": tasks}


def _card(step: StepLine) -> SlackBlock:
    return {"title": _plain(step.words), "status": _STATUS[step.state]}


def _id(step: StepLine) -> str:
    return step.key[:MAX_TASK]


def _plain(words: str) -> str:
    quiet = quiet_text(shortened(words, _TITLE))
    # Joiners, and characters that count twice, may make it longer.
    return (quiet if units(quiet) <= MAX_TASK else quiet_text(shortened(words, _TITLE // 4))) or "…"
