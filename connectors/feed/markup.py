"""The HTML in feeds: links made absolute, and titles as plain text."""

import contextlib
import html
import re

from lxml import etree
from yarl import URL

from ragcore.errors import ParseError
from ragcore.parsing.html.page import html_tree

_RELATIVE = re.compile(
    r"""\b(?:href|src|cite|background|longdesc)\s*+=\s*+["']?+\s*+(?![a-z][a-z0-9+.-]*:)""", re.IGNORECASE
)


def absolute(text: str, base: str) -> str:
    """Return HTML with the relative addresses in it joined to ``base``; as it is when it has none, or can't be read."""
    if not base or not _RELATIVE.search(text):
        return text
    try:
        root = html_tree(text)
        root.make_links_absolute(base, resolve_base_href=False, handle_failures="ignore")
    except (ParseError, ValueError):
        return text
    return str(etree.tostring(root, encoding="unicode", method="html"))


def plain(text: str) -> str:
    """Return the words of a piece of HTML, such as a title, on one line."""
    if "<" in text:
        with contextlib.suppress(ParseError):
            text = str(html_tree(text).text_content())
    else:
        text = html.unescape(text)
    return " ".join(text.split())


def link_of(text: str, base: str) -> str:
    """Return an address of a page, joined to ``base``, escaped and with its fragment; "" when it is none."""
    told = "".join(text.split("\n")).strip()
    try:
        found = URL(base).join(URL(told)) if base and told else URL(told)
        return str(found) if found.scheme in {"http", "https"} and found.host and not found.user else ""
    except ValueError:
        return ""
