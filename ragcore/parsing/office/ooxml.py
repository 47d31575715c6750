"""What docx, xlsx and pptx have in common: the package, its properties, DrawingML text and charts."""

from dataclasses import dataclass
from datetime import datetime

from lxml import etree

from ragcore.errors import ParseError
from ragcore.parsing.container import Container, open_zip
from ragcore.parsing.options import Job
from ragcore.parsing.titles import one_line

R_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
R_STRICT_ID = "{http://purl.oclc.org/ooxml/officeDocument/relationships}id"
SOFT_HYPHEN = "\xad"
"""Where a word may be cut at the end of a line; a reader of the text sees nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """An Office file: its parts, the name of its main part, and what its properties say."""

    parts: Container
    main: str
    title: str = ""
    author: str = ""
    modified: datetime | None = None


def open_package(job: Job, fallback: str) -> Package:
    """Open an Office file.

    Args:
        job: The document.
        fallback: The main part's usual name, for packages whose relationships do not tell it.

    Raises:
        ParseError: It is damaged or has no main part.
    """
    parts = open_zip(job.content, job.options)
    main = next(iter(parts.related("", "officeDocument")), fallback)
    if main not in parts.names:
        raise ParseError(f"its main part {main} is missing", mend="open and save it again")
    core = next(iter(parts.related("", "core-properties")), "docProps/core.xml")
    if core not in parts.names:
        return Package(parts=parts, main=main)
    facts = {name_of(element): one_line(element.text or "") for element in parts.xml(core)}
    return Package(
        parts=parts,
        main=main,
        title=facts.get("title", ""),
        author=facts.get("creator", ""),
        modified=moment(facts.get("modified", "") or facts.get("created", "")),
    )


def name_of(element: etree._Element) -> str:
    """Return an element's tag without its namespace; "" for what is no element."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: etree._Element, name: str) -> str:
    """Return an attribute by its local name, whatever its namespace; "" when it is absent."""
    value = element.get(name)
    if value is not None:
        return str(value)
    return next((str(text) for key, text in element.attrib.items() if str(key).rpartition("}")[2] == name), "")


def children(element: etree._Element, *names: str) -> list[etree._Element]:
    """Return the children with one of these local names."""
    return [child for child in element if name_of(child) in names]


def child(element: etree._Element | None, *path: str) -> etree._Element | None:
    """Follow local names downwards; None where one is missing."""
    for name in path:
        if element is None:
            return None
        element = next((inner for inner in element if name_of(inner) == name), None)
    return element


def number(text: str, default: int = 0) -> int:
    """Read a small whole number of an attribute; the default for anything else."""
    stripped = text.strip().removeprefix("-")
    return int(text) if stripped.isascii() and stripped.isdigit() and len(stripped) < 10 else default


def relation_id(element: etree._Element) -> str:
    """Return the relationship id that an element carries."""
    return element.get(R_ID) or element.get(R_STRICT_ID) or ""


def chart_table(chart: etree._Element) -> tuple[str, list[str], list[list[str]]]:
    """Return a chart's title, its column names (categories first, then one series each) and its rows."""
    title = "".join(element.text or "" for element in _find(child(chart, "chart", "title"), "t"))
    series = [element for element in chart.iter() if name_of(element) == "ser"]
    names = ["".join(_points(child(one, "tx"))) for one in series]
    categories = _points(child(series[0], "cat") if series else None)
    values = [_points(child(one, "val")) for one in series]
    count = max(map(len, [categories, *values]), default=0)
    rows = [[_at(column, at) for column in (categories, *values)] for at in range(count)]
    return one_line(title), ["", *names], rows


def _find(element: etree._Element | None, name: str) -> list[etree._Element]:
    return [] if element is None else [inner for inner in element.iter() if name_of(inner) == name]


def _points(element: etree._Element | None) -> list[str]:
    return [one_line(value.text or "") for value in _find(element, "v")]


def _at(column: list[str], at: int) -> str:
    return column[at] if at < len(column) else ""


def moment(value: str) -> datetime | None:
    """Return a time as a file's properties tell it; None without a zone, which would leave it open by hours."""
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found if found.tzinfo else None
