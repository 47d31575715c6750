"""Discord's Markdown as its clients read it, from its help pages and the rules of the parser that they are built on.

Block rules first (fences anywhere, then line by line), then inline rules, the first that matches at a place wins.
"""

import re

from tests.bots.rendering.readers.shown import Invalid, Shown, code, code_block, link, styled, words

_FENCE = re.compile(r"```(?:([A-Za-z0-9_+\-.#]+)\n)?\n*([^\n].*?)\n*```", re.DOTALL)
_ESCAPE = re.compile(r"\\([^0-9A-Za-z\s])")
_CODE = re.compile(r"(`+)(.*?[^`])\1(?!`)", re.DOTALL)
_LINK = re.compile(r"\[((?:\[[^\]]*\]|\\.|[^\[\]\\])+)\]\(<?((?:\([^)\s]*\)|[^\s()<>\\])+)>?\)")
_AUTOLINK = re.compile(r"<(https?://[^\s>]+)>")
_BARE = re.compile(r"(?:https?|ftp|steam|discord)://[^\s<]+", re.IGNORECASE)
_MENTION = r"@everyone|@here|<@[!&]?\d+>|<#\d+>"
_PING = re.compile(rf"{_MENTION}|</[^:>]+:\d+>|<a?:\w+:\d+>|<id:\w+>|discord\.gg/\w", re.IGNORECASE)
_PING_IN_CODE = re.compile(_MENTION, re.IGNORECASE)
_TIME = re.compile(r"<t:(-?\d+):[tTdDfFR]>")
_STYLES = (
    ("b", re.compile(r"\*\*((?:\\.|[^\\])+?)\*\*(?!\*)", re.DOTALL)),
    ("u", re.compile(r"__((?:\\.|[^\\])+?)__(?!_)", re.DOTALL)),
    ("i", re.compile(r"\*(?=\S)((?:\*\*|\\.|\s+(?:\\.|[^\s*\\]|\*\*)|[^\s*\\])+?)\*(?!\*)", re.DOTALL)),
    ("i", re.compile(r"\b_((?:__|\\.|[^\\_])+?)_\b", re.DOTALL)),
    ("s", re.compile(r"~~(?=\S)((?:\\.|[^\\])*?\S)~~(?!_)", re.DOTALL)),
    ("spoiler", re.compile(r"\|\|((?:\\.|[^\\])+?)\|\|", re.DOTALL)),
)
_LINES = (
    ("heading", re.compile(r"#{1,3}\s+(.+)")),
    ("small", re.compile(r"-#\s+(.+)")),
    ("item", re.compile(r"(\s*(?:[-*]|\d+\.) )(.*)")),
)
_QUOTE = re.compile(r" *>(?!>>) ")
_SPECIAL = re.compile(r"[\\`*_~|\[<]|https?:|ftp:|steam:|discord|@", re.IGNORECASE)


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def read(content: str, most: int = 2000) -> Shown:
    """Return what a reader sees; Invalid where Discord would refuse the message or show a mark as it is written."""
    if not content.strip():
        raise Invalid("Cannot send an empty message")
    if max(len(content), units(content)) > most:
        raise Invalid(f"Must be {most} or fewer in length.")
    if content != content.strip():
        raise Invalid("white space at an end is lost")
    return _quotes_and_rest(content)


def _quotes_and_rest(content: str) -> Shown:
    shown = Shown()
    rest: list[str] = []
    quoted: list[str] = []
    for line in [*content.split("\n"), None]:
        quote = None if line is None or "\n".join(rest).count("```") % 2 else _QUOTE.match(line)
        if quote is None and quoted:
            inside = _with_fences("\n".join(quoted))
            inside.page = "\n".join("▌ " + one for one in inside.page.split("\n"))
            shown.add(inside)
            shown.add(words("" if line is None else "\n"))
            quoted = []
        if quote is not None and line is not None:
            if rest:
                shown.add(_with_fences("\n".join(rest)))
                shown.add(words("\n"))
                rest = []
            quoted.append(line[quote.end() :])
        elif line is not None:
            rest.append(line)
    if rest:
        shown.add(_with_fences("\n".join(rest)))
    return shown


def _with_fences(content: str) -> Shown:
    shown = Shown()
    at = 0
    for fence in _FENCE.finditer(content):
        shown.add(_lines(content[at : fence.start()], shown))
        shown.add(code_block(fence[2], fence[1] or ""))
        shown.pings += _PING_IN_CODE.findall(fence[2])
        at = fence.end()
    shown.add(_lines(content[at:], shown))
    if "```" in _FENCE.sub("", content):
        raise Invalid("a fence without its end")
    return shown


def _lines(text: str, before: Shown) -> Shown:
    shown = Shown()
    lines = text.split("\n")
    paragraph: list[str] = []
    for index, line in enumerate(lines):
        # What stands behind a fence on its line, or before one, starts no line.
        starts = index > 0 or not before.plain
        kind, match = next(
            ((kind, found) for kind, pattern in _LINES if starts and (found := pattern.fullmatch(line))), ("", None)
        )
        if match is None:
            paragraph.append(line)
            continue
        shown.add(_inline("".join(f"{one}\n" for one in paragraph)))
        paragraph = []
        shown.add(_line(kind, match))
        if index < len(lines) - 1:
            shown.add(words("\n"))
    shown.add(_inline("\n".join(paragraph)))
    return shown


def _line(kind: str, match: re.Match[str]) -> Shown:
    inside = _inline((match[1] or "") if kind != "item" else match[2])
    mark = {"heading": "■ ", "small": "· ", "item": match[1] if kind == "item" else ""}[kind]
    inside.page = mark + inside.page
    if kind == "item":
        inside.plain = match[1] + inside.plain
    return inside


def _inline(text: str) -> Shown:
    shown = Shown()
    at = 0
    while at < len(text):
        if not _SPECIAL.match(text, at):
            found = _SPECIAL.search(text, at)
            end = found.start() if found else len(text)
            shown.add(words(text[at:end]))
            at = end
            continue
        piece, at = _piece(text, at)
        shown.add(piece)
    return shown


def _piece(text: str, at: int) -> tuple[Shown, int]:  # noqa: PLR0911
    if found := _ESCAPE.match(text, at):
        return words(found[1]), found.end()
    if found := _CODE.match(text, at):
        inside = code(found[2].strip() if found[2].strip() else found[2])
        inside.pings = _PING_IN_CODE.findall(found[2])
        return inside, found.end()
    if found := _LINK.match(text, at):
        inside = _inline(found[1])
        if "://" in inside.plain:
            raise Invalid(f"a label that is an address makes no link: {found[0]}")
        if not re.match(r"https?://[^/]", found[2]):
            raise Invalid(f"no link: {found[0]}")
        if not found[0].endswith(">)"):
            raise Invalid(f"a link with a preview: {found[0]}")
        return link(inside, found[2]), found.end()
    if found := _AUTOLINK.match(text, at):
        return link(words(found[1]), found[1]), found.end()
    if found := _TIME.match(text, at):
        return Shown(plain=found[0], page=f"‹time {found[1]}›", live=" "), found.end()
    if found := _PING.match(text, at):
        return Shown(plain=found[0], page=found[0], live=" ", pings=[found[0]]), found.end()
    if found := _BARE.match(text, at):
        return Shown(plain=found[0], page=found[0], live=" ", pings=[f"link: {found[0]}"]), found.end()
    for name, pattern in _STYLES:
        if found := pattern.match(text, at):
            return styled(name, _inline(found[1])), found.end()
    return words(text[at]), at + 1
