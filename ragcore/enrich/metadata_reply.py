"""What a model writes where it was asked for facts of a document: values by field, of the field's type. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ragcore.enrich.options import MetadataField
from ragcore.errors import ModelBadOutput
from ragcore.filters import Kind, field_name, read
from ragcore.json_replies import value_of

LONGEST = 200
"""Characters of a value. What is longer is no fact, but a passage."""
MOST_LISTED = 20
"""Values of one field, such as its labels."""
_NOTHING = frozenset(
    {"unknown", "n/a", "none", "null", "not stated", "not specified", "not mentioned", "-", "未知", "无"}
)
"""What models write where there is nothing to say, though asked to leave it out."""


def facts_of(reply: str, fields: Sequence[MetadataField]) -> dict[str, str]:
    """Return the values that a reply gives, by field in the fields' order.

    A field that was not asked for is dropped, and a value that is not of its field's type.

    Raises:
        ModelBadOutput: It holds no object, or one with none of the fields.
    """
    said = value_of(reply)
    if isinstance(said, list) and len(said) == 1:
        said = said[0]
    known = {field_name(field.name): field for field in fields}
    if isinstance(said, Mapping) and len(said) == 1 and not _named(said, known):
        said = next(iter(said.values()))  # an object around it, such as {"metadata": {...}}
    if not isinstance(said, Mapping):
        raise ModelBadOutput("it is no object of fields", raw=reply)
    named = _named(said, known)
    # Half an object, repaired, is an empty one; what is meant so is written so.
    if not named and (said or "{}" not in "".join(reply.split())):
        raise ModelBadOutput("it has none of the fields", raw=reply)
    values = {name: _value(named[name], field) for name, field in known.items() if name in named}
    return {known[name].name: value for name, value in values.items() if value}


def _named(said: Mapping[Any, Any], known: Mapping[str, MetadataField]) -> dict[str, Any]:
    """Return what was said by field, of the fields that are known."""
    return {name: value for key, value in said.items() if (name := field_name(str(key))) in known}


def _value(said: Any, field: MetadataField) -> str:
    """Return a value as text, "" where there is none of the field's type."""
    listed = said if isinstance(said, list) and field.type == "text" else [said]
    texts = [_text(one) for one in listed[:MOST_LISTED]]
    text = ", ".join(dict.fromkeys(text for text in texts if text and text.casefold() not in _NOTHING))
    if not text or len(text) > LONGEST:
        return ""
    kind = read(text).kind
    if field.type == "number":
        return text if kind is Kind.NUMBER else ""
    if field.type == "date":
        return text[:10] if kind is Kind.DATE else ""
    return text


def _text(said: Any) -> str:
    """Return a text or a number as text on one line; "" for anything else."""
    if isinstance(said, bool) or not isinstance(said, str | int | float):
        return ""
    return " ".join((said if isinstance(said, str) else json.dumps(said)).split())
