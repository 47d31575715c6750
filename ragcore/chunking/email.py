"""Method ``email``: each mail of a thread on its own, under a heading that tells who sent it and when.

For mails as files, mailboxes in mbox form, and threads of mails as a source of type ``imap`` writes them.

- What a mail quotes is left out line by line where an earlier mail of the same thread says it, word for word, and with
  it the line that tells whose words it was ("On Monday Ann wrote:"): it stands there under its own heading. Marked
  quotes (``>``) count, and originals that Outlook and others put below without marks. A quote of at most 8 lines with
  an answer below it stays: without it the answer says nothing.
- Whatever is quoted and stands nowhere before in the document is kept, also by a mail that says which one it answers
  (``In-Reply-To``): the other may be no document, or one that not everybody may read. But it is no part of the mail
  that quotes it: it is a piece of its own, without the marks, under the line that tells whose words it was
  ("(quoted)" where none does). An original below a mail has its own sender and date as heading. In the mail stays what
  its own words lead to ("It says:"), and a quote in which somebody answered between the lines.
- A signature (below ``-- ``, at most 15 lines) goes with the end of its mail's own words the first time it comes, and
  is left out after. It is a piece of its own only where it says all that there is, or is larger than a piece.
- Mails stand in the order of the document: the parser puts those of a mailbox in the order of their threads. Those
  that stand in or below a mail come before it, oldest first.
- A mail that fits within ``chunk_tokens`` is one piece, else it is cut by ``naive``; as are tables and code in it, and
  what is attached, under the mail's heading and the file's name.

A piece's text stands so in the document, but for the marks, and for what stood between a mail's words and its
signature. The pieces of a section, in the order of its text, rejoin to it without what is left out.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from ragcore.chunking.parts import Part, cut
from ragcore.chunking.pieces import ChunkOptions, Piece
from ragcore.chunking.places import Places
from ragcore.chunking.quoted_mails import MOST_HEADING, Below, is_context, quoted_mails, unmarked
from ragcore.chunking.repeats import Said
from ragcore.chunking.signed import signed
from ragcore.mail_lines import (
    QUOTE,
    RULE,
    attribution_lines,
    is_original,
    mail_heading,
    original_heading,
    original_start,
)
from ragcore.tokens import Tokenizer
from ragcore.types import Section, SectionKind

_SIGNATURE_LINES = 15
_FIELDS = 5
_OWN = Below(start=0, end=0, heading="", depth=0)
_FIELD = re.compile(r"(Subject|From|To|Cc|Date): (.*)")
_IN_THREAD = re.compile(r"(?P<who>\S[^\n]{0,200}), (?P<when>\d{4}-\d\d-\d\d \d\d:\d\d UTC)(?:, to [^\n]*)?:$")
"""The line above each mail of a thread, as the source type ``imap`` writes it."""


def chunk(
    sections: Sequence[Section], options: ChunkOptions, tokenizer: Tokenizer, following: Section | None
) -> list[Piece]:
    """Return the pieces of all mails, in order; needs all sections at once. ``following`` is not looked at."""
    parts: list[Part] = []
    threads = _Threads()
    heading = ""
    for section in sections:
        if section.kind is not SectionKind.TEXT:
            parts.append(Part(section=_under(section, heading)))
            continue
        places = Places(section)
        for mail in _mails_in(section):
            if mail.heading:
                heading = mail.heading
                threads.begin(section.heading_path[:1])
            text = section.text[mail.start : mail.end]
            for own in _kept(text, threads.said, threads.signatures, at=mail.start):
                path = (own.heading,) if own.heading else ()
                for found in signed(places, section.text, own.start, own.end, own.signatures, options, tokenizer):
                    part = _under(found if found.lines else _bare(found, own.marks), heading)
                    parts.append(Part(section=replace(part, heading_path=(*part.heading_path, *path))))
            threads.take(text)
    return cut(parts, options, tokenizer)


def _bare(section: Section, marks: int) -> Section:
    return replace(section, text=unmarked(section.text, marks))


def _under(section: Section, heading: str) -> Section:
    """Return a section under a mail's heading, unless that stands in its path already."""
    if not heading or heading in section.heading_path:
        return section
    return replace(section, heading_path=(heading, *section.heading_path))


