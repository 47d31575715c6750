"""Slack's wire text becomes Markdown. Pure; no word is lost on the way, nor when the Markdown is parsed.

The wire text (https://docs.slack.dev/messaging/formatting-message-text) writes ``& < >`` as entities, what is more than
text in angle brackets, and marks emphasis otherwise than Markdown. A link keeps its address beside its words, so that
both can be found. What Slack shows as plain text and Markdown would read as more (a heading, a tag) is escaped.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from connectors.markdown import harmless

_FENCED = re.compile(r"```(.+?)```", re.DOTALL)
_TOKEN = r"<[^<>\n]+>"
_TOKENS = re.compile(rf"({_TOKEN})")
_CODE = re.compile(r"((?<!`)`(?!`)[^`\n]+`(?!`))")
_BOLD = re.compile(rf"{_TOKEN}|(?<![\w*])\*(?=[^\s*])((?:{_TOKEN}|[^*\n<>])*?(?<!\s))\*(?![\w*])")
_STRUCK = re.compile(rf"{_TOKEN}|(?<![\w~])~(?=[^\s~])((?:{_TOKEN}|[^~\n<>])*?(?<!\s))~(?![\w~])")
_EMOJI = re.compile(rf"{_TOKEN}|:([a-z0-9_+'-]+):(?::skin-tone-[2-6]:)?")
_ENTITY = re.compile(r"&(amp|lt|gt);")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">"}
_BULLET = re.compile(r"^([ \t]*)[•◦▪][ \t]+", re.MULTILINE)
_MENTION = re.compile(r"<(?:@([UWB][A-Z0-9]+)|#([CG][A-Z0-9]+)|!subteam\^(S[A-Z0-9]+))(?:\|([^<>\n]*))?>")


def mentions(text: str) -> Iterator[str]:
    """Yield the ids in a text whose names it doesn't tell itself: of people always, for they change."""
    for person, channel, group, label in _MENTION.findall(text):
        if person or not label:
            yield person or channel or group


def markdown(text: str, names: Mapping[str, str], emoji: Mapping[str, str]) -> str:
    """Return wire text as Markdown.

    Args:
        text: As ``message.text`` has it.
        names: By id, of people, channels and groups; without one its label or the id itself stands.
        emoji: The characters of standard emoji by name; others stay as ``:name:``.
    """
    parts = _FENCED.split(text)
    written = ""
    for number, part in enumerate(parts):
        if number % 2 == 0:
            beside = part.removeprefix("\n") if number else part
            written += _text(beside, names, emoji)
            continue
        code = _plain(part, names).strip("\n")
        # A fence stands on lines of its own.
        written += "" if not written or written.endswith("\n") else "\n"
        written += f"```\n{code}\n```\n"
    return written.rstrip("\n")


def plain(text: str, names: Mapping[str, str]) -> str:
    """Return wire text without marks, for a title."""
    return re.sub(r"[*_~`]+(?=\w)|(?<=[\w.!?,;:)])[*~`]+", "", _plain(text, names))


def unescaped(text: str) -> str:
    """Return a text with its entities as characters."""
    return _ENTITY.sub(lambda found: _CHARACTERS[found[1]], text)


def emoji_in(blocks: Any) -> dict[str, str]:
    """Return the characters of the emoji that a message's blocks name."""
    found: dict[str, str] = {}
    if isinstance(blocks, list):
        for block in blocks:
            found |= emoji_in(block)
    elif isinstance(blocks, dict):
        if blocks.get("type") == "emoji" and isinstance(blocks.get("unicode"), str):
            with suppress(ValueError, OverflowError):  # none after all: its name stays
                found[str(blocks.get("name"))] = "".join(chr(int(code, 16)) for code in blocks["unicode"].split("-"))
        for value in blocks.values():
            if isinstance(value, list | dict):
                found |= emoji_in(value)
    return found


def _text(text: str, names: Mapping[str, str], emoji: Mapping[str, str]) -> str:
    written = ""
    for number, part in enumerate(_CODE.split(text)):
        if number % 2:
            written += _plain(part, names)
            continue
        marked = _BOLD.sub(lambda found: f"**{found[1]}**" if found[1] else found[0], part)
        marked = _STRUCK.sub(lambda found: f"~~{found[1]}~~" if found[1] else found[0], marked)
        marked = _EMOJI.sub(lambda found: emoji.get(found[1] or "", "") or found[0], marked)
        written += _plain(marked, names)
    return _BULLET.sub(r"\1- ", harmless(written))


def _plain(text: str, names: Mapping[str, str]) -> str:
    parts = _TOKENS.split(text)
    return "".join(unescaped(_shown(part[1:-1], names) if number % 2 else part) for number, part in enumerate(parts))


def _shown(token: str, names: Mapping[str, str]) -> str:
    """Return what a reader sees of what stands in angle brackets."""
    target, _, label = token.partition("|")
    if target.startswith("@"):
        return f"@{names.get(target[1:]) or label or target[1:]}"
    if target.startswith("#"):
        return f"#{label or names.get(target[1:]) or target[1:]}"
    if target.startswith("!"):
        kind, _, rest = target[1:].partition("^")
        if kind == "subteam":
            return label or f"@{names.get(rest) or rest}"
        return label if kind == "date" and label else f"@{(label or kind).removeprefix('@')}"
    address = target.removeprefix("mailto:").removeprefix("tel:")
    return f"{label} ({address})" if label and label not in address else address
