"""Words that a chat client would make something of by itself (a mention, a tag, a command, an address), made quiet.

What reads as one word of its own becomes code where code may stand, so that it can still be copied; everything else
gets a word joiner. It is no letter to any client: Telegram's server stops a name, a tag or a host at it (neither letter
nor digit, and of general punctuation its hosts take zero-width joiners and dashes alone), Slack's and Discord's too.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from bots.rendering.markup import JOINER
from bots.rendering.plain import plain_inlines
from bots.rendering.tree import Break, Cite, Code, Inline, Link, Styled, Text

# What to show as code: an e-mail address, a host with what follows it, an IP address, a name, a path or command, a tag.
_LABEL = r"[A-Za-z0-9_-]+"
_END = r"(?![A-Za-z0-9_-])(?::\d{1,5})?(?:[/?#][^\s<>\"'`|，。；：！？、）】\u2060]*)?"
_HOST = rf"(?:{_LABEL}\.)+[a-z][a-z0-9-]*[a-z0-9]{_END}"
_TOKEN = re.compile(
    rf"(?<![\w.@#/$:<-])(?:[A-Za-z0-9_.+-]{{1,128}}+@{_HOST}|{_HOST}|\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?!\.\d){_END}"
    r"|<[@!#:/][^<>\s]{1,60}>|@[A-Za-z0-9_]+(?![\w.])|/[A-Za-z0-9_][A-Za-z0-9_./@-]*|#(?!\d+\b)\w+)"
)
_NOT_AT_THE_END = ".,;:!?'*_~)-"
# Where a joiner goes: behind what would start something, whatever stands around it.
_BREAKS = re.compile(
    r"(?<=@)(?=\w)"
    r"|(?<=#)(?=[^\W\d]|[\u200c\u00b7])|(?<=#)(?=\d+[^\W\d])"
    r"|(?<=\$)(?=[A-Z1])"
    r"|(?<=/)(?<![\w/]/)(?=\w)|(?<=:)(?=//)"
    r"|(?<=[^\s.]\.)(?=[^\W\d_]{2}|xn--)|(?<=\d\.)(?=\d{1,3}\.\d{1,3}\.\d)"
    r"|(?<=<)(?=[!@#:/&A-Za-z+])"
    r"|(?<=:)(?=[a-z0-9_+'-]*[a-z][a-z0-9_+'-]*:)|(?<=:)(?=(?:[+-]1|100|1234):)"
)
_MAY_BREAK = frozenset("@#$/.<:")


def quiet(children: Sequence[Inline]) -> tuple[Inline, ...]:
    """Return the inlines with everything quiet: tokens in plain text as code, a word joiner in all else.

    A link whose label is its own address stays as it is: it leads where it says.
    """
    coded = [piece for child in children for piece in _coded(child)]
    return _joined(coded)


def quiet_text(text: str) -> str:
    """Return words, shown where there is no code, quiet."""
    return _BREAKS.sub(JOINER, text) if not _MAY_BREAK.isdisjoint(text) else text


def _coded(child: Inline) -> list[Inline]:
    if not isinstance(child, Text) or _MAY_BREAK.isdisjoint(child.text):
        return [child]
    found: list[Inline] = []
    done = 0
    for match in _TOKEN.finditer(child.text):
        token = match.group().rstrip(_NOT_AT_THE_END)
        if len(token) < 2 or ("." in token and not _reads_as_address(token)):
            continue
        found += [Text(text=child.text[done : match.start()]), Code(text=token)]
        done = match.start() + len(token)
    found.append(Text(text=child.text[done:]))
    return [piece for piece in found if not isinstance(piece, Text) or piece.text]


def _reads_as_address(token: str) -> bool:
    """Return whether a word with a stop in it is one name, and not two sentences or an abbreviation."""
    head, _, tail = token.partition(".")
    return len(head) > 1 or len(tail) > 3 or not tail.isalpha()


def _joined(children: Sequence[Inline]) -> tuple[Inline, ...]:
    """Return the inlines with joiners, found in the words as they run on across styles."""
    words = "".join(_shown(child) for child in children)
    places = [] if _MAY_BREAK.isdisjoint(words) else [match.start() for match in _BREAKS.finditer(words)]
    if not places:
        return tuple(children)
    joined, _ = _with_joiners(children, 0, frozenset(places))
    return joined


def _with_joiners(children: Sequence[Inline], at: int, places: frozenset[int]) -> tuple[tuple[Inline, ...], int]:
    found: list[Inline] = []
    for child in children:
        match child:
            case Text():
                pieces = [
                    (JOINER if at + offset in places else "") + character for offset, character in enumerate(child.text)
                ]
                found.append(Text(text="".join(pieces)))
                at += len(child.text)
            case Styled():
                inside, at = _with_joiners(child.children, at, places)
                found.append(replace(child, children=inside))
            case Link() if plain_inlines(child.children) != child.url:
                inside, at = _with_joiners(child.children, at, places)
                found.append(replace(child, children=inside))
            case _:
                shown = len(_shown(child))
                # Between a word and the code behind it.
                if isinstance(child, Code) and at in places:
                    found.append(Text(text=JOINER))
                found.append(child)
                at += shown
    return tuple(found), at


def _shown(child: Inline) -> str:
    match child:
        case Text() | Code():
            return child.text
        case Styled() | Link():
            return "".join(map(_shown, child.children))
        case Cite():
            return f"[{child.number}]"
        case Break():
            return "\n"
