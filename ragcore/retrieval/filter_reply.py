"""What a model is told of the fields, and the filter that its reply says. Pure."""

import json
from collections.abc import Mapping, Sequence

from ragcore.errors import ConfigError, ModelBadOutput
from ragcore.filter_grammar import operator_named
from ragcore.filters import WITH_VALUES, WITHOUT_VALUE, Condition, Filter, KnownField, Operator, field_name
from ragcore.json_replies import value_of

MOST_ASKED = 8
"""Conditions that a question can ask for; a reply with more of them has lost its way."""
WIDEST = 60
"""Characters of a value that are shown to the model."""


def field_lines(fields: Sequence[KnownField]) -> str:
    """Return the fields with some of their values, a line each."""
    return "\n".join(_line(field) for field in fields)


def _line(field: KnownField) -> str:
    # Quoted as JSON: a value with a line break begins no line of its own.
    shown = ", ".join(json.dumps(value[:WIDEST], ensure_ascii=False) for value in field.sample)
    more = "" if field.is_whole else ", and others"
    return f"- {json.dumps(field.name, ensure_ascii=False)} ({field.kind}): {shown}{more}"


def filter_of(reply: str, fields: Sequence[str]) -> Filter | None:
    """Return the filter that a model's reply says over these fields, None when it says none.

    A condition on an unknown field, with an unknown operator or a value that it cannot compare, is dropped. Where one
    of several ways to meet the filter would be dropped, the filter is: it would leave out what the question asks for.
    """
    try:
        said = value_of(reply, waited_for=True)
    except ModelBadOutput:
        return None
    if isinstance(said, list):
        said = {"conditions": said}
    if not isinstance(said, Mapping) or not isinstance(said.get("conditions"), list):
        return None
    written = said["conditions"]
    if len(written) > MOST_ASKED:
        return None
    known = {field_name(field): field for field in fields}
    conditions = [condition for one in written if (condition := _condition(one, known)) is not None]
    is_any = str(said.get("join", "and")).strip().casefold() in {"or", "any"}
    if not conditions or (is_any and len(conditions) < len(written)):
        return None
    return Filter(tuple(dict.fromkeys(conditions)), "any" if is_any else "all")


def _condition(said: object, known: Mapping[str, str]) -> Condition | None:
    if not isinstance(said, Mapping):
        return None
    field = known.get(field_name(str(said.get("field", ""))))
    operator = operator_named(str(said.get("operator", "")))
    if field is None or operator is None:
        return None
    values = _values(said.get("value"))
    if operator in WITH_VALUES and len(values) == 1:
        values = tuple(part.strip() for part in values[0].split(",") if part.strip())
    if operator in {Operator.EQUAL, Operator.NOT_EQUAL} and len(values) > 1:
        operator = Operator.IN if operator is Operator.EQUAL else Operator.NOT_IN
    try:
        if operator in WITHOUT_VALUE:
            return Condition(field, operator)
        if operator in WITH_VALUES:
            return Condition(field, operator, values)
        return Condition(field, operator, values[0]) if len(values) == 1 else None
    except ConfigError:
        return None


def _values(said: object) -> tuple[str, ...]:
    """Return the values as text; what is neither text nor number nor truth is none."""
    listed = said if isinstance(said, list) else [said]
    written = (
        json.dumps(one) if isinstance(one, bool | int | float) else one
        for one in listed
        if isinstance(one, str | bool | int | float)
    )
    return tuple(one for one in written if one.strip())
