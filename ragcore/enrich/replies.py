"""What models write where a list was asked for, made into one. Pure.

Models number and mark what they list, put it between quotes, into a fence or into JSON, and say a sentence before it.
Whatever is left of that is judged by the text that the list is about: what shares no word with it isn't about it.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from ragcore.errors import ModelBadOutput
from ragcore.json_replies import MOST_READ, value_of
from ragcore.terms import Kind, is_stop_word, terms

LONGEST_KEYWORD = 80
LONGEST_QUESTION = 300
"""Characters. What is longer is no keyword and no question, but an explanation or the passage itself."""

_FENCE = re.compile(r"^\s*```\w*\s*$", re.MULTILINE)
_BULLET = re.compile(r"^\s*(?:[-*•·–—]+\s+|\(?\d{1,3}(?:[.):]\s+|[、．）])|[Qq]\d{0,2}[.:)]\s+)")
_LABEL = re.compile(r"^[^:：]{1,60}[:：]\s*")
_COMMAS = re.compile(r"[,，、;；\n]+")
_QUOTES = "\"'`“”‘’«»「」『』*_ \t"
_ENDS = f".。{_QUOTES}"
_QUESTION_MARKS = ("?", "？", "؟", "՞", "⸮")


def keywords_of(reply: str, passage: str, count: int) -> tuple[str, ...]:
    """Return the keywords of a reply, at most ``count``, that are about the passage.

    Raises:
        ModelBadOutput: There is none in it.
    """
    items = (item.rstrip(_ENDS) for item in _items(_unlabelled(reply, passage), _COMMAS.split))
    return _about(passage, (item for item in items if 0 < len(item) <= LONGEST_KEYWORD), count, reply)


def questions_of(reply: str, passage: str, count: int) -> tuple[str, ...]:
    """Return the questions of a reply, at most ``count``, that are about the passage.

    Raises:
        ModelBadOutput: There is none in it.
    """
    items = _items(reply, str.splitlines)
    asked = (item for item in items if item.endswith(_QUESTION_MARKS) and 4 < len(item) <= LONGEST_QUESTION)
    return _about(passage, asked, count, reply)


def _unlabelled(reply: str, passage: str) -> str:
    """Return the reply without the words before a colon at its beginning, unless they are about the passage."""
    label = _LABEL.match(reply)
    return reply if label is None or _words(label[0]) & _words(passage) else reply[label.end() :]


def shares_words(item: str, passage: str) -> bool:
    """Return whether what was said of a passage has a word of it, and so is about it."""
    return bool(_words(item) & _words(passage))


def _items(reply: str, split: Callable[[str], list[str]]) -> Iterator[str]:
    """Yield what a reply lists, without what it is numbered, marked and quoted by."""
    text = _FENCE.sub("", reply[:MOST_READ]).strip()
    listed = _of_json(text)
    if not listed and text.startswith("{"):
        raise ModelBadOutput("it is no list", raw=reply)
    for line in listed or split(text):
        yield _BULLET.sub("", line).strip(_QUOTES)


def _of_json(text: str) -> list[str]:
    """Return the strings of a JSON list, or of the first list in an object; none where the text is no JSON."""
    if not text.startswith(("[", "{")):
        return []
    try:
        value = value_of(text)
    except ModelBadOutput:
        return []
    if isinstance(value, dict):
        value = next((held for held in value.values() if isinstance(held, list)), [])
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _about(passage: str, items: Iterable[str], count: int, reply: str) -> tuple[str, ...]:
    """Return the first so many different items that share a word with the passage."""
    said = _words(passage)
    kept: dict[str, str] = {}
    for item in items:
        if len(kept) == count:
            break
        if _words(item) & said:
            kept.setdefault(item.casefold(), item)
    if not kept:
        raise ModelBadOutput("nothing in it is about the passage", raw=reply)
    return tuple(kept.values())


def _words(text: str) -> frozenset[str]:
    """Return the terms of a text that say what it is about; a character of an unspaced script alone says little."""
    found = [term for term in terms(text) if not is_stop_word(term)]
    whole = frozenset(term.text for term in found if term.kind is not Kind.CHARACTER)
    return whole or frozenset(term.text for term in found)
