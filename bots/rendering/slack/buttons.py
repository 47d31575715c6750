"""The buttons under an answer: one row, and what has no place in it beside the list of sources.

``feedback_buttons`` stand in a ``context_actions`` block alone, which takes icons beside them and nothing else, and of
icons Slack has the trash only (https://docs.slack.dev/reference/block-kit/block-elements/icon-button-element). So what
is left, such as the quotes, becomes the accessory of the section that lists the sources; where an answer has no sources
all are ordinary buttons of one ``actions`` block.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bots.platform import View
from bots.rendering.actions import Act, Press
from bots.rendering.presses import presses, prompts, turning

SlackBlock = dict[str, Any]
"""One block, or an element of one, as JSON, as Slack's API takes it."""

MAX_CAPTION = 75
_MAX_OPTIONS = 5
_IN_ROW = (Act.UP, Act.DOWN, Act.DELETE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackButtons:
    """``rows`` are blocks of their own, ``beside`` the accessory of the source list."""

    rows: tuple[SlackBlock, ...]
    beside: SlackBlock | None = None


def slack_buttons(view: View, *, has_sources: bool, pages: int = 1) -> SlackButtons:
    """Return a row of buttons, one of what to go on with, as far as there are any, and what stands beside the sources.

    Buttons to other pages stand in the row, but for one of icons, which takes none: then they are a row before it.
    """
    found = [press for press in presses(view) if press.action.act is not Act.RESEARCH]
    by_act = {press.action.act: press for press in found}
    others = [press for press in found if press.action.act not in _IN_ROW]
    # What is offered next is no part of a menu that nobody opens.
    offered = [press for press in presses(view) if press.action.act is Act.RESEARCH]
    more, turns = _row((*offered, *prompts(view, MAX_CAPTION, 5))), turning(view, pages)
    if Act.UP not in by_act or (others and not has_sources):
        return SlackButtons(rows=(*_row((*turns, *found)), *more))
    icons = [_trash(by_act[Act.DELETE])] if Act.DELETE in by_act else []
    row: tuple[SlackBlock, ...] = (
        {"type": "context_actions", "elements": [_feedback(by_act[Act.UP], by_act[Act.DOWN]), *icons]},
    )
    return SlackButtons(rows=(*_row(turns), *row, *more), beside=_accessory(others))


def button(press: Press) -> SlackBlock:
    """Return an ordinary button."""
    action = press.action
    return {
        "type": "button",
        "action_id": f"cb:{action.act}:{action.value}",
        "text": _plain(press.caption),
        "value": str(action),
    }


def _row(some: Sequence[Press]) -> tuple[SlackBlock, ...]:
    return ({"type": "actions", "elements": [button(press) for press in some]},) if some else ()


def _accessory(others: Sequence[Press]) -> SlackBlock | None:
    """Return a button, or where there are several what Slack shows as "…"."""
    if len(others) < 2:
        return button(others[0]) if others else None
    options = [{"text": _plain(press.caption), "value": str(press.action)} for press in others[:_MAX_OPTIONS]]
    return {"type": "overflow", "action_id": "cb:more", "options": options}


def _feedback(up: Press, down: Press) -> SlackBlock:
    return {
        "type": "feedback_buttons",
        "action_id": "cb:feedback",
        "positive_button": {"text": _plain(up.caption), "value": str(up.action)},
        "negative_button": {"text": _plain(down.caption), "value": str(down.action)},
    }


def _trash(press: Press) -> SlackBlock:
    return {**button(press), "type": "icon_button", "icon": "trash"}


def _plain(text: str) -> SlackBlock:
    return {"type": "plain_text", "text": text, "emoji": False}
