"""Slack's blocks with every limit of its reference, mrkdwn, and the standard Markdown of a ``markdown`` block."""

import re
from collections.abc import Iterable
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.bots.rendering.readers.shown import Invalid, Shown, code, code_block, link, styled, words

Json = dict[str, Any]
_WIRE = re.compile(r"&(?!amp;|lt;|gt;)")
_CONTROL = re.compile(r"<([^<>\n]*)>")
_DATE = re.compile(r"!date\^\d+\^\{date_short_pretty\}\|(\d{4}-\d\d-\d\d)")
# What a client makes something of by itself.
_LIVE = re.compile(
    r"(?:https?|ftp|slack)://\w|www\.\w|(?<!\w)[A-Za-z0-9-]+\.(?:com|org|net|io|dev|example|de|cn)\b|@\w|(?<!\w)#[a-z]"
    r"|:[a-z0-9_+'-]*[a-z][a-z0-9_+'-]*:|:(?:[+-]1|100):",
    re.IGNORECASE,
)
_BOUND = r"(?:^|(?<=[\s\u200b(\[{\"'.,;:!?>*_~-]))"
_AFTER = r"(?=$|[\s\u200b)\]}\"'.,;:!?<*_~-])"
_STYLES = (
    ("b", re.compile(rf"{_BOUND}\*(?=\S)((?:<[^<>]*>|[^*\n<])*?(?:<[^<>]*>|[^\s*<]))\*{_AFTER}")),
    ("i", re.compile(rf"{_BOUND}_(?=\S)((?:<[^<>]*>|[^_\n<])*?(?:<[^<>]*>|[^\s_<]))_{_AFTER}")),
    ("s", re.compile(rf"{_BOUND}~(?=\S)((?:<[^<>]*>|[^~\n<])*?(?:<[^<>]*>|[^\s~<]))~{_AFTER}")),
)
_CODE = re.compile(r"`([^`\n]+)`")


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def check_wire(text: str) -> None:
    """Raise Invalid where ``&``, ``<`` or ``>`` stands for itself."""
    if _WIRE.search(text):
        raise Invalid(f"a bare &: {text!r}")


def read_mrkdwn(text: str) -> Shown:
    """Return what a reader sees of a mrkdwn text object."""
    check_wire(text)
    shown = Shown()
    at = 0
    for block in re.finditer(r"```\n(.*?)\n```", text, re.DOTALL):
        shown.add(_mrkdwn_lines(text[at : block.start()]))
        if re.search(r"[<>]", block[1]):
            raise Invalid("a bare < or > in code")
        shown.add(code_block(unescaped(block[1]), ""))
        at = block.end()
    shown.add(_mrkdwn_lines(text[at:]))
    if "```" in shown.live:
        raise Invalid("a fence without its end")
    return shown


def _mrkdwn_lines(text: str) -> Shown:
    shown = Shown()
    for index, line in enumerate(text.split("\n")):
        if index:
            shown.add(words("\n"))
        quoted = re.match(r"&gt; ?", line)
        inside = _mrkdwn(line[quoted.end() :] if quoted else line)
        inside.page = ("▌ " if quoted else "") + inside.page
        shown.add(inside)
    return shown


def _mrkdwn(text: str) -> Shown:
    shown = Shown()
    at = 0
    while at < len(text):
        piece, at = _mrkdwn_piece(text, at)
        shown.add(piece)
    return shown


def _mrkdwn_piece(text: str, at: int) -> tuple[Shown, int]:
    if text[at] == "<":
        control = _CONTROL.match(text, at)
        if control is None:
            raise Invalid(f"a bare <: {text!r}")
        return _control(control[1]), control.end()
    if text[at] == ">":
        raise Invalid(f"a bare >: {text!r}")
    before = text[at - 1] if at else " "
    if (found := _CODE.match(text, at)) and before in " \n\u200b([{\"'.,;:!?>*_~-":
        return code(unescaped(found[1])), found.end()
    for name, pattern in _STYLES:
        if found := pattern.match(text, at):
            return styled(name, _mrkdwn(found[1])), found.end()
    entity = re.match(r"&(?:amp|lt|gt);", text[at:])
    piece = entity[0] if entity else text[at]
    return words(unescaped(piece)), at + len(piece)


