r"""The marker ``[ID:n]``: the one module that knows its grammar.

``n`` is the index of a chunk in the prompt, from 0. Models write it in many ways; ``repair`` turns those into the one
form, and drops ids that do not exist. Nothing inside code, links and URLs is ever read as a marker.

A bare ``[n]`` is taken for a citation only where nothing else is plausible:

- no line ``[n]: ...`` defines it as something else, and of a list (``[0, 10]``) every chunk exists;
- it does not open its line (a reference list, a task list), and no ``(`` or ``[`` follows (a link);
- it ends a clause (punctuation, a closing mark or the line's end follows), or stands right behind a full stop;
- it stands apart from the word before, right behind a whole marker, or behind a character that no subscript can follow
  (``%``, ``”``, 北). Glued to an ASCII word (``capital[1].``) it looks like ``arr[0]``, a list (``[0, 1]``) like an
  interval, and a number that no chunk has (``[9]``) like anything: there the answer must show, by a citation that is
  plain, that it cites so, and must not subscript anything. The number that no chunk has then goes, as ``[ID:9]`` does.

So ``arr[0]``, ``[2023]``, ``[^1]``, ``[1](url)``, ``[x]`` and ``matrix[1][2]`` stay as they are.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragcore.citations.literals import MAX_URL, Literals

MAX_RANGE = 16
"""``[ID:0-40]`` cites nothing in particular: ranges wider than this many chunks are dropped."""
_MAX_ROUNDS = 12
"""Removing a marker can make a new one of what stood around it; nested deeper than this is left."""

_LOOK_BACK = 80
"""How many characters before a bare ``[n]`` are looked at."""
_ANY = 10**41
"""Higher than any id that is read."""

_SPACE = r"[^\S\n]{0,3}"
_COLON = r"[:：=]"
_KEY = r"[iIｉＩ][dDｄＤ][sSｓＳ]?"
_RANGE = r"(?:[-‐‑–—~～−]|\.\.|to)"
_LIST = r"(?:[,，、،;；؛&/+]|and|和)"
_GAP = rf"{_SPACE}(?:\n{_SPACE})?"
"""Inside a list a line may end."""
_NUMBER = rf"(?:{_KEY}{_SPACE}{_COLON}?{_SPACE})?\d{{1,40}}"
_IDS = rf"\d{{1,40}}(?:{_GAP}(?:{_RANGE}|{_LIST}|(?={_KEY})){_GAP}{_NUMBER}){{0,32}}+"
_STOP = r"[.,;。，；]?"
"""A full stop or comma that got inside the brackets."""

MARKER = re.compile(r"\[ID:(\d{1,9})\]", re.ASCII)
"""The one right form."""
_NAMED = r"(?i:(?:citations?|cite|sources?|refs?|references?|来源|出处|引用)[^\S\n]{0,3}[:：=]?[^\S\n]{0,3})?"
_IN_BRACKETS = re.compile(
    rf"\\?(?:(?P<twice>[\[［【〔〖]{{2}})|[\[［【〔〖]){_SPACE}{_NAMED}{_KEY}{_SPACE}(?P<colon>{_COLON}?){_SPACE}(?P<ids>{_IDS})(?P<stop>{_STOP}){_SPACE}"
    r"\\?(?(twice)[\]］】〕〗]{2}|[\]］】〕〗])"
    rf"(?:\((?:(?:https?://|www\.|[/#])[^\s()<>]{{0,{MAX_URL}}}+)?\))?+"
)
_PLAIN = rf"\\?[\[［【〔〖]{_SPACE}{_KEY}{_SPACE}{_COLON}{_SPACE}{_IDS}{_STOP}{_SPACE}\\?[\]］】〕〗]"
_LEAD = r"(?:see|sources?|refs?\.?|cf\.|来源|出处|参见|详见|见)"
_GROUP = re.compile(
    rf"(?P<open>[(（\[［【]{_SPACE}(?:{_LEAD}{_SPACE}[:：]?{_SPACE})?)?(?P<first>{_PLAIN})"
    rf"(?P<others>(?:{_SPACE}{_LIST}?{_SPACE}{_PLAIN}){{0,16}}+)(?P<close>{_SPACE}[)）\]］】])?",
    re.IGNORECASE,
)
"""Markers side by side, with commas between them and parentheses around them: ``(see [ID:0], [ID:2])``."""
_MEMBER = re.compile(_PLAIN)
_NO_CHUNK = re.compile(
    rf"[\[［【〔〖]{_SPACE}{_KEY}{_SPACE}{_COLON}{_SPACE}(?:[-−–]\d{{1,9}}|\d{{1,9}}\.\d{{1,9}}){_SPACE}[\]］】〕〗]"
)
"""``[ID:-1]`` and ``[ID:0.5]`` are meant as markers, and name no chunk."""
_IN_PARENTHESES = re.compile(rf"[(（]{_SPACE}{_NAMED}{_KEY}{_SPACE}{_COLON}{_SPACE}(?P<ids>{_IDS}){_SPACE}[)）]")
_BARE_RUN = re.compile(
    rf"(?:[\[［【]{{1,2}}{_SPACE}\d{{1,3}}(?:{_SPACE}(?:{_RANGE}|{_LIST}){_SPACE}\d{{1,3}}){{0,8}}{_SPACE}[\]］】]{{1,2}}[^\S\n]?){{1,8}}+"
)
_BARE = re.compile(r"[\[［【]{1,2}([^\[\]［］【】]+)[\]］】]{1,2}")
_PART = re.compile(rf"(?P<to>{_RANGE})?{_SPACE}(?:{_KEY}{_SPACE}{_COLON}?{_SPACE})?(?P<id>\d{{1,40}})")

_STOPS = ".!?…。！？؟۔।॥"
_LISTED = rf"(?:[\s\d]|{_RANGE}|{_LIST}|{_KEY}|{_COLON}|[iI])"
_CUT_OFF = re.compile(
    rf"\\?[\[［【〔〖]{{1,2}}{_SPACE}{_KEY}{_SPACE}{_COLON}{_LISTED}{{0,80}}\Z"
    rf"|(?<![^\s{_STOPS}])[\[［【]{{1,2}}{_SPACE}(?:[iIｉＩ]|{_KEY}|\d{{1,3}}(?:{_LIST}|{_RANGE}|\s|\d){{0,20}})?\Z"
)
"""A marker that the text's end cut off, as at the length limit. Its number may be cut as well: it cites nothing."""
_LONGEST_CUT_OFF = 100
_MAX_CUT_OFF = 50
"""So many in a row are taken off; whoever writes more means something else."""

