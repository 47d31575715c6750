"""Telegram's HTML as the Bot API server reads it, and the entities that it finds in text by itself.

From https://core.telegram.org/bots/api#html-style and the messages of the server's errors. Offsets and lengths are in
UTF-16 units.
"""

import re
import unicodedata
from typing import Any

from tests.bots.rendering.readers.shown import Invalid, Shown, code, code_block, link, styled, words

Json = dict[str, Any]

TYPES = {
    "b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline",
    "s": "strikethrough", "strike": "strikethrough", "del": "strikethrough", "tg-spoiler": "spoiler", "span": "spoiler",
    "a": "text_link", "code": "code", "pre": "pre", "blockquote": "blockquote", "tg-emoji": "custom_emoji",
    "tg-time": "date_time",
}  # fmt: skip
_ENTITY = re.compile(r"&(?:#x([0-9a-fA-F]{1,8})|#(\d{1,10})|(lt|gt|amp|quot));")
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_START = re.compile(r"<([^\s>/]*)")
_ATTRIBUTE = re.compile(r"\s+([^\s=>/]+)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|[a-zA-Z0-9.\-]+))?")
_BLOCKS = ("pre", "blockquote", "expandable_blockquote")
_END = re.compile(r"</([^\s>]*)\s*>?")


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def parse_html(raw: str) -> tuple[str, list[Json]]:
    """Return the text and its entities, trimmed as the server trims; ValueError in the server's words."""
    text = ""
    entities: list[Json] = []
    nested: list[tuple[str, int, dict[str, str]]] = []
    at = 0
    while at < len(raw):
        if raw[at] == "&":
            found = _ENTITY.match(raw, at)
            text += _decoded(found) if found else "&"
            at = found.end() if found else at + 1
        elif raw[at] != "<":
            end = min((place for place in (raw.find("<", at), raw.find("&", at)) if place >= 0), default=len(raw))
            text += raw[at:end]
            at = end
        elif raw.startswith("</", at):
            at = _end_tag(raw, at, text, nested, entities)
        else:
            at = _start_tag(raw, at, units(text), nested)
    if nested:
        raise ValueError(f'Can\'t find end tag corresponding to start tag "{nested[-1][0]}"')
    return _trimmed(text, sorted(entities, key=lambda one: (one["offset"], -one["length"])))


def _decoded(found: re.Match[str]) -> str:
    if found[3]:
        return _NAMED[found[3]]
    number = int(found[1], 16) if found[1] else int(found[2])
    return chr(number) if 0 < number < 0x110000 else found[0]


def _offset(raw: str, at: int) -> int:
    return len(raw[:at].encode())


def _start_tag(raw: str, at: int, offset: int, nested: list[tuple[str, int, dict[str, str]]]) -> int:
    found = _START.match(raw, at)
    assert found
    name = found[1].lower()
    place = found.end()
    if place >= len(raw):
        raise ValueError(f"Unclosed start tag at byte offset {_offset(raw, at)}")
    if name not in TYPES:
        raise ValueError(f'Unsupported start tag "{name}" at byte offset {_offset(raw, at)}')
    attributes: dict[str, str] = {}
    while attribute := _ATTRIBUTE.match(raw, place):
        value = attribute[2]
        if value is None and (name, attribute[1]) != ("blockquote", "expandable"):
            raise ValueError(
                f'Expected equal sign in declaration of an attribute of the tag "{name}" at byte offset {_offset(raw, at)}'
            )
        attributes[attribute[1].lower()] = _unescaped((value or "").strip("\"'"))
        place = attribute.end()
    if not raw.startswith(">", place):
        raise ValueError(f"Unclosed start tag at byte offset {_offset(raw, at)}")
    if name == "span" and attributes.get("class") != "tg-spoiler":
        raise ValueError(f'Tag "span" must have class "tg-spoiler" at byte offset {_offset(raw, at)}')
    nested.append((name, offset, attributes))
    return place + 1


def _unescaped(value: str) -> str:
    return _ENTITY.sub(_decoded, value)


def _end_tag(raw: str, at: int, text: str, nested: list[tuple[str, int, dict[str, str]]], entities: list[Json]) -> int:
    if not nested:
        raise ValueError(f"Unexpected end tag at byte offset {_offset(raw, at)}")
    found = _END.match(raw, at)
    assert found
    name, start, attributes = nested.pop()
    if not found[0].endswith(">"):
        raise ValueError(f"Unclosed end tag at byte offset {_offset(raw, at)}")
    if found[1] and found[1].lower() != name:
        raise ValueError(
            f'Unmatched end tag at byte offset {_offset(raw, at)}, expected "</{name}>", found "</{found[1].lower()}>"'
        )
    length = units(text) - start
    if length:
        _close(name, start, length, attributes, nested, entities)
    return found.end()


def _close(
    name: str,
    start: int,
    length: int,
    attributes: dict[str, str],
    nested: list[tuple[str, int, dict[str, str]]],
    entities: list[Json],
) -> None:
    entity: Json = {"type": TYPES[name], "offset": start, "length": length}
    if name == "a":
        entity["url"] = attributes.get("href", "")
    if name == "blockquote" and "expandable" in attributes:
        entity["type"] = "expandable_blockquote"
    if name == "code" and nested and nested[-1][0] == "pre" and "class" in attributes:
        entity["language"] = attributes["class"].removeprefix("language-")
    if name == "pre" and entities and entities[-1].get("language"):
        inner = entities[-1]
        if (inner["offset"], inner["length"]) == (start, length):
            entities[-1] = {**entity, "language": inner["language"]}
            return
    entities.append(entity)


