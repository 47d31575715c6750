"""What the values of settings are made of: addresses, secrets, names, paths, and the table that holds them."""

import ipaddress
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    JsonValue,
    PlainSerializer,
    PlainValidator,
    SecretStr,
    StringConstraints,
    WrapSerializer,
)

from bots.settings.grammar import normal_filter, normal_person, normal_reader
from ragcore.chunk_methods import CHUNK_METHODS
from ragcore.enrich.options import MOST_FIELDS, MetadataField
from ragcore.errors import ConfigError

OPENAI_URL = "https://api.openai.com/v1"
SLACK_URL = "https://slack.com/api/"
DISCORD_URL = "https://discord.com/api/v10"
TELEGRAM_URL = "https://api.telegram.org"


def _whole_path(path: Path) -> Path:
    return path.expanduser().absolute()


def _http_url(url: str) -> str:
    if not re.fullmatch(r"https?://[^\s/]\S*", url):
        raise ValueError('must be an address that starts with "http://" or "https://"')
    return url


def _printable(name: str) -> str:
    if not name.isprintable():
        raise ValueError("must not hold line breaks or control characters")
    if name.startswith(":"):
        raise ValueError('must not begin with ":", as the names do that Citebot gives itself')
    return name


def _network(text: str) -> str:
    try:
        ipaddress.ip_network(text.strip(), strict=False)
    except ValueError:
        raise ValueError('must be a network or an address, such as "10.0.0.0/8" or "10.1.2.3"') from None
    return text.strip()


_SLACKS_OWN = frozenset({"/remind", "/search", "/status", "/topic"})
"""Names that Slack is known to keep to itself (docs.slack.dev, Slash commands; the rest as seen); it lists none."""


def _slash_command(name: str) -> str:
    if name in _SLACKS_OWN:
        raise ValueError("must not be one of Slack's own commands: Slack would refuse the whole manifest")
    if not re.fullmatch(r"/[a-z0-9_-]{1,31}", name):
        raise ValueError('must be a slash and at most 31 small letters, digits, "-" or "_", such as "/ask"')
    return name


def _chunk_methods(value: object) -> str | Mapping[str, str]:
    """Return a chunk method, or file patterns with the method of each; ``*`` comes last, wherever it stands."""
    if isinstance(value, str):
        return _chunk_method(value)
    if not isinstance(value, Mapping) or not all(isinstance(method, str) for method in value.values()):
        raise ValueError('must be a chunk method, such as "naive", or one by file pattern, such as {"*.md" = "naive"}')
    if not value or not all(map(str.strip, value)):
        raise ValueError('must name a method by file pattern, such as {"*.md" = "naive"}, without an empty one')
    ordered = sorted(value.items(), key=lambda pair: pair[0] == "*")
    return MappingProxyType({pattern: _chunk_method(method, f'"{pattern}" = ') for pattern, method in ordered})


def _chunk_method(name: str, where: str = "") -> str:
    if name not in CHUNK_METHODS:
        raise ValueError(f'{where}"{name}" is none of those there are: {", ".join(sorted(CHUNK_METHODS))}')
    return name


def _metadata_schema(value: object) -> Mapping[str, Mapping[str, str]]:
    """Return the fields of a schema with ``description`` and ``type``; a field may be written as its description."""
    if not isinstance(value, Mapping):
        raise ValueError('must be fields with what belongs in them, such as {department = "the one that wrote it"}')
    found: dict[str, Mapping[str, str]] = {}
    for name, said in value.items():
        table = {"description": said} if isinstance(said, str) else said
        if not isinstance(table, Mapping) or not table.keys() <= {"description", "type"}:
            raise ValueError(f'"{name}" must be a description, or a table with `description` and `type`')
        if not all(isinstance(part, str) for part in table.values()):
            raise ValueError(f'"{name}": description and type must be text')
        try:
            field = metadata_field(str(name), table)
        except ConfigError as error:
            raise ValueError(str(error)) from error
        same = next((one for one in found if one.casefold() == field.name.casefold()), None)
        if same is not None:
            raise ValueError(f'"{same}" and "{field.name}" are one field, as upper and lower case are the same')
        if field.name.casefold() == "source":
            raise ValueError(f'"{field.name}" must have another name: `source` is the name of each document\'s source')
        found[field.name] = MappingProxyType({"description": field.description, "type": field.type})
    if len(found) > MOST_FIELDS:
        raise ValueError(f"must have at most {MOST_FIELDS} fields")
    return MappingProxyType(found)


def metadata_field(name: str, table: Mapping[str, str]) -> MetadataField:
    """Return a field of a schema.

    Raises:
        ConfigError: It is none.
    """
    kind: Any = table.get("type", "text")
    return MetadataField(name=name.strip(), description=" ".join(table.get("description", "").split()), type=kind)


# Declared as dict, which is what the reader of environment variables descends into; read-only all the same.
def _frozen_table(table: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(table))


FROZEN = (AfterValidator(_frozen_table), WrapSerializer(lambda table, dump: dump(dict(table))))

FilePath = Annotated[Path, AfterValidator(_whole_path)]
HttpUrl = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_http_url)]
OptionalUrl = Annotated[
    str, StringConstraints(strip_whitespace=True), AfterValidator(lambda url: _http_url(url) if url else "")
]
Secret = Annotated[SecretStr, AfterValidator(lambda secret: SecretStr(secret.get_secret_value().strip()))]
Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), AfterValidator(_printable)
]
SlashCommand = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_slash_command)]
Network = Annotated[str, AfterValidator(_network)]
Reader = Annotated[str, AfterValidator(normal_reader)]
Person = Annotated[str, AfterValidator(normal_person)]
FilterText = Annotated[str, AfterValidator(normal_filter)]
JsonTable = Annotated[Mapping[str, JsonValue], *FROZEN]
MetadataSchema = Annotated[
    Mapping[str, Any],
    PlainValidator(_metadata_schema),
    PlainSerializer(lambda fields: {name: dict(table) for name, table in fields.items()}),
]
ChunkMethods = Annotated[
    str | Mapping[str, str],
    PlainValidator(_chunk_methods),
    PlainSerializer(lambda methods: methods if isinstance(methods, str) else dict(methods)),
]


class Section(BaseModel):
    """One table of the file: frozen, and closed to unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, hide_input_in_errors=True)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Yield what is shown of the values: an address without the name and password that may stand in it."""
        for name, value in super().__repr_args__():
            yield name, re.sub(r"(?<=://)[^/\s]*@", "", value) if isinstance(value, str) else value
