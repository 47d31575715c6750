"""Markdown: headings, tables and long code blocks are found, every line stays, links by their text."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ragcore.parsing.encoding import decode
from ragcore.parsing.lines import Mark, sections_of_lines, split_lines
from ragcore.parsing.markup.markdown_html import TAG, comment_end, shown, table_ends, table_sections
from ragcore.parsing.media import Media
from ragcore.parsing.options import Job
from ragcore.parsing.outline import INLINE_CODE_LINES, Heading, Slugs
from ragcore.parsing.titles import one_line
from ragcore.types import ParsedDocument, Section, SectionKind

_ATTRIBUTES = re.compile(r"\{:?\s*+(?:#([\w:.-]++))?[^{}]*+\}\s*$")
_NAMED_ANCHOR = re.compile(r"<a\s+(?:id|name)=[\"']?([^\"'\s>]+)[^>]*>", re.IGNORECASE)
_CODE_OR_LINK = re.compile(
    r"(?P<code>(?<!`)(`+)(?!`).+?(?<!`)\2(?!`))"
    rf"|(?P<tag>{TAG})"
    r"|!?\[(?P<text>(?:`[^`]*`|\\.|[^\[\]`\\])+)\]\((?!#?\))[^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+[\"'(][^\n]*?[\"')])?\)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^ {0,3}(?:[>*+-] *|\d+[.)] *)*(`{3,}|~{3,})")
_TAG = re.compile(r"</?[a-zA-Z][^>]*>")
_EMPHASIS = re.compile(r"(\*\*|__|\*|~~|`+|(?<!\w)_|_(?!\w))")
_FRONT_VALUE = re.compile(r"^(title|author|date|updated|lastmod)\s*[:=]\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)


def parse_markdown(job: Job) -> ParsedDocument:
    """Parse a Markdown document; see ``ragcore.parsing.lines`` for how its sections keep line numbers."""
    text = decode(job.content, declared=job.declared_encoding).text
    lines = split_lines(text)
    first, front = _front_matter(lines)
    marks = markdown_marks(lines, first)
    lines = readable_lines(lines, marks)
    title = front.get("title") or _first_title(marks)
    return ParsedDocument(
        title=title,
        media_type=Media.MARKDOWN,
        sections=sections_of_lines(lines, marks, title, first),
        author=front.get("author", ""),
        updated_at=_date(front.get("lastmod") or front.get("updated") or front.get("date", "")),
    )


def markdown_sections(text: str, title: str = "") -> tuple[Section, ...]:
    """Return the sections of Markdown that stands inside another document (a notebook cell)."""
    lines = split_lines(text)
    marks = markdown_marks(lines)
    return sections_of_lines(readable_lines(lines, marks), marks, title)


def markdown_marks(lines: list[str], first: int = 0) -> list[Mark]:
    """Find headings, tables and long code blocks outside lists and quotes.

    Args:
        lines: The source, one entry a line.
        first: Lines before this one are front matter.
    """
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    source = "\n".join(["" if number < first else line for number, line in enumerate(lines)])
    tokens = parser.parse(source)
    slugs = Slugs()
    ends = table_ends(lines)
    marks: list[Mark] = []
    for at, token in enumerate(tokens):
        mark = _html_table(token, lines, ends) or _mark(token, tokens[at + 1 : at + 2], slugs)
        # Blank lines in a table of HTML make Markdown of its cells: what is found in there stands in the table.
        if mark is not None and not (marks and mark.start < marks[-1].end):
            marks.append(mark)
    return marks


def readable_lines(lines: list[str], marks: list[Mark]) -> list[str]:
    """Return the lines, outside code, with links and images as their text, no tags, no comments; their number stays.

    What is left is what the published page shows, so that a quote can be found there.
    """
    code = {number for mark in marks if mark.kind is SectionKind.CODE for number in range(mark.start, mark.end)}
    fence = ""
    comment: int | None = None
    readable: list[str] = []
    for number, line in enumerate(lines):
        opening = None if comment is not None else _FENCE.match(line)
        if fence:
            readable.append(line)
            if opening and opening.group(1).startswith(fence) and not line.strip().strip("`~"):
                fence = ""
            continue
        fence = opening.group(1) if opening else ""
        comment = comment_end(lines, number) if comment is None and not fence and "<!--" in line else comment
        if comment is not None:
            readable.append(line.partition("-->")[2] if number == comment else "")
            comment = None if number == comment else comment
        elif fence or number in code or not ("](" in line or "<" in line):
            readable.append(line)
        else:
            shown_line = _CODE_OR_LINK.sub(_link_text, line)
            readable.append(shown_line.lstrip() if line.lstrip().startswith("<") else shown_line)
    return readable


def _html_table(token: Token, lines: list[str], ends: Mapping[int, int]) -> Mark | None:
    """Return a table that is written as HTML; None for anything else, and for a table that only lays out the page."""
    if token.type != "html_block" or token.level or token.map is None or "<table" not in token.content.lower():
        return None
    start = token.map[0]
    end = max((ends[at] for at in range(start, token.map[1]) if at in ends), default=start)
    sections = table_sections("\n".join(lines[start:end])) if end > start else ()
    return Mark(start=start, end=end, sections=sections) if sections else None


def _link_text(found: re.Match[str]) -> str:
    return shown(found.group("tag")) if found.group("tag") else found.group("text") or found.group()


def _mark(token: Token, following: list[Token], slugs: Slugs) -> Mark | None:
    if token.level or token.map is None:
        return None
    start, end = token.map
    if token.type == "heading_open" and following:
        return Mark(start=start, end=end, heading=_heading(int(token.tag[1]), following[0].content, slugs))
    if token.type == "table_open":
        return Mark(start=start, end=end, kind=SectionKind.TABLE, header_lines=2)
    if token.type in ("fence", "code_block") and end - start > INLINE_CODE_LINES + 2:
        return Mark(start=start, end=end, kind=SectionKind.CODE)
    return None


def _heading(level: int, raw: str, slugs: Slugs) -> Heading:
    attributes = _ATTRIBUTES.search(raw)
    named = _NAMED_ANCHOR.search(raw)
    text = plain_inline(raw[: attributes.start()] if attributes else raw)
    slug = slugs.slug(text)
    explicit = (attributes.group(1) if attributes else "") or (named.group(1) if named else "")
    return Heading(level=level, text=text, anchor=explicit or slug)


def plain_inline(raw: str) -> str:
    """Return one line of Markdown as it is read: no emphasis, no code marks, links and images by their text."""
    text = _by_text(_by_text(raw, "![", {"(": ")"}), "[", {"(": ")", "[": "]"})
    # A tag that nothing closes would be followed to the end of the line, each of a thousand anew.
    closed = text.rfind(">") + 1
    return one_line(_EMPHASIS.sub("", _TAG.sub("", text[:closed]) + text[closed:]).replace("\\", ""))


def _by_text(raw: str, opening: str, targets: Mapping[str, str]) -> str:
    """Return a line with its images, or its links, by their text.

    Args:
        raw: one line of Markdown.
        opening: what they begin with: ``![`` or ``[``.
        targets: what their target stands between.
    """
    last = {end: raw.rfind(end) for end in targets.values()}
    pieces: list[str] = []
    done = 0
    while (start := raw.find(opening, done)) >= 0 and (closed := raw.find("]", start + len(opening))) >= 0:
        text = raw[start + len(opening) : closed]
        end = targets.get(raw[closed + 1 : closed + 2], "")
        if end and last[end] > closed + 1 and (text or opening == "!["):
            pieces += (raw[done:start], text)
            done = raw.find(end, closed + 2) + 1
        else:
            # Nor is there one that begins further on in the text: it would end at the same bracket.
            pieces.append(raw[done : closed + 1])
            done = closed + 1
    return "".join((*pieces, raw[done:]))


def _first_title(marks: list[Mark]) -> str:
    headings = [mark.heading for mark in marks if mark.heading is not None and mark.heading.text]
    top = [heading.text for heading in headings if heading.level == 1]
    return next(iter(top), headings[0].text if headings and marks[0].heading is headings[0] else "")


def _front_matter(lines: list[str]) -> tuple[int, dict[str, str]]:
    """Return the first line after front matter (YAML, or TOML between ``+++``), and its title, author and dates."""
    if not lines or lines[0].strip() not in ("---", "+++"):
        return 0, {}
    ends = ("+++",) if lines[0].strip() == "+++" else ("---", "...")
    for number, line in enumerate(lines[1:200], start=1):
        if line.strip() in ends:
            head = "\n".join(lines[1:number])
            if not re.search("[:=]", head):
                return 0, {}
            return number + 1, {key.lower(): value.strip("\"'") for key, value in _FRONT_VALUE.findall(head)}
    return 0, {}


def _date(value: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
