"""Numbers of headings as they are written: Arabic, full-width, Roman, Chinese, spelled out, letters."""

import re
import unicodedata

CHINESE = r"[〇零○一二三四五六七八九十百千两兩\d]{1,9}"
ROMAN = r"[IVXLC]{1,8}"

_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "○": 0, "两": 2, "兩": 2}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_LETTERS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
WORDS = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth",
    "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth",
)  # fmt: skip
_ROMAN = re.compile(ROMAN)
_LEADING = re.compile(r"\d{1,9}")


def value_of(numeral: str) -> int:
    """Return the (leading) number of a numeral, 0 when it has none: ``"5a"`` is 5, ``"十二"`` 12, ``"B"`` 2.

    A capital that is a Roman numeral is read as one: ``"C"`` is 100.
    """
    numeral = unicodedata.normalize("NFKC", numeral).strip()
    lowered = numeral.lower()
    if lowered in WORDS:
        return WORDS.index(lowered) + 1
    if lowered in ORDINALS:
        return ORDINALS.index(lowered) + 1
    if found := _LEADING.match(numeral):
        return int(found[0])
    if _ROMAN.fullmatch(numeral):
        return _roman(numeral)
    if len(numeral) == 1 and "A" <= numeral <= "Z":
        return ord(numeral) - ord("A") + 1
    return _chinese(numeral)


def _roman(numeral: str) -> int:
    values = [_LETTERS[letter] for letter in numeral]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))


def _chinese(numeral: str) -> int:
    if not any(char in _UNITS for char in numeral):
        digits = [_DIGITS[char] for char in numeral if char in _DIGITS]
        return int("".join(map(str, digits))) if digits else 0
    total = digit = 0
    for char in numeral:
        if char in _UNITS:
            total += (digit or 1) * _UNITS[char]
            digit = 0
        else:
            digit = _DIGITS.get(char, 0)
    return total + digit