class _Threads:
    """What the mails before have said, thread by thread: one is over when another begins."""

    def __init__(self) -> None:
        self._thread: tuple[str, ...] | None = None
        self._mail: list[str] = []
        self.said = Said()
        self.signatures: set[str] = set()

    def begin(self, thread: tuple[str, ...]) -> None:
        """Begin another mail: what the one before said is known from here on."""
        if thread != self._thread:
            self._thread, self.said, self._mail = thread, Said(), []
        for text in self._mail:
            self.said.add(text)
        self._mail = []

    def take(self, text: str) -> None:
        """Remember what the mail says."""
        self._mail.append(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """``text[start:end]`` and the heading over it: a mail's, "" for what goes on; within a mail that of one below it.

    ``below`` is 0 for a mail's own words, 1 for the first mail that stands below them, and so on. ``marks`` are those
    of its lines. ``signatures`` stand behind it, not always at once.
    """

    start: int
    end: int
    heading: str = ""
    below: int = 0
    marks: int = 0
    signatures: tuple[tuple[int, int], ...] = ()


def _mails_in(section: Section) -> list[_Span]:
    """Return the mails that a section holds, the first of them "" where it goes on with the one before."""
    text = section.text
    starts = [(0, _headed(text))]
    start, is_above_blank = 0, False
    for line in text.split("\n"):
        if is_above_blank and (found := _IN_THREAD.fullmatch(line)):
            starts.append((start, f"{found['who']}, {found['when']}"))
        is_above_blank = not line
        start += len(line) + 1
    ends = [*(start for start, _ in starts[1:]), len(text)]
    return [_Span(start=start, end=end, heading=heading) for (start, heading), end in zip(starts, ends, strict=True)]


def _headed(text: str) -> str:
    """Return the heading of a mail that begins with the lines of its header; "" for a text that is none."""
    fields = [_FIELD.fullmatch(line) for line in text.split("\n", _FIELDS)[:_FIELDS]]
    told = {found[1]: found[2] for found in takewhile(bool, fields) if found}
    return mail_heading(told["From"], told.get("Date", ""))[:MOST_HEADING] if "From" in told and len(told) > 1 else ""


def _kept(text: str, said: Said, signatures: set[str], *, at: int) -> list[_Span]:
    """Return what is kept of a mail, or of a part of one, which begins at ``at`` of its section: oldest first."""
    lines = text.split("\n")
    bare = [line.rstrip() for line in lines]
    drop = [False] * len(lines)
    originals, quotes = _originals(bare), _quotes(bare)
    for one in originals:
        if all(map(said.holds, bare[original_start(bare, one.start) : one.end])):
            drop[one.start : one.end] = [True] * (one.end - one.start)
    for start, end in quotes:
        _drop_quote(bare, start, end, said, drop)
    signs: dict[int, int] = {}
    for start, end in _signatures(bare):
        signature = "\n".join(bare[start:end]).strip()
        if signature in signatures:
            drop[start:end] = [True] * (end - start)
        else:
            signs |= {start: end} if signature else {}
        signatures.add(signature)
    below = originals or quoted_mails(bare, quotes)
    found: list[tuple[_Span, list[tuple[int, int]]]] = []
    for span, is_signature in sorted(_spans(lines, drop, signs, below, at), key=lambda one: -one[0].below):
        if is_signature and found and found[-1][0].below == span.below:
            found[-1][1].append((span.start, span.end))
        else:
            found.append((span, []))
    return [replace(span, signatures=tuple(below_it)) for span, below_it in found]


def _spans(
    lines: Sequence[str], drop: Sequence[bool], signs: Mapping[int, int], below: Sequence[Below], at: int
) -> Iterator[tuple[_Span, bool]]:
    """Yield the runs of lines that are kept, cut where something else begins, and whether each is a signature.

    Blank ones go with what is dropped.
    """
    offsets = [at]
    for line in lines:
        offsets.append(offsets[-1] + len(line) + 1)
    offsets[-1] -= 1  # the last line has no line break
    begins = [one.start for one in below]
    others = {*signs, *signs.values(), *begins, *(one.end for one in below)}
    borders = sorted({0, len(lines), *others, *(n for n in range(1, len(lines)) if drop[n] != drop[n - 1])})
    for start, end in pairwise(borders):
        if drop[start] or not any(line.strip() for line in lines[start:end]):
            continue
        number = bisect_right(begins, start)
        one = below[number - 1] if number and start < below[number - 1].end else _OWN
        span = _Span(start=offsets[start], end=offsets[end], heading=one.heading, below=one.depth, marks=one.marks)
        yield span, start in signs


def _originals(lines: Sequence[str]) -> list[Below]:
    """Return the originals that stand below a mail without marks."""
    own = sum(1 for _ in takewhile(_FIELD.fullmatch, lines[:_FIELDS]))
    starts = [number for number in range(max(1, own), len(lines)) if is_original(lines, number)]
    # A rule "-----Original Message-----" and the lines of the header below it begin the same one.
    starts = [number for number, before in zip(starts, [-9, *starts], strict=False) if number - before > 2]
    begins = []
    for number in starts:
        begin = number
        while begin and (not lines[begin - 1] or RULE.match(lines[begin - 1])):
            begin -= 1
        begins.append(begin)
    ends = [*begins, len(lines)][1:]
    return [
        Below(start=begin, end=end, heading=original_heading(lines, start)[:MOST_HEADING], depth=depth)
        for depth, (begin, start, end) in enumerate(zip(begins, starts, ends, strict=True), start=1)
    ]


def _quotes(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return the runs of quoted lines, blank ones within them included."""
    found: list[tuple[int, int]] = []
    for number, line in enumerate(lines):
        if QUOTE.match(line):
            if found and not any(lines[found[-1][1] : number]):
                found[-1] = (found[-1][0], number + 1)
            else:
                found.append((number, number + 1))
    return found


def _drop_quote(lines: Sequence[str], start: int, end: int, said: Said, drop: list[bool]) -> None:
    """Mark the lines of a quote that were said before, and with all of them the line that tells whose they were."""
    if is_context(lines, start, end):
        return
    held = [said.holds(line) for line in lines[start:end]]
    if not any(is_held and line.strip("> ") for is_held, line in zip(held, lines[start:end], strict=True)):
        return
    # Apple Mail puts the line that tells whose words they are into the quote.
    first_said = [line.lstrip("> ") for line in lines[start : start + 3]]
    led = next((count for count in (3, 2, 1) if attribution_lines(first_said[:count]) == count), 0)
    if all(held[led:]):
        held[:led] = [True] * led
    drop[start:end] = held
    if all(held):
        above = start
        while above and not lines[above - 1]:
            above -= 1
        first = above - attribution_lines(lines[max(0, above - 3) : above])
        if first < above:
            drop[first:start] = [True] * (start - first)


def _signatures(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return the signatures: from ``--`` to the quote, the original or the end below it, if that is near."""
    found = []
    for number, line in enumerate(lines):
        if line != "--":
            continue
        end = number + 1
        while end < len(lines) and not _ends_signature(lines, end):
            end += 1
        above = attribution_lines([one for one in lines[number:end] if one]) if end < len(lines) else 0
        while above:
            end -= 1
            above -= bool(lines[end])
        if end - number - 1 <= _SIGNATURE_LINES:
            found.append((number, end))
    return found


def _ends_signature(lines: Sequence[str], number: int) -> bool:
    line = lines[number]
    return line == "--" or bool(QUOTE.match(line) or RULE.match(line)) or is_original(lines, number)
