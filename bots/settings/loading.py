"""Find, read, merge and check the settings.

Where two places set the same key, the first of these wins:

1. ``CITEBOT_SECTION__KEY`` in the environment,
2. the file (``--config FILE``, else ``CITEBOT_CONFIG``, else ``citebot.toml`` in the working directory),
3. for secrets, the usual name in the environment (``OPENAI_API_KEY``, ...),
4. the default.
"""

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import EnvSettingsSource

from bots.settings.model import Settings, SourceSettings
from bots.settings.model.web import WEB_KEYS
from bots.settings.problems import Place, describe, in_our_words, keys_at_the_top, nearest, show, unknown_key
from ragcore.errors import ConfigError
from ragcore.models.llm import TASKS
from ragcore.phrases import LANGUAGES, is_spoken

FILE_NAME = "citebot.toml"

USUAL_NAMES: Mapping[tuple[str, str], str] = {
    ("llm", "api_key"): "OPENAI_API_KEY",
    ("embedding", "api_key"): "OPENAI_API_KEY",
    ("slack", "bot_token"): "SLACK_BOT_TOKEN",
    ("slack", "app_token"): "SLACK_APP_TOKEN",
    ("slack", "signing_secret"): "SLACK_SIGNING_SECRET",
    ("discord", "token"): "DISCORD_TOKEN",
    ("telegram", "bot_token"): "TELEGRAM_BOT_TOKEN",
}

# Paths are relative to the file that names them; those from the environment, to the working directory.
_PATHS = (("data_dir",), ("prompts",), ("answer", "synonyms"), ("knowledge_bases", "*", "prompt"))
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_PREFIX = "CITEBOT_"
_TOP = tuple(keys_at_the_top(Settings))

SettingsModel = Callable[[str], type[BaseModel]]


def load_settings(config: Path | None = None, *, source_model: SettingsModel | None = None) -> Settings:
    """Return the settings, merged and checked.

    Args:
        config: The file to read; None looks at ``CITEBOT_CONFIG`` and then for ``citebot.toml``, and does without.
        source_model: Names the settings model of a source's type, raising ConfigError for an unknown type; given, the
            keys that belong to each source's type are checked too.

    Raises:
        ConfigError: Every problem found, one line each, none holding a value that may be secret.
    """
    file = _find(config)
    table = _read(file) if file else {}
    problems: list[tuple[Place, str]] = []
    table = _fill_in(table, (), problems)
    folder = (file.parent if file else Path.cwd()).absolute()
    _anchor(table, folder)
    names = _unknown_variables()
    if not names:
        table = _merge(table, _from_environment(table))
        _add_usual_names(table)
        table.setdefault("data_dir", str(folder / ".citebot"))
    settings: Settings | None = None
    try:
        settings = Settings(**table)
    except ValidationError as error:
        unfilled = {place for place, _ in problems}
        problems += [
            (place, fault) for place, fault in describe(error, Settings, at_the_top=_TOP) if place not in unfilled
        ]
    sources = table.get("sources")
    if source_model and isinstance(sources, list):
        problems += _source_problems(sources, source_model)
    if settings:
        problems += _contradictions(settings)
    if settings is None or problems or names:
        raise ConfigError("\n".join([*names, *(_line(file, table, place, fault) for place, fault in problems)]))
    settings._file = file.absolute() if file else None
    return settings


def _find(config: Path | None) -> Path | None:
    """Return the file to read; one that was named must be there."""
    if config:
        named, by = config, "--config"
    elif os.environ.get("CITEBOT_CONFIG"):
        named, by = Path(os.environ["CITEBOT_CONFIG"]), "CITEBOT_CONFIG"
    else:
        return Path(FILE_NAME) if Path(FILE_NAME).is_file() else None
    named = named.expanduser()
    if not named.is_file():
        raise ConfigError(f"{named}: no such file, but {by} names it; mend the path, or write one with `citebot init`")
    return named


def _read(file: Path) -> dict[str, Any]:
    """Return the tables of a TOML file."""
    try:
        return tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"{file}: line {line} is not UTF-8; save the file as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file}: not valid TOML: {in_our_words(error)}") from error


