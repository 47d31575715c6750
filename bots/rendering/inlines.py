"""The inlines of the tree: emphasis, links by an allow-list, citations in place of their markers."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from bots.rendering.clean import clean_line, clean_url
from bots.rendering.tree import Break, Cite, Code, Inline, Link, Styled, Text
from ragcore.citations.markers import MARKER

# Opening and closing punctuation outside, so that emphasis beside a citation ends as it would beside a bracket; private
# characters inside, which no text holds after ``without_placeholders``.
_PLACEHOLDER = re.compile("\u27e6\ue000(\\d+)\ue001\u27e7", re.ASCII)
_CITED = re.compile(f"{_PLACEHOLDER.pattern}|{MARKER.pattern}", re.ASCII)
_PRIVATE = re.compile("[\ue000\ue001]")

# A URL as people type it: up to white space, brackets, quotes, back-ticks or East Asian punctuation.
_URL_BODY = (
    r"[^\s<>\[\]{}\"`|\\^\u27e6\u27e7\ue000\ue001\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]+"
)
_URL = re.compile(rf"(?<![A-Za-z0-9+.-])(?:[A-Za-z][A-Za-z0-9+.-]{{1,20}}://|www\.){_URL_BODY}", re.IGNORECASE)
_URL_AFTER_COLON = re.compile(rf"://{_URL_BODY}")
_SCHEME_BEFORE_COLON = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}$")
_NOT_AT_THE_END = ".,;:!?'*_~"
_STYLES: dict[str, Literal["emphasis", "strong", "strike"]] = {"em": "emphasis", "strong": "strong", "s": "strike"}


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text may link to; ``seen`` gathers the numbers of the citations met.

    In the text a citation stands as ``placeholder(number)``: no Markdown rule can read that as anything else. Where
    that turned out to be no code after all, a marker is still one: ``ids`` has the number of each, and is None for a
    text that has no citations.
    """

    cites: Mapping[int, Cite]
    allowed: frozenset[str]
    ids: Mapping[int, int] | None = None
    seen: set[int] = field(default_factory=set)


def placeholder(number: int) -> str:
    """Return what stands for a citation while Markdown is read."""
    return f"\u27e6\ue000{number}\ue001\u27e7"


def without_placeholders(text: str) -> str:
    """Return the text without anything that could be taken for one."""
    return _PRIVATE.sub("", text)


def as_written(text: str) -> str:
    """Return code or a URL with the numbers of the citations that it seemed to hold."""
    return _PLACEHOLDER.sub(r"[\1]", text)


def _url_rule(state: StateInline, silent: bool) -> bool:
    """Take a bare URL whole, so that ``*`` and ``_`` in it style nothing."""
    if state.src[state.pos] != ":":
        return False
    body = _URL_AFTER_COLON.match(state.src, state.pos, state.posMax)
    scheme = _SCHEME_BEFORE_COLON.search(state.src[max(0, state.pos - 22) : state.pos])
    if body is None or scheme is None:
        return False
    url = _trimmed(scheme.group() + body.group())
    if len(url) <= len(scheme.group()) + len("://"):
        return False
    if not silent:
        if not state.pending.endswith(scheme.group()):
            return False
        state.pending = state.pending[: -len(scheme.group())]
        state.push("url", "", 0).content = url
    state.pos += len(url) - len(scheme.group())
    return True


InlineRule = Callable[[StateInline, bool], bool]
# Name, the rule before which it stands, and the rule.
INLINE_RULES: tuple[tuple[str, str, InlineRule], ...] = (("url", "newline", _url_rule),)


def _trimmed(url: str) -> str:
    """Return the URL without the punctuation of the sentence around it."""
    while url:
        if url[-1] in _NOT_AT_THE_END or (url[-1] == ")" and url.count(")") > url.count("(")):
            url = url[:-1]
        else:
            break
    return url


