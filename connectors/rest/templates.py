"""Requests as the settings write them: addresses, parameters and bodies with places that are filled in."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from yarl import URL

_PLACE = re.compile(r"\{(page|offset|token|cursor)\}")
_LEFT_OUT = object()

Values = Mapping[str, Any]


def places_in(template: Any) -> Iterator[str]:
    """Yield the names of the places in a text, or in the texts of a body."""
    if isinstance(template, str):
        yield from _PLACE.findall(template)
    elif isinstance(template, Mapping):
        for value in template.values():
            yield from places_in(value)
    elif isinstance(template, list | tuple):
        for value in template:
            yield from places_in(value)


def filled_url(url: str, params: Mapping[str, str], values: Values) -> str:
    """Return an address with its parameters; one with a place that has no value is left out."""
    place = _PLACE.sub(lambda found: quote(_text(values.get(found.group(1))), safe=""), url)
    told = {name: _filled_text(text, values) for name, text in params.items()}
    address = URL(place)
    return str(address.extend_query({name: text for name, text in told.items() if text is not None}))


def filled_body(template: Any, values: Values) -> Any:
    """Return a body; what has a place without a value is left out, a text that is a place and no more is its value."""
    filled = _filled(template, values)
    return None if filled is _LEFT_OUT else filled


def with_id(template: str, native: str) -> str:
    """Return the address of one item."""
    return template.replace("{id}", quote(native, safe=""))


def _filled(template: Any, values: Values) -> Any:
    if isinstance(template, str):
        whole = _PLACE.fullmatch(template)
        if whole:
            value = values.get(whole.group(1))
            return _LEFT_OUT if value is None else value
        text = _filled_text(template, values)
        return _LEFT_OUT if text is None else text
    if isinstance(template, Mapping):
        told = {name: _filled(value, values) for name, value in template.items()}
        return {name: value for name, value in told.items() if value is not _LEFT_OUT}
    if isinstance(template, list | tuple):
        return [value for value in (_filled(one, values) for one in template) if value is not _LEFT_OUT]
    return template


def _filled_text(template: str, values: Values) -> str | None:
    if any(values.get(name) is None for name in places_in(template)):
        return None
    return _PLACE.sub(lambda found: _text(values[found.group(1)]), template)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
