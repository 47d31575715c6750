"""Names of a whole family of things, which hold each of its members: the *TW series* is the TW-200, too. Pure."""

import re

from ragcore.terms import is_stop_word

_MEMBER = re.compile(r"(?P<family>[a-z]{1,8})[-‐‑ ]?\d[\w.-]*")
_FAMILY = "series|range|family|line|models|serie|reihe|baureihe|gamme|série|familie|famille|familia"
_START, _END = "(?<![A-Za-z0-9])", "(?![A-Za-z0-9])"
"""The borders of a name, also right beside Chinese, which is written without blanks."""


def names_family(member: str, text: str) -> bool:
    """Whether a text names the family of a member: "TW series" or "TW系列" of ``tw-200``, "E-4xx" of ``e-417``.

    ``member`` is a code in lower case that begins with letters; of any other there is no family.
    """
    found = _MEMBER.fullmatch(member)
    if found is None:
        return False
    name = found["family"]
    written = rf"(?-i:{name.upper()})"
    # "A range of meters" and "in line" speak of no family A or IN: what is a word besides must be written as a name.
    before, of = (written, "(?! of\\b)") if is_stop_word(name) else (name, "")
    if re.search(
        rf"{_START}{before}[-‐‑ ]?(?:(?:{_FAMILY})\b{of}|系列)|\b(?:{_FAMILY}) {written}\b", text, re.IGNORECASE
    ):
        return True
    patterns = re.findall(rf"{_START}{before}(?:[-‐‑ ]\d*|\d+)x+{_END}", text, re.IGNORECASE)
    return any(_stands_for(pattern, member) for pattern in patterns)


def _stands_for(pattern: str, member: str) -> bool:
    """Whether a name with an x for each digit that is left open is that of a member."""
    asked, written = (re.sub(r"[-‐‑ ]", "", one.lower()) for one in (member, pattern))
    digits = written.rstrip("x")
    return len(asked) == len(written) and asked.startswith(digits) and asked[len(digits) :].isdigit()