class Reader:
    """Reads the parser's inline tokens into inlines."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def inlines(self, tokens: Sequence[Token]) -> tuple[Inline, ...]:
        """Return the inlines of one block."""
        children, _ = self._until_close(tokens, 0)
        return tuple(_tidy(children))

    def _until_close(self, tokens: Sequence[Token], at: int) -> tuple[list[Inline], int]:
        found: list[Inline] = []
        words: list[str] = []
        while at < len(tokens) and tokens[at].nesting >= 0:
            token = tokens[at]
            if token.type in {"text", "text_special"}:
                words.append(token.content)
                at += 1
                continue
            found += self._text("".join(words))
            words.clear()
            more, at = self._inline(tokens, at)
            found += more
        found += self._text("".join(words))
        return found, at + 1

    def _inline(self, tokens: Sequence[Token], at: int) -> tuple[list[Inline], int]:
        token = tokens[at]
        if token.type == "link_open":
            children, after = self._until_close(tokens, at + 1)
            return self._link(str(token.attrs.get("href", "")), str(token.attrs.get("title", "")), children), after
        if token.nesting > 0:
            children, after = self._until_close(tokens, at + 1)
            styled = tuple(_tidy(children))
            return ([Styled(style=_STYLES[token.tag], children=styled)] if styled else []), after
        match token.type:
            case "image":
                children, _ = self._until_close(token.children or [], 0)
                url, title = str(token.attrs.get("src", "")), str(token.attrs.get("title", ""))
                return self._link(url, title, children), at + 1
            case "url":
                return [self._bare_url(token.content)], at + 1
            case "softbreak" | "hardbreak":
                return [Break(hard=token.type == "hardbreak")], at + 1
            case _:
                code = clean_line(as_written(token.content))
                return [Code(text=code)] if code else [], at + 1

    def _link(self, url: str, title: str, children: list[Inline]) -> list[Inline]:
        """Return the link, or its words and the URL as code; citations inside stand after it."""
        target = clean_url(as_written(url))
        label = [child for child in _flat(children) if not isinstance(child, Cite)]
        cites = [child for child in _flat(children) if isinstance(child, Cite)]
        shown = "".join(child.text for child in label if isinstance(child, Text | Code))
        extra: list[Inline] = (
            [Text(text=f" ({clean_line(as_written(title))})")] if clean_line(as_written(title)) else []
        )
        if target in self._reading.allowed and target:
            inside = tuple(_tidy(_without_links(label))) or (Text(text=target),)
            return [Link(url=target, children=inside), *extra, *cites]
        if not target:
            return [*children, *extra]
        if shown == target or not shown.strip():
            return [Code(text=target), *extra, *cites]
        return [*children, Text(text=" ("), Code(text=target), Text(text=")"), *extra]

    def _bare_url(self, url: str) -> Inline:
        target = clean_url(url)
        if target in self._reading.allowed:
            return Link(url=target, children=(Text(text=target),))
        return Code(text=target)

    def _text(self, text: str) -> list[Inline]:
        """Return words, citations and whatever URL is left among them."""
        ids = self._reading.ids
        found: list[Inline] = []
        at = 0
        for match in (_PLACEHOLDER if ids is None else _CITED).finditer(text):
            found += self._words(text[at : match.start()])
            number = int(match[1]) if match[1] or ids is None else ids.get(int(match[2]))
            if number is not None:
                self._reading.seen.add(number)
                found.append(self._reading.cites[number])
            at = match.end()
        found += self._words(text[at:])
        return found

    def _words(self, text: str) -> Iterator[Inline]:
        at = 0
        for match in _URL.finditer(text):
            url = match.group() if match.group() in self._reading.allowed else _trimmed(match.group())
            if len(url) <= len("www.") or url.endswith("://"):
                continue
            if text[at : match.start()]:
                yield Text(text=text[at : match.start()])
            yield self._bare_url(url)
            at = match.start() + len(url)
        if text[at:]:
            yield Text(text=text[at:])


def _flat(children: Sequence[Inline]) -> Iterator[Inline]:
    for child in children:
        if isinstance(child, Styled | Link):
            yield from _flat(child.children)
        else:
            yield child


def _without_links(children: Sequence[Inline]) -> Iterator[Inline]:
    for child in children:
        if isinstance(child, Link):
            yield from _without_links(child.children)
        else:
            yield child


def _tidy(children: Iterable[Inline]) -> Iterator[Inline]:
    """Yield the inlines with texts merged and citations side by side once, without the spaces between them."""
    run: set[int] = set()
    text = ""
    for child in children:
        if isinstance(child, Text):
            text += child.text
            continue
        if isinstance(child, Cite) and run and not text.strip():
            text = ""
        elif text:
            yield Text(text=text)
            text, run = "", set()
        if not isinstance(child, Cite):
            run = set()
            yield child
        elif child.number not in run:
            run.add(child.number)
            yield child
    if text:
        yield Text(text=text)
