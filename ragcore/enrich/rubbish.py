"""What can't be used of what a model wrote, and of what kind it is, in words for whoever runs it. Pure."""

import re

from ragcore.rules_back import without_rules

NOTHING = "it wrote nothing"
PROMPT_BACK = "it gave the prompt back"
DECLINED = "it declined"
CUT = "it was cut at max_tokens"

_LONGEST_REFUSAL = 400
"""Characters. What goes on for longer than this says something, however it begins."""
_REFUSAL = re.compile(
    r"\s*(?:(?:i['’]?m|i am) (?:very |so |really )?(?:sorry|unable|not able)|sorry|i apologi[sz]e|unfortunately,? i"
    r"|as an ai|i (?:can['’]?t|cannot|can not|won['’]?t))\b"
    r"|\s*(?:es tut mir leid|tut mir leid|leider kann ich|je suis désolée?|désolée?|lo siento|mi dispiace)\b"
    r"|\s*(?:很?抱歉|对不起|對不起|我无法|我無法|我不能|申し訳)",
    re.IGNORECASE,
)


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
