"""Whether a sentence says that something is so or is not so, as far as it plainly says one of the two. Pure.

"not open" and "closed" are the same, "need not" is not the contrary of "may", and behind "unless" all is open.
"""

import re
from dataclasses import dataclass

_OPPOSITES = {
    "closed": "open", "forbidden": "allowed", "prohibited": "allowed", "banned": "allowed", "permitted": "+allowed",
    "impossible": "possible", "excluded": "included", "unavailable": "available", "invalid": "valid",
    "unpaid": "paid", "disabled": "enabled", "refused": "accepted", "rejected": "accepted", "optional": "required",
    "mandatory": "+required", "compulsory": "+required", "obligatory": "+required", "opened": "+open",
    "geschlossen": "geöffnet", "verboten": "erlaubt", "untersagt": "erlaubt", "gestattet": "+erlaubt",
    "unmöglich": "möglich", "ungültig": "gültig", "unbezahlt": "bezahlt",
}  # fmt: skip
"""What is denied by another word, each with what it denies; with "+" it says the same."""
_OPPOSITE = re.compile(rf"\b(?:{'|'.join(_OPPOSITES)})\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_ANSWERS = re.compile(r"\A[\s*_]*(?:no|yes|nope|nein|ja)\b[*_]*\s?[,.;:!–—-]\s?", re.IGNORECASE)
_DENIAL = re.compile(
    r"(?P<modal>\bmay )?\b(?:not|no|never|cannot|nicht|niemals|nie|keine?[mnrs]?)\b"
    r"|\b(?:ca|wo|sha)n['’]t\b|n['’]t\b",
    re.IGNORECASE,
)
_QUALIFIED = re.compile(
    r"\b(?:not|no|never|cannot|nicht|keine?[mnrs]?|n['’]t)\s+(?:\w+\s)?"
    r"(?:more|less|fewer|later|earlier|longer|sooner|only|just|merely|necessarily|always|all|every|each|both|any|much"
    r"|until|at least|exceed\w*|over|above|below|beyond|yet|have to"
    r"|need|mehr|nur|weniger|später|länger|immer|alle[nrs]?|jede[nmrs]?)\b|\bno\."
    r"|\b(?:might|could|would|should|need|muss|müssen|needs) ?(?:not|n['’]t|nicht)|n['’]t (?:have|need)\b"
    r"|\b(?:without|unless|except\w*|if|when|whenever|where|while|only|until|before|after|although|though|but|however"
    r"|otherwise|rather|instead|neither|nor|none|nothing|nobody|hardly|barely|rarely|besides|apart"
    r"|ohne|außer|wenn|falls|sofern|soweit|aber|jedoch|sondern|nur|bevor|nachdem|während|weder|kaum)\b",
    re.IGNORECASE,
)
"""What leaves open whether the rest is denied, and when."""
_HAN_DENIAL = re.compile("不(?:可以|能够|允许|[能可得予会准])?|没有|未(?!来)")
_HAN_MODAL = re.compile("可以|能够|予以|允许")
_HAN_QUALIFIED = re.compile(
    "除|如果|若|但|只|仅|否则|才|无需|未必"
    "|不(?:必|需|用|一定|再|超过|少于|低于|高于|晚于|早于|多于|大于|小于|足|满|仅|只|同|过|断|管|论|久|少|错)"
)
"""Of Chinese: what denies, what allows and is left out where two are compared, and what leaves open what is denied."""
_ALLOWS = re.compile(r"\b(?:may|can|cannot|allowed|permitted|free to)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stance:
    """What a sentence says, ``said`` without its denials and with opposites by one word, and whether it ``denies`` it.

    ``clear`` is false where a condition, an exception, a question or a second denial leaves that open; ``conditional``
    tells the first three. ``may``: it says "may not", which denies only what another sentence ``allows``.
    """

    said: str
    denies: bool
    clear: bool
    conditional: bool
    asks: bool
    may: bool
    allows: bool


def stance(sentence: str) -> Stance:
    """Return the stance of a sentence; a "No," that answers a question before it denies nothing itself."""
    text = without_answer(sentence)
    denials = [*_DENIAL.finditer(text), *_HAN_DENIAL.finditer(text)]
    opposites = list(_OPPOSITE.finditer(text))
    against = sum(not _OPPOSITES[one[0].lower()].startswith("+") for one in opposites)
    said = _OPPOSITE.sub(lambda one: _OPPOSITES[one[0].lower()].lstrip("+"), _DENIAL.sub(" ", text))
    said = _HAN_MODAL.sub("", _HAN_DENIAL.sub("", said))
    asks = text.rstrip().endswith(("?", "？"))
    conditional = asks or any(pattern.search(text) for pattern in (_QUALIFIED, _HAN_QUALIFIED))
    return Stance(
        said=said,
        denies=(len(denials) + against) % 2 == 1,
        clear=len(denials) <= 1 and len(opposites) <= 1 and not conditional,
        conditional=conditional,
        asks=asks,
        may=any(one["modal"] for one in denials if one.re is _DENIAL),
        allows=_ALLOWS.search(text) is not None,
    )


def says_opposite(sentence: str, other: str) -> bool:
    """Whether one of the two says by another word what the other denies or says: "open" and "closed"."""
    one, two = ({found.lower() for found in _WORD.findall(text)} for text in (sentence, other))
    return any(
        (word in one and base.lstrip("+") in two) or (word in two and base.lstrip("+") in one)
        for word, base in _OPPOSITES.items()
        if not base.startswith("+")
    )


def without_answer(sentence: str) -> str:
    """Return a sentence without the "No," or "Yes," with which it answers a question."""
    return _ANSWERS.sub("", sentence)
