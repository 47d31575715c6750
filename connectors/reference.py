"""The reference of the source types as Markdown: what each reads, and its keys."""

import inspect
import json
import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from connectors.base import Options
from connectors.registry import BUILT_IN, options_model

_RECIPES = Path(__file__).resolve().parents[1] / "docs" / "recipes"
"""A page for each type that wants a credential, on how to get it."""
_INTRODUCTION = """\
# Sources

<!-- Written by `python -m connectors docs/sources.md` from the settings models in connectors/: change it there. -->

Each `[[sources]]` table of the settings has a `name`, a `type`, and, where wanted, a `knowledge_base` and a `schedule`
(see [settings](settings.md)). The rest belongs to its type. Relative paths are relative to the file that names them.

A sync reads what is new or changed, and deletes what is gone. A listing that misses everything, or more than a third of
the documents and at least ten, deletes nothing until a run at least five minutes later misses the same ones;
`citebot sync SOURCE --full` deletes them at once. A document that can't be read is named, with the reason, until it can
be read or is gone; `citebot run` tries it again after an hour, then after twice as long each time, up to a day. Its
last good version stays. One that was emptied is named, too, and what stood in it goes as if it had been deleted.

A source that asks to wait is waited for. One that fails is tried again after 5 minutes, then later and later, up to 6
hours apart. One that refuses its credential pauses, and admins are told once: it goes on when its settings change, or
after a `citebot sync SOURCE` that works (a credential that `${NAME}` takes from the environment is read when
`citebot run` starts: restart it, and the source goes on). One without a sign of life for ten minutes is given up until
its next turn. `citebot sources` tells how each stands; an answer that rests on a source which has missed three of
its runs says when that was last read.

A source that is taken out of the settings keeps its documents until `citebot sync --full` runs without naming a source.
"""


def sources_reference() -> str:
    """Return a section for each built-in type."""
    parts = [_INTRODUCTION.rstrip(), _types()]
    for name in sorted(BUILT_IN):
        model = options_model(name)
        parts += [f"## `{name}`", inspect.cleandoc(model.__doc__ or ""), _keys(model)]
        recipe = _RECIPES / f"{name}.md"
        if recipe.exists():
            parts.append(recipe.read_text(encoding="utf-8").strip())
    return "\n\n".join(parts) + "\n"


def _types() -> str:
    """Return a table of the types, each with the first sentence of its section."""
    rows = ["| type | what it reads |", "|---|---|"]
    for name in sorted(BUILT_IN):
        told = " ".join(inspect.cleandoc(options_model(name).__doc__ or "").partition("\n\n")[0].split())
        rows.append(f"| [`{name}`](#{name}) | {re.split(r'(?<=[.]) (?=[A-Z])', told)[0].rstrip('.')} |")
    return "\n".join(rows)


def _keys(model: type[Options]) -> str:
    rows = ["| key | value | default | meaning |", "|---|---|---|---|"]
    for key, field in model.model_fields.items():
        meaning = (field.description or "").replace("|", "\\|")
        kinds = " or ".join(dict.fromkeys(_kinds(field.annotation)))
        rows.append(f"| `{key}` | {kinds} | {_default(field)} | {meaning} |")
    return "\n".join(rows)


def _kinds(annotation: Any) -> Iterator[str]:
    """Yield what a value may be, in words."""
    origin = get_origin(annotation)
    if origin is tuple:
        yield "list of " + " or ".join(_kinds(get_args(annotation)[0]))
    elif origin is dict:
        kind = get_args(annotation)[1]
        yield "table" if kind is Any else "table of " + next(_kinds(kind))
    elif origin is Literal:
        yield from (f"`{json.dumps(choice)}`" for choice in get_args(annotation))
    elif origin in {Union, types.UnionType}:
        yield from (kind for part in get_args(annotation) if part is not types.NoneType for kind in _kinds(part))
    else:
        names = {bool: "true or false", int: "whole number", float: "number", SecretStr: "secret"}
        yield names.get(annotation, "text")


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    return "" if value is None or value in ("", (), {}) else f"`{json.dumps(value)}`"
