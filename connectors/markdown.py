"""Plain text inside Markdown: what would be read as more than text is made harmless. Pure.

Emphasis, quotes, lists and tables stay what they are: they hide no word.
"""

import re

from ragcore.parsing.markup.markdown_html import TAG

_CODE_OR_MORE = re.compile(
    rf"(?P<code>(?<!`)(`+)(?!`).+?(?<!`)\2(?!`))|(?P<tag><(?=!--)|(?={TAG})<)|\]\(", re.IGNORECASE
)
"""What the parser of Markdown takes for code, for a tag, and for the middle of a link."""
_BLOCK = re.compile(
    r"^([ \t]*(?:>[ \t]*)*)(?=#{1,6}(?:[ \t]|$)|(?:=+|-+)[ \t]*$)"
    r"|^([ \t]*(?:[>*+-][ \t]*|\d+[.)][ \t]*)*)(?=`{3}|~{3})",
    re.MULTILINE,
)


def harmless(text: str) -> str:
    """Return plain text as Markdown that shows it as it is."""
    return harmless_blocks(harmless_words(text))


def harmless_words(text: str) -> str:
    """Return plain text without tags, comments and links, as far as they would be read as such."""
    return _CODE_OR_MORE.sub(lambda found: found["code"] or ("&lt;" if found["tag"] else "] ("), text)


def harmless_blocks(text: str) -> str:
    """Return text in which no line begins a heading or a block of code, or makes a heading of the line above."""
    return _BLOCK.sub(lambda found: f"{found[0]}\\", text)
