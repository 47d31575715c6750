"""Holds back the end of a streamed answer until it is whole: no half marker, link, address or fence line is shown."""

import re

from ragcore.citations.literals import MAX_LINK_TEXT, MAX_URL, TARGET_PATTERN, URL_PATTERN

MAX_HELD = MAX_LINK_TEXT + MAX_URL + 400
"""No more than this is ever held back, in characters; a line that goes on longer is given out as it comes."""

_LISTED = r"[\d\s:：=,，、;；&/+.‐‑–—~～−iIｉＩdDｄＤsSｓＳandto和\\-]{0,80}"
_KEY = "[iIｉＩ][dDｄＤ][sSｓＳ]?"
_KEYED = rf"[^\S\n]{{0,3}}(?:[iIｉＩ](?:[dDｄＤ]{_LISTED})?)?"
_HEAD = r"[ \t>]{0,40}(?:(?:[-*+]|\d{1,9}[.)]?)[ \t]{0,8}){0,4}"
_SCHEMES = ("https://", "http://", "ftp://", "file://", "www.")
_SCHEME_STARTS = "|".join(re.escape(scheme[:length]) for scheme in _SCHEMES for length in range(len(scheme), 0, -1))

_LINE_HEAD = re.compile(rf"{_HEAD}(?:`{{0,2}}|~{{0,2}})\Z")
_FENCE = re.compile(r"[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)*+(?P<fence>`{3,}+(?=[^`\n]*+(?:\n|\Z))|~{3,}+)")
_CLOSING = re.compile(r"[ \t>]*+(?P<fence>`*+|~*+)[ \t\r]*+$")
# Of a run of backticks the first alone: where that one is not open, none of the others is.
_CANDIDATE = re.compile(r"[\[［【〔〖(（!\\]|(?<!`)`|(?<![A-Za-z0-9])<?[hfw]")
_OPEN = re.compile(
    # A marker in brackets (a link's target may follow it) or in parentheses.
    rf"(?:\\?[\[［【〔〖]{{1,2}}(?:{_KEYED}|{_LISTED})\\?[\]］】〕〗]{{0,2}}(?:\([^\s()]{{0,{MAX_URL}}}+)?"
    rf"|[(（]{_KEYED}"
    # A link or an image as far as its target, which ``_is_open_target`` looks at.
    rf"|!?(?:\[[^\[\]\n]{{0,{MAX_LINK_TEXT}}}+\]?)?"
    # An address, a run of backticks.
    rf"|<?(?:{URL_PATTERN}|{_SCHEME_STARTS})"
    r"|\\|`{3,}+[\w+#.-]{0,20}+[ \t]*+|`++)\Z"
)
_TO_TARGET = re.compile(rf"!?\[[^\[\]\n]{{0,{MAX_LINK_TEXT}}}+\]\(")
_MAX_TARGET = MAX_URL + 300
_IN_PARENTHESES = re.compile(r"[^()\n]{0,500}+\)?[^()\n]{0,500}+\Z")
_LATE_FENCE = re.compile(r"[^`]*[^`\s][ \t]*+(?P<fence>`{3,}+)[\w+#.-]{0,20}+[ \t\r]*+$")
_OPEN_LIST = re.compile(rf"[\[［【〔〖][^\S\n]{{0,3}}{_KEY}[^\S\n]{{0,3}}[:：=][^\]］】〕〗]{{0,80}}")
_LIST_GOES_ON = re.compile(r"\n[^\S\n]{0,3}(?:\Z|[\diIｉＩ,，、;；&+-])")
"""A list of ids may go on in the next line, as far as that is here."""
_WHOLE = re.compile(rf"!?\[{{1,2}}[^\[\]\n]{{0,{MAX_LINK_TEXT}}}+\]{{1,2}}{TARGET_PATTERN}")


