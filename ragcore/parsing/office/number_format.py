"""Numbers of a spreadsheet as a person sees them, after the cell's number format (ECMA-376 part 1, 18.8.30-31)."""

import functools
import re
from dataclasses import dataclass
from datetime import datetime, timedelta

BUILTIN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00",
    12: "# ?/?", 13: "# ??/??", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0;(#,##0)",
    38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)", 44: "$#,##0.00", 45: "mm:ss",
    46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
}  # fmt: skip
"""Formats that a file only names by number. 14 and 22 follow the reader's locale; written here as ISO dates."""

_DAYS_1900 = datetime(1899, 12, 30)
_DAYS_1904 = datetime(1904, 1, 1)
_LAST_DAY = 2_958_465
_TOKEN = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|_.|\*.|AM/PM|A/P|[yY]+|[mM]+|[dD]+|[hH]+|[sS]+(?:\.0+)?|General|.', re.S)
_PLACES = re.compile(r"[#0?.,]+")
_CURRENCY = re.compile(r"^\[\$([^\]-]*)")
_ELAPSED = re.compile(r"^\[(h+|m+|s+)\]$", re.IGNORECASE)
_CONDITION = re.compile(r"^\[(?:[<>=]|Black|Blue|Cyan|Green|Magenta|Red|White|Yellow|Color|DBNum|\$-)", re.IGNORECASE)


def show_number(value: float, code: str, *, from_1904: bool = False) -> str:
    """Return a stored number as the cell shows it.

    Args:
        value: The stored number; dates are days since the epoch.
        code: The format code, ``General`` when there is none.
        from_1904: Whether the workbook counts its days from 1904.
    """
    sections = _sections(code)
    section, value = _choose(sections, value)
    tokens = _tokens(section)
    if _is_date(tokens):
        return _show_date(value, tokens, from_1904)
    if not any(_PLACES.fullmatch(token) for token in tokens):
        return "".join(_literal(token) for token in tokens).strip() if "General" not in tokens else _general(value)
    return _show_places(value, tokens)


def _choose(sections: tuple[str, ...], value: float) -> tuple[str, float]:
    """Return the section for the sign; a section of its own for negatives shows the sign itself."""
    if value < 0 and len(sections) > 1:
        return sections[1], -value
    if value == 0 and len(sections) > 2:
        return sections[2], value
    return sections[0], value


@functools.lru_cache(maxsize=512)
def _sections(code: str) -> tuple[str, ...]:
    parts = [""]
    for token in _TOKEN.findall(code or "General"):
        if token == ";":
            parts.append("")
        else:
            parts[-1] += token
    return tuple(part or '""' for part in parts) if len(parts) > 1 else (parts[0] or "General",)


@functools.lru_cache(maxsize=512)
def _tokens(section: str) -> tuple[str, ...]:
    tokens: list[str] = []
    for token in _TOKEN.findall(section):
        if tokens and _PLACES.fullmatch(token) and _PLACES.fullmatch(tokens[-1]):
            tokens[-1] += token
        else:
            tokens.append(token)
    return tuple(tokens)


def _is_date(tokens: tuple[str, ...]) -> bool:
    return any(token[0] in "yYmMdDhHsS" or _ELAPSED.match(token) for token in tokens) and "General" not in tokens


def _literal(token: str) -> str:
    """Return what a token that is no digit place shows."""
    if token.startswith('"'):
        return token.strip('"')
    if token.startswith("\\"):
        return token[1:]
    if token[0] in "_*" and len(token) == 2:
        return ""
    currency = _CURRENCY.match(token)
    if currency:
        return currency.group(1)
    return "" if token.startswith("[") or token == "@" else token


def _general(value: float) -> str:
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.10g}"


