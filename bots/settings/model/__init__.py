"""Every table and key of ``citebot.toml``, with what it means and the values it takes.

A value of None means: what ragcore found best by measurement (its option classes hold those figures). The
descriptions are the settings' reference: ``docs/settings.md`` is generated from them.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from pydantic import Field, PrivateAttr, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from bots.settings.model.answering import AnswerSettings
from bots.settings.model.documents import (
    ChromaSettings,
    DatabaseSettings,
    KnowledgeBaseSettings,
    SourceSettings,
    SyncSettings,
)
from bots.settings.model.models import EmbeddingSettings, LLMSettings, RerankSettings, TaskSettings
from bots.settings.model.people import PEOPLE, with_people
from bots.settings.model.platforms import (
    ChannelSettings,
    DiscordSettings,
    MonitoringSettings,
    SlackSettings,
    TelegramSettings,
    TurnSettings,
)
from bots.settings.model.research import ResearchSettings
from bots.settings.model.values import FROZEN, FilePath, Name, Person
from bots.settings.model.web import WebSettings

__all__ = [
    "PEOPLE",
    "AnswerSettings",
    "ChannelSettings",
    "ChromaSettings",
    "DatabaseSettings",
    "DiscordSettings",
    "EmbeddingSettings",
    "KnowledgeBaseSettings",
    "LLMSettings",
    "MonitoringSettings",
    "RerankSettings",
    "ResearchSettings",
    "Settings",
    "SlackSettings",
    "SourceSettings",
    "SyncSettings",
    "TaskSettings",
    "TelegramSettings",
    "TurnSettings",
    "WebSettings",
]


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
        description="told of faults by direct message, are told in refusals what to change: "
        "`slack:T0123/@U1`, `discord:@1`, `telegram:@1`",
    )
    prompts: FilePath | None = Field(
        default=None,
        description="a folder of your own prompt templates: one named like one of Citebot's, such as `keywords.j2`, "
        "takes its place",
    )
    llm: LLMSettings | None = None
    embedding: EmbeddingSettings = EmbeddingSettings()
    rerank: RerankSettings | None = None
    web: WebSettings | None = None
    chroma: ChromaSettings = ChromaSettings()
    database: DatabaseSettings = DatabaseSettings()
    answer: AnswerSettings = AnswerSettings()
    research: ResearchSettings = ResearchSettings()
    knowledge_bases: Annotated[dict[Name, KnowledgeBaseSettings], *FROZEN] = Field(default_factory=dict)
    sources: tuple[SourceSettings, ...] = ()
    sync: SyncSettings = SyncSettings()
    slack: SlackSettings = SlackSettings()
    discord: DiscordSettings = DiscordSettings()
    telegram: TelegramSettings = TelegramSettings()
    channels: tuple[ChannelSettings, ...] = ()
    turns: TurnSettings = TurnSettings()
    monitoring: MonitoringSettings = MonitoringSettings()

    _file: Path | None = PrivateAttr(default=None)

    @model_validator(mode="before")
    @classmethod
    def _with_people(cls, table: object) -> object:
        return with_people(table)

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

    def searches_web(self, channel: str = "") -> bool:
        """Return whether the web is searched beside the documents in a channel, by its id; "" is the terminal."""
        if self.web is None:
            return False
        said = next((one.web for one in self.channels if one.id == channel), None)
        return said if said is not None else not channel or self.web.everywhere

    @property
    def all_knowledge_bases(self) -> Mapping[str, KnowledgeBaseSettings]:
        """Return the declared knowledge bases and, on defaults, those that only a source names."""
        named = {source.knowledge_base: KnowledgeBaseSettings() for source in self.sources}
        return MappingProxyType({**named, **self.knowledge_bases})

    @property
    def tag_sets(self) -> frozenset[str]:
        """Return the knowledge bases that give others their tags: not answered from unless they are named."""
        bases = self.all_knowledge_bases
        giving = {name for base in bases.values() for name in base.tags_from}
        return frozenset(name for name in giving if name in bases and bases[name].chunking == "tag")
