"""A rich message as the Bot API takes it, by the fields and limits of Bot API 10.1 to 10.3, and what a reader sees.

From https://core.telegram.org/bots/api#inputrichmessage: one of ``blocks``, ``html`` and ``markdown``; 32,768
characters, 500 blocks, 16 levels, 20 columns. Where the page leaves open what is counted, the stricter count is taken:
UTF-16 units, addresses too; a list's items and a table's rows as blocks; each block, item and style as a level.
"""

from collections.abc import Sequence
from typing import Any

from tests.bots.rendering.readers.shown import Invalid, Shown, code, code_block, link, styled, words
from tests.bots.rendering.readers.telegram import found_entities, units

Json = dict[str, Any]

MAX_CHARACTERS = 32_768
MAX_BLOCKS = 500
MAX_LEVELS = 16
MAX_COLUMNS = 20
_REQUIRED: dict[str, set[str]] = {
    "paragraph": {"text"}, "heading": {"text", "size"}, "pre": {"text"}, "divider": set(), "footer": {"text"},
    "list": {"items"}, "blockquote": {"blocks"}, "table": {"cells"},
    "details": {"summary", "blocks"},
}  # fmt: skip
_OPTIONAL: dict[str, set[str]] = {
    "pre": {"language"}, "blockquote": {"credit"}, "table": {"is_bordered", "is_striped", "caption", "is_compact"},
}  # fmt: skip
_ITEM = {"blocks", "has_checkbox", "is_checked", "value", "type", "label"}
"""``label`` is the server's own word, in what it gives back."""
_CELL = {"align", "valign", "text", "is_header", "colspan", "rowspan"}
_STYLES = {"bold": "b", "italic": "i", "strikethrough": "s", "underline": "u"}


def read(message: Json) -> Shown:
    """Return what a reader sees of an ``InputRichMessage``; Invalid where the server would refuse."""
    if not set(message) <= {"blocks", "html", "markdown", "is_rtl", "skip_entity_detection", "media"}:
        raise Invalid(f"unknown fields: {sorted(message)}")
    if [name in message for name in ("blocks", "html", "markdown")].count(True) != 1:
        raise Invalid("exactly one of blocks, html and markdown must be used")
    if "blocks" not in message:
        raise Invalid("only blocks are read here")
    shown = _blocks(message["blocks"], 1)
    if not shown.plain.strip():
        raise Invalid("message text is empty")
    if not 1 <= _count(message["blocks"]) <= MAX_BLOCKS:
        raise Invalid("too many blocks")
    if units(shown.plain) + sum(units(url) for _, url in shown.links) > MAX_CHARACTERS:
        raise Invalid("message is too long")
    if not message.get("skip_entity_detection"):
        shown.pings = [f"{kind}: {match}" for kind, match in found_entities(shown.live)]
    return shown


def stored(blocks: Sequence[Json]) -> list[Json]:
    """Return the blocks as the server gives them back: the items of lists have labels."""
    kept = []
    for block in blocks:
        new = dict(block)
        if "blocks" in new:
            new["blocks"] = stored(new["blocks"])
        if "items" in new:
            new["items"] = [{**item, "label": _label(item), "blocks": stored(item["blocks"])} for item in new["items"]]
        kept.append(new)
    return kept


def _blocks(blocks: Sequence[Json], level: int) -> Shown:
    shown = Shown()
    for number, block in enumerate(blocks):
        if number:
            shown.add(words("\n"))
        shown.add(_block(block, level))
    return shown


