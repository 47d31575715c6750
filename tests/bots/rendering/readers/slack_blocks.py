"""The limits of Slack's blocks and messages (https://docs.slack.dev/reference/block-kit), and what a message shows."""

from collections.abc import Sequence
from typing import Any

from tests.bots.rendering.readers.shown import Invalid, Shown, words
from tests.bots.rendering.readers.slack import live_in, read_markdown, read_mrkdwn, units

Json = dict[str, Any]


def _at_most(text: str, most: int, what: str) -> None:
    if not 1 <= units(text) <= most:
        raise Invalid(f"{what} of {units(text)} characters, not 1 to {most}")


def check_message(text: str, blocks: Sequence[Json]) -> None:
    """Raise Invalid where chat.postMessage or chat.update would refuse the message."""
    _at_most(text, 4000, "text")
    check_blocks(blocks, most=50)
    markdown = [block["text"] for block in blocks if block["type"] == "markdown"]
    if sum(map(units, markdown)) > 12_000:
        raise Invalid("markdown blocks over 12,000")
    if sum(_payload(block) for block in blocks) > 13_200:
        raise Invalid("msg_blocks_too_long")


def check_modal(title: str, blocks: Sequence[Json]) -> None:
    """Raise Invalid where views.open would refuse the view."""
    _at_most(title, 24, "a modal's title")
    check_blocks(blocks, most=100)
    if any(block["type"] in {"markdown", "context_actions"} for block in blocks):
        raise Invalid("a block that only messages take")


def check_blocks(blocks: Sequence[Json], *, most: int) -> None:
    """Raise Invalid for the first block that is not as the reference says."""
    if not 1 <= len(blocks) <= most:
        raise Invalid(f"{len(blocks)} blocks")
    for block in blocks:
        _check_block(block)


def _payload(value: object) -> int:
    if isinstance(value, str):
        return units(value)
    if isinstance(value, dict):
        return sum(map(_payload, value.values()))
    return sum(map(_payload, value)) if isinstance(value, list) else 0


def _check_block(block: Json) -> None:
    match block["type"]:
        case "markdown":
            _keys(block, {"type", "text"})
            _at_most(block["text"], 12_000, "a markdown block")
        case "section":
            _keys(block, {"type", "text", "expand", "accessory"})
            _check_text(block["text"], 3000)
            _check_elements([block["accessory"]] if "accessory" in block else [], {"button", "overflow"})
        case "context":
            _keys(block, {"type", "elements"})
            _count(block["elements"], 10)
            for element in block["elements"]:
                _check_text(element, 3000)
        case "actions":
            _keys(block, {"type", "elements"})
            _count(block["elements"], 25)
            _check_elements(block["elements"], {"button", "overflow"})
        case "image":
            _keys(block, {"type", "slack_file", "alt_text", "title"})
            _at_most(block["alt_text"], 2000, "an alternative text")
            _check_text(block["title"], 2000, ("plain_text",))
        case "context_actions":
            _keys(block, {"type", "elements"})
            _count(block["elements"], 5)
            _check_elements(block["elements"], {"feedback_buttons", "icon_button"})
        case "plan":
            _keys(block, {"type", "title", "tasks"})
            _at_most(block["title"], 256, "a plan's title")
            _count(block["tasks"], 50)
            for task in block["tasks"]:
                _keys(task, {"type", "task_id", "title", "status"})
                _at_most(task["task_id"], 256, "a task's id")
                _at_most(task["title"], 256, "a task's title")
                if task["type"] != "task_card" or task["status"] not in {"complete", "error"}:
                    raise Invalid("a task that is not over")
        case other:
            raise Invalid(f"unsupported block: {other}")


def _check_text(text: Json, most: int, kinds: Sequence[str] = ("mrkdwn", "plain_text")) -> None:
    if text["type"] not in kinds:
        raise Invalid(f"a text object of type {text['type']}")
    _at_most(text["text"], most, "a text object")


def _check_elements(elements: Sequence[Json], kinds: set[str]) -> None:
    names = [element["action_id"] for element in elements]
    if len(set(names)) != len(names):
        raise Invalid("an action_id twice in a block")
    for element in elements:
        if element["type"] not in kinds:
            raise Invalid(f"unsupported element: {element['type']}")
        _at_most(element["action_id"], 255, "an action_id")
        match element["type"]:
            case "button":
                _check_text(element["text"], 75, ("plain_text",))
                _at_most(element["value"], 2000, "a value")
            case "overflow":
                _count(element["options"], 5)
                if len(element["options"]) < 2:
                    raise Invalid("one option alone, which not every version of the reference takes")
                for option in element["options"]:
                    _check_text(option["text"], 75, ("plain_text",))
                    _at_most(option["value"], 150, "an option's value")
            case "icon_button":
                if element["icon"] != "trash":
                    raise Invalid("the trash is the only icon available")
                _check_text(element["text"], 75, ("plain_text",))
                _at_most(element["value"], 2000, "a value")
            case "feedback_buttons":
                for side in ("positive_button", "negative_button"):
                    _check_text(element[side]["text"], 75, ("plain_text",))
                    _at_most(element[side]["value"], 2000, "a value")


def _keys(block: Json, known: set[str]) -> None:
    if set(block) - known:
        raise Invalid(f"unknown keys: {set(block) - known}")


def _count(elements: Sequence[object], most: int) -> None:
    if not 1 <= len(elements) <= most:
        raise Invalid(f"{len(elements)} elements, not 1 to {most}")


def read_blocks(blocks: Sequence[Json]) -> Shown:
    """Return what a reader sees of a message or a modal."""
    shown = Shown()
    for block in blocks:
        match block["type"]:
            case "markdown":
                shown.add(_quiet(read_markdown(block["text"])))
            case "section":
                shown.add(read_mrkdwn(block["text"]["text"]))
                if "accessory" in block:
                    beside = " ".join(f"[{words_on}]" for words_on in _captions(block["accessory"]))
                    shown.add(Shown(page=f"\nbeside it: {beside}"))
            case "context":
                for element in block["elements"]:
                    inside = read_mrkdwn(element["text"])
                    inside.page = "\n".join("· " + line for line in inside.page.split("\n"))
                    shown.add(inside)
            case "image":
                shown.add(Shown(plain=block["title"]["text"], page=f"[picture] {block['title']['text']}"))
            case "plan":
                titles = [task["title"] for task in block["tasks"]]
                shown.add(Shown(page="\n".join((f"▸ {block['title']}", *(f"▸ {title}" for title in titles)))))
            case _:
                shown.add(Shown(page=" ".join(f"[{words_on}]" for words_on in _captions(block))))
        shown.add(words("\n"))
    return shown


def _quiet(shown: Shown) -> Shown:
    shown.pings += live_in(shown)
    return shown


def _captions(value: object) -> list[str]:
    if isinstance(value, dict):
        if value.get("type") == "plain_text":
            return [value["text"]]
        return [found for inner in value.values() for found in _captions(inner)]
    return [found for inner in value for found in _captions(inner)] if isinstance(value, list) else []
