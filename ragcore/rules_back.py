"""What a model gives back of the rules that it was asked with, in place of words of its own. Pure."""

import re
from collections.abc import Iterator, Sequence

MANY = 200
"""Characters of the rules from which on a reply that has them, too, shows the rules and is nothing else."""
_TELLING = 40
"""Characters of a line of the rules from which on a reply that has it too gives the rules back."""
_TELLING_BEGINNING = 20
"""Characters of such a line from which on a reply that ends with its beginning was cut while it gave the rules back."""
_SENTENCE_END = re.compile(r"(?<=[.?!。？！])\s+")


def without_rules(reply: str, rules: str, beside: Sequence[str] = ()) -> str:
    """Return a reply without the lines and sentences of the rules that it gives back: they are about no document.

    Where it gives back any, its shorter lines that stand in the rules, such as an example, are left out, too.

    Args:
        reply: What the model wrote.
        rules: What it was asked with.
        beside: What else it was given, such as passages: what stands in there, too, may be given back.
    """
    telling = [part for part in _telling(rules) if not any(part in one for one in beside)]
    left = reply
    for line in telling:
        left = left.replace(line, "\n")
    before, last = left[: left.rfind("\n") + 1], left[left.rfind("\n") + 1 :].strip().removeprefix("- ")
    if len(last) >= _TELLING_BEGINNING and any(line.startswith(last) for line in telling):
        left = before
    if left == reply:
        return reply
    given = {line.strip() for line in rules.splitlines()} - {""}
    return "\n".join(line for line in left.splitlines() if line.strip() not in given)


def shows_rules(reply: str, rules: str, beside: Sequence[str] = (), *, ours: bool = True) -> bool:
    """Tell whether a reply is nothing but the rules, or has a long part of them.

    Args:
        reply: What the model wrote, as far as it came.
        rules: What it was asked with.
        beside: What else it was given; see ``without_rules``.
        ours: The rules are all to itself. Those of somebody else may hold sentences that every answer is to have: they
            are shown only by a reply that has their beginning.
    """
    if not ours and rules[:_TELLING] not in reply:
        return False
    left = without_rules(reply, rules, beside)
    return left != reply and (not left.strip() or len(reply) - len(left) >= MANY)


def _telling(rules: str) -> Iterator[str]:
    """Yield the lines of the rules, then their sentences, that are long enough to stand nowhere else by chance."""
    lines = [line.strip().removeprefix("- ") for line in rules.splitlines()]
    for part in (*lines, *(sentence for line in lines for sentence in _SENTENCE_END.split(line))):
        if len(part) >= _TELLING:
            yield part