def _show_places(value: float, tokens: tuple[str, ...]) -> str:
    at = next(number for number, token in enumerate(tokens) if _PLACES.fullmatch(token))
    places = tokens[at]
    after = "".join(tokens[at + 1 :])
    if "/" in after and "?" in after + places:
        return _general(value)
    scaled = abs(value) * 100 ** "".join(token for token in tokens if not token.startswith('"')).count("%")
    trailing = len(places) - len(places.rstrip(","))
    scaled /= 1000**trailing
    places = places.rstrip(",")
    whole, _, decimals = places.partition(".")
    if after[:2] in ("E+", "E-", "e+", "e-"):
        text = f"{scaled:.{len(decimals)}E}"
        return ("-" if value < 0 else "") + text
    text = f"{scaled:,.{len(decimals)}f}" if "," in whole else f"{scaled:.{len(decimals)}f}"
    text = _optional_decimals(text, decimals)
    if whole.count("0") > len(text.partition(".")[0]):
        text = text.zfill(whole.count("0") + len(text) - len(text.partition(".")[0]))
    shown = "".join(
        text if number == at else _literal(token) for number, token in enumerate(tokens) if _shown(token, number, at)
    )
    return (("-" if value < 0 and scaled else "") + shown).strip()


def _shown(token: str, number: int, at: int) -> bool:
    return number == at or not _PLACES.fullmatch(token)


def _optional_decimals(text: str, decimals: str) -> str:
    """Drop final zeros where the format has ``#``."""
    spare = len(decimals) - len(decimals.rstrip("#?"))
    while spare and text.endswith("0") and "." in text:
        text, spare = text[:-1], spare - 1
    return text.rstrip(".")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moment:
    when: datetime
    days: float
    half_days: bool


def _show_date(value: float, tokens: tuple[str, ...], from_1904: bool) -> str:
    if not 0 <= value < _LAST_DAY:
        return _general(value)
    epoch = _DAYS_1904 if from_1904 else _DAYS_1900
    when = epoch + timedelta(seconds=round(value * 86_400))
    moment = _Moment(when=when, days=value, half_days=any(token in ("AM/PM", "A/P") for token in tokens))
    shown: list[str] = []
    for number, token in enumerate(tokens):
        shown.append(_date_part(moment, token, tokens, number))
    return "".join(shown).strip()


def _date_part(moment: _Moment, token: str, tokens: tuple[str, ...], number: int) -> str:
    elapsed = _ELAPSED.match(token)
    if elapsed:
        unit = {"h": 24, "m": 1_440, "s": 86_400}[elapsed.group(1)[0].lower()]
        return str(int(round(moment.days * 86_400) * unit // 86_400))
    if token in ("AM/PM", "A/P"):
        return moment.when.strftime("%p")[: 2 if len(token) > 3 else 1]
    kind = token[0].lower()
    if kind not in "ymdhs" or token.lower().strip(f"{kind}.0"):
        return _literal(token)
    if kind == "m" and _means_minutes(tokens, number):
        kind = "minute"
    return _clock_part(moment, kind, len(token.partition(".")[0]))


def _clock_part(moment: _Moment, kind: str, size: int) -> str:
    """Return a part of a date or time; the count of letters tells how it is written."""
    when = moment.when
    hour = (when.hour % 12 or 12) if moment.half_days else when.hour
    if kind == "y":
        return f"{when.year:04d}" if size > 2 else f"{when.year % 100:02d}"
    if kind == "m":
        return _month(when, size)
    if kind == "d":
        return (f"{when.day}", f"{when.day:02d}", when.strftime("%a"), when.strftime("%A"))[min(size, 4) - 1]
    value = {"h": hour, "minute": when.minute, "s": when.second}[kind]
    return f"{value:02d}" if size > 1 else str(value)


def _month(when: datetime, size: int) -> str:
    name = when.strftime("%B")
    return (f"{when.month}", f"{when.month:02d}", when.strftime("%b"), name, name[0])[min(size, 5) - 1]


def _means_minutes(tokens: tuple[str, ...], number: int) -> bool:
    """Tell minutes from months: ``m`` after hours or before seconds."""

    def is_clock(token: str) -> bool:
        return token[0] in "hHsS" or bool(_ELAPSED.match(token))

    before = next((token for token in reversed(tokens[:number]) if token[0] in "yYmMdDhHsS["), "")
    after = next((token for token in tokens[number + 1 :] if token[0] in "yYmMdDhHsS["), "")
    return (bool(before) and before[0] in "hH[" and is_clock(before)) or (bool(after) and after[0] in "sS")