def _block(block: Json, level: int) -> Shown:  # noqa: PLR0911 (one return a kind of block)
    _check_fields(block, level)
    match block["type"]:
        case "list":
            return _joined(_item(item, level + 1) for item in _some(block["items"]))
        case "blockquote":
            inside = _blocks(_some(block["blocks"]), level + 1)
            inside.page = "\n".join(f"▌ {line}" for line in inside.page.split("\n"))
            return inside
        case "details":
            inside = styled("b", _text(block["summary"], level))
            folded = _blocks(_some(block["blocks"]), level + 1)
            folded.page = "\n" + "\n".join(f"▸ {line}" for line in folded.page.split("\n"))
            inside.add(words("\n"))
            inside.add(folded)
            return inside
        case "table":
            return _joined(_row(row, level) for row in _some(block["cells"]))
        case "heading":
            if block["size"] not in range(1, 7):
                raise Invalid(f"a heading of size {block['size']}")
            return styled(f"h{block['size']}", _text(block["text"], level))
        case "pre":
            return code_block(_text(block["text"], level).plain, block.get("language", ""))
        case "divider":
            return Shown(page="────")
        case "footer":
            return styled("footer", _text(block["text"], level))
        case _:
            return _text(block["text"], level)


def _check_fields(block: Json, level: int) -> None:
    kind, fields = block.get("type", ""), set(block) - {"type"}
    if kind not in _REQUIRED:
        raise Invalid(f"no such block: {kind}")
    if not _REQUIRED[kind] <= fields <= _REQUIRED[kind] | _OPTIONAL.get(kind, set()):
        raise Invalid(f"a {kind} with {sorted(fields)}")
    if level > MAX_LEVELS:
        raise Invalid(f"a {kind} on level {level}")


def _item(item: Json, level: int) -> Shown:
    if not set(item) <= _ITEM or item.get("type", "1") not in {"a", "A", "i", "I", "1"}:
        raise Invalid(f"an item with {sorted(item)}")
    inside = _blocks(_some(item["blocks"]), level + 1)
    label = _label(item)
    inside.page = f"{label} " + inside.page.replace("\n", "\n" + " " * (len(label) + 1))
    return inside


def _label(item: Json) -> str:
    return f"{item['value']}." if "value" in item else "•"


def _row(row: Sequence[Json], level: int) -> Shown:
    if len(_some(row)) > MAX_COLUMNS:
        raise Invalid("more than 20 columns")
    shown = Shown()
    for number, cell in enumerate(row):
        if not {"align", "valign"} <= set(cell) <= _CELL:
            raise Invalid(f"a cell with {sorted(cell)}")
        if cell["align"] not in {"left", "center", "right"} or cell["valign"] not in {"top", "middle", "bottom"}:
            raise Invalid(f"a cell aligned {cell['align']}, {cell['valign']}")
        inside = _text(cell.get("text", ""), level)
        shown.add(words("\t") if number else Shown())
        shown.add(styled("th", inside) if cell.get("is_header") else inside)
    shown.page = "│ " + shown.page.replace("\t", " │ ") + " │"
    return shown


def _text(text: Any, level: int) -> Shown:
    if isinstance(text, str):
        return words(text)
    shown = Shown()
    if isinstance(text, list):
        for piece in text:
            shown.add(_text(piece, level))
        return shown
    if level + 1 > MAX_LEVELS:
        raise Invalid(f"a style on level {level + 1}")
    kind = text.get("type")
    if set(text) != {"type", "text"} | ({"url"} if kind == "url" else set()):
        raise Invalid(f"a rich text with {sorted(text)}")
    inside = _text(text["text"], level + 1)
    if kind == "url":
        if not text["url"].startswith(("http://", "https://")) or not inside.plain.strip():
            raise Invalid(f"no link: {text}")
        return link(inside, text["url"])
    if kind == "code":
        return code(inside.plain)
    if kind not in _STYLES:
        raise Invalid(f"no such style: {kind}")
    return styled(_STYLES[kind], inside)


def _some(values: Sequence[Json]) -> Sequence[Json]:
    if not values:
        raise Invalid("nothing in a block that holds others")
    return values


def _joined(pieces: Any) -> Shown:
    shown = Shown()
    for number, piece in enumerate(pieces):
        if number:
            shown.add(words("\n"))
        shown.add(piece)
    return shown


def _count(blocks: Sequence[Json]) -> int:
    total = 0
    for block in blocks:
        total += 1 + _count(block.get("blocks", [])) + len(block.get("cells", []))
        total += sum(1 + _count(item["blocks"]) for item in block.get("items", []))
    return total
