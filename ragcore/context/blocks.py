"""The form in which retrieved chunks stand in a prompt: numbered blocks that cannot pass for one another.

ID: 0
Title: Leave
URL: https://wiki.example/leave
Content:
<the chunk's text>
------
ID: 1
...
"""

import re
from collections.abc import Sequence

from ragcore.types import Chunk

SEPARATOR = "\n------\n"

# What would read as the start of a block, or as the line between two: seen through spaces, invisible characters,
# quoting, emphasis and full-width forms, because a model reads those the same way.
_HEADER = re.compile(
    r"^(?P<lead>(?:[^\S\n]|[>*_#|`\-\u200b-\u200f\u2060\ufeff])*)(?P<name>ID|ＩＤ)(?=[*_`\s]*[:：])",
    re.IGNORECASE | re.MULTILINE,
)
_CITED = re.compile(r"(?P<open>[\[［【〔〖(（])(?=[\s*_`]*(?:ID|ＩＤ)[\s*_`]*[:：]?[\s*_`]*\d)", re.IGNORECASE)
_RULE = re.compile(r"^(?P<lead>[^\S\n]*)(?P<rule>(?:-[^\S\n]*){6,})$", re.MULTILINE)
_LINE_BREAKS = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
_SPACES = re.compile(r"\s+")


def block(index: int, chunk: Chunk) -> str:
    """Return the chunk as the block with this number (from 0, its index in the prompt).

    What looks like a block's frame or a citation gets a visible, harmless change: ``ID: 7`` at the start of a line
    becomes ``· ID: 7``, ``[ID:7]`` becomes ``[· ID:7]``, and a line of six or more hyphens one of middle dots: repeated
    by a model, they would lend a document's words the name of another. The chunk itself, which is quoted, stays as it
    was.
    """
    title = " › ".join(_one_line(part) for part in (chunk.title, *chunk.heading_path) if part.strip())
    lines = [f"ID: {index}", f"Title: {title}"]
    if chunk.url:
        lines.append(f"URL: {_one_line(chunk.url)}")
    return "\n".join([*lines, "Content:", defang(chunk.text)])


def join(blocks: Sequence[str]) -> str:
    """Return the blocks with the line between them."""
    return SEPARATOR.join(blocks)


def defang(text: str) -> str:
    """Return the text with nothing in it that passes for a block's header, the line between two, or a citation."""
    text = _LINE_BREAKS.sub("\n", text)
    text = _HEADER.sub(lambda match: f"{match['lead']}· {match['name']}", text)
    text = _CITED.sub(_marked_off, text)
    return _RULE.sub(lambda match: match["lead"] + "·" * match["rule"].count("-"), text)


def _one_line(text: str) -> str:
    return _CITED.sub(_marked_off, _SPACES.sub(" ", text)).strip()


def _marked_off(bracket: re.Match[str]) -> str:
    return f"{bracket['open']}· "