class HoldBack:
    """Takes the pieces of a text as they come and gives out what can no longer change its meaning.

    All that was given out, joined, is the text. What is held is bounded by ``MAX_HELD``, and in prose by the next
    line end.
    """

    __slots__ = ("_at_line_start", "_fence", "_held", "_late_fence", "_ticked")

    def __init__(self) -> None:
        """Start at the head of a text."""
        self._held = ""
        self._fence = ""
        self._late_fence = ""
        self._at_line_start = True
        self._ticked = False

    def feed(self, text: str) -> str:
        """Take the next piece; return what may be shown now, possibly nothing."""
        buffer = self._held + text
        safe = len(buffer)
        start = 0
        while start < len(buffer):
            line_end = buffer.find("\n", start)
            while line_end >= 0 and not self._fence and self._list_goes_on(buffer, start, line_end):
                line_end = buffer.find("\n", line_end + 1)
            if line_end < 0:
                safe = start + self._safe_length(buffer[start:])
                break
            self._take_line(buffer[start:line_end])
            start = line_end + 1
        if len(buffer) - safe > MAX_HELD:
            safe = len(buffer)
        self._held = buffer[safe:]
        if safe > start:
            self._at_line_start = False
            self._ticked |= "`" in buffer[start:safe]
        return buffer[:safe]

    def close(self) -> str:
        """Return what is still held: the text has ended."""
        rest, self._held = self._held, ""
        return rest

    def _take_line(self, line: str) -> None:
        """Note what a line that has ended does to the state."""
        if self._at_line_start:
            if self._fence:
                closing = _CLOSING.match(line)
                if closing and closing["fence"].startswith(self._fence):
                    self._fence = ""
            else:
                self._open(line)
        elif not (self._fence or self._late_fence or self._ticked) and (late := _LATE_FENCE.match(f"x{line}")):
            self._late_fence = late["fence"]
        self._at_line_start = True
        self._ticked = False

    def _open(self, line: str) -> None:
        """Note which fence a line opens. One behind a sentence counts only once it is closed: prose is watched on."""
        closing = _CLOSING.match(line)
        if self._late_fence and closing and closing["fence"].startswith(self._late_fence):
            self._late_fence = ""
        elif opening := _FENCE.match(line):
            self._fence, self._late_fence = opening["fence"], ""
        elif late := _LATE_FENCE.match(line):
            self._late_fence = self._late_fence or late["fence"]

    def _list_goes_on(self, buffer: str, start: int, line_end: int) -> bool:
        if not _LIST_GOES_ON.match(buffer, line_end, line_end + 5):
            return False
        opened = max(buffer.rfind(bracket, max(start, line_end - 100), line_end) for bracket in "[［【〔〖")
        return opened >= 0 and _OPEN_LIST.fullmatch(buffer, opened, line_end) is not None

    def _safe_length(self, line: str) -> int:
        """Return how much of a line that has not ended may be shown."""
        if self._fence:
            return 0 if self._at_line_start and _CLOSING.match(line) else len(line)
        if self._at_line_start and (_LINE_HEAD.match(line) or _FENCE.match(line)):
            return 0
        # What is open at the end begins within MAX_HELD of it; twice that, so that links before it are seen whole.
        position = max(0, len(line) - 2 * MAX_HELD)
        while candidate := _CANDIDATE.search(line, position):
            position = candidate.start()
            whole = _WHOLE.match(line, position)
            if whole:
                position = whole.end()
            elif _is_open(line, position):
                return position
            else:
                position += 1
        return len(line)


def _is_open(line: str, start: int) -> bool:
    """Return whether what begins here may go on behind the line's end."""
    if _OPEN.match(line, start):
        return True
    link = _TO_TARGET.match(line, start)
    return link is not None and _is_open_target(line, link.end())


def _is_open_target(line: str, start: int) -> bool:
    """Return whether a link's target, which begins here, goes on to the line's end.

    It has no ")" but one in its last parentheses. Where they are is asked once: looked for at each "(", they would take
    a time that grows with the square of the target.
    """
    opened = line.rfind("(", start)
    last = len(line) if opened < 0 else opened
    if last - start > _MAX_TARGET or line.find(")", start, last) >= 0 or line.find("\n", start, last) >= 0:
        return False
    goes_on = len(line) - start <= _MAX_TARGET and line.find(")", last) < 0 and line.find("\n", last) < 0
    return goes_on or _IN_PARENTHESES.match(line, opened + 1) is not None
