"""The types of sources by name, each loaded when it is first used.

Another package adds its own as an entry point of the group ``citebot.connectors``:
``mytype = "my_package.module:MY_SOURCE_TYPE"``, a ``SourceType``.
"""

import difflib
import hashlib
import importlib
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from connectors.base import Connector, Options, Origin, SourceType
from ragcore.errors import ConfigError

ENTRY_POINTS = "citebot.connectors"

BUILT_IN: Mapping[str, str] = MappingProxyType(
    {
        "confluence": "connectors.confluence:CONFLUENCE",
        "discord": "connectors.discord:DISCORD",
        "feed": "connectors.feed:FEED",
        "files": "connectors.files:FILES",
        "github": "connectors.github:GITHUB",
        "gitlab": "connectors.gitlab:GITLAB",
        "google_drive": "connectors.google_drive:GOOGLE_DRIVE",
        "imap": "connectors.imap:IMAP",
        "jira": "connectors.jira:JIRA",
        "notion": "connectors.notion:NOTION",
        "reader": "connectors.reader:READER",
        "rest": "connectors.rest:REST",
        "slack": "connectors.slack:SLACK",
        "sql": "connectors.sql:SQL",
        "web": "connectors.web:WEB",
    }
)


def type_names() -> list[str]:
    """Return the names of all types that are there, sorted."""
    return sorted({*BUILT_IN, *entry_points(group=ENTRY_POINTS).names})


def source_type(name: str) -> SourceType:
    """Return a type by its name, loading its module; ConfigError when there is none or it can't be loaded."""
    try:
        found = _load(name)
    except ImportError as error:
        raise ConfigError(f'the source type "{name}" cannot be loaded: {error}; install what it needs') from error
    except AttributeError as error:
        raise ConfigError(f'the source type "{name}" cannot be loaded: {error}; its package is at fault') from error
    if not isinstance(found, SourceType):
        raise ConfigError(f'the source type "{name}" is no SourceType; its package is at fault')
    return found


def options_model(name: str) -> type[Options]:
    """Return the settings model of a type, by which the keys of a source are checked."""
    return source_type(name).options


def connect(name: str, origin: Origin, options: Mapping[str, object]) -> Connector:
    """Return a connector of a type for one source; ConfigError when its settings are wrong."""
    kind = source_type(name)
    return kind.create(origin, _checked(kind, origin, options))


def credential(name: str, origin: Origin, options: Mapping[str, object]) -> str:
    """Return the fingerprint of a source's credential, to tell whether it has changed; ConfigError as ``connect``.

    It is stored, so it takes some 30 ms to compute: whoever reads it can't try passwords by the million.
    """
    kind = source_type(name)
    secret = kind.credential(origin, _checked(kind, origin, options)).encode()
    return hashlib.scrypt(secret, salt=f"{name}:{origin.source}".encode(), n=2**13, r=8, p=1, dklen=32).hex()


def toucher(
    name: str, origin: Origin, options: Mapping[str, object]
) -> Callable[[Mapping[str, Any]], Sequence[str]] | None:
    """Return what finds the documents (ids) that a raw event of the platform concerns; None: the type follows none.

    ConfigError as ``connect``.
    """
    kind = source_type(name)
    find = kind.touched
    if find is None:
        return None
    checked = _checked(kind, origin, options)
    return lambda event: [origin.document_id(native) for native in find(checked, event)]


def _checked(kind: SourceType, origin: Origin, options: Mapping[str, object]) -> Options:
    try:
        return kind.options.model_validate(dict(options))
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, detail['loc'])) or 'settings'}: {detail['msg']}"
            for detail in error.errors(include_url=False, include_input=False)
        )
        raise ConfigError(f'source "{origin.source}": {faults}') from error


def _load(name: str) -> object:
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        return getattr(importlib.import_module(module), attribute)
    for entry in entry_points(group=ENTRY_POINTS, name=name):
        return entry.load()
    near = next(iter(difflib.get_close_matches(name, type_names(), n=1, cutoff=0.5)), "")
    hint = f'did you mean "{near}"?' if near else f"there are {', '.join(type_names())}"
    raise ConfigError(f'"{name}" is no type of source; {hint}')
