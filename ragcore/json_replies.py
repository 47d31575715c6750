"""What a model writes where JSON was asked for: found between what else it writes, and repaired. Pure."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import json_repair

from ragcore.errors import ModelBadOutput

MOST_READ = 20_000
"""Characters of a reply that are read: a model that can't stop writes the same for ever."""
MOST_MENDED = 1_500
"""Of a reply that somebody waits for, the characters of what is mended where it is no JSON, ..."""
MOST_OPENED = 32
"""... and the brackets in it that open: a sentence or a few numbers take fewer. Mending takes time by the square of
both and more: what a model wrote that lost its way, such as ``{1}`` for ever, took 12 s where it had 4,000 characters,
and takes 1 to 3 s at worst within these."""
MOST_LOST = 32
"""Of a reply that nobody waits for, the braces without a name in quotes behind them, such as ``{1}``, up to which it is
mended: they are what takes that long (4 minutes for 20,000 characters of them), and JSON of ours has next to none."""
_LOST = re.compile(r"\{(?!\s*[\"'“”}{\[]|\s*\Z)")
_LOOP = re.compile(r"(.{1,80}?)\1{63,}", re.DOTALL)
"""What a model writes again and again: twice says as much, and takes no minute to mend."""
_DECODER = json.JSONDecoder()
_FENCE = re.compile(r"^[ \t]*```\w*[ \t\r]*$", re.MULTILINE)


def value_of(reply: str, *, waited_for: bool = False) -> Any:
    """Return what a reply says as JSON, without the fence and the words around it.

    Args:
        reply: Whatever a model wrote.
        waited_for: Somebody waits: where it is no JSON it is mended only if that can't take long.

    Raises:
        ModelBadOutput: It holds no JSON.
    """
    text = _FENCE.sub("", reply[:MOST_READ])
    starts = [at for at in (text.find("["), text.find("{")) if at >= 0]
    if not starts:
        raise ModelBadOutput("it is no JSON", raw=reply)
    text = text[min(starts) :].strip()
    try:
        return json.loads(text)
    except (RecursionError, ValueError):  # brackets without end; words after it, or half of it
        pass
    if not waited_for or _soon_mended(_LOOP.sub(r"\1\1", text)):
        return mended(text)
    try:  # words after it may be left out all the same
        return _DECODER.raw_decode(text)[0]
    except (RecursionError, ValueError) as error:  # a number of thousands of digits
        raise ModelBadOutput("it is no JSON", raw=reply) from error


def mended(text: str) -> Any:
    """Return what broken JSON says, or half of it; the one place that mends any.

    Raises:
        ModelBadOutput: It holds none, or mending it would take minutes.
    """
    shorter = _LOOP.sub(r"\1\1", text[:MOST_READ])
    if len(_LOST.findall(shorter)) > MOST_LOST:
        raise ModelBadOutput("it is no JSON", raw=text)
    try:
        return json_repair.loads(shorter)
    except (RecursionError, ValueError) as error:  # a number of thousands of digits
        raise ModelBadOutput("it is no JSON", raw=text) from error


def _soon_mended(text: str) -> bool:
    return len(text) <= MOST_MENDED and text.count("{") + text.count("[") <= MOST_OPENED


def list_of(reply: str, what: str, *, waited_for: bool = False) -> list[Any]:
    """Return the list that a reply is, or that it holds in an object; an object without one is its only entry.

    Raises:
        ModelBadOutput: It holds no JSON, or neither; it says that it is no list of ``what``.
    """
    said = value_of(reply, waited_for=waited_for)
    if isinstance(said, Mapping):
        said = next((held for held in said.values() if isinstance(held, list)), [said])
    if not isinstance(said, list):
        raise ModelBadOutput(f"it is no list of {what}", raw=reply)
    return said


def says_none(reply: str, said: Sequence[object]) -> bool:
    """Tell whether what was read as an empty list was meant so: half a list, repaired, is an empty one, too."""
    return not said and "[]" in "".join(reply.split())


def whole_number(said: object) -> int | None:
    """Return a whole number, also one that stands in a text such as "3" or "[3]"; None for anything else."""
    if isinstance(said, str):
        found = re.fullmatch(r"[\s\[]*(-?[0-9]{1,9})[\s\]]*", said)
        return int(found[1]) if found else None
    return said if isinstance(said, int) and not isinstance(said, bool) else None