def _fill_in(value: Any, place: Place, problems: list[tuple[Place, str]]) -> Any:
    """Return a value with every ``${NAME}`` in its texts read from the environment."""
    if isinstance(value, dict):
        return {key: _fill_in(item, (*place, key), problems) for key, item in value.items()}
    if isinstance(value, list):
        return [_fill_in(item, (*place, number), problems) for number, item in enumerate(value)]
    if not isinstance(value, str):
        return value
    problems += [
        (place, f"names ${{{name}}}, but the environment has no {name}; set it, or write the value")
        for name in dict.fromkeys(_VARIABLE.findall(value))
        if name not in os.environ
    ]
    return _VARIABLE.sub(lambda match: os.environ.get(match[1], match[0]), value)


def _anchor(table: dict[str, Any], folder: Path) -> None:
    """Make the file's relative paths relative to its folder."""
    for *tables, key in _PATHS:
        for holder in _tables_at(table, tables):
            if isinstance(holder.get(key), str):
                holder[key] = str(folder / Path(holder[key]).expanduser())


def _tables_at(table: Any, keys: list[str]) -> Iterator[dict[str, Any]]:
    if not isinstance(table, dict):
        return
    if not keys:
        yield table
        return
    for found in table.values() if keys[0] == "*" else [table.get(keys[0])]:
        yield from _tables_at(found, keys[1:])


class _Environment(EnvSettingsSource):
    """``CITEBOT_SECTION__KEY``; lists as JSON or separated by commas."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        """Return a list or table; what is neither stays text, and is refused by its type later."""
        try:
            return json.loads(value)
        except ValueError:
            return value if value.lstrip()[:1] in {"[", "{"} else [part.strip() for part in value.split(",")]


def _from_environment(table: dict[str, Any]) -> dict[str, Any]:
    """Return what the environment sets, in the file's own spelling of names, which variables can't keep."""
    problems: list[tuple[Place, str]] = []
    found: dict[str, Any] = _fill_in(_Environment(Settings)(), (), problems)
    if problems:
        raise ConfigError("\n".join(_line(None, found, place, fault) for place, fault in problems))
    bases, sources = found.get("knowledge_bases"), found.get("sources")
    if isinstance(bases, dict):
        spelling = {_variable_form(name): name for name in table.get("knowledge_bases", {})}
        found["knowledge_bases"] = {spelling.get(_variable_form(name), name): base for name, base in bases.items()}
    if isinstance(sources, dict):
        found["sources"] = _override_sources(table.get("sources", []), sources)
    return found


def _override_sources(listed: list[dict[str, Any]], changes: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the sources with those changed, or added, that ``CITEBOT_SOURCES__NAME__KEY`` names."""
    pending = {_variable_form(name): change for name, change in changes.items()}
    merged = [_merge(source, pending.pop(_variable_form(source.get("name", "")), {})) for source in listed]
    return [*merged, *({"name": name} | change for name, change in pending.items())]


def _variable_form(name: object) -> str:
    """Return a name as the environment can write it."""
    return re.sub(r"\W", "_", str(name)).lower()


