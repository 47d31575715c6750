"""The properties of a page as text. Pure.

https://developers.notion.com/reference/page-property-values
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from pydantic import TypeAdapter, ValidationError

from connectors.notion.rich import Span, link, one_line, plain

_MOST_TOLD = 25
"""References that a page tells of one property at most (https://developers.notion.com/reference/retrieve-a-page)."""
_WORKED_OUT = frozenset({"formula", "rollup", "last_edited_time", "last_edited_by"})
_SPANS = TypeAdapter(list[Span])


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """A property that has a value: ``text`` as Markdown on one line, and ``pages`` that it refers to, by id.

    ``is_whole`` is False where Notion tells more of it only when it is asked for by its ``id``.
    """

    id: str
    name: str
    kind: str
    text: str = ""
    pages: tuple[str, ...] = ()
    is_whole: bool = True

    @property
    def is_edited(self) -> bool:
        """Whether somebody wrote it: what is worked out may change by itself, and at every hour."""
        return self.kind not in _WORKED_OUT


def properties_of(told: Mapping[str, Any]) -> tuple[Property, ...]:
    """Return the properties that have a value, in Notion's order; what has another form than is known is left out."""
    found = (_property(name, value) for name, value in told.items() if isinstance(value, dict))
    return tuple(one for one in found if one is not None)


def whole(short: Property, items: list[dict[str, Any]]) -> Property:
    """Return a property with all its values, from the list that Notion gives when it is asked for it alone."""
    if short.kind == "relation":
        pages = [str((item.get("relation") or {}).get("id", "")) for item in items]
        return replace(short, pages=tuple(page for page in pages if page), is_whole=True)
    if short.kind == "people":
        people = [item["people"] for item in items if isinstance(item.get("people"), dict)]
        return replace(short, text=text_of("people", people), is_whole=True)
    spans = _spans([item[short.kind] for item in items if short.kind in item])
    text = plain(spans) if short.kind == "title" else one_line(spans)
    return replace(short, text=text or short.text, is_whole=True)


def _property(name: str, told: Mapping[str, Any]) -> Property | None:
    kind = str(told.get("type", ""))
    value, identity = told.get(kind), str(told.get("id", ""))
    if kind == "relation":
        pages = tuple(str(one["id"]) for one in _listed(value) if isinstance(one, dict) and one.get("id"))
        whole_told = not told.get("has_more")
        return Property(id=identity, name=name, kind=kind, pages=pages, is_whole=whole_told) if pages else None
    if kind in {"title", "rich_text"}:
        spans = _spans(value)
        text = plain(spans) if kind == "title" else one_line(spans)
        is_whole = sum(span.is_reference for span in spans) < _MOST_TOLD
    else:
        text = text_of(kind, value)
        is_whole = kind != "people" or len(_listed(value)) < _MOST_TOLD
    if not text and kind != "title":
        return None
    return Property(id=identity, name=name, kind=kind, text=text, is_whole=is_whole)


def text_of(kind: str, value: Any) -> str:
    """Return a value of a property as text, "" where there is none or it tells nothing."""
    write = _WAYS.get(kind)
    return "" if value is None or write is None else write(value)


def _inner(value: Any) -> str:
    """Return what a formula or rollup came to: a value with a type of its own, or a list of such."""
    if not isinstance(value, dict):
        return ""
    kind = str(value.get("type", ""))
    if kind != "array":
        return text_of(kind, value.get(kind))
    parts = [text_of(str(one.get("type", "")), one.get(one.get("type"))) for one in _listed(value.get("array"))]
    return ", ".join(filter(None, parts))


def _spans(value: Any) -> list[Span]:
    try:
        return _SPANS.validate_python(value or [])
    except ValidationError:
        return []


def _listed(value: Any) -> list[Any]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _named(value: Any) -> str:
    return " ".join(str(value.get("name") or "").split()) if isinstance(value, dict) else ""


def _number(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value) if isinstance(value, int | float) else ""


def _date(value: Any) -> str:
    if not isinstance(value, dict) or not value.get("start"):
        return ""
    zone = f" ({value['time_zone']})" if value.get("time_zone") else ""
    return f"{value['start']} to {value['end']}{zone}" if value.get("end") else f"{value['start']}{zone}"


def _file(value: Any) -> str:
    """Return a file's name; where Notion keeps it its address holds a key that ends within the hour."""
    name = _named(value) or "file"
    outside = value.get("external")
    return link(name, str(outside.get("url") or "")) if isinstance(outside, dict) else name


def _unique(value: Any) -> str:
    if not isinstance(value, dict) or value.get("number") is None:
        return ""
    return f"{value['prefix']}-{value['number']}" if value.get("prefix") else str(value["number"])


def _many(write: Callable[[Any], str]) -> Callable[[Any], str]:
    """Return how a list is written of which each entry is written so."""
    return lambda values: ", ".join(filter(None, map(write, _listed(values))))


def _place(value: Any) -> str:
    parts = [value.get("name"), value.get("address")] if isinstance(value, dict) else []
    return ", ".join(str(part) for part in parts if part)


def _state(value: Any) -> str:
    return str(value.get("state") or "") if isinstance(value, dict) else ""


def _yes_or_no(value: Any) -> str:
    return "yes" if value else "no"


def _words(value: Any) -> str:
    return " ".join(str(value).split())


def _rich(value: Any) -> str:
    return one_line(_spans(value))


_WAYS: Mapping[str, Callable[[Any], str]] = MappingProxyType(
    {
        "title": _rich,
        "rich_text": _rich,
        "number": _number,
        "checkbox": _yes_or_no,
        "boolean": _yes_or_no,
        "select": _named,
        "status": _named,
        "multi_select": _many(_named),
        "people": _many(_named),
        "created_by": _named,
        "last_edited_by": _named,
        "date": _date,
        "files": _many(_file),
        "formula": _inner,
        "rollup": _inner,
        "unique_id": _unique,
        "verification": _state,
        "place": _place,
        "url": _words,
        "email": _words,
        "phone_number": _words,
        "string": _words,
        "created_time": _words,
        "last_edited_time": _words,
    }
)
"""How each kind of value is written: of properties, and of what formulas and rollups come to."""
