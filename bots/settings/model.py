"""Every table and key of ``citebot.toml``, with what it means and the values it takes.

A value of None means: what ragcore found best by measurement (its option classes hold those figures). The
descriptions are the settings' reference: ``docs/settings.md`` is generated from them.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    PrivateAttr,
    SecretStr,
    StringConstraints,
    WrapSerializer,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from bots.settings.grammar import normal_channel, normal_person, normal_reader, normal_schedule

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
    return name


# Declared as dict, which is what the reader of environment variables descends into; read-only all the same.
def _frozen_table(table: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(table))


_FROZEN = (AfterValidator(_frozen_table), WrapSerializer(lambda table, dump: dump(dict(table))))

FilePath = Annotated[Path, AfterValidator(_whole_path)]
HttpUrl = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_http_url)]
OptionalUrl = Annotated[
    str, StringConstraints(strip_whitespace=True), AfterValidator(lambda url: _http_url(url) if url else "")
]
Secret = Annotated[SecretStr, AfterValidator(lambda secret: SecretStr(secret.get_secret_value().strip()))]
Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), AfterValidator(_printable)
]
Reader = Annotated[str, AfterValidator(normal_reader)]
Person = Annotated[str, AfterValidator(normal_person)]
JsonTable = Annotated[Mapping[str, JsonValue], *_FROZEN]


class Section(BaseModel):
    """One table of the file: frozen, and closed to unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, hide_input_in_errors=True)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Yield what is shown of the values: an address without the name and password that may stand in it."""
        for name, value in super().__repr_args__():
            yield name, re.sub(r"(?<=://)[^/\s]*@", "", value) if isinstance(value, str) else value


class TaskSettings(Section):
    """What one task of the language model does differently from `[llm]`. The tasks are `answer`, `cite` and `check`."""

    model: str | None = Field(default=None, description="another model for this task")
    temperature: float | None = Field(default=None, ge=0, le=2, description="another temperature for this task")
    max_tokens: int | None = Field(default=None, gt=0, description="another limit of this task's output, in tokens")
    extra_body: JsonTable | None = Field(default=None, repr=False, description="another `extra_body` for this task")


class LLMSettings(Section):
    """The language model: any OpenAI-compatible chat completions endpoint.

    Left out, answers are the best-supported sentences of the documents, quoted.
    """

    base_url: HttpUrl = Field(
        default=OPENAI_URL, description="address of the endpoint, up to and with its version (`/v1`)"
    )
    model: Annotated[str, StringConstraints(min_length=1)] = Field(description="the model's name at that endpoint")
    api_key: Secret | None = Field(default=None, description="the endpoint's key; local servers need none")
    context_window: int | None = Field(
        default=None,
        ge=1024,
        description="how many tokens the model reads and writes together; default: what is known of it",
    )
    max_tokens: int | None = Field(default=None, gt=0, description="the longest answer, in tokens")
    temperature: float | None = Field(default=None, ge=0, le=2, description="how freely the model words its answers")
    extra_body: JsonTable = Field(
        default_factory=dict,
        repr=False,
        description="further fields of the request, such as those that turn thinking off",
    )
    vision_model: str = Field(default="", description="the model that describes pictures; nothing reads it yet")
    connect_timeout: float | None = Field(default=None, gt=0, description="seconds until a connection must stand")
    first_token_timeout: float | None = Field(default=None, gt=0, description="seconds until the first token must come")
    total_timeout: float | None = Field(default=None, gt=0, description="seconds until an answer must be complete")
    max_concurrent: int | None = Field(default=None, gt=0, description="how many calls may run side by side")
    tasks: Annotated[dict[str, TaskSettings], *_FROZEN] = Field(
        default_factory=dict, description="one table a task to override, such as `[llm.tasks.cite]`"
    )


class EmbeddingSettings(Section):
    """The model that turns texts into vectors. Another one needs `citebot sync --full` once."""

    provider: Literal["minilm", "openai"] = Field(
        default="minilm",
        description="`minilm` is built in and needs no network; `openai` is any OpenAI-compatible endpoint",
    )
    base_url: HttpUrl = Field(default=OPENAI_URL, description="address of the endpoint, for `openai`")
    model: str = Field(default="", description="the model's name at that endpoint; `openai` needs it")
    api_key: Secret | None = Field(default=None, description="the endpoint's key")
    batch_size: int | None = Field(default=None, gt=0, description="how many texts one request holds")
    dimension: int | None = Field(
        default=None, gt=0, description="shorter vectors, where the model can give them; default: the model's own"
    )
    max_tokens: int | None = Field(
        default=None, gt=0, description="tokens of one text that the model reads; longer ones are embedded in windows"
    )

    @model_validator(mode="after")
    def _model_is_named(self) -> Self:
        if self.provider == "openai" and not self.model:
            raise ValueError('model is missing: provider = "openai" needs it, such as "text-embedding-3-small"')
        return self


class RerankSettings(Section):
    """A reranker behind a Jina- or Cohere-style `/rerank` endpoint; left out, none is asked. Nothing reads it yet."""

    base_url: HttpUrl = Field(description="address of the endpoint, without `/rerank`")
    model: str = Field(description="the model's name at that endpoint")
    api_key: Secret | None = Field(default=None, description="the endpoint's key")


class ChromaSettings(Section):
    """Where the vectors stand."""

    url: OptionalUrl = Field(default="", description='a Chroma server, such as `"http://host:8000"`; default: embedded')


class DatabaseSettings(Section):
    """Where documents, history and state stand."""

    url: Secret | None = Field(
        default=None,
        description="such as `postgresql+asyncpg://user:${PGPASSWORD}@host/citebot`; default: SQLite in `data_dir`",
    )


class AnswerSettings(Section):
    """How questions are searched and answered."""

    top_k: int | None = Field(default=None, gt=0, description="how many candidates each search brings in")
    top_n: int | None = Field(default=None, gt=0, description="how many chunks the answer may rest on")
    similarity_threshold: float | None = Field(
        default=None, ge=0, le=1, description="the least relevance a chunk must have"
    )
    vector_similarity_weight: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="share of the meaning against the words in the ranking; less by itself where the embedder does not "
        "know the language",
    )
    empty_response: str = Field(
        default="", description="what to say when nothing relevant is found; default: in the asker's language"
    )
    unsupported: Literal["mark", "withhold"] = Field(
        default="mark",
        description="what happens to an answer that no document supports: shown marked as such, or withheld",
    )
    link_hosts: tuple[str, ...] = Field(
        default=(), description="hosts besides the sources' own that answers may link to"
    )
    history_days: float = Field(default=30, ge=0, description="how long a conversation is remembered, in days")
    quote: bool = Field(default=True, description="whether answers carry citations")
    citation_plus: bool = Field(default=False, description="a second call of the model that only adds citations")
    refine_multiturn: bool = Field(
        default=True, description="rewrite a follow-up question so that it stands alone; nothing reads it yet"
    )
    cross_languages: tuple[str, ...] = Field(
        default=(),
        description='languages the question is also searched in: `["English", "Chinese"]`; nothing reads it yet',
    )
    keyword: bool = Field(default=False, description="let the model add keywords to the question; nothing reads it yet")
    toc_enhance: bool = Field(
        default=False,
        description="let the model choose chapters of long documents by their contents; nothing reads it yet",
    )
    use_kg: bool = Field(default=False, description="search the knowledge graph too; nothing reads it yet")
    language: str = Field(
        default="", description="language of the fixed sentences, such as `en` or `zh`; default: the asker's"
    )
    synonyms: FilePath | None = Field(
        default=None, description="a file of synonyms, one line a group, separated by commas"
    )


class KnowledgeBaseSettings(Section):
    """One knowledge base: documents that are searched, and read, together."""

    description: str = Field(default="", description="what is in it, in one sentence")
    chunking: Literal["naive"] = Field(default="naive", description="the chunk method")
    chunk_tokens: int | None = Field(default=None, ge=16, le=8192, description="the largest chunk, in tokens")
    chunk_overlap: float | None = Field(
        default=None, ge=0, le=0.5, description="how much of a chunk the next one repeats, as a share of it"
    )
    delimiters: str | None = Field(
        default=None,
        description="the characters after which text may be cut, as one string; default: paragraphs, lines, sentences",
    )
    readers: tuple[Reader, ...] = Field(
        default=(),
        description="who may be answered from it: `*`, `slack:T0123`, `slack:T0123/C0456`, `slack:T0123/@U0789`, "
        "`discord:GUILD`, `discord:GUILD/CHANNEL`, `discord:@USER`, `telegram:CHAT`, `telegram:@USER`, "
        "`email:ADDRESS`; default: nobody but the operator",
    )
    prompt: FilePath | None = Field(
        default=None,
        description="a file with this knowledge base's own system prompt; how to cite is added where it does not say",
    )


class SourceSettings(Section):
    """One source of documents. Keys not listed here belong to its type."""

    name: Name = Field(description="unique; the first part of its documents' ids")
    type: str = Field(min_length=1, description="the kind of source, such as `files`")
    knowledge_base: Name = Field(
        default="", validate_default=False, description="where its documents go; default: the source's name"
    )
    schedule: Annotated[str, AfterValidator(normal_schedule)] | None = Field(
        default=None,
        description='how often `citebot run` syncs it: `"15m"`, or a cron line such as '
        '`"0 6 * * mon-fri Europe/Berlin"`; default: only by hand; nothing reads it yet',
    )
    options: JsonTable = Field(default_factory=dict, repr=False, exclude=True, description="the keys of its type")

    @model_validator(mode="before")
    @classmethod
    def _split(cls, table: object) -> object:
        """Set the keys that belong to the type apart, and name the knowledge base."""
        if not isinstance(table, Mapping):
            return table
        own = {key: value for key, value in table.items() if key in cls.model_fields and key != "options"}
        if "name" in own:
            own.setdefault("knowledge_base", own["name"])
        return own | {"options": {key: value for key, value in table.items() if key not in own}}

    @field_validator("name")
    @classmethod
    def _no_colon(cls, name: str) -> str:
        if ":" in name:
            raise ValueError('must not hold ":", which parts the name from the document in an id')
        return name


class SlackSettings(Section):
    """Slack; it starts when `bot_token` is there, by Socket Mode with `app_token`, else by signed HTTP.

    Nothing reads it yet: this release answers in the terminal.
    """

    bot_token: Secret | None = Field(default=None, description="`xoxb-…`")
    app_token: Secret | None = Field(default=None, description="`xapp-…`, for Socket Mode")
    signing_secret: Secret | None = Field(default=None, description="for signed HTTP")
    api_url: HttpUrl = Field(default=SLACK_URL, description="another one for GovCloud or a proxy")


class DiscordSettings(Section):
    """Discord; it starts when `token` is there. Nothing reads it yet."""

    token: Secret | None = Field(default=None, description="the bot's token")
    api_url: HttpUrl = Field(default=DISCORD_URL, description="another one for a proxy; it also moves the gateway")
    message_content: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="whether to ask for the message content intent; `auto` does without when it is refused",
    )


class TelegramSettings(Section):
    """Telegram; it starts when `bot_token` is there. Nothing reads it yet."""

    bot_token: Secret | None = Field(default=None, description="the bot's token")
    api_url: HttpUrl = Field(default=TELEGRAM_URL, description="another one for a local Bot API server")
    webhook_url: OptionalUrl = Field(default="", description="the public address for updates; default: polling")


class ChannelSettings(Section):
    """One channel that differs from the rest. Nothing reads it yet."""

    id: Annotated[str, AfterValidator(normal_channel)] = Field(
        description="`slack:T0123/C0456`, `discord:GUILD/CHANNEL` or `telegram:CHAT`; ids, never names"
    )
    knowledge_bases: tuple[str, ...] | None = Field(
        default=None,
        description="narrows what the channel may read, never widens it; default: all that its readers allow",
    )
    respond: Literal["mention", "all", "questions", "off"] = Field(
        default="mention", description="which messages it answers"
    )


class Settings(BaseSettings):
    """All settings, checked and frozen; read them with ``load_settings``, never by calling this class."""

    model_config = SettingsConfigDict(
        extra="forbid",
        frozen=True,
        validate_default=True,
        hide_input_in_errors=True,
        env_prefix="CITEBOT_",
        env_nested_delimiter="__",
        env_ignore_empty=True,
    )

    data_dir: FilePath = Field(default=Path(".citebot"), description="where Citebot keeps its index and its state")
    admins: tuple[Person, ...] = Field(
        default=(),
        description="told of faults by direct message, may `/sync` and `/why`: "
        "`slack:T0123/@U1`, `discord:@1`, `telegram:@1`; nothing reads it yet",
    )
    llm: LLMSettings | None = None
    embedding: EmbeddingSettings = EmbeddingSettings()
    rerank: RerankSettings | None = None
    chroma: ChromaSettings = ChromaSettings()
    database: DatabaseSettings = DatabaseSettings()
    answer: AnswerSettings = AnswerSettings()
    knowledge_bases: Annotated[dict[Name, KnowledgeBaseSettings], *_FROZEN] = Field(default_factory=dict)
    sources: tuple[SourceSettings, ...] = ()
    slack: SlackSettings = SlackSettings()
    discord: DiscordSettings = DiscordSettings()
    telegram: TelegramSettings = TelegramSettings()
    channels: tuple[ChannelSettings, ...] = ()

    _file: Path | None = PrivateAttr(default=None)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take only what ``load_settings`` has merged."""
        return (init_settings,)

    @property
    def file(self) -> Path | None:
        """Return the file the settings came from, None when there was none."""
        return self._file

    @property
    def folder(self) -> Path:
        """Return the folder that relative paths in a source's own keys are relative to."""
        return self._file.parent if self._file else Path.cwd()

    @property
    def all_knowledge_bases(self) -> Mapping[str, KnowledgeBaseSettings]:
        """Return the declared knowledge bases and, on defaults, those that only a source names."""
        named = {source.knowledge_base: KnowledgeBaseSettings() for source in self.sources}
        return MappingProxyType({**named, **self.knowledge_bases})