def _control(inside: str) -> Shown:
    if date := _DATE.fullmatch(inside):
        return Shown(plain=date[1], page=f"‹date {date[1]}›", live=" ")
    url, bar, label = inside.partition("|")
    if re.match(r"https?://[^/]", url) and bar and label and "|" not in label:
        return link(words(unescaped(label)), unescaped(url))
    return Shown(plain=inside, page=inside, pings=[f"<{inside}>"])


_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_PREFIX = re.compile(r"^(?:\s*(?:[-*+] |\d+[.)] |>))*")
_NAMES = {"strong": "b", "em": "i", "s": "s"}


def read_markdown(text: str) -> Shown:
    """Return what a reader sees of a ``markdown`` block, and check that it is the same to whoever unescapes it first."""
    check_wire(text)
    if "<" in text or any(">" in _PREFIX.sub("", line) for line in text.split("\n")):
        raise Invalid("a bare < or >")
    shown = Shown()
    _blocks(_PARSER.parse(text), shown)
    again = Shown()
    _blocks(MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).parse(unescaped(text)), again)
    if [url for _, url in again.links] != [url for _, url in shown.links]:
        raise Invalid(f"links differ by who reads them: {shown.links} {again.links}")
    return shown


def _blocks(tokens: Iterable[Token], shown: Shown) -> None:
    prefix: list[str] = []
    item: list[list[int | None]] = []
    for token in tokens:
        match token.type:
            case "bullet_list_open":
                item.append([None])
            case "ordered_list_open":
                item.append([int(token.attrs.get("start", 1))])
            case "bullet_list_close" | "ordered_list_close":
                item.pop()
            case "list_item_open":
                number = item[-1][0]
                mark = "• " if number is None else f"{number}. "
                shown.add(Shown(page="  " * (len(item) - 1) + mark, plain=mark))
                item[-1][0] = None if number is None else number + 1
            case "blockquote_open":
                prefix.append("▌ ")
            case "blockquote_close":
                prefix.pop()
            case "heading_open":
                shown.add(Shown(page="■ "))
            case "inline":
                inside = _inline(token.children or [])
                inside.page = "".join(prefix) + inside.page
                shown.add(inside)
            case "fence" | "code_block":
                shown.add(code_block(unescaped(token.content.removesuffix("\n")), unescaped(token.info)))
                shown.add(words("\n"))
            case "hr":
                shown.add(Shown(page="────\n"))
            case "th_close" | "td_close":
                shown.add(Shown(plain=" ", page=" │ ", live=" "))
            case "paragraph_close" | "heading_close" | "tr_close":
                shown.add(words("\n"))
            case _:
                pass


def _inline(tokens: list[Token]) -> Shown:
    shown, _ = _until(tokens, 0)
    return shown


def _until(tokens: list[Token], at: int) -> tuple[Shown, int]:
    shown = Shown()
    while at < len(tokens) and tokens[at].nesting >= 0:
        token = tokens[at]
        at += 1
        if token.nesting > 0:
            inside, at = _until(tokens, at)
            if token.tag == "a":
                url = str(token.attrs.get("href", ""))
                if not re.match(r"https?://[^/]", url):
                    raise Invalid(f"no link: {url}")
                shown.add(link(inside, url))
            else:
                shown.add(styled(_NAMES[token.tag], inside))
        elif token.type == "code_inline":
            shown.add(code(unescaped(token.content)))
        elif token.type in {"softbreak", "hardbreak"}:
            shown.add(words("\n"))
        elif token.type == "image":
            raise Invalid("an image")
        else:
            shown.add(words(token.content))
    return shown, at + 1


def live_in(shown: Shown) -> list[str]:
    """Return what a client would make a link, a mention or an emoji of."""
    return [match.group() for match in _LIVE.finditer(shown.live)]
