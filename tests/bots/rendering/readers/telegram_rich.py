"""The blocks of a rich message, by the fields and limits of Bot API 10.1 (https://core.telegram.org/bots/api)."""

from collections.abc import Sequence
from typing import Any

from tests.bots.rendering.readers.shown import Invalid

Json = dict[str, Any]
_FIELDS = {
    "paragraph": {"text"}, "heading": {"text", "size"}, "pre": {"text", "language"}, "divider": set(), "footer": {"text"},
    "list": {"items"}, "blockquote": {"blocks"}, "table": {"cells", "is_bordered"},
}  # fmt: skip
_STYLES = {"bold", "italic", "strikethrough", "code", "url"}


def read(blocks: Sequence[Json]) -> str:
    """Return the words; Invalid where the server would refuse."""
    if not blocks or _count(blocks) > 500:
        raise Invalid(f"{_count(blocks)} blocks")
    words = "\n".join(_block(block, 1) for block in blocks)
    if len(words) > 32_768:
        raise Invalid("too long")
    return words


def _block(block: Json, depth: int) -> str:
    fields = set(block) - {"type"}
    if depth > 16 or block["type"] not in _FIELDS or not fields <= _FIELDS[block["type"]]:
        raise Invalid(f"{block['type']} with {fields} at depth {depth}")
    match block["type"]:
        case "list":
            if not block["items"]:
                raise Invalid("a list without items")
            return "\n".join(_block(one, depth + 1) for item in block["items"] for one in item["blocks"])
        case "blockquote":
            return "\n".join(_block(one, depth + 1) for one in block["blocks"])
        case "table":
            if max(map(len, block["cells"])) > 20:
                raise Invalid("more than 20 columns")
            for cell in (cell for row in block["cells"] for cell in row):
                if cell["align"] not in {"left", "center", "right"} or cell["valign"] not in {
                    "top",
                    "middle",
                    "bottom",
                }:
                    raise Invalid(f"a cell aligned {cell}")
            return "\n".join(_text(cell["text"]) for row in block["cells"] for cell in row)
        case "heading":
            if not 1 <= block["size"] <= 6:
                raise Invalid(f"a heading of size {block['size']}")
            return _text(block["text"])
        case _:
            return _text(block["text"]) if "text" in block else ""


def _text(text: Any) -> str:
    if isinstance(text, str):
        return text
    if isinstance(text, list):
        return "".join(map(_text, text))
    if text["type"] not in _STYLES or (text["type"] == "url" and not text["url"].startswith(("http://", "https://"))):
        raise Invalid(f"rich text {text}")
    return _text(text["text"])


def _count(blocks: Sequence[Json]) -> int:
    total = 0
    for block in blocks:
        total += 1 + _count(block.get("blocks", [])) + len(block.get("cells", []))
        total += sum(1 + _count(item["blocks"]) for item in block.get("items", []))
    return total
