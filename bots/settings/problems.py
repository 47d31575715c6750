"""What is wrong with a setting, in words: one line each, naming place, fault and mend, and never a value.

Values stay out because any of them may hold a secret; the checks of ``grammar`` name theirs, which never do.
"""

import difflib
import re
import tomllib
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

Place = tuple[str | int, ...]

_NEAR = 0.6  # difflib's ratio from which a key is taken for a misspelling

# What a value must be, by the kind of pydantic's error.
_WANTED = {
    "int": "must be a whole number without quotes, such as 8",
    "float": "must be a number without quotes, such as 0.5",
    "bool": "must be true or false, without quotes",
    "string": 'must be text in quotes, such as "text"',
    "path": 'must be a path in quotes, such as "./folder"',
    "tuple": 'must be a list, such as ["one", "two"]',
    "list": 'must be a list, such as ["one", "two"]',
    "frozen": 'must be a list, such as ["one", "two"]',
    "set": 'must be a list, such as ["one", "two"]',
    "dict": "must be a table of keys and values",
    "mapping": "must be a table of keys and values",
    "model": "must be a table of keys and values",
}
_LIMITS = {
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "string_too_short": "must not be empty",
    "string_too_long": "must not be longer than {max_length} characters",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
    "literal_error": "must be {expected}",
    "missing": "is missing",
    "finite_number": "must be a finite number",
}


def describe(
    error: ValidationError, model: type[BaseModel], *, also_known: Iterable[str] = (), at_the_top: Collection[str] = ()
) -> Iterator[tuple[Place, str]]:
    """Yield the place and the fault of each error.

    Args:
        error: What pydantic found.
        model: The model that was validated: its keys are what a misspelt one is compared with.
        also_known: Keys of the same table that the model does not know.
        at_the_top: Keys that belong to no table: written below one, TOML takes them for its own.
    """
    seen: set[tuple[Place, str]] = set()
    for detail in error.errors(include_url=False, include_context=True, include_input=False):
        place = tuple(part for part in detail["loc"] if not _is_branch(part))
        if detail["type"] == "extra_forbidden" and place[-1] in at_the_top:
            fault = "is not known here; it belongs at the top of the file, before the first table"
        elif detail["type"] == "extra_forbidden":
            fault = unknown_key(
                str(place[-1]), [*keys_at(model, place[:-1]), *also_known], _homes(model, str(place[-1]))
            )
        else:
            fault = _fault(detail)
        if (place, fault) not in seen:
            seen.add((place, fault))
            yield place, fault


def unknown_key(key: str, known: Iterable[str], elsewhere: Iterable[str] = ()) -> str:
    """Return the refusal of a key, naming the nearest known one or the tables that do know it."""
    homes = " or ".join(f"[{home}]" for home in elsewhere)
    near = nearest(key, known)
    if homes and near:
        return f'is not known here; did you mean "{near}"? "{key}" belongs to {homes}'
    if homes:
        return f"is not known here; it belongs to {homes}"
    return f'is not known; did you mean "{near}"?' if near else f"is not known; known here: {', '.join(sorted(known))}"


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word nearest to this one, or "" when none is near."""
    return next(iter(difflib.get_close_matches(word, list(known), n=1, cutoff=_NEAR)), "")


def in_our_words(error: tomllib.TOMLDecodeError) -> str:
    """Return what is wrong with a TOML file; what pasting an example brings about is said with the mend."""
    said = str(error)
    if twice := re.fullmatch(r"Cannot declare \((.+?),?\) twice (\(.*\))", said):
        table = ".".join(part.strip().strip("'\"") for part in twice[1].split(","))
        if table in {"sources", "channels"}:
            return f"[{table}] stands beside [[{table}]]; write two brackets around each {twice[2]}"
        return f"[{table}] stands twice; write what belongs to it below the first one {twice[2]}"
    return said.replace("Cannot overwrite a value", "a key stands twice in one table")


def show(place: Place, name_of: Callable[[str, int], str]) -> str:
    """Return a place as a reader of the file finds it: ``[llm] model``, ``[[sources]] "docs", schedule``.

    Args:
        place: Keys and, for lists, positions from 0.
        name_of: Names an entry of a list of tables (table, position), "" when it has no name.
    """
    if len(place) == 1:
        return str(place[0])
    if place and place[0] in {"sources", "channels"} and isinstance(place[1], int):
        name = name_of(str(place[0]), place[1])
        head = f'[[{place[0]}]] "{name}"' if name else f"[[{place[0]}]] number {place[1] + 1}"
        return ", ".join([head, *_tail(place[2:])])
    depth = 2 if place[0] == "knowledge_bases" and len(place) > 2 else 1
    if place[:2] == ("llm", "tasks") and len(place) > 3:
        depth = 3
    return f"[{'.'.join(str(part) for part in place[:depth])}] " + ", ".join(_tail(place[depth:]))


def keys_at(model: type[BaseModel], place: Place) -> list[str]:
    """Return the keys that the table at a place may have."""
    found: type[BaseModel] | None = model
    parts = iter(place)
    for part in parts:
        field = found.model_fields.get(str(part)) if found is not None else None
        found = table_of(field.annotation) if field is not None else None
        if field is not None and get_origin(field.annotation) in {tuple, dict}:
            next(parts, None)  # which of the tables it is, by its name or its position
    return [key for key, field in getattr(found, "model_fields", {}).items() if not field.exclude]


def keys_at_the_top(model: type[BaseModel]) -> list[str]:
    """Return the keys of the settings that are no tables."""
    return [key for key, field in model.model_fields.items() if table_of(field.annotation) is None]


def table_of(annotation: object) -> type[BaseModel] | None:
    """Return the model of a table inside a type such as ``LLMSettings | None`` or ``Mapping[str, Model]``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    origin = get_origin(annotation)
    if origin in {Union, types.UnionType, tuple} or (isinstance(origin, type) and issubclass(origin, Mapping)):
        return next(filter(None, map(table_of, get_args(annotation))), None)
    return None


def _homes(model: type[BaseModel], key: str) -> list[str]:
    """Return the single tables (not lists of them) that know a key."""
    return [
        name
        for name, field in model.model_fields.items()
        if (table := table_of(field.annotation)) is not None
        and get_origin(field.annotation) not in {tuple, dict}
        and key in table.model_fields
    ]


def _fault(detail: ErrorDetails) -> str:
    kind = detail["type"]
    context = detail.get("ctx", {})
    if kind == "value_error":
        return str(context.get("error", detail["msg"]))
    if kind in _LIMITS:
        return _LIMITS[kind].format(**context).replace("'", '"')
    return _WANTED.get(kind.split("_")[0], detail["msg"][:1].lower() + detail["msg"][1:])


def _tail(parts: Place) -> Iterator[str]:
    for part in parts:
        yield f"entry {part + 1}" if isinstance(part, int) else part


def _is_branch(part: str | int) -> bool:
    """Tell whether a part of pydantic's location names a branch of a union and no key of the file."""
    return isinstance(part, str) and "[" in part