def _merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Return both tables in one; where both set a key that is no table, ``above`` wins."""
    merged = dict(below)
    for key, value in above.items():
        old = below.get(key)
        merged[key] = _merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _add_usual_names(table: dict[str, Any]) -> None:
    """Take secrets from the names people already use, where nothing else set them."""
    for (section, key), name in USUAL_NAMES.items():
        value = os.environ.get(name, "").strip()
        # A key alone does not ask for a model: [llm] must be there.
        holder = table.get(section) if section == "llm" else table.setdefault(section, {})
        if value and isinstance(holder, dict):
            holder.setdefault(key, value)
    web = table.get("web")
    if isinstance(web, dict):
        value = os.environ.get(WEB_KEYS.get(str(web.get("provider")), ""), "").strip()
        if value:
            web.setdefault("api_key", value)


def _unknown_variables() -> list[str]:
    """Return a line for each ``CITEBOT_`` variable that means nothing.

    Without ``__`` only a near miss is refused: others may use the prefix (Kubernetes sets ``CITEBOT_PORT`` beside a
    service of that name).
    """
    lines = []
    known = {name.upper() for name in Settings.model_fields}
    for variable in sorted(os.environ):
        first, nested, _ = variable.upper().removeprefix(_PREFIX).partition("__")
        if not variable.upper().startswith(_PREFIX) or first in known or first == "CONFIG":
            continue
        near = nearest(first, known)
        if nested or near:
            hint = f'did you mean "{_PREFIX}{near}"?' if near else f"the tables are {', '.join(sorted(known))}"
            lines.append(f"{variable}: is not known; {hint}")
    return lines


def _source_problems(sources: list[Any], source_model: SettingsModel) -> Iterator[tuple[Place, str]]:
    """Yield what is wrong with the keys that belong to the sources' types."""
    common = [key for key, field in SourceSettings.model_fields.items() if not field.exclude]
    for number, source in enumerate(sources):
        if not isinstance(source, dict) or not isinstance(source.get("type"), str):
            continue
        options = {key: value for key, value in source.items() if key not in common}
        try:
            source_model(source["type"]).model_validate(options)
        except ConfigError as error:
            yield ("sources", number, "type"), str(error)
        except ValidationError as error:
            for place, fault in describe(error, source_model(source["type"]), also_known=common, at_the_top=_TOP):
                yield ("sources", number, *place), fault


def _contradictions(settings: Settings) -> Iterator[tuple[Place, str]]:
    """Yield what is wrong between tables that are right each on its own."""
    for table, names in (
        ("sources", [source.name for source in settings.sources]),
        ("channels", [channel.id for channel in settings.channels]),
    ):
        for number, name in enumerate(names):
            if name in names[:number]:
                yield (table, number, "name" if table == "sources" else "id"), "stands twice; each must be there once"
    language = settings.answer.language
    if language and not is_spoken(language):
        yield ("answer", "language"), f'"{language}" is none of those there are: {", ".join(sorted(LANGUAGES))}'
    for task in settings.llm.tasks if settings.llm else ():
        if task not in TASKS:
            yield ("llm", "tasks", task), unknown_key(task, TASKS)
    yield from _wrong_tag_sets(settings)
    if settings.web is None:
        for number, channel in enumerate(settings.channels):
            if channel.web:
                yield ("channels", number, "web"), "needs the table [web], which names a search engine"
    known = list(settings.all_knowledge_bases)
    for number, channel in enumerate(settings.channels):
        for entry, name in enumerate(channel.knowledge_bases or ()):
            if name not in known:
                yield ("channels", number, "knowledge_bases", entry), f'"{name}" ' + unknown_key(name, known)


def _wrong_tag_sets(settings: Settings) -> Iterator[tuple[Place, str]]:
    """Yield what ``tags_from`` names that is no tag set."""
    bases = settings.all_knowledge_bases
    for name, base in bases.items():
        for entry, other in enumerate(base.tags_from):
            place = ("knowledge_bases", name, "tags_from", entry)
            if other not in bases:
                yield place, f'"{other}" ' + unknown_key(other, list(bases))
            elif other == name:
                yield place, f'"{other}" is this knowledge base itself; name another one, which holds the tag set'
            elif not bases[other].holds_tags:
                yield place, f'"{other}" holds no tag set; set chunking = "tag" under [knowledge_bases.{other}]'


def _line(file: Path | None, table: Mapping[str, Any], place: Place, fault: str) -> str:
    """Return one problem with where it stands: the variable that set it, else the file and the place in it."""
    by_upper = {name.upper(): name for name in os.environ}
    for end in range(len(place), 0, -1):
        variable = by_upper.get((_PREFIX + "__".join(_variable_form(part) for part in place[:end])).upper())
        if variable:
            return f"{variable}: {fault}"

    def name_of(listed: str, number: int) -> str:
        entries = table.get(listed)
        entry = entries[number] if isinstance(entries, list) else None
        return str(entry.get("name") or entry.get("id") or "") if isinstance(entry, dict) else ""

    where = show(place, name_of) if place else "the settings"
    line = f"{file or 'settings'}: {where}: {fault}"
    # A key may hold anything; one that breaks lines must not break the report's.
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in line)
