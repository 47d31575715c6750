"""Whether "its" or "their" belongs to a noun of the same sentence: "Which company moved its office in 2020?". Pure.

Told by the order of English words alone, so only where hardly anything else can be meant: the noun is one that is asked
for ("which company"), or one of any ("does every company"), and a verb stands between it and the possessive, as far as
that can be told. All others lean on what was said before: "Which label released their first album?".
"""

from collections.abc import Sequence

from ragcore.terms import is_stop_word

_ASKED_FOR = frozenset({"which", "what", "whose", "many", "much"})
_EACH = frozenset({"each", "every"})
_ANY = frozenset({"a", "an", "any", "some", "no", "most", "all"})
_BEFORE_A_SUBJECT = frozenset(
    (
        *("do", "does", "did", "can", "could", "may", "might", "must", "should", "will", "would", "has", "have", "had"),
        *("if", "when", "while", "once", "unless", "because", "after", "before", "until", "whether"),
    )
)
_BE = frozenset({"is", "are", "was", "were", "be", "been", "being", "became", "become"})
_TURNED = frozenset({"do", "does", "did", "can", "could", "may", "might", "must", "should", "will", "would"})
"""Behind a noun that is asked for these tell that somebody else does something: "which song did critics call their"."""
_WITHIN = frozenset({"of", "in", "on", "from", "at", "for", "about", "during", "before", "after", "since"})
"""Before the possessive these may belong to the noun itself: "which song on their album"."""
_VERBS = frozenset({"has", "have", "had"})


def is_explained(before: Sequence[str], possessive: str) -> bool:
    """Tell whether a possessive belongs to a noun before it.

    Args:
        before: The words of its sentence that stand before it, in lower case.
        possessive: "its" or "their", in lower case; of any other word it isn't told.
    """
    if possessive not in {"its", "their"} or not before or before[-1] in _BE:
        return False
    return any(_binds(before, at, possessive) for at, word in enumerate(before) if _is_subject(before, at, word))


def _is_subject(before: Sequence[str], at: int, word: str) -> bool:
    """Tell whether a noun behind this word is asked for, or any of its kind, and does something."""
    if word in _ASKED_FOR:
        turned = before[at + 2 : at + 4]
        return not _TURNED.intersection(turned)
    return word in _EACH or (word in _ANY and at > 0 and before[at - 1] in _BEFORE_A_SUBJECT)


def _binds(before: Sequence[str], at: int, possessive: str) -> bool:
    noun, between = before[at + 1 : at + 2], before[at + 2 :]
    if not noun or is_stop_word(noun[0]):
        return False
    if possessive == "their" and before[at] in _ASKED_FOR and not noun[0].endswith("s"):
        return False
    telling = [word for word in between if not is_stop_word(word) or word in _VERBS]
    return len(telling) > (1 if before[-1] in _WITHIN else 0)
