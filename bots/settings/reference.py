"""The settings, written out: the reference page, and the file that `citebot init` writes.

``python -m bots.settings docs/settings.md`` writes the page; a test fails when it is out of date.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from bots.settings.grammar import normal_reader
from bots.settings.loading import USUAL_NAMES
from bots.settings.model import Settings, TaskSettings
from bots.settings.problems import table_of

_INTRODUCTION = "settings_reference.md"


def init_toml(readers: Sequence[str] = ()) -> str:
    """Return a commented ``citebot.toml`` whose one knowledge base has these readers; ValueError for a wrong one."""
    listed = json.dumps([normal_reader(reader) for reader in readers], ensure_ascii=False)
    return _data("init.toml").replace("@READERS@", listed)


def settings_reference() -> str:
    """Return the settings' reference as Markdown: one table of keys for each table of the file."""
    top = {name: field for name, field in Settings.model_fields.items() if table_of(field.annotation) is None}
    parts = [_data(_INTRODUCTION).rstrip(), "## At the top", _keys(top, "")]
    for name, field in Settings.model_fields.items():
        table = table_of(field.annotation)
        if table is not None:
            parts += [f"## `{_heading(name, field)}`", _prose(table), _keys(table.model_fields, name)]
    parts += ["## `[llm.tasks.TASK]`", _prose(TaskSettings), _keys(TaskSettings.model_fields, "llm.tasks")]
    return "\n\n".join(parts) + "\n"


def _data(name: str) -> str:
    return files("bots.settings").joinpath(name).read_text(encoding="utf-8")


def _heading(name: str, field: FieldInfo) -> str:
    origin = get_origin(field.annotation)
    if origin is tuple:
        return f"[[{name}]]"
    return f"[{name}.NAME]" if origin in {Mapping, dict} else f"[{name}]"


def _prose(model: type[BaseModel]) -> str:
    return " ".join((model.__doc__ or "").split())


def _keys(fields: Mapping[str, FieldInfo], section: str) -> str:
    rows = ["| key | value | default | meaning |", "|---|---|---|---|"]
    for key, field in fields.items():
        if not field.exclude:
            meaning = (field.description or "").replace("|", "\\|") + _usual_name(section, key)
            kind = ("list of " if get_origin(field.annotation) is tuple else "") + " or ".join(_kinds(field.annotation))
            rows.append(f"| `{key}` | {kind} | {_default(field)} | {meaning} |")
    return "\n".join(rows)


def _usual_name(section: str, key: str) -> str:
    name = USUAL_NAMES.get((section, key))
    return f"; else from `{name}`" if name else ""


def _kinds(annotation: Any) -> Iterator[str]:
    """Yield what a value may be, in words."""
    origin = get_origin(annotation)
    if origin is Literal:
        yield from (f'`"{choice}"`' for choice in get_args(annotation) if choice)
    elif origin in {Union, UnionType, tuple}:
        inner = [part for part in get_args(annotation) if part not in {type(None), Ellipsis}]
        yield from dict.fromkeys(kind for part in inner for kind in _kinds(part))
    elif origin in {Mapping, dict}:
        yield "table"
    elif origin is not None:  # Annotated
        yield from _kinds(get_args(annotation)[0])
    else:
        names = {bool: "true or false", int: "whole number", float: "number", Path: "path", SecretStr: "secret"}
        yield names.get(annotation, "text")


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is None or value == "":
        return ""
    if isinstance(value, tuple | dict) and not value:
        return "none"
    return f"`{json.dumps(value if isinstance(value, bool | int | float) else str(value))}`"