def _trimmed(text: str, entities: list[Json]) -> tuple[str, list[Json]]:
    start = units(text[: len(text) - len(text.lstrip())])
    text = text.strip()
    end = units(text)
    kept = []
    for entity in entities:
        first = max(0, entity["offset"] - start)
        last = min(end, entity["offset"] - start + entity["length"])
        if last > first:
            kept.append({**entity, "offset": first, "length": last - first})
    return text, kept


def check_nesting(entities: list[Json]) -> None:
    """Raise Invalid where entities stand in each other as the documents say they can't."""
    for index, outer in enumerate(entities):
        for inner in entities[index + 1 :]:
            if inner["offset"] >= outer["offset"] + outer["length"]:
                continue
            if inner["offset"] + inner["length"] > outer["offset"] + outer["length"]:
                raise Invalid(f"entities cross: {outer} {inner}")
            kinds = {outer["type"], inner["type"]}
            quotes = {"blockquote", "expandable_blockquote"}
            if kinds & {"code", "pre"} and not kinds & quotes:
                raise Invalid(f"code within another entity: {outer} {inner}")
            if kinds <= quotes:
                raise Invalid(f"a quote within a quote: {outer} {inner}")
            if outer["type"] == inner["type"]:
                raise Invalid(f"an entity within itself: {outer} {inner}")


# What the server makes entities of by itself: letters are Unicode's, hosts need a dot and a top-level domain in letters
# (the server knows a list of them; any two letters are taken for one here).
_FOUND = (
    ("mention", re.compile(r"(?<!\w)@[A-Za-z0-9_]{2,32}(?!\w)")),
    ("bot_command", re.compile(r"(?<![\w/<>])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?![\w/<>])")),
    ("hashtag", re.compile(r"(?<![\w\u200c\u00b7])#(?=[\d_\u200c]*[^\W\d_])[\w\u200c\u00b7]{1,256}(?!#)")),
    ("cashtag", re.compile(r"(?<![\w$])\$(?:1INCH|[A-Z]{1,8})(?![\w$])")),
    ("email", re.compile(r"(?<![A-Za-z0-9_.+-])[A-Za-z0-9_.+-]++@(?:[A-Za-z0-9_-]+\.)+[A-Za-z]{2,8}")),
    ("url", re.compile(r"(?:https?|ftp|tg|ton)://\w", re.IGNORECASE)),
)  # fmt: skip
_DOTTED = re.compile(r"(?<![\w~-])[\w~-]++(?:\.[\w~-]++)++")


def found_entities(live: str) -> list[tuple[str, str]]:
    """Return what the server would make entities of, as (kind, text)."""
    found = [(kind, match.group()) for kind, pattern in _FOUND for match in pattern.finditer(live)]
    for match in _DOTTED.finditer(live):
        top = match.group().rpartition(".")[2]
        is_name = len(top) >= 2 and all(unicodedata.category(letter).startswith("L") for letter in top)
        if is_name or top.lower().startswith("xn--") or re.fullmatch(r"\d{1,3}(\.\d{1,3}){3}", match.group()):
            found.append(("url", match.group()))
    return found


def read(raw: str, most: int = 4096) -> Shown:
    """Return what a reader sees; Invalid where the server would refuse or drop something.

    What belongs to ``most`` characters is asked in proportion: 100 entities, 32,768 bytes.
    """
    if len(raw.encode("utf-8", "surrogatepass")) > 8 * most:
        raise Invalid("text is too long")
    try:
        text, entities = parse_html(raw)
    except ValueError as error:
        raise Invalid(str(error)) from error
    if not text:
        raise Invalid("message text is empty")
    if len(text) > most or units(text) > most:
        raise Invalid("message is too long")
    if len(entities) > max(100, most // 40):
        raise Invalid("formatting beyond 100 entities is lost")
    check_nesting(entities)
    for entity in entities:
        if entity["type"] == "text_link" and not re.match(r"https?://[^/]", entity["url"]):
            raise Invalid(f"no link: {entity['url']}")
    data = text.encode("utf-16-le", "surrogatepass")
    for entity in entities:
        before = _text(data, 0, entity["offset"]).rpartition("\n")[2]
        if entity["type"] in _BLOCKS and before.strip("\u2060"):
            raise Invalid(f"a block that begins within a line: {before!r}")
    shown = _shown(data, 0, len(data) // 2, entities)
    shown.pings = [f"{kind}: {match}" for kind, match in found_entities(shown.live)]
    return shown


def _shown(data: bytes, start: int, end: int, entities: list[Json]) -> Shown:
    shown = Shown()
    at = start
    while at < end:
        here = next((one for one in entities if one["offset"] >= at and one["offset"] < end), None)
        if here is None:
            shown.add(words(_text(data, at, end)))
            break
        shown.add(words(_text(data, at, here["offset"])))
        stop = here["offset"] + here["length"]
        inside = [one for one in entities if one is not here and here["offset"] <= one["offset"] < stop]
        shown.add(_entity(here, _shown(data, here["offset"], stop, inside)))
        entities = [one for one in entities if one["offset"] >= stop]
        at = stop
    return shown


def _text(data: bytes, start: int, end: int) -> str:
    return data[2 * start : 2 * end].decode("utf-16-le", "surrogatepass")


def _entity(entity: Json, inside: Shown) -> Shown:  # noqa: PLR0911
    match entity["type"]:
        case "code":
            return code(inside.plain)
        case "pre":
            return code_block(inside.plain, entity.get("language", ""))
        case "text_link":
            return link(inside, entity["url"])
        case "blockquote" | "expandable_blockquote":
            mark = "▌ " if entity["type"] == "blockquote" else "▷ "
            inside.page = "\n".join(mark + line for line in inside.page.split("\n"))
            return inside
        case "bold":
            return styled("b", inside)
        case "italic":
            return styled("i", inside)
        case _:
            return styled("s", inside)
