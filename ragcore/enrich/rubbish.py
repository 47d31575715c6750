"""What can't be used of what a model wrote, and of what kind it is, in words for whoever runs it. Pure."""

import re
from collections.abc import Iterator

NOTHING = "it wrote nothing"
PROMPT_BACK = "it gave the prompt back"
DECLINED = "it declined"
CUT = "it was cut at max_tokens"

_TELLING = 40
"""Characters of a line of the rules from which on a reply that has it too gives the rules back."""
_TELLING_BEGINNING = 20
"""Characters of such a line from which on a reply that ends with its beginning was cut while it gave the rules back."""
_LONGEST_REFUSAL = 400
"""Characters. What goes on for longer than this says something, however it begins."""
_REFUSAL = re.compile(
    r"\s*(?:(?:i['’]?m|i am) (?:very |so |really )?(?:sorry|unable|not able)|sorry|i apologi[sz]e|unfortunately,? i"
    r"|as an ai|i (?:can['’]?t|cannot|can not|won['’]?t))\b"
    r"|\s*(?:es tut mir leid|tut mir leid|leider kann ich|je suis désolée?|désolée?|lo siento|mi dispiace)\b"
    r"|\s*(?:很?抱歉|对不起|對不起|我无法|我無法|我不能|申し訳)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.?!。？！])\s+")


def without_rules(reply: str, rules: str) -> str:
    """Return a reply without the lines and sentences of the rules that it gives back: they are about no document.

    Where it gives back any, its shorter lines that stand in the rules, such as an example, are left out, too.
    """
    left = reply
    for line in _telling(rules):
        left = left.replace(line, "\n")
    before, last = left[: left.rfind("\n") + 1], left[left.rfind("\n") + 1 :].strip()
    if len(last) >= _TELLING_BEGINNING and any(line.startswith(last) for line in _telling(rules)):
        left = before
    if left == reply:
        return reply
    given = {line.strip() for line in rules.splitlines()} - {""}
    return "\n".join(line for line in left.splitlines() if line.strip() not in given)


def _telling(rules: str) -> Iterator[str]:
    """Yield the lines of the rules, then their sentences, that are long enough to stand nowhere else by chance."""
    lines = [line.strip().removeprefix("- ") for line in rules.splitlines()]
    for part in (*lines, *(sentence for line in lines for sentence in _SENTENCE_END.split(line))):
        if len(part) >= _TELLING:
            yield part


def kind_of(reply: str, rules: str, told: str, *, was_cut: bool = False) -> str:
    """Return what a reply is that can't be used.

    Args:
        reply: What the model wrote.
        rules: What it was asked with.
        told: What its reader says of it, where nothing plainer can be said.
        was_cut: Whether it ends at the limit of its length.
    """
    text = reply.strip()
    if not text:
        return NOTHING
    if without_rules(reply, rules) != reply:
        return PROMPT_BACK
    if len(text) <= _LONGEST_REFUSAL and _REFUSAL.match(text):
        return DECLINED
    if was_cut:
        return CUT
    return told