_CLOSING_PUNCTUATION = r".,;:!?…‥)\]}。，、；：！？）］】〕」』》”’»؟،؛۔।॥။።։·"
_AFTER = re.compile(rf"[*_~]{{0,3}}(?:\s|[{_CLOSING_PUNCTUATION}]|\Z)")
"""What follows where a space before a marker would be left over once the marker is gone."""
_AFTER_STOP = re.compile(rf"{_SPACE}[{_CLOSING_PUNCTUATION}]")
_CLAUSE_END = re.compile(rf"[^\S\n]{{0,3}}(?:[*_~|\"'{_CLOSING_PUNCTUATION}]|\n|\Z)")
_OPERATORS = "=:,(<>+-/&\\^[{"
_LINE_PREFIX = re.compile(r"[ \t>]*+(?:[-*+#•]{1,6}|\d{1,3}[.)])?[ \t]*+")
_DEFINED = re.compile(r"^[ \t]{0,3}\[(\d{1,3})\]:", re.MULTILINE)
_SUBSCRIPT = re.compile(r"[A-Za-z0-9_)\]]\[(?:[A-Za-z_:'\"-]|\d+\][\w(\[])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """One marker in a text: ``text[start:end]`` is ``[ID:<id>]``."""

    start: int
    end: int
    id: int


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    text: str


def marker(chunk: int) -> str:
    """Write the marker of a chunk by its index, from 0."""
    return f"[ID:{chunk}]"


def find(text: str) -> list[Marker]:
    """Return the markers of the right form, in order; none inside code, links and URLs."""
    if "[ID:" not in text:
        return []
    literals = Literals(text)
    return [
        Marker(start=found.start(), end=found.end(), id=int(found[1]))
        for found in MARKER.finditer(text)
        if not literals.covers(found.start())
    ]


def strip(text: str) -> str:
    """Return the text without its markers, and without the spaces that stood there for them."""
    return remove(text, find(text))


def remove(text: str, markers: Sequence[Marker]) -> str:
    """Return the text without these markers (in order), leaving no double space and no space before punctuation."""
    return _apply(text, [_Edit(found.start, found.end, "") for found in markers])


def cuts(text: str, markers: Sequence[Marker]) -> list[tuple[int, int]]:
    """Return what ``remove`` takes out: ``(start, end)`` in order and disjoint."""
    return [(edit.start, edit.end) for edit in _widened(text, [_Edit(m.start, m.end, "") for m in markers])]


def spaced(text: str, offset: int, written: str) -> str:
    """Return markers as they are to be put in at an offset: after a space where ``remove`` will take that away again.

    Behind scripts that set no spaces between words none is put.
    """
    glued = offset == 0 or text[offset - 1].isspace() or _sets_no_spaces(text[offset - 1])
    return written if glued or not _AFTER.match(text, offset) else f" {written}"


def repair(text: str, count: int) -> str:
    """Bring every marker to the right form and drop those of chunks that do not exist.

    Args:
        text: What the model wrote.
        count: How many chunks the prompt had: ids 0 to count - 1 exist.

    Returns:
        The text; all that is no marker stands as before, except the space that a dropped marker leaves over.
        Repairing twice changes nothing more.
    """
    text = without_cut_off(text)
    for number in range(_MAX_ROUNDS):
        repaired = _repair_once(text, count)
        if repaired == text:
            # What was dropped may have left such an end behind: "[ID:9][".
            repaired = without_cut_off(text) if number else text
            if repaired == text:
                break
        text = repaired
    return text


def without_cut_off(text: str) -> str:
    """Return a text, or its last piece, without the marker that its end cut off (``Ends [ID:1``)."""
    end, literals = len(text), None
    for _ in range(_MAX_CUT_OFF):
        found = _CUT_OFF.search(text, max(0, end - _LONGEST_CUT_OFF), end)
        if found is None:
            break
        start = found.start()
        literals = literals or Literals(text)
        # An odd backtick before it: in code that isn't closed yet.
        if literals.covers(start) or text.count("`", text.rfind("\n", 0, start) + 1, start) % 2:
            break
        end = start
        while end and text[end - 1] in " \t":
            end -= 1
    return text[:end]


def _repair_once(text: str, count: int) -> str:
    literals = Literals(text)
    text, before = _apply(text, [edit for edit in _grouped(text) if not literals.covers(edit.start)]), text
    literals = literals if text == before else Literals(text)
    edits = [edit for edit in _keyed(text, count) if not literals.covers(edit.start)]
    edits += [edit for edit in _bare(text, count, literals) if not literals.covers(edit.start)]
    return _apply(text, sorted(edits, key=lambda edit: edit.start))


def _grouped(text: str) -> Iterator[_Edit]:
    """Take off what stands between markers and around them: that is how they are written, not what is said."""
    for found in _GROUP.finditer(text):
        around = (found["open"] or "")[:1] + (found["close"] or "")[-1:]
        wrapped = around[:1] in tuple("(（") and around[1:] in tuple(")）")
        wrapped = wrapped or (around[:1] in tuple("[［【") and around[1:] in tuple("]］】"))
        members = [found["first"], *_MEMBER.findall(found["others"])]
        separated = re.search(_LIST, _MEMBER.sub("", found["others"])) is not None
        if wrapped:
            yield _Edit(found.start(), found.end(), "".join(members))
        elif separated:
            yield _Edit(found.start("first"), found.end("others"), "".join(members))


def _keyed(text: str, count: int) -> Iterator[_Edit]:
    for found in _IN_BRACKETS.finditer(text):
        ids = _ids(found["ids"], count)
        # Without a colon, "[ID 4711]", an id that does not exist is prose.
        if ids or found["colon"]:
            ends = found["stop"] and found["stop"] in _STOPS and not _AFTER_STOP.match(text, found.end())
            yield _Edit(found.start(), found.start("stop") if ends else found.end(), _written(ids))
            if ends:
                yield _Edit(found.end("stop"), found.end(), "")
    for found in _NO_CHUNK.finditer(text):
        yield _Edit(found.start(), found.end(), "")
    for found in _IN_PARENTHESES.finditer(text):
        ids = _ids(found["ids"], count)
        # "(ID: 4711)" is somebody's number rather than a marker gone wrong.
        if ids and len(ids) == len(_ids(found["ids"], _ANY)):
            yield _Edit(found.start(), found.end(), _written(ids))


def _bare(text: str, count: int, literals: Literals) -> Iterator[_Edit]:
    defined = {int(found[1]) for found in _DEFINED.finditer(text)}
    doubtful: list[re.Match[str]] = []
    plain = False
    for run in _BARE_RUN.finditer(text):
        written = [_ids(found[1], _ANY) for found in _BARE.finditer(run[0])]
        known = [_ids(found[1], count) for found in _BARE.finditer(run[0])]
        if literals.covers(run.start()) or any(defined.intersection(part) for part in written):
            continue
        if not _ends_clause(text, run) or any(len(w) > 1 and k != w for w, k in zip(written, known, strict=True)):
            continue
        if _behind_marker(text, run.start()):
            yield from _rewritten(run, count)
        # "in [0, 1]." may be an interval.
        elif _stands_apart(text, run.start()) and any(known) and all(len(part) == 1 for part in written):
            plain = True
            yield from _rewritten(run, count)
        else:
            doubtful.append(run)
    if plain and not _SUBSCRIPT.search(text):
        for run in doubtful:
            if _stands_apart(text, run.start()) or text[run.start() - 1 : run.start()].isalpha():
                yield from _rewritten(run, count)


def _rewritten(run: re.Match[str], count: int) -> Iterator[_Edit]:
    for found in _BARE.finditer(run[0]):
        yield _Edit(run.start() + found.start(), run.start() + found.end(), _written(_ids(found[1], count)))


def _written(ids: Sequence[int]) -> str:
    return "".join(marker(chunk) for chunk in ids)


def _behind_marker(text: str, start: int) -> bool:
    opening = text.rfind("[ID:", max(0, start - 14), start)
    return opening >= 0 and MARKER.fullmatch(text, opening, start) is not None


def _stands_apart(text: str, start: int) -> bool:
    # The start of the line, or as far back as it matters.
    line = max(text.rfind("\n", max(start - _LOOK_BACK, 0), start) + 1, start - _LOOK_BACK, 0)
    prefix = _LINE_PREFIX.match(text, line, start)
    if prefix is not None and prefix.end() >= start:
        return False
    before = text[start - 1]
    if before.isspace():
        before = text[line:start].rstrip()[-1:]
        return before not in _OPERATORS
    return before in _STOPS or before in "%°”’」』》）»*" or (before.isalpha() and not before.isascii())


def _ends_clause(text: str, run: re.Match[str]) -> bool:
    end = run.end()
    if text[end - 1].isspace():
        end -= 1
    if text.startswith(("(", "[", "（"), end):
        return False
    before = text[: run.start()][-4:].rstrip()
    return before[-1:] in tuple(_STOPS) or _CLAUSE_END.match(text, end) is not None


def _ids(written: str, count: int) -> list[int]:
    """Read a list such as ``0, 2`` or ``0-2``: the ids that exist, each once, in the order written."""
    ids: list[int] = []
    previous: int | None = None
    for part in _PART.finditer(written):
        number = int(part["id"])
        if part["to"] and previous is not None:
            low, high = sorted((previous, number))
            high = min(high, count - 1)
            if high - low < MAX_RANGE:
                ids += range(low, high + 1)
            else:
                ids.pop()
        else:
            ids.append(number)
        previous = number
    return list(dict.fromkeys(chunk for chunk in ids if chunk < count))


def _apply(text: str, edits: Sequence[_Edit]) -> str:
    pieces: list[str] = []
    done = 0
    for edit in _widened(text, edits):
        pieces += (text[done : edit.start], edit.text)
        done = edit.end
    return "".join((*pieces, text[done:]))


def _widened(text: str, edits: Sequence[_Edit]) -> Iterator[_Edit]:
    """Join removals that only spaces part, and let each take the space that would be left over."""
    waiting: _Edit | None = None
    for edit in edits:
        if waiting and not edit.text and not text[waiting.end : edit.start].strip(" \t"):
            waiting = _Edit(waiting.start, edit.end, "")
            continue
        if waiting:
            yield _with_space(text, waiting)
        waiting = None if edit.text else edit
        if edit.text:
            yield edit
    if waiting:
        yield _with_space(text, waiting)


def _with_space(text: str, edit: _Edit) -> _Edit:
    start, end = edit.start, edit.end
    if _AFTER.match(text, end):
        while start and text[start - 1] in " \t":
            start -= 1
    if start == 0 or text[start - 1] == "\n":
        # An indent stays; at the head of a line it is the space behind that goes.
        start = edit.start
        while end < len(text) and text[end] in " \t":
            end += 1
    return _Edit(start, end, "")


def _sets_no_spaces(character: str) -> bool:
    """Return whether the character is of a script, or is a mark, after which no space is set (Han, kana, Thai)."""
    return "\u0e00" <= character <= "\u0eff" or "\u2e80" <= character <= "\ua4cf" or "\uf900" <= character <= "\uffef"
