"""Slack's rules for blocks, from its block reference; a refusal names the place as Slack does."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]

MAX_BLOCKS = 50
MAX_VIEW_BLOCKS = 100
MAX_MARKDOWN = 12_000
MAX_TASK = 256
"""Of a task's id, title, details and output."""
STATUSES = ("pending", "in_progress", "complete", "error")
MAX_PAYLOAD = 13_200
"""Text of a whole message; only users report it."""


class InvalidBlocks(ValueError):
    """What the blocks break, by JSON pointer."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{why} [json-pointer:{where}]")


def check_blocks(blocks: Sequence[Json], most: int = MAX_BLOCKS) -> None:
    """Refuse what Slack refuses."""
    if len(blocks) > most:
        raise InvalidBlocks("/blocks", f"no more than {most} items allowed")
    ids = [str(block["block_id"]) for block in blocks if "block_id" in block]
    if len(ids) != len(set(ids)):
        raise InvalidBlocks("/blocks", "block_id must be unique")
    for index, block in enumerate(blocks):
        _check_block(block, f"/blocks/{index}")
    if sum(len(block.get("text", "")) for block in blocks if block["type"] == "markdown") > MAX_MARKDOWN:
        raise InvalidBlocks("/blocks", "markdown text exceeds 12000 characters")


def text_of(blocks: Sequence[Json]) -> str:
    """Return what a reader sees of blocks, buttons aside."""
    return "\n".join(_words(blocks))


def buttons_of(blocks: Sequence[Json]) -> Iterator[tuple[Json, Json]]:
    """Yield each thing to press: its element, and the part of it that carries the value."""
    for block in blocks:
        held = block.get("elements", ()) if block["type"] in ("actions", "context_actions") else ()
        for element in (*held, *([block["accessory"]] if "accessory" in block else [])):
            match element["type"]:
                case "feedback_buttons":
                    yield element, element["positive_button"]
                    yield element, element["negative_button"]
                case "overflow":
                    yield from ((element, option) for option in element["options"])
                case _:
                    yield element, element


def _words(blocks: Sequence[Json]) -> Iterator[str]:
    for block in blocks:
        match block["type"]:
            case "markdown":
                yield block["text"]
            case "section":
                yield block["text"]["text"]
            case "context":
                yield from (element["text"] for element in block["elements"])
            case "image":
                yield block["title"]["text"]
            case "plan":
                yield block["title"]
                yield from (task["title"] for task in block.get("tasks", ()))


def _check_block(block: Json, where: str) -> None:
    match block.get("type"):
        case "markdown":
            _length(block.get("text"), MAX_MARKDOWN, f"{where}/text")
        case "section":
            _text(block.get("text"), 3_000, f"{where}/text")
            if "accessory" in block:
                _check_element(block["accessory"], f"{where}/accessory")
        case "header":
            _text(block.get("text"), 150, f"{where}/text", kind="plain_text")
        case "divider":
            pass
        case "image":
            _length(block.get("alt_text"), 2_000, f"{where}/alt_text")
            _text(block.get("title"), 2_000, f"{where}/title", kind="plain_text")
            if ("image_url" in block) == ("slack_file" in block):
                raise InvalidBlocks(where, "one of image_url and slack_file is required")
        case "context":
            _elements(block, 10, where)
            for index, element in enumerate(block["elements"]):
                _text(element, 3_000, f"{where}/elements/{index}")
        case "actions":
            _elements(block, 25, where)
            for index, element in enumerate(block["elements"]):
                _check_element(element, f"{where}/elements/{index}")
            actions = [element.get("action_id") for element in block["elements"]]
            if len(actions) != len(set(actions)):
                raise InvalidBlocks(where, "action_id must be unique within a block")
        case "context_actions":
            _elements(block, 5, where)
            for index, element in enumerate(block["elements"]):
                _check_feedback(element, f"{where}/elements/{index}")
        case "plan":
            _length(block.get("title"), MAX_TASK, f"{where}/title")
            for index, task in enumerate(block.get("tasks", ())):
                _check_task(task, f"{where}/tasks/{index}")
            ids = [task["task_id"] for task in block.get("tasks", ())]
            if len(ids) > MAX_BLOCKS or len(ids) != len(set(ids)):
                raise InvalidBlocks(f"{where}/tasks", "task_id must be unique, and there are too many")
        case other:
            raise InvalidBlocks(where, f"unsupported type: {other}")


def _check_task(task: Json, where: str) -> None:
    if task.get("type") != "task_card" or task.get("status") not in STATUSES:
        raise InvalidBlocks(where, "a task_card with a status is required")
    for name in ("task_id", "title"):
        _length(task.get(name), MAX_TASK, f"{where}/{name}")


def _check_element(element: Json, where: str) -> None:
    _length(element.get("action_id"), 255, f"{where}/action_id")
    match element.get("type"):
        case "button":
            _text(element.get("text"), 75, f"{where}/text", kind="plain_text")
            _length(element.get("value"), 2_000, f"{where}/value")
        case "overflow":
            if not 1 <= len(element.get("options", ())) <= 5:
                raise InvalidBlocks(f"{where}/options", "1 to 5 items allowed")
            for index, option in enumerate(element["options"]):
                _text(option.get("text"), 75, f"{where}/options/{index}/text", kind="plain_text")
                _length(option.get("value"), 150, f"{where}/options/{index}/value")
        case other:
            raise InvalidBlocks(where, f"unsupported type: {other}")


def _check_feedback(element: Json, where: str) -> None:
    if element.get("type") not in ("feedback_buttons", "icon_button"):
        raise InvalidBlocks(where, f"unsupported type: {element.get('type')}")
    if element["type"] == "icon_button":
        if element.get("icon") != "trash":
            raise InvalidBlocks(f"{where}/icon", "the trash is the only icon available")
        _check_element({**element, "type": "button"}, where)
        return
    for side in ("positive_button", "negative_button"):
        _text(element[side].get("text"), 75, f"{where}/{side}/text", kind="plain_text")
        _length(element[side].get("value"), 2_000, f"{where}/{side}/value")


def _elements(block: Json, most: int, where: str) -> None:
    if not 1 <= len(block.get("elements", ())) <= most:
        raise InvalidBlocks(f"{where}/elements", f"1 to {most} items allowed")


def _text(text: Any, most: int, where: str, *, kind: str = "") -> None:
    if not isinstance(text, Mapping) or text.get("type") not in ({kind} if kind else {"plain_text", "mrkdwn"}):
        raise InvalidBlocks(where, "a text object is required")
    _length(text.get("text"), most, f"{where}/text")


def _length(text: Any, most: int, where: str) -> None:
    # Whether Slack counts code points or UTF-16 units isn't documented: the stricter of both.
    if not isinstance(text, str) or not 1 <= len(text.encode("utf-16-le")) // 2 <= most:
        raise InvalidBlocks(where, f"must be 1 to {most} characters")
